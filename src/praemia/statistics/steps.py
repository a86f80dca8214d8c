"""Steps to the optimum: after how many a learner stays near it, as benchmarks of the literature count.

A run is *near-optimal* from the first plan after which no plan falls below a share of the optimum. Values are exact, so
chance has no part in it; plans are recorded whenever one is new, or, of a learner that changes its plan at every step,
whenever the steps have grown by 2%. One plan that explores late is enough to count as not there yet. So beside it stand
what is *learned*: the same for the policies that the run would have been left with, each time that they are tested; and
what is *played*: after how many steps the run loses less than a tenth of the optimum per episode, in this and every
later twentieth of its steps. The *t test* is a sampled criterion that is used elsewhere: the first time that it no
longer tells the plan, or the learned policy, from an optimal one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.simulation import Run
from praemia.statistics.series import Series

SHARES, PLAYED_SHARE = (0.9, 0.95, 0.99), 0.9  # of the optimum: of single plans, and of what is played
LEARNED_SHARE = 0.95  # of learned policies
TEST_LEVEL = 0.1  # from which p on a policy passes the t test
PLAYED_PARTS = 20  # of a run, in which losses are averaged


def first_for_good(is_far: NDArray[np.bool_], places: NDArray[Any]) -> float:
    """Return the first of some places, in order, from which on nothing is far; infinite if the last one still is."""
    far = np.flatnonzero(is_far)
    after = int(far[-1]) + 1 if len(far) else 0
    return float(places[after]) if after < len(places) else math.inf


def _before_plans(run: Run) -> NDArray[np.int64]:
    """int64[E], how many steps were taken before the episodes that plans began with."""
    before: NDArray[np.int64] = np.concatenate(([0], np.cumsum(run.steps)))[run.plan_episodes]
    return before


def _allowed(run: Run, share: float) -> float:
    """Return by how much a policy may be worse than the optimum."""
    return (1.0 - share) * abs(run.optimal_value or 0.0)


def steps_to(run: Run, share: float) -> float:
    """Return after how many steps every plan had at least a share of the optimal value; infinite if never."""
    return first_for_good(run.plan_gaps > _allowed(run, share), _before_plans(run))


def steps_to_play(run: Run, share: float = PLAYED_SHARE) -> float:
    """Return after how many steps every twentieth of the run has a share of the optimal value; infinite if never."""
    width = math.ceil(run.steps.sum() / PLAYED_PARTS)
    part = (np.cumsum(run.steps) - run.steps) // width  # of each episode, by its first step
    lost = np.bincount(part, np.diff(run.regret, prepend=0.0), PLAYED_PARTS)
    allowed = _allowed(run, share) * np.bincount(part, minlength=PLAYED_PARTS)
    return first_for_good(lost > allowed, width * np.arange(PLAYED_PARTS))


def steps_to_learn(run: Run, share: float = LEARNED_SHARE) -> float:
    """Return after how many steps every learned policy has a share of the optimal value; NaN without tests."""
    if run.tests is None:
        return math.nan
    steps, *_, values = run.tests.T
    return first_for_good((run.optimal_value or 0.0) - values > _allowed(run, share), steps)


def steps_to_pass(run: Run, *, learned: bool = False) -> float:
    """Return after how many steps a plan, or a learned policy, passed the t test first; NaN without tests."""
    if run.tests is None:
        return math.nan
    passed = run.tests[run.tests[:, 2 if learned else 1] > TEST_LEVEL, 0]
    return float(passed[0]) if len(passed) else math.inf


CRITERIA: dict[str, Callable[[Run], float]] = {
    **{f"to {share:g}": partial(steps_to, share=share) for share in SHARES},
    "played": steps_to_play,
    "learned": steps_to_learn,
    "t test": steps_to_pass,
    "learned t test": partial(steps_to_pass, learned=True),
}


def steps_of(series: Series) -> dict[str, list[float]]:
    """Return the steps of each run by each criterion, infinite where it is not met, and NaN where it was not tested."""
    return {name: [steps(run) for run in series.runs] for name, steps in CRITERIA.items()}


def share_curve(series: Series, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median over runs of the share of the optimal value that the last plan has, after numbers of steps."""
    curves = []
    for run in series.runs:
        shares = 1.0 - run.plan_gaps / abs(run.optimal_value or 1.0)
        curves.append(shares[np.searchsorted(_before_plans(run), steps, side="right") - 1])
    median: NDArray[np.float64] = np.median(curves, axis=0)
    return median
