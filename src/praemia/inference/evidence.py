"""The exact test behind every merge: can two sets of rewards have one distribution?

A *cell* is a place in which rewards that would arrive by a merge meet those already there. If the merge is right, the
number of arrivals with a reward is hypergeometric (Fisher 1935); cells that could not reject are not counted among the
tests (Tarone 1990). *Idle labels* always have the same reward, and the rest of an episode does not depend on them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from praemia.inference.traces import Floats, Ints, Traces, keep_steps, number_histories

ENOUGH = 10  # steps that could have shown that a label matters, without which none is left out


class Cells(NamedTuple):
    """Places in which rewards of two origins meet: how often each came from either, and the label of each place."""

    arriving: Floats  # [C, R]
    present: Floats  # [C, R]
    labels: Ints  # [C]


def compare_suffixes(traces: Traces, rows: Ints, steps: Ints, groups: Ints, arrives: NDArray[np.bool_]) -> Cells:
    """Follow the rests of episodes step by step; those of one group with the same steps so far stay together.

    A group of one episode, or without an arriving one, has nothing to compare and is dropped.
    """
    num_labels, num_rewards = len(traces.labels), len(traces.rewards)
    parts = [Cells(np.zeros((0, num_rewards)), np.zeros((0, num_rewards)), groups[:0])]
    while len(rows):
        going = steps < traces.lengths[rows]
        rows, steps, groups, arrives = rows[going], steps[going], groups[going], arrives[going]
        _, groups = np.unique(groups, return_inverse=True)
        size, comes = np.bincount(groups), np.bincount(groups, arrives)
        kept = ((size > 1) & (comes > 0))[groups]
        rows, steps, groups, arrives = rows[kept], steps[kept], groups[kept], arrives[kept]
        if not len(rows):
            break
        symbols, weights = traces.symbols[rows, steps], traces.weights[rows]
        cells, cell = np.unique(groups * num_labels + traces.label_of[symbols], return_inverse=True)
        arriving, present = count_two_ways(cell, traces.reward_of[symbols], weights, arrives, num_rewards)
        parts.append(Cells(arriving, present, cells % num_labels))
        groups, steps = groups * traces.num_symbols + symbols, steps + 1
    return Cells(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def count_two_ways(
    cells: Ints, rewards: Ints, weights: Ints, marked: NDArray[np.bool_], num_rewards: int
) -> tuple[Floats, Floats]:
    """Return counts [C, R] of the steps that are marked, and of the others."""
    shape = (int(cells.max(initial=-1)) + 1, num_rewards)
    place = cells * num_rewards + rewards
    first, second = (
        np.bincount(place, weights * part, shape[0] * shape[1]).reshape(shape).astype(np.float64)
        for part in (marked, ~marked)
    )
    return first, second


def p_value(arriving: Floats, present: Floats, level: float) -> float:
    """Return a p-value, valid at the level, for: in every cell [C, R] both kinds of rewards have one distribution."""
    marked, unmarked, total, drawn = _tables(arriving, present)
    if not len(marked):
        return 1.0
    lowest, highest = np.maximum(0, drawn - (total - unmarked)), np.minimum(drawn, unmarked)
    ends = (hypergeom.pmf(lowest, total, unmarked, drawn), hypergeom.pmf(highest, total, unmarked, drawn))
    attainable = 2.0 * np.minimum(*ends)
    number = _testable(attainable, level)
    can_reject = attainable <= level / number
    if not can_reject.any():
        return 1.0
    marked, unmarked, total, drawn = (column[can_reject] for column in (marked, unmarked, total, drawn))
    tails = np.minimum(hypergeom.cdf(marked, total, unmarked, drawn), hypergeom.sf(marked - 1, total, unmarked, drawn))
    return float(min(1.0, 2.0 * tails.min() * number))


def _tables(arriving: Floats, present: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return for each cell and reward: arrivals with the reward, all with it, all rewards, arrivals."""
    drawn, there = arriving.sum(axis=1), present.sum(axis=1)
    pooled = arriving + present
    mixed = (drawn > 0) & (there > 0) & ((pooled > 0).sum(axis=1) > 1)
    arriving, pooled = arriving[mixed], pooled[mixed]
    cells, rewards = np.nonzero(pooled)
    return arriving[cells, rewards], pooled[cells, rewards], pooled.sum(axis=1)[cells], arriving.sum(axis=1)[cells]


def _testable(attainable: Floats, level: float) -> int:
    """Return Tarone's number: the least k such that at most k tests can reach a p-value of level/k."""
    ordered = np.sort(attainable)
    for k in range(1, len(ordered) + 1):
        if np.searchsorted(ordered, level / k, side="right") <= k:
            return k
    return len(ordered)


def evidence(arriving: Floats, present: Floats, base: Floats) -> float:
    """Return how much better the rewards present predict those arriving than base rates do, in nats; all [C, R]."""
    there = present.sum(axis=1, keepdims=True)
    predicted = (present + base) / (there + 1.0)
    used = (arriving > 0) & (there > 0)
    return float((arriving[used] * np.log(predicted[used] / base[used])).sum())


def has_conflict(cells: Floats) -> bool:
    """Return whether some cell [C, R] has two different rewards: impossible in a deterministic machine."""
    return bool(((cells > 0).sum(axis=1) > 1).any())


def idle_symbols(traces: Traces, *, deterministic: bool, failure_prob: float) -> Ints:
    """Return the symbols of labels that can be left out together.

    At first all that always have one reward are; those that seem to matter most are put back one by one, until nothing
    contradicts (deterministic) or is rejected.
    """
    idle = np.flatnonzero(np.bincount(traces.label_of)[traces.label_of] == 1)
    steps = _KeptSteps(traces, idle)
    if steps.num_repetitions < ENOUGH:
        return idle[:0]
    while len(idle) and (steps.have_conflict or not deterministic):
        level = failure_prob / len(idle)
        p_values = [_p_value(steps, symbol, level) for symbol in idle.tolist()]
        if not deterministic and min(p_values) > level:
            break
        # Of labels that matter as much, the rarest comes back: with a frequent one, no two histories would be equal.
        idle = np.delete(idle, np.lexsort((traces.symbol_counts[idle], np.array(p_values)))[0])
        steps = _KeptSteps(traces, idle)
    return idle


def _p_value(steps: _KeptSteps, symbol: int, level: float) -> float:
    """Return a p-value for: rewards do not depend on how often one of the idle symbols came before."""
    if not len(steps.cells):
        return 1.0
    came = steps.traces.symbols == symbol
    lately = np.zeros_like(came)  # whether it came since the last step that is kept
    for step in range(1, came.shape[1]):
        lately[:, step] = came[:, step - 1] | (lately[:, step - 1] & ~steps.kept[:, step - 1])
    counts = (np.cumsum(came, axis=1) - came)[steps.kept]  # how often it came before each step
    ways = (counts > 0, counts % 2 > 0, counts > np.median(counts), lately[steps.kept])
    p_values = [p_value(*steps.split_counts(way), level / len(ways)) for way in ways]
    return min(1.0, len(ways) * min(p_values))


class _KeptSteps:
    """The steps that remain without idle symbols: the cell of each, which is its history and label; reward; weight."""

    def __init__(self, traces: Traces, idle: Ints) -> None:
        self.traces, self.kept = traces, ~np.isin(traces.symbols, idle) & (traces.symbols >= 0)
        together = keep_steps(traces.symbols, self.kept)
        histories = number_histories(together)[together >= 0]  # in the order of self.kept
        symbols = together[together >= 0]
        _, self.cells = np.unique(histories * len(traces.labels) + traces.label_of[symbols], return_inverse=True)
        self.rewards, self.weights = traces.reward_of[symbols], traces.weights[np.nonzero(self.kept)[0]]

    def split_counts(self, marked: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return counts [C, R] of the steps that are marked, and of the others."""
        return count_two_ways(self.cells, self.rewards, self.weights, marked, len(self.traces.rewards))

    @property
    def num_repetitions(self) -> int:
        """How many steps could contradict another: those that are not the first in their cell."""
        return int(self.weights.sum()) - int(self.cells.max(initial=-1)) - 1

    @property
    def have_conflict(self) -> bool:
        """Whether two steps have different rewards after the same steps and on the same label."""
        return has_conflict(self.split_counts(np.ones(len(self.cells), dtype=bool))[0])
