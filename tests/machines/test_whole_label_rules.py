"""A label rule names observations and actions by whole numbers; anything else is refused, not rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from praemia import LabeledMDP, LabelRule, PraemiaError

ROWS = {(o, 0): {min(3, o + 1): 1.0} for o in range(4)}


@pytest.mark.parametrize("place", ["source", "action", "target"])
@pytest.mark.parametrize("number", [5 / 2, 0.5, float("nan"), "1"])
def test_a_label_rule_names_whole_numbers(place: str, number: Any) -> None:
    with pytest.raises(PraemiaError, match=r"whole|number"):
        LabeledMDP.from_rows(4, 1, ROWS, labels=[LabelRule("there", **{place: number})], start=0)


def test_a_label_rule_takes_numpys_whole_numbers() -> None:
    mdp = LabeledMDP.from_rows(4, 1, ROWS, labels=[LabelRule("there", target=np.int64(2))], start=0)
    assert frozenset({"there"}) in mdp.label_sets
