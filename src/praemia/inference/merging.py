"""State merging: from traces to states, by deciding one edge after the other.

A *symbol* is a label with a reward; δ(q, symbol) is the next state. The core is the set of states found so far, with
the edges decided so far. Every episode runs through the core until it comes to an undecided edge. The rest of it, from
there on, says where that edge leads:

- to a state of the core, if the rest could have been played from there: it is run through the core from that state, and
  the rewards that arrive in a cell (state, label) are compared with those that are there. Where the rest leaves the
  core again, it is compared with the other episodes that left over the same edge, history by history.
- to a new state, if every state of the core is rejected.

In a deterministic machine one reward that differs rejects. Edges are decided in the order of their shortest access (as
in RPNI), so that a characteristic sample among the traces gives the right machine, and, once more, in the order of how
much data they have; the smaller machine is taken. In a probabilistic one the exact test of
``praemia.inference.evidence`` rejects, and edges with the most data come first. The j-th comparison gets the level
ρ/(j(j + 1)): over all of them a right merge is rejected with probability at most ρ. Among states that are not rejected,
the one that predicts the arriving rewards best is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from praemia.errors import SizeError
from praemia.inference.evidence import evidence, has_conflict, p_value
from praemia.inference.traces import Floats, Ints, Traces
from praemia.inference.walking import Walk, base_rates, compare_suffixes, walk

MAX_STATES = 100
UNDECIDED = -1
SAMPLE = 300  # episodes tried first, to save work where one conflict decides
STAYING = 5.0  # nats of evidence that another state needs beyond that of the state in which the machine is


@dataclass
class Core:
    """The states and edges decided so far.

    Attributes
    ----------
    delta : int64[M, S], the next state, −1 where it is undecided.
    counts : float64[M, S], how often each symbol occurred in each state.
    exit_state, exit_pos : int64[N], the state and the step in which each episode meets an undecided edge; −1 if it
        runs to its end inside.
    """

    delta: Ints
    counts: Floats
    exit_state: Ints
    exit_pos: Ints

    @property
    def num_states(self) -> int:
        return len(self.delta)


@dataclass(frozen=True)
class Trial:
    """What came of trying to lead an edge to a state."""

    target: int
    p_value: float
    evidence: float
    rejected: bool


def merge_states(
    traces: Traces, *, deterministic: bool, failure_prob: float, on_progress: Callable[[int, int], None] | None = None
) -> Core:
    """Return the states and edges that explain traces; for a deterministic machine, two orders are tried."""
    if not deterministic:
        return Merger(
            traces, deterministic=False, failure_prob=failure_prob, most_data_first=True, on_progress=on_progress
        ).run()
    found: Core | None = None
    for most_data_first in (True, False):
        most = MAX_STATES if found is None else found.num_states
        merger = Merger(
            traces,
            deterministic=True,
            failure_prob=failure_prob,
            most_data_first=most_data_first,
            max_states=most,
            on_progress=on_progress,
        )
        try:
            found = merger.run()
        except SizeError:
            if found is None and not most_data_first:
                raise
    assert found is not None
    return found


class Merger:
    """Decide edge after edge. ``deterministic`` says what rejects a merge."""

    def __init__(
        self,
        traces: Traces,
        *,
        deterministic: bool,
        failure_prob: float,
        most_data_first: bool = False,
        max_states: int = MAX_STATES,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.traces, self.deterministic, self.failure_prob = traces, deterministic, failure_prob
        self.most_data_first, self.max_states = most_data_first, max_states
        self.on_progress = on_progress
        self.num_tests = 0
        self.base = base_rates(traces)
        everything = np.arange(len(traces.lengths))
        start = np.zeros(len(everything), dtype=np.int64)
        delta = np.full((1, traces.num_symbols), UNDECIDED, dtype=np.int64)
        first = walk(traces, delta, everything, start, start)
        self.core = Core(delta, first.counts, first.exit_state, first.exit_pos)

    def run(self) -> Core:
        """Decide every edge that occurs; return the states and edges."""
        while (edge := self._next_edge()) is not None:
            self._decide(*edge)
            if self.on_progress is not None:
                done = int(self.traces.weights[self.core.exit_state < 0].sum())
                self.on_progress(done, self.traces.num_episodes)
        return self.core

    def _next_edge(self) -> tuple[int, int] | None:
        """Return the undecided edge with the shortest access, or with the most steps behind it."""
        core, traces = self.core, self.traces
        out = np.flatnonzero(core.exit_state >= 0)
        if not len(out):
            return None
        symbols = traces.symbols[out, core.exit_pos[out]]
        places = core.exit_state[out] * traces.num_symbols + symbols
        if not self.most_data_first:  # states are numbered in the order of their access
            return divmod(int(places.min()), traces.num_symbols)
        behind = traces.weights[out] * (traces.lengths[out] - core.exit_pos[out])
        return divmod(int(np.bincount(places, behind).argmax()), traces.num_symbols)

    def _decide(self, state: int, symbol: int) -> None:
        core = self.core
        bag = np.flatnonzero((core.exit_state == state) & (self._exit_symbols() == symbol))
        trials = [self._try(state, symbol, bag, target) for target in range(core.num_states)]
        open_trials = [trial for trial in trials if not trial.rejected]
        if open_trials:
            # On most labels most machines stay, and staying is what data refutes most easily if it is wrong.
            best = max(
                open_trials, key=lambda trial: (trial.evidence + STAYING * (trial.target == state), -trial.target)
            )
            target = best.target
        else:
            target = self._new_state()
        self._commit(state, symbol, bag, target)

    def _exit_symbols(self) -> Ints:
        core = self.core
        rows = np.arange(len(core.exit_pos))
        return np.where(core.exit_pos >= 0, self.traces.symbols[rows, core.exit_pos], -1)

    def _new_state(self) -> int:
        core = self.core
        if core.num_states >= self.max_states:
            raise SizeError(
                f"found no machine of at most {self.max_states:,} states that explains the traces; more traces may "
                "help, or labels for what matters"
            )
        core.delta = np.vstack((core.delta, np.full(core.delta.shape[1], UNDECIDED)))
        core.counts = np.vstack((core.counts, np.zeros(core.counts.shape[1])))
        return core.num_states - 1

    def _commit(self, state: int, symbol: int, bag: Ints, target: int) -> None:
        core = self.core
        core.delta[state, symbol] = target
        found = walk(self.traces, core.delta, bag, core.exit_pos[bag] + 1, np.full(len(bag), target))
        core.counts += found.counts
        core.exit_state[bag], core.exit_pos[bag] = found.exit_state, found.exit_pos

    def _try(self, state: int, symbol: int, bag: Ints, target: int) -> Trial:
        """Compare what would arrive in every cell with what is there."""
        core, traces = self.core, self.traces
        delta = core.delta.copy()
        delta[state, symbol] = target
        present = traces.cells(core.counts)
        for rows in (bag[:SAMPLE], bag) if self.deterministic else (bag,):
            found = walk(traces, delta, rows, core.exit_pos[rows] + 1, np.full(len(rows), target))
            arriving = traces.cells(found.counts)
            if self.deterministic and has_conflict(arriving + present):
                return Trial(target, 0.0, -np.inf, True)
        base = np.tile(self.base, (core.num_states, 1))
        further = self._compare_beyond(bag, found)
        arriving, present = np.vstack((arriving, further[0])), np.vstack((present, further[1]))
        base = np.vstack((base, self.base[further[2]]))
        if self.deterministic:
            rejected, p = has_conflict(further[0] + further[1]), 1.0
        else:
            self.num_tests += 1
            level = self.failure_prob / (self.num_tests * (self.num_tests + 1))
            p = p_value(arriving, present, level)
            rejected = p <= level
        return Trial(target, p, evidence(arriving, present, base), rejected)

    def _compare_beyond(self, bag: Ints, found: Walk) -> tuple[Floats, Floats, Ints]:
        """Compare, history by history, the episodes that leave the core again with those that left over the same edge.

        Returns the cells: arriving, present [C, R], and the label of each [C].
        """
        core, traces = self.core, self.traces
        leaving = found.exit_state >= 0
        rows, pos = bag[leaving], found.exit_pos[leaving]
        edges = found.exit_state[leaving] * traces.num_symbols + traces.symbols[rows, pos]
        others = np.flatnonzero(core.exit_state >= 0)
        others = others[~np.isin(others, bag)]
        other_edges = core.exit_state[others] * traces.num_symbols + traces.symbols[others, core.exit_pos[others]]
        met = np.isin(other_edges, edges)
        return compare_suffixes(
            traces,
            np.concatenate((rows, others[met])),
            np.concatenate((pos, core.exit_pos[others[met]])) + 1,
            np.concatenate((edges, other_edges[met])),
            np.arange(len(rows) + int(met.sum())) < len(rows),
        )
