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

from praemia.inference.evidence import has_conflict, p_value
from praemia.inference.traces import Floats, Ints, Traces

ENOUGH = 10  # steps that could have shown that a label matters, without which none is left out


def idle_symbols(traces: Traces, *, deterministic: bool, failure_prob: float) -> Ints:
    """Return the symbols of labels that can be left out together."""
    if _repetitions(traces) < ENOUGH:
        return np.zeros(0, dtype=np.int64)
    single = np.bincount(traces.label_of, minlength=len(traces.labels))[traces.label_of] == 1
    idle = np.flatnonzero(single)
    while len(idle) and not (deterministic and not _have_conflict(traces, idle)):
        level = failure_prob / len(idle)
        p_values = [_p_value(traces, idle, symbol, level) for symbol in idle.tolist()]
        if not deterministic and min(p_values) > level:
            break
        # Of labels that matter as much, the rarest comes back: with a frequent one, no two histories would be equal.
        idle = np.delete(idle, np.lexsort((traces.symbol_counts[idle], np.array(p_values)))[0])
    return idle


def _repetitions(traces: Traces) -> int:
    """Return how many steps could contradict another, if every label that always pays the same were left out."""
    single = np.bincount(traces.label_of, minlength=len(traces.labels))[traces.label_of] == 1
    cells, _, weights, _ = _cells(traces, np.isin(traces.symbols, np.flatnonzero(single)))
    return int(weights.sum()) - int(cells.max(initial=-1)) - 1


def _have_conflict(traces: Traces, idle: Ints) -> bool:
    """Tell whether two steps pay differently after the same steps and on the same label."""
    cells, rewards, weights, _ = _cells(traces, np.isin(traces.symbols, idle))
    return has_conflict(_tables(cells, rewards, weights, np.ones(len(cells), dtype=bool), len(traces.rewards))[0])


def _p_value(traces: Traces, idle: Ints, symbol: int, level: float) -> float:
    """Return a p-value for: rewards do not depend on how often one of the idle symbols came before."""
    out, came = np.isin(traces.symbols, idle), traces.symbols == symbol
    before = np.cumsum(came, axis=1) - came  # how often it came before each step
    lately = np.zeros_like(came)  # whether it came since the last step that is kept
    for step in range(1, came.shape[1]):
        lately[:, step] = came[:, step - 1] | (lately[:, step - 1] & out[:, step - 1])
    cells, rewards, weights, steps = _cells(traces, out)
    if not len(cells):
        return 1.0
    counts = before[steps]
    ways = (counts > 0, counts % 2 > 0, counts > np.median(counts), lately[steps])
    size = len(traces.rewards)
    found = [p_value(*_tables(cells, rewards, weights, way, size), level / len(ways)) for way in ways]
    return min(1.0, len(ways) * min(found))


def _cells(traces: Traces, out: np.ndarray) -> tuple[Ints, Ints, Floats, tuple[Ints, Ints]]:
    """Return for each kept step the number of its history and label, its reward and weight; and where the steps are."""
    rows, places = np.nonzero(~out & (traces.symbols >= 0))
    symbols = traces.symbols[rows, places].astype(np.int64)
    rank = np.arange(len(rows)) - np.searchsorted(rows, rows)  # the number of the step among those kept of its episode
    cells = np.zeros(len(rows), dtype=np.int64)
    history, first = np.zeros(len(traces.lengths), dtype=np.int64), 0
    for number in range(int(rank.max(initial=-1)) + 1):
        here = np.flatnonzero(rank == number)
        label = traces.label_of[symbols[here]]
        _, cell = np.unique(history[rows[here]] * len(traces.labels) + label, return_inverse=True)
        cells[here] = cell + first
        first += int(cell.max(initial=-1)) + 1
        _, after = np.unique(history[rows[here]] * traces.num_symbols + symbols[here], return_inverse=True)
        history[rows[here]] = after
    return cells, traces.reward_of[symbols], traces.weights[rows].astype(np.float64), (rows, places)


def _tables(cells: Ints, rewards: Ints, weights: Floats, way: np.ndarray, num_rewards: int) -> tuple[Floats, Floats]:
    """Return counts [C, R] of the steps that are marked one way, and of the others."""
    shape = (int(cells.max(initial=-1)) + 1, num_rewards)
    place = cells * num_rewards + rewards
    one = np.bincount(place, weights * way, shape[0] * shape[1]).reshape(shape).astype(np.float64)
    every = np.bincount(place, weights, shape[0] * shape[1]).reshape(shape).astype(np.float64)
    return one, every - one
