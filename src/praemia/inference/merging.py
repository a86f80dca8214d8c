"""Merge states: from traces to the states and edges of a machine, by deciding one edge after the other.

The *core* is the set of states found so far. An edge that leaves it leads back to a state of the core, if the steps
after the edge could have been played from there, or else to a new state. Staying needs less evidence than moving.

Deterministic machines are merged by folding the prefix tree of the traces (Lang, Pearlmutter and Price 1998), in two
orders: by the steps behind edges, and by their shortest access (RPNI, Oncina and García 1992). Probabilistic ones are
merged by tests: the rest of every episode behind an edge is run from each state, and rewards that arrive in a cell
(state, label) are compared with those there. The j-th test has the level ρ/(j(j + 1)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from praemia._support.activity import OnProgress
from praemia.errors import SizeError
from praemia.inference.evidence import Cells, compare_suffixes, evidence, p_value
from praemia.inference.state_table import MAX_STATES, UNDECIDED, Walk, walk, walk_from_start
from praemia.inference.traces import Ints, Traces

STAYING = 5.0  # nats of evidence that another state needs beyond that of the state in which the machine is


def too_many_states(most: int) -> SizeError:
    """Return the error for traces that no machine of at most so many states explains."""
    return SizeError(
        f"found no machine of at most {most:,} states that explains the traces; more traces may help, or labels for "
        "what matters"
    )


class Fold(NamedTuple):
    """A subtree laid on a state: pairs of nodes that became one, edges that were added, and agreement in nats."""

    pairs: list[tuple[int, int]]
    added: list[tuple[int, int]]
    nats: float


def fold_states(traces: Traces, on_progress: OnProgress | None = None) -> Ints:
    """Return δ[M, S] that explains traces of a deterministic machine; two orders are tried."""
    smallest: Ints | None = None
    for most_data_first in (True, False):
        most = MAX_STATES if smallest is None else len(smallest)
        try:
            smallest = PrefixTree(traces).merge(most_data_first, most, on_progress)
        except SizeError:
            if smallest is None and not most_data_first:
                raise
    assert smallest is not None
    return smallest


class PrefixTree:
    """The histories of traces as nodes, some of which become one.

    ``moves`` and ``symbols`` have the next node and the symbol of each label, ``steps`` how many steps lie behind it,
    and ``episodes`` how many come through it.
    """

    def __init__(self, traces: Traces) -> None:
        self.traces = traces
        self.moves: list[dict[int, int]] = [{}]
        self.symbols: list[dict[int, int]] = [{}]
        self.steps, self.episodes = [0], [0]
        self.nats = (-np.log(traces.base_rates[traces.label_of, traces.reward_of])).tolist()
        label_of = traces.label_of.tolist()
        for row, length, weight in zip(
            traces.symbols.tolist(), traces.lengths.tolist(), traces.weights.tolist(), strict=True
        ):
            node = 0
            for step, symbol in enumerate(row[:length]):
                label = label_of[symbol]
                if label not in self.moves[node]:
                    self._add_node(node, label, symbol)
                node = self.moves[node][label]
                self.steps[node] += weight * (length - step - 1)
                self.episodes[node] += weight

    def _add_node(self, parent: int, label: int, symbol: int) -> None:
        self.moves[parent][label], self.symbols[parent][label] = len(self.moves), symbol
        self.moves.append({})
        self.symbols.append({})
        self.steps.append(0)
        self.episodes.append(0)

    def merge(self, most_data_first: bool, max_states: int, on_progress: OnProgress | None = None) -> Ints:
        """Decide every edge; return δ."""
        core = {0: 0}  # the number of each state
        while edges := [
            (node, label) for node in core for label, after in self.moves[node].items() if after not in core
        ]:
            if on_progress is not None:
                outside = sum(self.episodes[self.moves[node][label]] for node, label in edges)
                on_progress(self.traces.num_episodes - outside, self.traces.num_episodes)
            node, label = min(edges, key=lambda edge: self._rank(edge, core, most_data_first))
            if not self._lead_back(node, label, core):
                if len(core) >= max_states:
                    raise too_many_states(max_states)
                core[self.moves[node][label]] = len(core)
        if on_progress is not None:
            on_progress(self.traces.num_episodes, self.traces.num_episodes)
        return self._delta(core)

    def _rank(self, edge: tuple[int, int], core: dict[int, int], most_data_first: bool) -> tuple[int, int, int]:
        """Return what edges are sorted by; states are numbered in the order of their access."""
        node, label = edge
        behind = self.steps[self.moves[node][label]] if most_data_first else 0
        return -behind, core[node], self.symbols[node][label]

    def _lead_back(self, node: int, label: int, core: dict[int, int]) -> bool:
        """Lead an edge to the state of the core that fits best, if any fits."""
        subtree = self.moves[node][label]
        best, most = None, -np.inf
        for state in core:
            self.moves[node][label] = state
            fold = self._fold(state, subtree)
            if fold is not None:
                self._remove(fold.added)
                nats = fold.nats + STAYING * (state == node)
                if nats > most:
                    best, most = state, nats
        self.moves[node][label] = subtree if best is None else best
        if best is None:
            return False
        fold = self._fold(best, subtree)
        assert fold is not None
        for kept, gone in fold.pairs:
            self.steps[kept] += self.steps[gone]
            self.episodes[kept] += self.episodes[gone]
        return True

    def _fold(self, state: int, subtree: int) -> Fold | None:
        """Lay a subtree on a state; None, and nothing changed, if some rewards differ."""
        pairs, added, nats = [(state, subtree)], [], 0.0
        for kept, gone in pairs:
            moves, symbols = self.moves[kept], self.symbols[kept]
            for label, symbol in self.symbols[gone].items():
                present = symbols.get(label)
                if present is None:
                    moves[label], symbols[label] = self.moves[gone][label], symbol
                    added.append((kept, label))
                elif present == symbol:
                    pairs.append((moves[label], self.moves[gone][label]))
                    nats += self.nats[symbol]
                else:
                    self._remove(added)
                    return None
        return Fold(pairs, added, nats)

    def _remove(self, added: list[tuple[int, int]]) -> None:
        for node, label in added:
            del self.moves[node][label], self.symbols[node][label]

    def _delta(self, core: dict[int, int]) -> Ints:
        delta = np.full((len(core), self.traces.num_symbols), UNDECIDED, dtype=np.int64)
        for node, number in core.items():
            for label, symbol in self.symbols[node].items():
                delta[number, symbol] = core[self.moves[node][label]]
        return delta


class MergeByTests:
    """Decide edge after edge; ρ is the overall probability of rejecting a correct merge.

    ``exit_state`` and ``exit_step``, int64[N], say where each episode meets an undecided edge; −1 if it never does.
    """

    def __init__(self, traces: Traces, failure_prob: float) -> None:
        self.traces, self.failure_prob = traces, failure_prob
        self.num_tests = 0
        self.delta = np.full((1, traces.num_symbols), UNDECIDED, dtype=np.int64)
        self.counts, self.exit_state, self.exit_step = walk_from_start(traces, self.delta)

    def run(self, on_progress: OnProgress | None = None) -> Ints:
        """Decide every edge that occurs; return δ[M, S], which explains the traces."""
        while (edge := self._next_edge()) is not None:
            self._decide(*divmod(edge, self.traces.num_symbols))
            if on_progress is not None:
                on_progress(int(self.traces.weights[self.exit_state < 0].sum()), self.traces.num_episodes)
        return self.delta

    def _exits(self, rows: Ints) -> Ints:
        """Return the undecided edge that some episodes meet, as state · S + symbol."""
        return self.exit_state[rows] * self.traces.num_symbols + self.traces.symbols[rows, self.exit_step[rows]]

    def _next_edge(self) -> int | None:
        """Return the undecided edge with the most steps behind it."""
        rows = np.flatnonzero(self.exit_state >= 0)
        if not len(rows):
            return None
        behind = self.traces.weights[rows] * (self.traces.lengths[rows] - self.exit_step[rows])
        return int(np.bincount(self._exits(rows), behind).argmax())

    def _decide(self, state: int, symbol: int) -> None:
        rows = np.flatnonzero(self.exit_state == state)
        rows = rows[self.traces.symbols[rows, self.exit_step[rows]] == symbol]
        nats_of = {target: self._evidence_for(state, symbol, rows, target) for target in range(len(self.delta))}
        possible = {target: nats for target, nats in nats_of.items() if nats is not None}
        if possible:
            best = max(possible, key=lambda target: (possible[target] + STAYING * (target == state), -target))
        else:
            best = self._new_state()
        self.delta[state, symbol] = best
        walked = walk(self.traces, self.delta, rows, self.exit_step[rows] + 1, np.full(len(rows), best))
        self.counts += walked.counts
        self.exit_state[rows], self.exit_step[rows] = walked.exit_state, walked.exit_step

    def _new_state(self) -> int:
        if len(self.delta) >= MAX_STATES:
            raise too_many_states(MAX_STATES)
        self.delta = np.vstack((self.delta, np.full(self.delta.shape[1], UNDECIDED)))
        self.counts = np.vstack((self.counts, np.zeros(self.counts.shape[1])))
        return len(self.delta) - 1

    def _evidence_for(self, state: int, symbol: int, rows: Ints, target: int) -> float | None:
        """Return what speaks for leading an edge to a state, in nats; None where the test rejects it.

        What would arrive in every cell is compared with what is there.
        """
        traces, delta = self.traces, self.delta.copy()
        delta[state, symbol] = target
        walked = walk(traces, delta, rows, self.exit_step[rows] + 1, np.full(len(rows), target))
        beyond = self._compare_beyond(rows, walked)
        arriving = np.vstack((traces.cells(walked.counts), beyond.arriving))
        present = np.vstack((traces.cells(self.counts), beyond.present))
        base = np.vstack((np.tile(traces.base_rates, (len(delta), 1)), traces.base_rates[beyond.labels]))
        self.num_tests += 1
        level = self.failure_prob / (self.num_tests * (self.num_tests + 1))
        return evidence(arriving, present, base) if p_value(arriving, present, level) > level else None

    def _compare_beyond(self, rows: Ints, walked: Walk) -> Cells:
        """Compare, history by history, episodes that leave the core again with those that left over the same edge."""
        traces = self.traces
        leaving = walked.exit_state >= 0
        again, steps = rows[leaving], walked.exit_step[leaving]
        edges = walked.exit_state[leaving] * traces.num_symbols + traces.symbols[again, steps]
        others = np.flatnonzero(self.exit_state >= 0)
        others = others[~np.isin(others, rows)]
        other_edges = self._exits(others)
        shares_edge = np.isin(other_edges, edges)
        return compare_suffixes(
            traces,
            np.concatenate((again, others[shares_edge])),
            np.concatenate((steps, self.exit_step[others[shares_edge]])) + 1,
            np.concatenate((edges, other_edges[shares_edge])),
            np.arange(len(again) + int(shares_edge.sum())) < len(again),
        )
