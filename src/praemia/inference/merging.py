"""Merge the states of a probabilistic machine: from traces to states, by deciding one edge after the other.

The *core* is the set of states found so far, with the edges decided so far. Every episode runs through the core until
it comes to an undecided edge. The rest of it, from there on, says where that edge leads:

- to a state of the core, if the rest could have been played from there: it is run through the core from that state, and
  the rewards that arrive in a cell (state, label) are compared with those that are there. Where the rest leaves the
  core again, it is compared with the other episodes that left over the same edge, history by history.
- to a new state, if every state of the core is rejected.

The exact test of ``praemia.inference.evidence`` rejects, and edges with the most data come first. The j-th comparison
gets the level ρ/(j(j + 1)): over all of them a right merge is rejected with probability at most ρ. Among states that
are not rejected, the one that predicts the arriving rewards best is taken. (Deterministic machines, in which one reward
that differs rejects, are merged by ``praemia.inference.folding``.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from praemia.errors import SizeError
from praemia.inference.evidence import evidence, p_value
from praemia.inference.state_table import (
    MAX_STATES,
    STAYING,
    UNDECIDED,
    Cells,
    StateTable,
    Walk,
    compare_suffixes,
    walk,
    walk_from_start,
)
from praemia.inference.traces import Ints, Progress, Traces


class Trial(NamedTuple):
    """What came of trying to lead an edge to a state."""

    target: int
    evidence: float
    is_rejected: bool


def merge_states(traces: Traces, failure_prob: float, on_progress: Progress | None = None) -> StateTable:
    """Return the states and edges that explain traces; ρ is the probability that any right merge is rejected."""
    return Merger(traces, failure_prob, on_progress).run()


class Merger:
    """Decide edge after edge.

    Attributes
    ----------
    delta, counts : as in ``StateTable``, of the core.
    exit_state, exit_step : int64[N], where each episode meets an undecided edge; −1 if it runs to its end inside.
    """

    def __init__(self, traces: Traces, failure_prob: float, on_progress: Progress | None = None) -> None:
        self.traces, self.failure_prob, self.on_progress = traces, failure_prob, on_progress
        self.num_tests = 0
        self.delta = np.full((1, traces.num_symbols), UNDECIDED, dtype=np.int64)
        self.counts, self.exit_state, self.exit_step = walk_from_start(traces, self.delta)

    def run(self) -> StateTable:
        """Decide every edge that occurs; return the states and edges."""
        while (edge := self._next_edge()) is not None:
            self._decide(*divmod(edge, self.traces.num_symbols))
            if self.on_progress is not None:
                self.on_progress(int(self.traces.weights[self.exit_state < 0].sum()), self.traces.num_episodes)
        return StateTable(self.delta, self.counts)

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
        trials = [self._try(state, symbol, rows, target) for target in range(len(self.delta))]
        possible = [trial for trial in trials if not trial.is_rejected]
        if possible:
            # On most labels most machines stay, and staying is what data refutes most easily if it is wrong.
            best = max(possible, key=lambda trial: (trial.evidence + STAYING * (trial.target == state), -trial.target))
            target = best.target
        else:
            target = self._new_state()
        self.delta[state, symbol] = target
        walked = walk(self.traces, self.delta, rows, self.exit_step[rows] + 1, np.full(len(rows), target))
        self.counts += walked.counts
        self.exit_state[rows], self.exit_step[rows] = walked.exit_state, walked.exit_step

    def _new_state(self) -> int:
        if len(self.delta) >= MAX_STATES:
            raise SizeError(
                f"found no machine of at most {MAX_STATES:,} states that explains the traces; more traces may "
                "help, or labels for what matters"
            )
        self.delta = np.vstack((self.delta, np.full(self.delta.shape[1], UNDECIDED)))
        self.counts = np.vstack((self.counts, np.zeros(self.counts.shape[1])))
        return len(self.delta) - 1

    def _try(self, state: int, symbol: int, rows: Ints, target: int) -> Trial:
        """Compare what would arrive in every cell with what is there."""
        traces, delta = self.traces, self.delta.copy()
        delta[state, symbol] = target
        walked = walk(traces, delta, rows, self.exit_step[rows] + 1, np.full(len(rows), target))
        beyond = self._compare_beyond(rows, walked)
        arriving = np.vstack((traces.cells(walked.counts), beyond.arriving))
        present = np.vstack((traces.cells(self.counts), beyond.present))
        base = np.vstack((np.tile(traces.base_rates, (len(delta), 1)), traces.base_rates[beyond.labels]))
        self.num_tests += 1
        level = self.failure_prob / (self.num_tests * (self.num_tests + 1))
        return Trial(target, evidence(arriving, present, base), p_value(arriving, present, level) <= level)

    def _compare_beyond(self, rows: Ints, walked: Walk) -> Cells:
        """Compare, history by history, episodes that leave the core again with those that left over the same edge."""
        traces = self.traces
        leaving = walked.exit_state >= 0
        again, steps = rows[leaving], walked.exit_step[leaving]
        edges = walked.exit_state[leaving] * traces.num_symbols + traces.symbols[again, steps]
        others = np.flatnonzero(self.exit_state >= 0)
        others = others[~np.isin(others, rows)]
        other_edges = self._exits(others)
        met = np.isin(other_edges, edges)
        return compare_suffixes(
            traces,
            np.concatenate((again, others[met])),
            np.concatenate((steps, self.exit_step[others[met]])) + 1,
            np.concatenate((edges, other_edges[met])),
            np.arange(len(again) + int(met.sum())) < len(again),
        )
