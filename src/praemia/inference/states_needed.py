"""How many states a machine in the class needs at least: so many histories whose continuations differ pairwise.

In a machine whose next state is fixed by label and reward, a history ends in one state. Two histories that are
continued by the same steps and then pay by different laws end in different states; k histories that differ pairwise
need k states. (For deterministic machines, ``praemia.inference.support.is_smallest`` is the same argument.)

Histories are chosen on one half of the episodes and compared on the other half, each pair at the level ρ/2 divided by
the number of pairs; then the halves change places. So all k states are needed with probability at least 1 − ρ.
If one history is the beginning of another, they are compared on different episodes: no step counts on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

import numpy as np

from praemia.inference.evidence import differ, looks_different
from praemia.inference.state_table import compare_suffixes
from praemia.inference.traces import Floats, Ints, Traces

History: TypeAlias = tuple[int, ...]

CANDIDATES = 24  # histories compared on the first half
LONGEST = 8  # steps of a history
MOST = 6  # states that are looked for; more would not change any answer


def states_needed(traces: Traces, moves: Ints, failure_prob: float) -> int:
    """Return a number of states that every machine in the class needs to explain the traces, at a level.

    Parameters
    ----------
    moves : int64[M, S], a complete δ; candidates are taken from all of its states, which tend to differ.
    failure_prob : ρ, the probability that fewer states would do.
    """
    rng = np.random.default_rng(0)
    halves = traces.split(0.5, rng)
    return max(1, *(_needed(*pair, moves, failure_prob / 2.0, rng) for pair in (halves, halves[::-1])))


def _needed(chosen_on: Traces, tested_on: Traces, moves: Ints, level: float, rng: np.random.Generator) -> int:
    found = _candidates(chosen_on, moves)
    first, second = _Halves(chosen_on, rng), _Halves(tested_on, rng)
    likely = {pair for pair in combinations(found, 2) if looks_different(*first.cells(*pair))}
    chosen = _largest_clique(found, likely)[:MOST]
    pairs = list(combinations(chosen, 2))
    proved = {pair for pair in pairs if differ(*second.cells(*pair), level / len(pairs), rng)}
    return len(_largest_clique(chosen, proved))


def _candidates(traces: Traces, moves: Ints) -> list[History]:
    """Return the histories that were continued most often, as many of each state of a machine."""
    weights: dict[History, int] = {}
    for row, weight in zip(traces.symbols.tolist(), traces.weights.tolist(), strict=True):
        for end in range(min(len(row), LONGEST + 1)):
            history = tuple(row[:end])
            if row[end] < 0:
                break
            weights[history] = weights.get(history, 0) + weight
    by_state: dict[int, list[History]] = {}
    for history in sorted(weights, key=lambda item: (-weights[item], item)):
        state = 0
        for symbol in history:
            state = int(moves[state, symbol])
        by_state.setdefault(state, []).append(history)
    share = max(2, CANDIDATES // max(1, len(by_state)))
    return [history for found in by_state.values() for history in found[:share]][: 2 * CANDIDATES]


class _Halves:
    """Episodes dealt out to two halves, so that a history and its own beginning can be compared on different ones."""

    def __init__(self, traces: Traces, rng: np.random.Generator) -> None:
        one, two = traces.split(0.5, rng)
        width = traces.symbols.shape[1]
        padded = [
            np.pad(part.symbols, ((0, 0), (0, width - part.symbols.shape[1])), constant_values=-1)
            for part in (one, two)
        ]
        self.traces = replace(
            traces,
            symbols=np.vstack(padded),
            lengths=np.concatenate((one.lengths, two.lengths)),
            weights=np.concatenate((one.weights, two.weights)),
            firsts=np.concatenate((one.firsts, two.firsts)),
        )
        self.is_first = np.arange(len(self.traces.lengths)) < len(one.lengths)

    def _through(self, history: History) -> Ints:
        rows = np.flatnonzero(self.traces.lengths > len(history))
        for place, symbol in enumerate(history):
            rows = rows[self.traces.symbols[rows, place] == symbol] if len(rows) else rows
        return rows

    def cells(self, first: History, second: History) -> tuple[Floats, Floats]:
        """Return the rewards [C, R] after two histories and the same further steps, label by label."""
        one, two = self._through(first), self._through(second)
        short = min(len(first), len(second))
        if first[:short] == second[:short]:
            one, two = one[self.is_first[one]], two[~self.is_first[two]]
        rows = np.concatenate((one, two))
        positions = np.repeat([len(first), len(second)], [len(one), len(two)])
        comes_first = np.arange(len(rows)) < len(one)
        return compare_suffixes(self.traces, rows, positions, np.zeros(len(rows), dtype=np.int64), comes_first)[:2]


def _largest_clique(nodes: Iterable[History], edges: set[tuple[History, History]]) -> list[History]:
    """Return the most nodes of which any two are joined; edges name the earlier node first."""
    best: list[History] = []

    def extend(chosen: list[History], rest: list[History]) -> None:
        nonlocal best
        if len(chosen) > len(best):
            best = chosen
        for place, node in enumerate(rest):
            if len(best) >= MOST or len(chosen) + len(rest) - place <= len(best):
                return
            extend([*chosen, node], [other for other in rest[place + 1 :] if (node, other) in edges])

    extend([], list(nodes))
    return best
