"""Published benchmarks: the tables of their page mark a winner only where its interval allows it."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the figure of the page is drawn with it (pip install 'praemia[plot]')")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def tool() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        import make_benchmarks

        yield make_benchmarks
        sys.modules.pop("make_benchmarks")


@pytest.mark.parametrize("num_runs", [6, 10, 25])
def test_an_interval_of_the_median_covers_it(tool: Any, num_runs: int) -> None:
    rng = np.random.default_rng(0)
    found = [tool.Median.of(rng.exponential(size=num_runs)) for _ in range(2000)]
    assert 0.94 <= np.mean([own.low <= math.log(2) <= own.high for own in found]) <= 0.99


def test_fewer_than_six_runs_have_no_interval_and_win_nothing(tool: Any) -> None:
    few, many = tool.Median.of([1, 2, 3]), tool.Median.of(range(100, 110))
    assert (few.low, few.high) == (0, math.inf)
    assert tool.Row("t", {"learned": {"a": few, "b": many}}, {}, 200).winner("learned") is None


def test_a_winner_lies_below_all_other_intervals(tool: Any) -> None:
    first, second, third = (tool.Median.of(np.arange(10) + start) for start in (0, 5, 30))
    row = tool.Row("t", {"one": {"a": first, "b": third}, "two": {"a": first, "b": second, "c": third}}, {}, 200)
    assert (row.winner("one"), row.winner("two")) == ("a", None)


def test_runs_that_never_get_there_are_beyond_the_budget(tool: Any) -> None:
    assert tool.Median.of([5.0] * 4 + [math.inf] * 6).text(1000) == "> 1,000"
    assert tool.Median.of([5.0] * 8 + [math.inf] * 2).text(1000) == "5 (5–∞)"
