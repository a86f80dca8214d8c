"""Prefix trees are folded without contradiction, and a fold that fails leaves no trace."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_traces import random_table, random_traces

from praemia.inference.evidence import has_conflict
from praemia.inference.merging import PrefixTree, fold_states
from praemia.inference.reading import as_traces
from praemia.inference.state_table import MAX_STATES, walk_from_start
from praemia.inference.traces import Traces


def traces_of(seed: int, num_states: int, num_traces: int = 20) -> Traces:
    rng = np.random.default_rng(seed)
    return as_traces(random_traces(random_table(rng, num_states, 1), rng, num_traces, 8))


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_a_fold_that_fails_or_is_removed_leaves_the_tree_as_it_was(seed: int, num_states: int) -> None:
    tree = PrefixTree(traces_of(seed, num_states))
    before = deepcopy((tree.moves, tree.symbols))
    for label, subtree in before[0][0].items():
        tree.moves[0][label] = 0
        fold = tree._fold(0, subtree)
        if fold is not None:
            tree._remove(fold.added)
        tree.moves[0][label] = subtree
        assert (tree.moves, tree.symbols) == before


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
