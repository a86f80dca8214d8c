"""Labels that never matter: they always pay the same, and the rest of an episode does not depend on them.

Most steps of most episodes are of that kind. Without them episodes are shorter, more of them are equal, and fewer edges
have to be decided, so that less data suffices and less noise is taken for structure.

At first every label that always pays the same is left out. Then they are put back one by one, the one that seems to
matter most first, until the traces without the others

- do not contradict each other, if the machine is deterministic. With a characteristic sample among the traces, no label
  that matters stays out: it moves some state, and the word that tells the two states apart then pays two ways.
- are not rejected by the exact test of ``praemia.inference.evidence``, if it is probabilistic: on each label after each
  history, rewards after more of the left-out steps are compared with rewards after fewer, in several ways.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.inference.evidence import count_two_ways, has_conflict, p_value
from praemia.inference.traces import Floats, Ints, Traces, keep_steps, number_histories

ENOUGH = 10  # steps that could have shown that a label matters, without which none is left out


def idle_symbols(traces: Traces, *, deterministic: bool, failure_prob: float) -> Ints:
    """Return the symbols of labels that can be left out together."""
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
        """Whether two steps pay differently after the same steps and on the same label."""
        return has_conflict(self.split_counts(np.ones(len(self.cells), dtype=bool))[0])
