"""Names that other tools read as operators or constants are pointed out, with what was probably meant."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import praemia
from praemia import PraemiaError, RewardMachine

PROBABLY_MEANT = {
    "GFa": r"G[ (]+F[ (]+a",
    "F(Ga)": r"G[ (]+a",
    "Ga & Fb": r"(G[ (]+a|F[ (]+b)",
    "F item & Gitem": r"G[ (]+item",
    "TRUE U a": "true",
    "F(a & tt)": "true",
    "F(a | ff)": "false",
}
NAMES = [
    "F Goal",
    "F(North & X F Room)",
    "Goal U Office",
    "F Garage & G !Fire",
    "F Xylophone",
    'F "GFa"',
    "F t",
    "a & f",
    "F else",
]


@pytest.mark.parametrize(("formula", "meant"), PROBABLY_MEANT.items())
def test_the_likely_meaning_is_named(formula: str, meant: str) -> None:
    with pytest.warns(UserWarning, match=meant):
        RewardMachine.from_ltlf(formula)


@pytest.mark.parametrize("formula", NAMES)
def test_ordinary_names_are_names(formula: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RewardMachine.from_ltlf(formula)


def corridor(folder: Path, formula: str, label: str) -> Path:
    """Write a task whose only label is ``label``."""
    mdp = {
        "observations": 2,
        "actions": 1,
        "transitions": [[0, 0, {"1": 1}], [1, 0, {"1": 1}]],
        "labels": [{"to": 1, "label": [label]}],
    }
    file = folder / "corridor.json"
    file.write_text(json.dumps({"mdp": mdp, "machine": {"ltlf": formula}, "horizon": 3}), encoding="utf-8")
    return file


def test_in_a_task_file_it_is_an_error_if_no_label_has_the_name(tmp_path: Path) -> None:
    with pytest.raises(PraemiaError, match=r"G[ (]+F[ (]+a"):
        praemia.load_task(corridor(tmp_path, "GFa", "a"))


def test_in_a_task_file_a_name_that_a_label_has_is_a_name(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may still be pointed out
        task = praemia.load_task(corridor(tmp_path, "F GFa", "GFa"))
    assert praemia.solve(task).value == 1.0
