"""States and edges numbered, what episodes do in them, and what else the traces could mean.

A *symbol* is a label with a reward; δ(q, symbol) is the next state. State 0 is the initial one.

An edge could lead elsewhere if the machine with that edge changed explains the traces as well: without a conflict in a
deterministic machine, and with nearly the same likelihood in a probabilistic one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, groupby
from typing import NamedTuple

import numpy as np

from praemia.inference.evidence import compare_suffixes, has_conflict
from praemia.inference.traces import Floats, Ints, Traces, label_text

UNDECIDED = -1
MAX_STATES = 100
CLOSE_CALL = 3.0  # nats: a machine about 20 times less likely is a close call
SAME = 1e-6  # nats: the data cannot tell
HISTORIES = 4  # of each length and state, in the search for a proof that there are no fewer states
MAX_TRIES = 500
SAMPLE = 300  # episodes tried first, to save work where one conflict decides


class Walk(NamedTuple):
    """What episodes did from given steps on: symbols counted [M, S], and where each met an undecided edge, or −1."""

    counts: Floats
    exit_state: Ints
    exit_step: Ints


def walk(traces: Traces, delta: Ints, rows: Ints, steps: Ints, states: Ints) -> Walk:
    """Run episodes from given steps in given states until each ends or meets an undecided edge."""
    num_symbols = delta.shape[1]
    flat = delta.ravel()
    counts = np.zeros(delta.size)
    exit_state, exit_step = np.full(len(rows), -1), np.full(len(rows), -1)
    index = np.flatnonzero(steps < traces.lengths[rows])
    row, step, state = rows[index], steps[index], states[index]
    while len(index):
        place = state * num_symbols + traces.symbols[row, step]
        counts += np.bincount(place, traces.weights[row], delta.size)
        state = flat[place]
        has_left = state < 0
        if has_left.any():
            exit_state[index[has_left]], exit_step[index[has_left]] = place[has_left] // num_symbols, step[has_left]
        step = step + 1
        is_active = ~has_left & (step < traces.lengths[row])
        if not is_active.all():
            index, row, step, state = index[is_active], row[is_active], step[is_active], state[is_active]
    return Walk(counts.reshape(delta.shape), exit_state, exit_step)


def walk_from_start(traces: Traces, delta: Ints) -> Walk:
    """Run all episodes from their first step in state 0."""
    start = np.zeros(len(traces.lengths), dtype=np.int64)
    return walk(traces, delta, np.arange(len(start)), start, start)


@dataclass(frozen=True, eq=False)
class StateTable:
    """States, edges, and how often each was taken.

    Attributes
    ----------
    moves : int64[M, S], the next state; a symbol that never occurs in a state stays there.
    counts : float64[M, S], how often each symbol occurred in each state.
    """

    moves: Ints
    counts: Floats

    @classmethod
    def of(cls, traces: Traces, delta: Ints) -> StateTable:
        """Count what traces do under a δ that they do not leave."""
        counts = walk_from_start(traces, delta).counts
        return cls(np.where(counts > 0, delta, np.arange(len(delta))[:, None]), counts)

    @property
    def num_states(self) -> int:
        return len(self.moves)

    @property
    def flow(self) -> Floats:
        """float64[M, S, M], how often each symbol led from each state to each other."""
        flow: Floats = self.counts[:, :, None] * (self.moves[:, :, None] == np.arange(self.num_states))
        return flow

    def redirected(self, traces: Traces, state: int, symbol: int, target: int) -> StateTable:
        """Return the table in which an edge leads elsewhere, with equivalent states merged."""
        moves = self.moves.copy()
        moves[state, symbol] = target
        return StateTable.of(traces, moves).minimised(traces)

    def paths(self, traces: Traces) -> Ints:
        """Return int64[N, L], the state in which each step of each episode is taken, −1 after the end."""
        paths = np.full(traces.symbols.shape, -1, dtype=np.int64)
        state = np.zeros(len(traces.lengths), dtype=np.int64)
        for step in range(traces.symbols.shape[1]):
            inside = step < traces.lengths
            paths[inside, step] = state[inside]
            state[inside] = self.moves[state[inside], traces.symbols[inside, step]]
        return paths

    def minimised(self, traces: Traces) -> StateTable:
        """Merge states that no sequence of labels tells apart, and number states by when they are first reached."""
        blocks = self._blocks(traces)
        order, queue = {int(blocks[0]): 0}, [0]
        for state in queue:
            for symbol in np.flatnonzero(self.counts[state] > 0):
                target = int(self.moves[state, symbol])
                if int(blocks[target]) not in order:
                    order[int(blocks[target])] = len(order)
                    queue.append(target)
        number = np.array([order.get(int(block), -1) for block in blocks])
        counts = np.zeros((len(order), traces.num_symbols))
        moves = np.repeat(np.arange(len(order))[:, None], traces.num_symbols, axis=1)
        for state in np.flatnonzero(number >= 0).tolist():
            occurs = self.counts[state] > 0
            moves[number[state], occurs] = number[self.moves[state, occurs]]
            counts[number[state]] += self.counts[state]
        return StateTable(moves, counts)

    def _blocks(self, traces: Traces) -> Ints:
        """Refine the states until those of one block pay alike and move alike; a label never seen stays and pays 0."""
        table = traces.cells(self.counts).reshape(self.num_states, -1, len(traces.rewards))
        totals = table.sum(axis=2, keepdims=True)
        idle = (np.array(traces.rewards) == 0.0)[None, None, :]
        shares = np.where(totals > 0, table / np.maximum(totals, 1.0), idle).round(12)
        law = shares[:, traces.label_of, traces.reward_of]
        blocks = np.zeros(self.num_states, dtype=np.int64)
        while True:
            key = np.hstack((blocks[:, None], law, np.where(law > 0, blocks[self.moves], -1)))
            _, refined = np.unique(key, axis=0, return_inverse=True)
            refined = refined.ravel()
            if refined.max() == blocks.max():
                return refined
            blocks = refined


def log_likelihood(traces: Traces, counts: Floats) -> float:
    """Return the log-likelihood of counts [M, S] under the laws that fit them best."""
    occurs = counts > 0
    return float((counts[occurs] * np.log(counts[occurs] / traces.label_totals(counts)[occurs])).sum())


def description_length(traces: Traces, table: StateTable) -> float:
    """Return how many nats a machine and, given it, the rewards of traces take to be written down.

    An edge says its reward and its target; a free probability estimated from n steps takes ½ log n (Rissanen 1978).
    """
    pays = traces.cells(table.counts)
    kinds = np.maximum((pays > 0).sum(axis=1), 1)
    choices = np.bincount(traces.label_of, minlength=len(traces.labels))[traces.label_of]
    edges = np.log(table.num_states * choices)[np.nonzero(table.counts)[1]].sum()
    free = 0.5 * ((kinds - 1) * np.log(np.maximum(pays.sum(axis=1), 1.0))).sum()
    return float(edges + free - log_likelihood(traces, table.counts))


class Alternative(NamedTuple):
    """Another target that an edge could have, and how many nats of likelihood that would cost."""

    state: int
    symbol: int
    target: int
    cost: float


def alternatives(traces: Traces, table: StateTable, *, deterministic: bool) -> list[Alternative]:
    """Return where edges could lead instead at a cost of at most ``CLOSE_CALL``; a negative cost is an improvement."""
    paths, others = table.paths(traces), []
    for state, symbol in np.argwhere(table.counts > 0).tolist():
        crosses = (paths == state) & (traces.symbols == symbol)
        rows = np.flatnonzero(crosses.any(axis=1))
        steps = crosses[rows].argmax(axis=1) + 1
        rows, steps = rows[steps < traces.lengths[rows]], steps[steps < traces.lengths[rows]]
        start, moves = np.full(len(rows), table.moves[state, symbol]), table.moves.copy()
        rest = table.counts - walk(traces, moves, rows, steps, start).counts
        for target in range(table.num_states):
            if target != table.moves[state, symbol]:
                moves[state, symbol] = target
                cost = _cost(traces, table.counts, rest, moves, (rows, steps, target), deterministic)
                if cost <= CLOSE_CALL:
                    others.append(Alternative(state, symbol, target, cost))
    return others


def _cost(
    traces: Traces, counts: Floats, rest: Floats, moves: Ints, crossing: tuple[Ints, Ints, int], deterministic: bool
) -> float:
    """Return the log-likelihood lost if the episodes that cross an edge went on from another state.

    Parameters
    ----------
    counts : float64[M, S], of all steps; rest : without those after the crossing.
    moves : int64[M, S], with the edge changed; crossing : the episodes, the steps after which they cross, the state.
    """
    rows, steps, target = crossing
    for size in (SAMPLE, len(rows)) if deterministic else (len(rows),):
        part = rows[:size]
        new_counts = rest + walk(traces, moves, part, steps[:size], np.full(len(part), target)).counts
        if deterministic and has_conflict(traces.cells(new_counts)):
            return np.inf
    return log_likelihood(traces, counts) - log_likelihood(traces, new_counts)


def doubts(traces: Traces, table: StateTable, *, deterministic: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what the traces cannot tell, and what they barely tell."""
    unknown, close = [], []
    others = alternatives(traces, table, deterministic=deterministic)
    for (state, symbol), group in groupby(others, key=lambda other: other[:2]):
        label, reward = traces.labels[traces.label_of[symbol]], traces.rewards[traces.reward_of[symbol]]
        edge = f"q{state} on {label_text(label)} paying {reward:g} leads to q{table.moves[state, symbol]}"
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


def is_smallest(traces: Traces, table: StateTable) -> bool:
    """Tell whether the traces prove that no deterministic machine with fewer states explains them.

    They do if there is a history for each state such that any two of these histories were continued in the same way
    and then paid differently: no two of them can end in one state. Not finding such histories proves nothing.
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
    """Say which two episodes paid differently after the same history and on the same label, if any did."""
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
        f"{steps[second] + 1}, {label_text(traces.labels[traces.label_of[symbols[second]]])}, on which one pays "
        f"{paid[0]} and the other {paid[1]}; infer a probabilistic machine instead"
    )
