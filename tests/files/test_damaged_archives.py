"""Runs and datasets whose files are damaged, or made by somebody else: one message each, in our words."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia import Dataset, envs, explore, learners, simulate
from praemia.errors import FileError, PraemiaError, SizeError
from praemia.simulation import Run

KINDS: dict[str, Any] = {"run": Run, "dataset": Dataset}
BOTH = pytest.mark.parametrize("kind", KINDS)
# Words of NumPy, zipfile, zlib and json, whose own messages say nothing to a reader.
FOREIGN = ("allow_pickle", "magic", "bad ", "crc", "mmap", "eocd", "zip", "decompress", "expecting", "keyword", "numpy")


@pytest.fixture(scope="module")
def whole() -> dict[str, bytes]:
    task = envs.make("warehouse-3")
    return {
        "run": simulate(task, learners.make("ucbvi-prm"), 20).to_bytes(),
        "dataset": explore(task, episodes=20, policy_episodes=2).to_bytes(),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


def refused(kind: str, data: bytes, folder: Path, error: type[PraemiaError] = FileError) -> str:
    """Return the message with which a file is refused, without the file's name."""
    path = folder / "damaged.npz"
    path.write_bytes(data)
    with pytest.raises(error) as caught:
        KINDS[kind].load(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    said = message.replace(str(path), "").lower()
    assert not [word for word in FOREIGN if word in said]
    return message


def arrays_of(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data)) as archive:
        return {name: archive[name] for name in archive.files}


def with_arrays(data: bytes, **changes: Any) -> bytes:
    """Return the file with some arrays replaced, added, or taken out where they are None."""
    arrays = {name: array for name, array in {**arrays_of(data), **changes}.items() if array is not None}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def with_header(data: bytes, **changes: Any) -> bytes:
    """Return the file with some fields of its header replaced, or taken out where they are ``...``."""
    header = {**json.loads(arrays_of(data)["header"].tobytes()), **changes}
    text = json.dumps({name: value for name, value in header.items() if value is not ...})
    return with_arrays(data, header=np.frombuffer(text.encode(), dtype=np.uint8))


def with_entry(data: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return the file with the raw bytes of one array changed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            raw = old.read(entry)
            new.writestr(entry.filename, change(raw) if entry.filename == f"{name}.npy" else raw)
    return buffer.getvalue()


@BOTH
def test_what_was_not_touched_is_read(kind: str, whole: dict[str, bytes], folder: Path) -> None:
    """Also when NumPy has written the same arrays anew, without compression."""
    for data in (whole[kind], with_arrays(whole[kind]), with_header(whole[kind])):
        (folder / "whole.npz").write_bytes(data)
        assert KINDS[kind].load(folder / "whole.npz").to_bytes() == whole[kind]


@BOTH
def test_the_time_of_day_does_not_show_in_the_bytes(kind: str, whole: dict[str, bytes]) -> None:
    with zipfile.ZipFile(io.BytesIO(whole[kind])) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@BOTH
@settings(max_examples=60)
@given(share=st.floats(0.0, 1.0, exclude_max=True))
def test_a_file_cut_short_is_refused(kind: str, whole: dict[str, bytes], folder: Path, share: float) -> None:
    data = whole[kind]
    assert "cut short" in refused(kind, data[: int(share * len(data))], folder)


@BOTH
@settings(max_examples=300)
@given(share=st.floats(0.0, 1.0, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed_or_changes_nothing(
    kind: str, whole: dict[str, bytes], folder: Path, share: float, bit: int
) -> None:
    data = bytearray(whole[kind])
    data[int(share * len(data))] ^= 1 << bit
    path = folder / "flipped.npz"
    path.write_bytes(data)
    try:
        found = KINDS[kind].load(path)
    except PraemiaError:
        refused(kind, bytes(data), folder, PraemiaError)
    else:
        assert found.to_bytes() == whole[kind]


@BOTH
@pytest.mark.parametrize("data", [b"", b"PK", b"not an archive", b"PK\x05\x06" + bytes(18), bytes(1000)], ids=repr)
def test_bytes_that_are_no_archive_are_refused(kind: str, data: bytes, folder: Path) -> None:
    assert "damaged, or not" in refused(kind, data, folder)


CHANGES = [
    ("run", {"returns": None}, "it has no array 'returns'"),
    ("run", {"extra": np.zeros(3)}, "it has an array 'extra', which does not belong there"),
    ("run", {"returns": np.zeros(20, dtype=complex)}, "its array 'returns' is of type complex128; expected numbers"),
    ("run", {"plan_episodes": np.zeros(3)}, "its array 'plan_episodes' is of type float64; expected whole numbers"),
    ("run", {"plan_values": np.array(["a"])}, "its array 'plan_values' is of type <U1; expected numbers"),
    ("run", {"returns": np.zeros((4, 5))}, r"its array 'returns' has the shape \(4, 5\); expected 1 dimensions"),
    ("run", {"returns": np.float64(1.0)}, r"its array 'returns' has the shape \(\); expected 1 dimensions"),
    ("run", {"returns": np.zeros(19)}, "its arrays have inconsistent lengths"),
    ("run", {"final_policy": np.zeros(5, dtype=int)}, r"'final_policy' has the shape \(5,\); expected 3 or 4"),
    ("run", {"final_policy": np.array([object()])}, "its array 'final_policy' holds Python objects, which are never"),
    ("run", {"header": None}, "it has no array 'header'"),
    ("run", {"header": np.frombuffer(b"{", dtype=np.uint8)}, "its header is not JSON"),
    ("run", {"header": np.frombuffer(b"[1]", dtype=np.uint8)}, "its header is not a JSON object"),
    ("run", {"header": np.frombuffer(b"[" * 100_000, dtype=np.uint8)}, "its header is not JSON"),
    ("run", {"header": np.frombuffer(b"\xff\xfe{}", dtype=np.uint8)}, "its header is not JSON"),
    ("run", {"header": np.array([{}])}, "its array 'header' holds Python objects, which are never read"),
    ("dataset", {"counts": None}, "it has no array 'counts'"),
    ("dataset", {"pairs": np.zeros(3)}, "its array 'pairs' is of type float64; expected whole numbers"),
    ("dataset", {"ends": np.zeros(9)}, "its array 'ends' is of type float64; expected true or false"),
    ("dataset", {"counts": np.array([None])}, "its array 'counts' holds Python objects, which are never read"),
    ("dataset", {"counts": np.zeros(3, dtype=int)}, "a dataset whose arrays have inconsistent sizes"),
    ("dataset", {"first_counts": np.zeros((9, 1), dtype=int)}, r"'first_counts' has the shape \(9, 1\)"),
]


@pytest.mark.parametrize(("kind", "changes", "expected"), CHANGES)
def test_wrong_arrays_are_named(
    kind: str, changes: dict[str, Any], expected: str, whole: dict[str, bytes], folder: Path
) -> None:
    with pytest.raises(FileError, match=f"damaged, or not .*: .*{expected}"):
        raise FileError(refused(kind, with_arrays(whole[kind], **changes), folder))


HEADERS = [
    ("run", {"task": ...}, "its header has no 'task'"),
    ("run", {"colour": "red"}, "its header has a field 'colour', which does not belong there"),
    ("run", {"task": 5}, "its header has task = '5'"),
    ("run", {"num_episodes": True}, "its header has num_episodes = 'True'"),
    ("run", {"num_episodes": 20.0}, "its header has num_episodes = '20.0'"),
    ("run", {"num_episodes": -1}, "its arrays have inconsistent lengths"),
    ("run", {"optimal_value": "much"}, "its header has optimal_value = 'much'"),
    ("run", {"parameters": []}, r"its header has parameters = '\[\]'"),
    ("run", {"seed": 3}, "its header has seed = '3'"),
    ("run", {"seed": [0, -1]}, "seed=.*expected a whole number"),
    ("run", {"seed": [[]]}, "seed=.*expected a whole number"),
    ("dataset", {"horizon": "long"}, "its header has horizon = 'long'"),
    ("dataset", {"horizon": 0}, "episodes of 0 steps"),
    ("dataset", {"num_observations": 8, "observation_names": None}, "a dataset whose arrays have inconsistent sizes"),
    ("dataset", {"num_actions": 0}, "its header has num_actions = 0"),
    ("dataset", {"num_actions": 1, "action_names": None}, "outside its 9 observations and 1 actions"),
    ("dataset", {"action_names": ["only"]}, "its header has num_actions = 5 and 1 action_names"),
    ("dataset", {"propositions": [1]}, "its header has propositions that are not names"),
    ("dataset", {"sources": [7]}, "its header does not say how the data was collected"),
    ("dataset", {"labels": [["a"]]}, "its header has a label"),
    ("dataset", {"labels": [[["a"], "x", None, None]]}, "its header has a label"),
    ("dataset", {"labels": 5}, "its header has labels = '5'"),
]


@pytest.mark.parametrize(("kind", "changes", "expected"), HEADERS)
def test_wrong_headers_are_named(
    kind: str, changes: dict[str, Any], expected: str, whole: dict[str, bytes], folder: Path
) -> None:
    with pytest.raises(FileError, match=f"damaged, or not .*: .*{expected}"):
        raise FileError(refused(kind, with_header(whole[kind], **changes), folder))


@BOTH
def test_another_kind_of_file_is_named(kind: str, whole: dict[str, bytes], folder: Path) -> None:
    (other,) = KINDS.keys() - {kind}
    assert f"a praemia {other}; expected a praemia {kind}" in refused(kind, whole[other], folder)
    assert "of format 99" in refused(kind, with_header(whole[kind], format=99), folder)
    assert "of format None" in refused(kind, with_header(whole[kind], format=...), folder)


def claiming(shape: str) -> Callable[[bytes], bytes]:
    """Return a change of an array's raw bytes: the same numbers under a header that claims another shape."""

    def change(raw: bytes) -> bytes:
        length = int.from_bytes(raw[8:10], "little")
        text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(length - 1) + b"\n"
        return raw[:8] + len(text).to_bytes(2, "little") + text + raw[10 + length :]

    return change


@pytest.mark.parametrize(("kind", "name"), [("run", "plan_episodes"), ("dataset", "counts")])
@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ("(10**15,)", "cannot be read"),
        ("(1000000000000000,)", "claims 8,000,000,000,000,000 bytes; there are"),
        ("(100000000000000000000000000000,)", "claims 800,000,000,000,000,000,000,000,000,000 bytes"),
        ("(1,)", "claims 8 bytes; there are"),
        ("(-1,)", r"has the shape \(-1,\)"),
        ("()", r"has the shape \(\)"),
    ],
)
def test_an_array_that_claims_another_size_than_it_has_is_not_read(
    kind: str, name: str, shape: str, expected: str, whole: dict[str, bytes], folder: Path
) -> None:
    data = with_entry(whole[kind], name, claiming(shape))
    with pytest.raises(FileError, match=f"its array '{name}' {expected}"):
        raise FileError(refused(kind, data, folder))


@BOTH
def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_unpacked(
    kind: str, whole: dict[str, bytes], folder: Path
) -> None:
    """The directory at an archive's end says how large its entries are; one is made to say 4 GiB, a thousand times."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(1000):
            archive.writestr(f"a{number}.npy", b"x")
        for entry in archive.infolist():
            entry.file_size = 0xFFFF_FFFE
    assert "GiB of memory" in refused(kind, buffer.getvalue(), folder, SizeError)


def test_a_dataset_that_claims_very_many_actions_is_refused(whole: dict[str, bytes], folder: Path) -> None:
    data = with_header(whole["dataset"], num_actions=10**15, action_names=None)
    assert "GiB of memory" in refused("dataset", data, folder, SizeError)


@BOTH
def test_two_arrays_of_one_name_are_refused(kind: str, whole: dict[str, bytes], folder: Path) -> None:
    buffer = io.BytesIO(whole[kind])
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("header.npy", b"")
    assert "two arrays of one name" in refused(kind, buffer.getvalue(), folder)
