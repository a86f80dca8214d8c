"""Other machines that the traces allow: edges that could lead elsewhere, fewer states, hidden moves.

A move is *hidden* if no reward shows where it led. Merging then turns an observer's beliefs into states, so moves are
taken for hidden if the rewards after a state are explained by a mixture of other states and by none of them alone.
"""

from __future__ import annotations

from itertools import count, groupby
from typing import NamedTuple

import numpy as np

from praemia.inference.evidence import compare_suffixes, has_conflict
from praemia.inference.state_table import StateTable, log_likelihood, walk
from praemia.inference.traces import Floats, Ints, Traces, label_text

CLOSE_CALL = 3.0  # nats: a machine about 20 times less likely is a close call
SAME = 1e-6  # nats: the data do not distinguish
HISTORIES = 4  # of each length and state, in the search for a proof that there are no fewer states
MAX_TRIES = 500
SAMPLE = 300  # episodes tried first, to save work where one conflict decides
STEPS_AHEAD, MAX_FUTURES = 3, 100_000  # what follows a state: so many steps, in arrays of at most so many entries
MIXED, ALONE = 20.0, 3.0  # nats that a mixture may lose, and how many times as much any state alone must lose
ROUNDS, NEGLIGIBLE, IMPOSSIBLE = 200, 0.01, 1e-12


class Alternative(NamedTuple):
    """Another target that an edge could have, and how many nats of likelihood that would cost."""

    state: int
    symbol: int
    target: int
    cost: float


def alternatives(traces: Traces, table: StateTable, *, deterministic: bool) -> list[Alternative]:
    """Return where edges could lead instead at a cost of at most ``CLOSE_CALL``; a negative cost is an improvement."""
    paths, likelihood = table.paths(traces), log_likelihood(traces, table.counts)
    others = []
    for state, symbol in np.argwhere(table.counts > 0).tolist():
        crosses = (paths == state) & (traces.symbols == symbol)
        rows = np.flatnonzero(crosses.any(axis=1))
        steps = crosses[rows].argmax(axis=1) + 1
        rows, steps = rows[steps < traces.lengths[rows]], steps[steps < traces.lengths[rows]]
        moves = table.moves.copy()
        before = table.counts - walk(traces, moves, rows, steps, np.full(len(rows), moves[state, symbol])).counts
        for target in [other for other in range(table.num_states) if other != moves[state, symbol]]:
            moves[state, symbol] = target
            for size in (SAMPLE, len(rows)) if deterministic else (len(rows),):
                after = walk(traces, moves, rows[:size], steps[:size], np.full(len(rows[:size]), target))
                counts = before + after.counts
                if deterministic and has_conflict(traces.cells(counts)):
                    break
            else:
                cost = likelihood - log_likelihood(traces, counts)
                others += [Alternative(state, symbol, target, cost)] if cost <= CLOSE_CALL else []
    return others


def doubts(traces: Traces, table: StateTable, *, deterministic: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the edges that the traces leave open, and those they decide by little."""
    unknown, close = [], []
    others = alternatives(traces, table, deterministic=deterministic)
    for (state, symbol), group in groupby(others, key=lambda other: other[:2]):
        label, reward = traces.labels[traces.label_of[symbol]], traces.rewards[traces.reward_of[symbol]]
        edge = f"q{state} on {label_text(label)} with reward {reward:g} leads to q{table.moves[state, symbol]}"
        targets = list(group)
        equal = [other for other in targets if other.cost < SAME]
        worse = [other for other in targets if other.cost >= SAME]
        if equal:
            unknown.append(f"{edge}, or {_names(equal)}")
        if worse:
            close.append(f"{edge} rather than {_names(worse)} ({min(other.cost for other in worse):.1f} nats)")
    totals = traces.cells(table.counts).sum(axis=1).reshape(table.num_states, -1)
    for state in np.flatnonzero((totals == 0).any(axis=1)):
        missing = [label_text(traces.labels[label]) for label in np.flatnonzero(totals[state] == 0)]
        unknown.append(f"what q{state} does on {', '.join(missing)}, never seen there")
    return tuple(unknown), tuple(close)


def _names(others: list[Alternative]) -> str:
    return " or ".join(f"q{other.target}" for other in others)


def hidden_moves(traces: Traces, table: StateTable, idle: Ints) -> str | None:
    """Return which state looks like a mixture of others, as one does where moves are hidden; None if none does."""
    counts = table.counts.copy()
    counts[:, idle] = 0.0
    futures, shares = _futures(traces, counts, table.moves)
    for state in range(table.num_states):
        times, others = counts[state].sum() * shares[state], np.arange(table.num_states) != state
        if not times.any() or others.sum() < 2:
            continue
        own, predicted = futures[state, times > 0], np.maximum(futures[others][:, times > 0], IMPOSSIBLE)
        times = times[times > 0]
        mixture = _likeliest_mixture(predicted, times)
        alone, mixed = (np.log(own / each) @ times for each in (predicted, mixture @ predicted))
        if mixed <= min(MIXED, alone.min() / ALONE):
            parts = " and ".join(f"q{q}" for q in np.flatnonzero(others)[mixture > NEGLIGIBLE])
            return (
                f"q{state} looks like a mixture of {parts}, so some moves are probably hidden: no reward shows where "
                "they lead. States then grow in number with the traces; a label that shows these moves would help"
            )
    return None


def _likeliest_mixture(predicted: Floats, times: Floats) -> Floats:
    """Return how to mix distributions [K, F] so that outcomes that occurred so many times [F] are likeliest."""
    mixture = np.full(len(predicted), 1.0 / len(predicted))
    for _ in range(ROUNDS):
        mixture *= predicted @ (times / (mixture @ predicted))
        mixture /= mixture.sum()
    return mixture


def _futures(traces: Traces, counts: Floats, moves: Ints) -> tuple[Floats, Floats]:
    """Return, for each state and sequence of symbols, the probability of its rewards given its labels, and of both."""
    totals, base = traces.label_totals(counts), traces.base_rates[traces.label_of, traces.reward_of]
    paid = np.where(totals > 0.0, counts / np.maximum(totals, 1.0), base)
    came = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    futures = shares = np.ones((len(counts), 1))
    for _ in range(STEPS_AHEAD):
        if futures.size * counts.shape[1] <= MAX_FUTURES:
            futures, shares = (
                (now[:, :, None] * later[moves]).reshape(len(counts), -1)
                for now, later in ((paid, futures), (came, shares))
            )
    return futures, shares


def is_smallest(traces: Traces, table: StateTable) -> bool:
    """Return whether the traces prove that no deterministic machine with fewer states explains them.

    They do if there is a history for each state such that any two were continued in the same way with other rewards.
    """
    paths = table.paths(traces)
    options = [_histories(traces, paths, state) for state in range(table.num_states)]
    tries = count()

    def extend(histories: list[tuple[Ints, int]]) -> bool:
        if len(histories) == len(options):
            return True
        for option in options[len(histories)]:
            if next(tries) >= MAX_TRIES:
                return False
            if all(_differ(traces, option, other) for other in histories) and extend([*histories, option]):
                return True
        return False

    return extend([])


def _histories(traces: Traces, paths: Ints, state: int) -> list[tuple[Ints, int]]:
    """Return histories that end in a state, those that were continued most first: the episodes, and the length."""
    histories = []
    for step in range(paths.shape[1]):
        rows = np.flatnonzero(paths[:, step] == state)
        _, which, sizes = np.unique(traces.histories[rows, step], return_inverse=True, return_counts=True)
        for number in np.argsort(-sizes, kind="stable")[:HISTORIES].tolist():
            histories.append((rows[which == number], step))
    return sorted(histories, key=lambda history: -len(history[0]))


def _differ(traces: Traces, first: tuple[Ints, int], second: tuple[Ints, int]) -> bool:
    rows = np.concatenate((first[0], second[0]))
    steps = np.repeat([first[1], second[1]], [len(first[0]), len(second[0])])
    arrives = np.arange(len(rows)) < len(first[0])
    cells = compare_suffixes(traces, rows, steps, np.zeros(len(rows), dtype=np.int64), arrives)
    return has_conflict(cells.arriving + cells.present)


def contradiction(traces: Traces) -> str | None:
    """Name two episodes with different rewards after the same history and on the same label, if there are any."""
    rows, steps = np.nonzero(traces.symbols >= 0)
    symbols = traces.symbols[rows, steps]
    cells = traces.histories[rows, steps] * len(traces.labels) + traces.label_of[symbols]
    _, first, which = np.unique(cells, return_index=True, return_inverse=True)
    differs = np.flatnonzero(symbols != symbols[first[which]])
    if not len(differs):
        return None
    second = differs[steps[differs].argmin()]
    pair = (first[which[second]], second)
    paid = [f"{traces.rewards[traces.reward_of[symbols[place]]]:.12g}" for place in pair]
    one, two = (traces.where(rows[place]) for place in pair)
    return (
        f"no deterministic machine explains {one} and {two}: they are equal up to the label of step "
        f"{steps[second] + 1}, {label_text(traces.labels[traces.label_of[symbols[second]]])}, where one has the reward "
        f"{paid[0]} and the other {paid[1]}; infer a probabilistic machine instead"
    )
