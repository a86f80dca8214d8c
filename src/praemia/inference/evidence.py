"""May two sets of rewards come from one law? The exact test behind every merge, and what it is worth as evidence.

A *cell* is a place in which rewards of two origins meet: those that would arrive there if a merge were made, and those
that are there already. In the class of machines inferred here, rewards of one cell are independent draws of one law if
the merge is right. Then, given how many arrived and how often each reward occurs in all, the number of arrivals with a
reward is hypergeometric. That gives an exact p-value however rare the reward is (Fisher 1935). Cells that could not
reject, whatever arrived, are not counted among the tests (Tarone 1990).

Where small differences in many cells count, ``differ`` adds them up: the likelihood ratio of all cells together,
against what it is if the rewards of each cell are dealt out at random to its two origins
(a permutation test: exact as well).
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2, hypergeom

from praemia.inference.traces import Floats, Ints

FEW = 3  # rewards of either origin, below which a cell says too little to be added up
SUSPICIOUS = 1e-3
DRAWS_AT_ONCE = 500


def p_value(arriving: Floats, present: Floats, level: float) -> float:
    """Return a p-value for: in every cell both kinds of rewards follow one law. It is valid at the given level.

    Parameters
    ----------
    arriving, present : float64[C, R], how often each reward occurs in each cell.
    """
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


def looks_different(first: Floats, second: Floats) -> bool:
    """Tell quickly whether two origins of rewards seem to differ in some cells [C, R]: a look, not a test."""
    first, second = _worth_comparing(first, second)
    freedom = ((first + second > 0).sum(axis=1) - 1).sum()
    return bool(freedom) and chi2.sf(2.0 * _likelihood_ratio(first, second), freedom) <= SUSPICIOUS


def differ(first: Floats, second: Floats, level: float, rng: np.random.Generator) -> bool:
    """Tell whether two origins of rewards differ in some cells [C, R]: if they do not, then w.p. at most ``level``."""
    first, second = _worth_comparing(first, second)
    if not len(first):
        return False
    pooled, drawn = (first + second).astype(np.int64), first.sum(axis=1).astype(np.int64)
    found, above = _likelihood_ratio(first, second), 0
    num_draws = int(np.ceil(10.0 / level))
    for start in range(0, num_draws, DRAWS_AT_ONCE):
        dealt = _dealt(pooled, drawn, min(DRAWS_AT_ONCE, num_draws - start), rng)
        above += int((_likelihood_ratio(dealt, pooled - dealt) >= found - 1e-9).sum())
        if above + 1 > level * (num_draws + 1):
            return False
    return True


def _worth_comparing(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the cells with enough rewards of either origin; the choice looks at totals alone."""
    enough = (np.minimum(first.sum(axis=1), second.sum(axis=1)) >= FEW) & ((first + second > 0).sum(axis=1) > 1)
    return first[enough], second[enough]


def _likelihood_ratio(first: Floats, second: Floats) -> Floats:
    """Return the log of how much likelier cells [..., C, R] are if the two origins have laws of their own."""

    def best(counts: Floats) -> Floats:
        totals = np.maximum(counts.sum(axis=-1, keepdims=True), 1.0)
        return np.asarray(xlogy(counts, counts / totals).sum(axis=(-2, -1)))

    return np.asarray(best(first) + best(second) - best(first + second))


def _dealt(pooled: Ints, drawn: Ints, num_draws: int, rng: np.random.Generator) -> Floats:
    """Deal the rewards [C, R] of each cell out at random: float64[draws, C, R], so many of each cell [C]."""
    dealt = np.zeros((num_draws, *pooled.shape))
    left, rest = (np.tile(part, (num_draws, 1)) for part in (drawn, pooled.sum(axis=1)))
    for reward in range(pooled.shape[1]):
        having = np.broadcast_to(pooled[:, reward], left.shape)
        dealt[:, :, reward] = rng.hypergeometric(having, rest - having, left)
        left, rest = left - dealt[:, :, reward].astype(np.int64), rest - having
    return dealt


def evidence(arriving: Floats, present: Floats, base: Floats) -> float:
    """Return how much better the rewards present predict those arriving than the base rates of their labels, in nats.

    Parameters
    ----------
    arriving, present : float64[C, R]. base : float64[C, R], the law of rewards on the cell's label over all traces.
    """
    there = present.sum(axis=1, keepdims=True)
    predicted = (present + base) / (there + 1.0)
    used = (arriving > 0) & (there > 0)
    return float((arriving[used] * np.log(predicted[used] / base[used])).sum())


def has_conflict(cells: Floats) -> bool:
    """Tell whether some cell [C, R] has two different rewards: impossible in a deterministic machine."""
    return bool(((cells > 0).sum(axis=1) > 1).any())
