"""Is there a smaller machine whose moves cannot be seen? Then the machine lies outside the class inferred here.

In the class, label and reward fix the next state. Outside it, a step may lead to one of several states without a
reward that tells which: in the warehouse, nothing shows whether the gripper took the item. To the observer such a
machine is a growing family of beliefs, which state merging turns into more and more states as data comes in.

So machines with hidden moves and at most as many states are fitted by expectation maximisation (Baum et al. 1970), from
several random starts, and compared by description length: −log-likelihood, plus ½ log n for each free probability
estimated from n steps, plus log M for the target of each edge. Steps that never move the inferred machine and pay what
their label always pays are left out. This is a heuristic with a margin, not a test at a level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, islice

import numpy as np

from praemia.inference.merging import Core, walk
from praemia.inference.support import filled, log_likelihood
from praemia.inference.traces import Floats, Ints, Traces

MARGIN = 10.0  # nats by which the description must be shorter
MOST_STATES = 4
STARTS, FIRST_STEPS, STEPS = 10, 15, 120
OPEN = 0.3  # how much of each edge is left open at the start of a fit
NEGLIGIBLE = 1e-3
MAX_EVENTS, MAX_ROWS = 10, 600  # of each episode, and different episodes


def find_hidden_moves(traces: Traces, core: Core) -> int | None:
    """Return the number of states of a machine with hidden moves that describes the traces better; None if none does.

    Only machines with at most as many states as the inferred one are tried.
    """
    kept = _moving(traces, core)
    if core.num_states < 2 or not len(kept):
        return None
    events = _events(traces, kept)
    moves = filled(core.delta)[:, kept]
    start = np.zeros(len(events.lengths), dtype=np.int64)
    counts = walk(events, moves, np.arange(len(start)), start, start).counts
    own = _length(log_likelihood(counts, events.label_of), counts[:, :, None] * _one_hot(moves), events.label_of)
    for num_states in range(2, min(core.num_states, MOST_STATES) + 1):
        length, hides = _fit(events, _starts(counts, moves, events.label_of, num_states))
        if hides and length < own - MARGIN:
            return num_states
    return None


def _moving(traces: Traces, core: Core) -> Ints:
    """Return the symbols whose label moves some state, or does not always pay the same."""
    seen = core.counts > 0
    moves = (seen & (filled(core.delta) != np.arange(core.num_states)[:, None])).any(axis=0)
    varied = np.bincount(traces.label_of, minlength=len(traces.labels)) > 1
    matters = np.zeros(len(traces.labels), dtype=bool)
    matters[traces.label_of[moves]] = True
    return np.flatnonzero((matters | varied)[traces.label_of])


def _events(traces: Traces, kept: Ints) -> Traces:
    """Return the traces with some symbols alone, up to a number of different sequences."""
    number = np.full(traces.num_symbols + 1, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    weights: dict[tuple[int, ...], int] = {}
    for row, weight in zip(number[traces.symbols].tolist(), traces.weights.tolist(), strict=True):
        key = tuple(symbol for symbol in row if symbol >= 0)[:MAX_EVENTS]
        if key:
            weights[key] = weights.get(key, 0) + weight
    chosen = list(weights.items())[:MAX_ROWS]
    lengths = np.array([len(key) for key, _ in chosen], dtype=np.int64)
    symbols = np.full((len(chosen), int(lengths.max(initial=0))), -1, dtype=np.int32)
    for row, (key, _) in enumerate(chosen):
        symbols[row, : len(key)] = key
    return Traces(
        symbols,
        lengths,
        np.array([weight for _, weight in chosen], dtype=np.int64),
        np.arange(1, len(chosen) + 1),
        traces.labels,
        traces.rewards,
        traces.label_of[kept],
        traces.reward_of[kept],
    )


def _one_hot(moves: Ints) -> Floats:
    """Return δ [M, S] as probabilities [M, S, M]."""
    chances: Floats = (moves[:, :, None] == np.arange(len(moves))).astype(np.float64)
    return chances


def _length(likelihood: float, used: Floats, label_of: Ints) -> float:
    """Return the description length of a machine, from how often it took each edge [M, S, M]."""
    num_states = len(used)
    length = -likelihood
    for label in np.unique(label_of):
        rows = used[:, label_of == label].reshape(num_states, -1)
        taken = (rows >= 1.0).sum(axis=1)
        free = np.maximum(0, taken - 1)
        length += float((0.5 * free * np.log(np.maximum(1.0, rows.sum(axis=1)))).sum())
        length += float(taken.sum()) * np.log(num_states)
    return length


def _fit(events: Traces, starts: Iterable[Floats]) -> tuple[float, bool]:
    """Fit a machine with hidden moves; return its description length, and whether it hides any."""
    best = max((_climb(events, start, FIRST_STEPS) for start in starts), key=lambda fitted: fitted[0])
    _, chances = _climb(events, best[1], STEPS)
    likelihood, used = _expected(events, chances)
    return _length(likelihood, used, events.label_of), bool(((used >= 1.0).sum(axis=2) > 1).any())


def _starts(counts: Floats, moves: Ints, label_of: Ints, num_states: int) -> Iterator[Floats]:
    """Yield machines made of some states of the inferred one; an edge to another state may lead anywhere."""
    for others in islice(combinations(range(1, len(counts)), num_states - 1), STARTS):
        kept = [0, *others]
        chances = _one_hot(moves)[np.ix_(kept, range(moves.shape[1]), kept)] + OPEN / num_states
        yield _normalised((counts[kept] + 0.5)[:, :, None] * chances, label_of)


def _climb(events: Traces, chances: Floats, num_steps: int) -> tuple[float, Floats]:
    """Raise the likelihood step by step; edges that are hardly ever taken are dropped."""
    for _ in range(num_steps):
        _, used = _expected(events, chances)
        chances = _normalised(np.where(used < NEGLIGIBLE * used.sum(axis=2, keepdims=True), 0.0, used), events.label_of)
    return _expected(events, chances)[0], chances


def _normalised(chances: Floats, label_of: Ints) -> Floats:
    """Scale [M, S, M] so that the rewards and moves of each state and label sum to 1."""
    totals = np.zeros((len(chances), int(label_of.max()) + 1))
    np.add.at(totals.T, label_of, chances.sum(axis=2).T)
    scaled: Floats = chances / np.maximum(totals[:, label_of], 1e-300)[:, :, None]
    return scaled


def _expected(events: Traces, chances: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood, and how often each edge is expected to have been taken [M, S, M]."""
    num_rows, longest = events.symbols.shape
    by_symbol = np.ascontiguousarray(chances.transpose(1, 0, 2))
    forward = np.zeros((longest + 1, num_rows, len(chances)))
    forward[0, :, 0] = 1.0
    scales = np.ones((longest, num_rows))
    for step in range(longest):
        inside = step < events.lengths
        moved = np.einsum("nq,nqz->nz", forward[step, inside], by_symbol[events.symbols[inside, step]])
        scales[step, inside] = np.maximum(moved.sum(axis=1), 1e-300)
        forward[step + 1, inside] = moved / scales[step, inside, None]
    used, behind = np.zeros_like(by_symbol), np.ones((num_rows, len(chances)))
    for step in reversed(range(longest)):
        inside = step < events.lengths
        symbols, moves = events.symbols[inside, step], by_symbol[events.symbols[inside, step]]
        ahead = behind[inside] / scales[step, inside, None]
        edge = forward[step, inside][:, :, None] * moves * ahead[:, None, :] * events.weights[inside, None, None]
        for symbol in range(len(used)):
            used[symbol] += edge[symbols == symbol].sum(axis=0)
        behind[inside] = np.einsum("nqz,nz->nq", moves, ahead)
    return float(events.weights @ np.log(scales).sum(axis=0)), used.transpose(1, 0, 2)
