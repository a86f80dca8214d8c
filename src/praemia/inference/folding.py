"""Merge the states of a deterministic machine, by folding the prefix tree of its traces.

Each history is a node of the tree, at first a state of its own. The *core* is the set of nodes that became states for
good. An edge that leaves it is decided by folding the subtree behind it onto each state of the core in turn. A fold
fails where one label pays two rewards. If all fail, the node becomes a state; else the edge leads to the state whose
fold agrees on the most surprising rewards, in nats (evidence-driven merging: Lang, Pearlmutter and Price 1998).

Edges are decided in the order of how many steps lie behind them, and once more in the order of their shortest access
(as in RPNI, Oncina and García 1992), so that a characteristic sample among the traces gives the right machine. The
smaller machine is taken. More tries in random orders find still smaller ones, also where rewards are drawn by chance,
so that a machine learned by heart would pass for one that the traces support.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from praemia.errors import SizeError
from praemia.inference.state_table import MAX_STATES, STAYING, UNDECIDED, StateTable
from praemia.inference.traces import Progress, Traces


class Fold(NamedTuple):
    """A subtree laid on a state: pairs of nodes that became one, edges that were added, and agreement in nats."""

    pairs: list[tuple[int, int]]
    added: list[tuple[int, int]]
    nats: float


def fold_states(traces: Traces, on_progress: Progress | None = None) -> StateTable:
    """Return the states and edges that explain traces of a deterministic machine; two orders are tried."""
    smallest: StateTable | None = None
    for most_data_first in (True, False):
        most = MAX_STATES if smallest is None else smallest.num_states
        try:
            smallest = PrefixTree(traces).merge(most_data_first, most, on_progress)
        except SizeError:
            if smallest is None and not most_data_first:
                raise
    assert smallest is not None
    return smallest


class PrefixTree:
    """The histories of traces as nodes, some of which become one.

    Attributes
    ----------
    moves, symbols : for each node, the next node and the symbol of each label.
    steps, episodes : how many steps lie behind each node, and how many episodes come through it.
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

    def merge(self, most_data_first: bool, max_states: int, on_progress: Progress | None = None) -> StateTable:
        """Decide every edge; return the states and edges."""
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
                    raise SizeError(
                        f"found no machine of at most {max_states:,} states that explains the traces; more traces may "
                        "help, or labels for what matters"
                    )
                core[self.moves[node][label]] = len(core)
        if on_progress is not None:
            on_progress(self.traces.num_episodes, self.traces.num_episodes)
        return self._table(core)

    def _rank(self, edge: tuple[int, int], core: dict[int, int], most_data_first: bool) -> tuple[int, int, int]:
        """Return what edges are sorted by; states are numbered in the order of their access."""
        node, label = edge
        behind = self.steps[self.moves[node][label]] if most_data_first else 0
        return -behind, core[node], self.symbols[node][label]

    def _lead_back(self, node: int, label: int, core: dict[int, int]) -> bool:
        """Lead an edge to the state of the core that fits best, if any fits."""
        subtree, best, most = self.moves[node][label], None, -np.inf
        for state in core:
            self.moves[node][label] = state
            fold = self._fold(state, subtree)
            if fold is not None:
                self._remove(fold.added)
                # On most labels most machines stay, and staying is what data refutes most easily if it is wrong.
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

    def _table(self, core: dict[int, int]) -> StateTable:
        delta = np.full((len(core), self.traces.num_symbols), UNDECIDED, dtype=np.int64)
        for node, number in core.items():
            for label, symbol in self.symbols[node].items():
                delta[number, symbol] = core[self.moves[node][label]]
        return StateTable.from_moves(self.traces, StateTable(delta, np.zeros(delta.shape)).moves)
