"""Whatever stands in a machine file, reading it gives a machine or a clear error."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_event_formats import STOCHASTIC
from test_hoa_format import EDGES
from txt_machines import SAMPLES

from praemia.errors import FileError, ParameterError, PraemiaError
from praemia.files.load_save import find_reader, find_writer, load_machine
from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine

TEXTS = {"txt": SAMPLES["rewards by label"], "dot": STOCHASTIC, "hoa": EDGES}
PIECES = ["", "0", "-1", "1e400", "->", *"()[]{}'\"!&|\n#@é:,t"]


@pytest.mark.parametrize("format", TEXTS)
@given(place=st.integers(0, 400), length=st.integers(0, 3), piece=st.sampled_from(PIECES))
def test_a_text_with_any_part_replaced_is_a_machine_or_a_clear_error(
    format: str, place: int, length: int, piece: str
) -> None:
    text = TEXTS[format]
    changed = text[: place % len(text)] + piece + text[place % len(text) + length :]
    with suppress(PraemiaError):
        assert isinstance(find_reader("m", format)(changed, "m"), RewardMachine)


@pytest.mark.parametrize("format", TEXTS)
@given(text=st.text() | st.text("0123(){}[]'\"!&|@,:- \n"))
def test_any_text_is_a_machine_or_a_clear_error(format: str, text: str) -> None:
    with suppress(PraemiaError):
        assert isinstance(find_reader("m", format)(text, "m"), RewardMachine)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("txt", "0\n[]\n(0,0,'" + "!" * 100_000 + "a',ConstantRewardFunction(1))"),
        ("hoa", EDGES.replace("[t]", "[" + "!" * 100_000 + "0]")),
        ("hoa", EDGES.replace("[t]", "[" + "(" * 100_000 + "0" + ")" * 100_000 + "]")),
        ("dot", "digraph g {" * 50_000),
    ],
)
def test_deep_nesting_exhausts_nothing(format: str, text: str) -> None:
    with suppress(PraemiaError):
        assert isinstance(find_reader("m", format)(text, "m"), RewardMachine)


@pytest.mark.parametrize("format", TEXTS)
@pytest.mark.parametrize("number", ["1" * 5_000, "-" + "1" * 5_000, "1e400", "1e9999999999999999999"], ids=len)
def test_no_number_is_too_long_to_be_a_clear_error(format: str, number: str) -> None:
    text = TEXTS[format]
    for place in re.finditer("[0-9]+", text):
        changed = text[: place.start()] + number + text[place.end() :]
        with suppress(PraemiaError):
            assert isinstance(find_reader("m", format)(changed, "m"), RewardMachine)


@pytest.mark.parametrize(
    ("format", "before", "after", "line"),
    [
        ("txt", "", "\n[2]\n(0,1,'a',ConstantRewardFunction(0))\n", 1),
        ("txt", "0\n[", "]\n(0,1,'a',ConstantRewardFunction(0))\n", 2),
        ("txt", "0\n[2]\n(0,", ",'a',ConstantRewardFunction(0))\n", 3),
        ("hoa", "HOA: v1\nStart: ", "\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0\n--END--\n", 2),
        ("hoa", "HOA: v1\nStart: 0\nAcceptance: 1 Inf(0)\n--BODY--\nState: ", "\n--END--\n", 5),
    ],
)
def test_a_number_of_thousands_of_digits_is_refused_with_its_line(
    format: str, before: str, after: str, line: int
) -> None:
    with pytest.raises(FileError, match=f"^m:{line}: a number of 5,000 digits; at most 300 are read$"):
        find_reader("m", format)(before + "1" * 5_000 + after, "m")


def test_states_named_by_very_long_numbers_are_numbered_anew() -> None:
    names = "0", "1" * 5_000
    machine = MachineBuilder(names[0], ("a",)).edge(names[0], "a", names[1], reward=1).build()
    again = find_reader("m.txt")(find_writer("m.txt", "machine")(machine), "m.txt")
    assert again.states == ("0", "1")


def test_a_format_or_pay_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text(TEXTS["txt"])
    with pytest.raises(ParameterError, match="unknown format 'hao'"):
        load_machine(path, "hao")
    with pytest.raises(ParameterError, match=r"pay='each' is for files in the format hoa"):
        load_machine(path, pay="each")
