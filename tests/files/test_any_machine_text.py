"""Whatever stands in a machine file, reading it gives a machine or a clear error."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_event_formats import STOCHASTIC
from test_hoa_format import EDGES
from txt_machines import SAMPLES

from praemia.errors import ParameterError, PraemiaError
from praemia.files import load_machine
from praemia.files.formats import read_machine_text
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
        assert isinstance(read_machine_text(changed, "m", format, None), RewardMachine)


@pytest.mark.parametrize("format", TEXTS)
@given(text=st.text() | st.text("0123(){}[]'\"!&|@,:- \n"))
def test_any_text_is_a_machine_or_a_clear_error(format: str, text: str) -> None:
    with suppress(PraemiaError):
        assert isinstance(read_machine_text(text, "m", format, None), RewardMachine)


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
        assert isinstance(read_machine_text(text, "m", format, None), RewardMachine)


def test_a_format_or_pay_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text(TEXTS["txt"])
    with pytest.raises(ParameterError, match="unknown format 'hao'"):
        load_machine(path, "hao")
    with pytest.raises(ParameterError, match=r"pay='each' is for automata \(HOA\)"):
        load_machine(path, pay="each")
