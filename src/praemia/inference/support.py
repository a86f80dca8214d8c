"""What the data says about each part of an inferred machine: likelihood, where else an edge could lead, smallness.

An edge could lead elsewhere if the machine with that edge changed explains the traces as well: without a conflict in a
deterministic machine, and with nearly the same likelihood in a probabilistic one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from praemia.inference.evidence import has_conflict
from praemia.inference.merging import SAMPLE, Core
from praemia.inference.traces import Floats, Ints, Traces
from praemia.inference.walking import compare_suffixes, walk

CLOSE_CALL = 3.0  # nats: a machine about 20 times less likely is a close call
SAME = 1e-6  # nats: the data cannot tell
HISTORIES = 4  # of each length and state, in the search for a proof that there are no fewer states
MAX_TRIES = 500


@dataclass(frozen=True)
class Alternative:
    """Another target that an edge could have, and how many nats of likelihood that would cost."""

    state: int
    symbol: int
    target: int
    cost: float


def log_likelihood(counts: Floats, label_of: Ints) -> float:
    """Return the log-likelihood of counts [M, S] under the laws that fit them best."""
    totals = np.zeros((len(counts), int(label_of.max()) + 1))
    np.add.at(totals.T, label_of, counts.T)
    seen = counts > 0
    return float((counts[seen] * np.log(counts[seen] / totals[:, label_of][seen])).sum())


def description_length(traces: Traces, core: Core) -> float:
    """Return how many nats a machine and, given it, the rewards of traces take to be written down.

    An edge says its reward and its target; a free probability estimated from n steps takes ½ log n (Rissanen 1978).
    """
    pays = traces.cells(core.counts)
    kinds = np.maximum((pays > 0).sum(axis=1), 1)
    choices = np.bincount(traces.label_of, minlength=len(traces.labels))[traces.label_of]
    edges = np.log(core.num_states * choices)[np.nonzero(core.counts)[1]].sum()
    chances = 0.5 * ((kinds - 1) * np.log(np.maximum(pays.sum(axis=1), 1.0))).sum()
    return float(edges + chances - log_likelihood(core.counts, traces.label_of))


def filled(delta: Ints) -> Ints:
    """Return δ with a stay in place of every edge that never occurred."""
    stay = np.broadcast_to(np.arange(len(delta))[:, None], delta.shape)
    return np.where(delta < 0, stay, delta)


def state_paths(traces: Traces, delta: Ints) -> Ints:
    """Return int64[N, L], the state in which each step of each episode is taken, −1 after the end."""
    moves = filled(delta)
    paths = np.full(traces.symbols.shape, -1, dtype=np.int64)
    state = np.zeros(len(traces.lengths), dtype=np.int64)
    for step in range(traces.symbols.shape[1]):
        inside = step < traces.lengths
        paths[inside, step] = state[inside]
        state[inside] = moves[state[inside], traces.symbols[inside, step]]
    return paths


def alternatives(traces: Traces, core: Core, *, deterministic: bool) -> list[Alternative]:
    """Return where edges could lead instead at a cost of at most ``CLOSE_CALL``; a negative cost is an improvement."""
    paths, moves = state_paths(traces, core.delta), filled(core.delta)
    found = []
    for state, symbol in np.argwhere(core.counts > 0).tolist():
        crosses = (paths == state) & (traces.symbols == symbol)
        rows = np.flatnonzero(crosses.any(axis=1))
        after = crosses[rows].argmax(axis=1) + 1
        rows, after = rows[after < traces.lengths[rows]], after[after < traces.lengths[rows]]
        old = walk(traces, moves, rows, after, np.full(len(rows), moves[state, symbol])).counts
        for target in range(core.num_states):
            if target != core.delta[state, symbol]:
                cost = _cost(traces, core.counts, old, (state, symbol, target), (rows, after), deterministic, moves)
                if cost <= CLOSE_CALL:
                    found.append(Alternative(state, symbol, target, cost))
    return found


def _cost(
    traces: Traces,
    counts: Floats,
    old: Floats,
    change: tuple[int, int, int],
    crossing: tuple[Ints, Ints],
    deterministic: bool,
    moves: Ints,
) -> float:
    """Return the log-likelihood lost if an edge led to another state."""
    state, symbol, target = change
    changed = moves.copy()
    changed[state, symbol] = target
    rest = counts - old
    for size in (SAMPLE, len(crossing[0])) if deterministic else (len(crossing[0]),):
        rows, after = crossing[0][:size], crossing[1][:size]
        new = rest + walk(traces, changed, rows, after, np.full(len(rows), target)).counts
        if deterministic and has_conflict(traces.cells(new)):
            return np.inf
    return log_likelihood(counts, traces.label_of) - log_likelihood(new, traces.label_of)


def is_smallest(traces: Traces, core: Core) -> bool:
    """Tell whether the traces prove that no deterministic machine with fewer states explains them.

    They do if there is a history for each state such that any two of these histories were continued in the same way
    and then paid differently: no two of them can end in one state. Not finding such histories proves nothing.
    """
    paths = state_paths(traces, core.delta)
    options = [_histories(traces, paths, state) for state in range(core.num_states)]
    tries = count()

    def extend(chosen: list[tuple[Ints, int]]) -> bool:
        if len(chosen) == len(options):
            return True
        for option in options[len(chosen)]:
            if next(tries) >= MAX_TRIES:
                return False
            if all(_differ(traces, option, other) for other in chosen) and extend([*chosen, option]):
                return True
        return False

    return extend([])


def _histories(traces: Traces, paths: Ints, state: int) -> list[tuple[Ints, int]]:
    """Return histories that end in a state, those that were continued most first: the episodes, and the length."""
    found: list[tuple[Ints, int]] = []
    groups, rows = np.zeros(len(paths), dtype=np.int64), np.arange(len(paths))
    for step in range(paths.shape[1]):
        kept = step < traces.lengths[rows]
        rows, groups = rows[kept], groups[kept]
        here = paths[rows, step] == state
        sizes = np.bincount(groups[here])
        for group in np.argsort(-sizes, kind="stable")[:HISTORIES]:
            if sizes[group]:
                found.append((rows[here & (groups == group)], step))
        _, groups = np.unique(groups * traces.num_symbols + traces.symbols[rows, step], return_inverse=True)
    return sorted(found, key=lambda item: -len(item[0]))


def _differ(traces: Traces, first: tuple[Ints, int], second: tuple[Ints, int]) -> bool:
    rows = np.concatenate((first[0], second[0]))
    positions = np.repeat([first[1], second[1]], [len(first[0]), len(second[0])])
    arrives = np.arange(len(rows)) < len(first[0])
    arriving, present, _ = compare_suffixes(traces, rows, positions, np.zeros(len(rows), dtype=np.int64), arrives)
    return has_conflict(arriving + present)


def contradiction(traces: Traces) -> tuple[int, int, int] | None:
    """Return two episodes, and a step, at which they paid differently after the same history and on the same label."""
    rows, groups = np.arange(len(traces.lengths)), np.zeros(len(traces.lengths), dtype=np.int64)
    for step in range(traces.symbols.shape[1]):
        going = step < traces.lengths[rows]
        rows, groups = rows[going], groups[going]
        symbols = traces.symbols[rows, step]
        _, first, inverse = np.unique(
            groups * len(traces.labels) + traces.label_of[symbols], return_index=True, return_inverse=True
        )
        differs = np.flatnonzero(symbols != symbols[first[inverse]])
        if len(differs):
            return int(rows[first[inverse[differs[0]]]]), int(rows[differs[0]]), step
        groups = inverse  # one reward per label, so the label says it all
        common = np.bincount(groups)[groups] > 1
        rows, groups = rows[common], groups[common]
        if not len(rows):
            return None
    return None
