"""Reading YAML and JSON into plain data with places."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from praemia.errors import FileError, PraemiaError, visible
from praemia.files.atomic_io import TEXT
from praemia.files.source import MAX_DEPTH, parse_source, read_source

SCALARS = {
    "1e-3": 0.001,
    "-2": -2,
    "+7": 7,
    "007": 7,
    "0x1F": 31,
    "0o17": 15,
    ".5": 0.5,
    "no": "no",
    "yes": "yes",
    "12:30": "12:30",
    "1_000": "1_000",
    "true": True,
    "FALSE": False,
    "~": None,
    "": None,
    "'1'": "1",
    '"true"': "true",
    ".inf": math.inf,
    "-.inf": -math.inf,
}

MISTAKES = {
    "broken": ("a: [1,\nb: }", "f:2:4: not valid YAML"),
    "unclosed": ("a: 'b", "f:1:6: not valid YAML"),
    "doubled key": ("a: 1\nb: 2\na: 3\n", "f:3:1: the key 'a' is given twice"),
    "doubled key, written differently": ("x: {0: 1, '0': 2}\n", "f:1:11: the key '0' is given twice"),
    "list as key": ("? [1]\n: 2\n", "f:1:3: a list or mapping as a key"),
    "alias": ("a: &x [1]\nb: *x\n", "f:1:4: an alias"),
    "merge key": ("a: &x {c: 1}\nb: {<<: *x}\n", "f:1:4: an alias"),
    "python tag": ("a: !!python/object/apply:os.system [ls]\n", "f:1:4: the tag"),
    "own tag": ("a: !thing 3\n", "f:1:4: the tag"),
    "core tag": ("a: !!str 3\n", "f:1:4: the tag"),
    "two documents": ("a: 1\n---\nb: 2\n", "f:2:1: not valid YAML: expected a single document"),
    "empty": ("", "f: the file is empty"),
    "only a comment": ("# nothing\n", "f: the file is empty"),
    "control character": ("a: \x07\n", "f: not valid YAML"),
    "deep brackets": ("[" * 100_000, f"f:1:{MAX_DEPTH}: not valid YAML: nested more than"),
    "deep dashes": ("- " * 2_000 + "a", "nested more than"),
    "deep mappings": ("{a: " * 2_000, "nested more than"),
    "long number": ("a: " + "9" * 5_000, "f:1:4: a number of 5,000 digits; at most 300 are read"),
}


@pytest.mark.parametrize(("text", "expected"), SCALARS.items(), ids=repr)
def test_scalars_follow_yaml_1_2(text: str, expected: object) -> None:
    value = parse_source(f"key: {text}\n", "f").data["key"]
    assert isinstance(value, type(expected))
    assert value == expected


def test_nan_is_a_number_that_later_checks_refuse() -> None:
    assert math.isnan(parse_source("key: .nan", "f").data["key"])


def test_keys_are_text() -> None:
    assert parse_source("{0: a, true: b, 1.5: c}", "f").data == {"0": "a", "true": "b", "1.5": "c"}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_line_with_its_place(text: str, message: str) -> None:
    with pytest.raises(FileError) as caught:
        parse_source(text, "f")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_escapes_are_read_in_json_and_stay_as_they_are_in_plain_yaml() -> None:
    escapes = r"\ud83d\ude00"
    assert parse_source(f"a: '{escapes}'\nb: {escapes}", "f").data == {"a": escapes, "b": escapes}
    assert parse_source(f'{{"a": "{escapes}"}}', "f", is_json=True).data == {"a": "😀"}
    source = parse_source(f'{{"b": ["{escapes}", 1], "a": 2}}', "f", is_json=True)
    assert (source.spot(("b", 1)), source.spot(("a",))) == ("f:1:24", "f:1:33")


JSON_MISTAKES = {
    '{"a": 1,}': "f:1:9: not valid JSON",
    '{"a": 1, "a": 2}': "f: key 'a' is listed twice",
    '{"a": NaN}': "f: not valid JSON: NaN",
    '{"a": ' + "9" * 5_000 + "}": "f: a number of 5,000 digits",
    "[" * 100_000: "f: not valid JSON: nested too deeply",
}


@pytest.mark.parametrize(("text", "message"), JSON_MISTAKES.items(), ids=JSON_MISTAKES.values())
def test_a_mistake_in_json_is_one_line(text: str, message: str) -> None:
    with pytest.raises(PraemiaError) as caught:
        parse_source(text, "f", is_json=True)
    assert str(caught.value).startswith(message)


def test_every_part_has_its_line_and_column() -> None:
    source = parse_source("a:\n  - x\n  - {b: 1,\n     c: [2]}\n", "f")
    assert source.spot(()) == "f:1:1"
    assert source.spot(("a", 0)) == "f:2:5"
    assert source.spot(("a", 1, "c", 0)) == "f:4:10"
    assert source.spot(("a", 1, "c"), key=True) == "f:4:6"
    assert source.spot(("a", 1, "nowhere", 7), column=False) == "f:3"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read_source(path).data == {"a": 1}


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    binary, large = tmp_path / "binary", tmp_path / "large"
    binary.write_bytes(b"\x80\x81\xff\x00" * 10)
    with large.open("wb") as file:
        file.truncate(TEXT + 1)
    for path, reason in {
        tmp_path: "this is a folder",
        tmp_path / "absent.yaml": "No such file",
        binary: "not UTF-8 text",
        large: "at most",
        Path("a\0b"): "cannot be read",
    }.items():
        with pytest.raises(FileError, match=reason) as caught:
            read_source(path)
        assert str(caught.value).startswith(visible(str(path)))


def test_a_file_without_permission_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, flags: int) -> int:  # root, as whom tests may run, can read everything
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    path = tmp_path / "f.yaml"
    path.touch()
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(FileError, match=r"f\.yaml: cannot be read: Permission denied"):
        read_source(path)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=8),
    lambda parts: (
        st.lists(parts, max_size=4) | st.dictionaries(st.text("abc01 -", min_size=1, max_size=6), parts, max_size=4)
    ),
    max_leaves=12,
)


@given(_json, st.sampled_from([None, 1, "\t"]))
def test_json_reads_as_json(value: object, indent: object) -> None:
    for is_json in (True, False):
        text = json.dumps(value, indent=indent)  # type: ignore[arg-type]
        assert parse_source(text, "f", is_json=is_json).data == value
