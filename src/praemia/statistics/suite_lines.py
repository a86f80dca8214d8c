"""The lines of a suite's table: after how many steps a learner stays near the optimum, beside what was published.

A run is *near-optimal* from the first plan after which no plan falls below the threshold, a share of the optimum.
Values are exact, so chance has no part in it; plans are recorded whenever one is new, or, of a learner that changes its
plan at every step, whenever the steps have grown by 2%. One plan that explores late is enough to count as not there
yet, even if it is mended at the first step. So beside it stand what is *learned*: the same for the policies that the
run would have been left with (``praemia.simulation.learned``), each time that they are tested; and what is *played*:
after how many steps the run loses, by its regret, less than a tenth of the optimum per episode, in this and every later
twentieth of its steps. The *published criterion* is a sampled one: the first time that a t test no longer tells the
plan, or the learned policy, from an optimal one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.experiments.suites import LEARNED_SHARE, PLAYED_SHARE, SHARES, TEST_LEVEL, Benchmark, Suite
from praemia.simulation import Run
from praemia.statistics.standings import first_for_good
from praemia.statistics.stored_runs import Series

PLAYED_PARTS = 20  # of a run, in which losses are averaged


def steps_of_plans(run: Run) -> NDArray[np.int64]:
    """int64[E], how many steps were taken before the episodes that plans began with."""
    before: NDArray[np.int64] = np.concatenate(([0], np.cumsum(run.steps)))[run.plan_episodes]
    return before


def steps_to(run: Run, share: float) -> float:
    """Return after how many steps every plan was worth at least a share of the optimum; infinite if never."""
    assert run.optimal_value is not None
    return first_for_good(run.plan_gaps > (1.0 - share) * abs(run.optimal_value), steps_of_plans(run))


def steps_to_play(run: Run, share: float = PLAYED_SHARE) -> float:
    """Return after how many steps every twentieth of the run is worth a share of the optimum; infinite if never."""
    assert run.optimal_value is not None
    width = math.ceil(run.steps.sum() / PLAYED_PARTS)
    part = (np.cumsum(run.steps) - run.steps) // width  # of each episode, by its first step
    lost = np.bincount(part, np.diff(run.regret, prepend=0.0), PLAYED_PARTS)
    allowed = (1.0 - share) * abs(run.optimal_value) * np.bincount(part, minlength=PLAYED_PARTS)
    return first_for_good(lost > allowed, width * np.arange(PLAYED_PARTS))


def steps_to_learn(run: Run, share: float) -> float:
    """Return after how many steps every learned policy is worth a share of the optimum; infinite if never."""
    assert run.tests is not None
    assert run.optimal_value is not None
    steps, *_, values = run.tests.T
    return first_for_good(run.optimal_value - values > (1.0 - share) * abs(run.optimal_value), steps)


def steps_to_pass(run: Run, *, learned: bool = False) -> float:
    """Return after how many steps a plan, or a learned policy, passed the sampled test first; infinite if never."""
    assert run.tests is not None
    passed = run.tests[run.tests[:, 2 if learned else 1] > TEST_LEVEL, 0]
    return float(passed[0]) if len(passed) else math.inf


@dataclass(frozen=True)
class SuiteLine:
    """A learner on a task of a suite.

    Attributes
    ----------
    budget : the steps of a run. steps : for each share of the optimum, those that each run took; infinite if never.
    played : the steps of each run after which it plays near the optimum on average.
    learned : the steps of each run to a learned policy near the optimum. t_test, learned_t_test : those of the plan and
        the learned policy by the published criterion. All three are empty where tests were not asked for.
    published : what was published for this learner, if it was. seconds : the median time of a run.
    """

    task: str
    learner: str
    budget: int
    steps: Mapping[float, list[float]]
    played: list[float]
    learned: list[float]
    t_test: list[float]
    learned_t_test: list[float]
    published: int | None
    seconds: float


def suite_lines(suite: Suite, settings: Mapping[str, Sequence[Series]]) -> list[SuiteLine]:
    """Return a line for each learner on each task that has been played, in the suite's order."""
    return [_line(item, series) for item in suite.benchmarks for series in settings.get(item.task, ())]


def _line(item: Benchmark, series: Series) -> SuiteLine:
    runs = series.runs
    tested = runs if series.first.tests is not None else ()
    return SuiteLine(
        series.task,
        series.title,
        item.num_steps,
        steps={share: [steps_to(run, share) for run in runs] for share in SHARES},
        played=list(map(steps_to_play, runs)),
        learned=[steps_to_learn(run, LEARNED_SHARE) for run in tested],
        t_test=list(map(steps_to_pass, tested)),
        learned_t_test=[steps_to_pass(run, learned=True) for run in tested],
        published=item.published.get(series.title),
        seconds=series.seconds,
    )


def share_curve(series: Series, steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median over runs of the share of the optimum that the last plan is worth, after numbers of steps."""
    curves = []
    for run in series.runs:
        assert run.optimal_value is not None
        shares = 1.0 - run.plan_gaps / abs(run.optimal_value)
        curves.append(shares[np.searchsorted(steps_of_plans(run), steps, side="right") - 1])
    median: NDArray[np.float64] = np.median(curves, axis=0)
    return median
