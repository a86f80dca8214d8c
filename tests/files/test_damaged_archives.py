"""Runs and datasets whose files are damaged, or made by somebody else: one message each, in our words."""

from __future__ import annotations

import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
        "dataset": explore(task, num_episodes=20).to_bytes(),
    }


def refused(kind: str, data: bytes, folder: Path, error: type[PraemiaError] = FileError) -> str:
    """Return the message with which a file is refused."""
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
def test_what_was_not_touched_is_read_and_depends_on_no_time_of_day(
    kind: str, whole: dict[str, bytes], tmp_path: Path
) -> None:
    """Also when NumPy has written the same arrays anew, without compression."""
    for data in (whole[kind], with_arrays(whole[kind]), with_header(whole[kind])):
        (tmp_path / "whole.npz").write_bytes(data)
        assert KINDS[kind].load(tmp_path / "whole.npz").to_bytes() == whole[kind]
    with zipfile.ZipFile(io.BytesIO(whole[kind])) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@BOTH
def test_a_flipped_bit_is_noticed_or_changes_nothing(kind: str, whole: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "flipped.npz"
    for place in range(0, len(whole[kind]), 7):
        data = bytearray(whole[kind])
        data[place] ^= 1 << place % 8
        path.write_bytes(data)
        try:
            assert KINDS[kind].load(path).to_bytes() == whole[kind]
        except PraemiaError:
            refused(kind, bytes(data), tmp_path, PraemiaError)


@BOTH
@pytest.mark.parametrize("data", [b"", b"PK", b"not an archive", b"PK\x05\x06" + bytes(18), bytes(1000)], ids=repr)
def test_bytes_that_are_no_archive_are_refused(kind: str, data: bytes, tmp_path: Path) -> None:
    assert "damaged, or not" in refused(kind, data, tmp_path)


CHANGES = [
    ("run", {"returns": None}, "it has no 'returns'"),
    ("run", {"extra": np.zeros(3)}, "it has 'extra', which does not belong there"),
    ("run", {"returns": np.zeros(20, dtype=complex)}, r"returns is complex128 of shape \(20,\); expected numbers in 1"),
    ("run", {"plan_episodes": np.zeros(3)}, "plan_episodes is float64 .* expected integers"),
    ("run", {"plan_values": np.array(["a"])}, "plan_values is <U1 .* expected numbers"),
    ("run", {"returns": np.zeros((4, 5))}, r"returns is float64 of shape \(4, 5\)"),
    ("run", {"returns": np.zeros(19)}, "its arrays have inconsistent lengths"),
    ("run", {"final_policy": np.zeros(5, dtype=int)}, r"final_policy is int64 of shape \(5,\); .* 3 or 4 dimensions"),
    ("run", {"final_policy": np.array([object()])}, ""),
    ("run", {"header": None}, ""),
    ("run", {"header": np.frombuffer(b"{", dtype=np.uint8)}, ""),
    ("run", {"header": np.frombuffer(b"[1]", dtype=np.uint8)}, "its header is not a JSON object"),
    ("run", {"header": np.frombuffer(b"[" * 100_000, dtype=np.uint8)}, ""),
    ("run", {"header": np.frombuffer(b"\xff\xfe{}", dtype=np.uint8)}, ""),
    ("dataset", {"counts": None}, "it has no 'counts'"),
    ("dataset", {"pairs": np.zeros(3)}, "pairs is float64 .* expected integers"),
    ("dataset", {"targets": np.zeros(9)}, "targets is float64 .* expected integers"),
    ("dataset", {"counts": np.zeros(3, dtype=int)}, "a dataset whose arrays have inconsistent sizes"),
]


HEADERS = [
    ("run", {"task": ...}, "it has no 'task'"),
    ("run", {"colour": "red"}, "it has 'colour', which does not belong there"),
    ("run", {"task": 5}, "its header has task = '5'"),
    ("run", {"num_episodes": True}, "its header has num_episodes = 'True'"),
    ("run", {"num_episodes": 20.0}, "its header has num_episodes = '20.0'"),
    ("run", {"num_episodes": -1}, "its arrays have inconsistent lengths"),
    ("run", {"optimal_value": "much"}, "its header has optimal_value = 'much'"),
    ("run", {"seed": 3}, "its header has seed = '3'"),
    ("run", {"seed": [0, -1]}, "seed=.*expected an integer"),
    ("dataset", {"horizon": "long"}, "its header has horizon = 'long'"),
    ("dataset", {"horizon": 0}, "episodes of 0 steps"),
    ("dataset", {"num_observations": 8, "observation_names": None}, "a dataset whose arrays have inconsistent sizes"),
    ("dataset", {"num_actions": 0}, "its header has num_actions = 0"),
    ("dataset", {"num_actions": 1, "action_names": None}, "outside its 9 observations and 1 actions"),
    ("dataset", {"action_names": ["only"]}, "its header has num_actions = 5 and 1 action_names"),
    ("dataset", {"propositions": [1]}, "its header has propositions that are not names"),
    ("dataset", {"sources": [7]}, "its header does not say how the data was collected"),
    ("dataset", {"rules": [["a"]]}, "its header has a label"),
    ("dataset", {"rules": 5}, "its header has rules = '5'"),
]


@pytest.mark.parametrize(
    ("change", "kind", "changes", "expected"),
    [*((with_arrays, *row) for row in CHANGES), *((with_header, *row) for row in HEADERS)],
)
def test_wrong_arrays_and_headers_are_named(
    change: Callable[..., bytes],
    kind: str,
    changes: dict[str, Any],
    expected: str,
    whole: dict[str, bytes],
    tmp_path: Path,
) -> None:
    assert re.search(f"damaged, or not .*{expected}", refused(kind, change(whole[kind], **changes), tmp_path))


@BOTH
def test_another_kind_of_file_is_named(kind: str, whole: dict[str, bytes], tmp_path: Path) -> None:
    (other,) = KINDS.keys() - {kind}
    assert f"a praemia {other}; expected a praemia {kind}" in refused(kind, whole[other], tmp_path)
    assert "of format 99" in refused(kind, with_header(whole[kind], format=99), tmp_path)
    assert "of format None" in refused(kind, with_header(whole[kind], format=...), tmp_path)


def claiming(shape: str) -> Callable[[bytes], bytes]:
    """Return a change of an array's raw bytes: the same numbers under a header that claims another shape."""

    def change(raw: bytes) -> bytes:
        length = int.from_bytes(raw[8:10], "little")
        text = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(length - 1) + b"\n"
        return raw[:8] + len(text).to_bytes(2, "little") + text + raw[10 + length :]

    return change


@pytest.mark.parametrize(("kind", "name"), [("run", "plan_episodes"), ("dataset", "counts")])
@pytest.mark.parametrize("shape", ["(10**15,)", f"({10**10},)", f"({10**15},)", f"({10**30},)", "(1,)", "(-1,)", "()"])
def test_an_array_that_claims_another_size_than_it_has_is_not_read(
    kind: str, name: str, shape: str, whole: dict[str, bytes], tmp_path: Path
) -> None:
    assert "damaged" in refused(kind, with_entry(whole[kind], name, claiming(shape)), tmp_path)


@BOTH
def test_an_archive_that_would_fill_the_memory_is_refused_before_it_is_unpacked(kind: str, tmp_path: Path) -> None:
    """The table of contents says how large entries are; here each claims 4 GiB, a thousand times."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(1000):
            archive.writestr(f"a{number}.npy", b"x")
        for entry in archive.infolist():
            entry.file_size = 0xFFFF_FFFE
    assert "bytes once unpacked" in refused(kind, buffer.getvalue(), tmp_path)


@BOTH
def test_an_archive_that_claims_too_little_is_not_unpacked_beyond_its_claim(kind: str, tmp_path: Path) -> None:
    """A file of 200 KB that claims 200 bytes holds 200 MB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", bytes(200_000_000))
        archive.infolist()[0].file_size = 200
    tracemalloc.start()
    assert "damaged" in refused(kind, buffer.getvalue(), tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_a_small_file_of_large_arrays_takes_no_more_memory_than_they_do(
    whole: dict[str, bytes], tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **(arrays_of(whole["run"]) | {"returns": np.zeros(10_000_000)}))
    tracemalloc.start()
    assert "inconsistent lengths" in refused("run", buffer.getvalue(), tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000


@BOTH
def test_a_file_that_is_mostly_a_hole_is_refused_unread(kind: str, tmp_path: Path) -> None:
    with open(tmp_path / "damaged.npz", "wb") as file:
        file.truncate(3 << 30)
    tracemalloc.start()
    with pytest.raises(FileError, match="at most 1,073,741,824 are read"):
        KINDS[kind].load(tmp_path / "damaged.npz")
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


def test_a_dataset_that_claims_very_many_actions_is_refused(whole: dict[str, bytes], tmp_path: Path) -> None:
    data = with_header(whole["dataset"], num_actions=10**15, action_names=None)
    assert "GiB of memory" in refused("dataset", data, tmp_path, SizeError)
