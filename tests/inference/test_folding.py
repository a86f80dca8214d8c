"""Prefix trees are folded without contradiction, and a fold that is not made leaves no trace."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_traces import random_table, random_traces

from praemia.inference.evidence import has_conflict
from praemia.inference.merging import STAYING, PrefixTree, fold_states
from praemia.inference.reading import as_traces
from praemia.inference.state_table import MAX_STATES, walk_from_start
from praemia.inference.traces import Traces


def traces_of(seed: int, num_states: int, num_traces: int = 20) -> Traces:
    rng = np.random.default_rng(seed)
    return as_traces(random_traces(random_table(rng, num_states, 1), rng, num_traces, 8))


class CopiedTree(PrefixTree):
    """A prefix tree that tries every fold on a copy of its edges."""

    def _lead_back(self, node: int, label: int, core: dict[int, int]) -> bool:
        subtree, before, nats = self.moves[node][label], (self.moves, self.symbols), {}
        for state in core:
            self.moves, self.symbols = deepcopy(before)
            self.moves[node][label] = state
            fold = self._fold(state, subtree)
            if fold is not None:
                nats[state] = fold.nats + STAYING * (state == node)
        self.moves, self.symbols = before
        if nats:
            self.moves[node][label] = best = max(nats, key=lambda state: nats[state])
            fold = self._fold(best, subtree)
            assert fold is not None
            for kept, gone in fold.pairs:
                self.steps[kept] += self.steps[gone]
        return bool(nats)


def test_a_fold_that_fails_takes_back_the_edges_it_added() -> None:
    """After a comes b, which the root has not had, and then a pays 1, which at the root paid 0."""
    tree = PrefixTree(as_traces([[({"a"}, 0.0), ({"b"}, 0.0)], [({"a"}, 0.0), ({"a"}, 1.0)]]))
    before = deepcopy((tree.moves, tree.symbols))
    assert list(tree.symbols[1]) == [1, 0]  # b is folded before a
    assert tree._fold(0, 1) is None
    assert (tree.moves, tree.symbols) == before


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 20), st.booleans())
def test_merging_that_undoes_folds_is_merging_on_copies(
    seed: int, num_states: int, num_traces: int, most_data_first: bool
) -> None:
    traces = traces_of(seed, num_states, num_traces)
    merged, copied = (kind(traces).merge(most_data_first, MAX_STATES) for kind in (PrefixTree, CopiedTree))
    assert np.array_equal(merged, copied)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_folded_states_explain_the_traces_and_are_no_more_than_in_the_order_of_access(
    seed: int, num_states: int
) -> None:
    traces = traces_of(seed, num_states)
    delta = fold_states(traces)
    walked = walk_from_start(traces, delta)
    assert (walked.exit_state < 0).all()
    assert not has_conflict(traces.cells(walked.counts))
    assert len(delta) <= len(PrefixTree(traces).merge(False, MAX_STATES))


def test_progress_ends_with_all_episodes() -> None:
    calls: list[tuple[int, int]] = []
    traces = traces_of(1, 4)
    PrefixTree(traces).merge(True, MAX_STATES, lambda done, total: calls.append((done, total)))
    done = [episodes for episodes, _ in calls]
    assert done[0] == 0
    assert done[-1] == traces.num_episodes
    assert all(0 <= episodes <= total for episodes, total in calls)
