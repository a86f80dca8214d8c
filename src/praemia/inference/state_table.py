"""States and edges as arrays, and what episodes do in them.

A *symbol* is a label with a reward; δ(q, symbol) is the next state. State 0 is the initial one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from praemia.inference.traces import Floats, Ints, Traces

UNDECIDED = -1
MAX_STATES = 100


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
        """Merge equivalent states, and order states by when they are first reached."""
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
        """Refine states until those of a block have equal rewards and moves; a label never seen stays with reward 0."""
        table = traces.cells(self.counts).reshape(self.num_states, -1, len(traces.rewards))
        totals = table.sum(axis=2, keepdims=True)
        idle = (np.array(traces.rewards) == 0.0)[None, None, :]
        shares = np.where(totals > 0, table / np.maximum(totals, 1.0), idle).round(12)
        probs = shares[:, traces.label_of, traces.reward_of]
        blocks = np.zeros(self.num_states, dtype=np.int64)
        while True:
            key = np.hstack((blocks[:, None], probs, np.where(probs > 0, blocks[self.moves], -1)))
            _, refined = np.unique(key, axis=0, return_inverse=True)
            refined = refined.ravel()
            if refined.max() == blocks.max():
                return refined
            blocks = refined


def log_likelihood(traces: Traces, counts: Floats) -> float:
    """Return the log-likelihood of counts [M, S] under the distributions that fit them best."""
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
