"""A labelled MDP is the same however it is given, and a bad one is refused."""

import numpy as np
import pytest
import strategies
from hypothesis import given
from scipy import sparse

from praemia.errors import ModelError, SizeError
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.mdp_input import MAX_ACTIONS

GOOD = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]])


def changed(place, value):
    dense = GOOD.copy()
    dense[place] = value
    return dense


def assert_same(first, second):
    for name in ("indptr", "successors", "probs", "labels", "start_probs"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.label_sets == second.label_sets


@given(strategies.mdps())
def test_dense_sparse_and_rows_make_the_same_mdp(mdp):
    dense, rest = mdp.to_dense(), (mdp.labelling, mdp.start_probs)
    rows = {
        (o, a): {z: dense[o, a, z] for z in np.flatnonzero(dense[o, a])[::-1]} for o, a in np.ndindex(dense.shape[:2])
    }
    assert_same(mdp, LabeledMDP.from_dense(dense, *rest))
    assert_same(mdp, LabeledMDP.from_sparse(mdp.to_sparse(), *rest))
    assert_same(mdp, LabeledMDP.from_rows(*dense.shape[:2], rows, *rest))


@given(strategies.mdps())
def test_rows_are_laws_with_increasing_successors(mdp):
    for first, last in zip(mdp.indptr, mdp.indptr[1:], strict=False):
        assert np.all(np.diff(mdp.successors[first:last]) > 0)
        assert mdp.probs[first:last].sum() == pytest.approx(1.0)
    assert mdp.start_probs.sum() == pytest.approx(1.0)
    assert set(mdp.labels) == set(range(len(mdp.label_sets)))


def test_entries_of_one_transition_are_added_up():
    twice = LabeledMDP.from_entries(1, 1, [0, 0], [0, 0], [0, 0], [0.25, 0.75])
    np.testing.assert_array_equal(twice.probs, [1.0])
    matrix = sparse.coo_array(([0.5, 0.5, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(LabeledMDP.from_sparse([matrix]).to_dense()[:, 0], [[0, 1], [1, 0]])


def test_transitions_with_probability_zero_are_dropped():
    mdp = LabeledMDP.from_rows(
        2, 1, {(0, 0): {0: 0.0, 1: 1.0}, (1, 0): {1: 1.0}}, [LabelRule(frozenset("a"), target=0)]
    )
    assert mdp.label_sets == (frozenset(),)
    np.testing.assert_array_equal(mdp.successors, [1, 1])


def test_a_start_is_an_observation_a_mapping_or_an_array():
    for start in (1, np.int64(1), {1: 1.0}, [0.0, 1.0], np.array([0, 1])):
        np.testing.assert_array_equal(LabeledMDP.from_dense(GOOD, start=start).start_probs, [0.0, 1.0])


def test_the_arrays_cannot_be_changed_and_the_given_ones_still_can():
    dense, start = GOOD.copy(), np.array([0.5, 0.5])
    mdp = LabeledMDP.from_dense(dense, start=start)
    with pytest.raises(ValueError, match="read-only"):
        mdp.probs[0] = 0.0
    dense[0], start[0] = 0.0, 0.0
    np.testing.assert_array_equal(mdp.to_dense(), GOOD)


DENSE = (
    (np.zeros((2, 2)), {}, r"shape \(2, 2\); expected \(O, A, O\)"),
    (np.zeros((2, 2, 3)), {}, r"shape \(2, 2, 3\)"),
    (np.zeros((0, 0, 0)), {}, "num_observations=0; expected an integer of at least 1"),
    (np.ones((1, MAX_ACTIONS + 1, 1)), {}, "num_actions=32769; expected an integer from 1 to 32,768"),
    (changed((1, 0), 0.0), {}, "observation 1, action 0 has no successors"),
    (changed((0, 1, 0), 0.9), {}, "observation 0, action 1: probabilities sum to 0.9; they must sum to 1"),
    (changed((0, 0), [1.5, -0.5]), {}, "observation 0, action 0: probability -0.5"),
    (changed((0, 0), [np.nan, 1.0]), {}, "action 0: probability nan"),
    (changed((0, 0), [np.inf, 0.0]), {}, "action 0: probability inf"),
    ([[[1.0], [0.5, 0.5]]], {}, "differ in length"),
    ([[["sure"]]], {}, "expected numbers"),
    (changed((0, 1, 0), 0.9), {"observations": ("home", "away"), "actions": ("stay", "go")}, "home, action go: prob"),
    (GOOD, {"observations": ["x"]}, "1 observation names for 2 observations"),
    (GOOD, {"actions": ["x", "x"]}, "action 'x' is listed twice"),
    (GOOD, {"start": 2}, "start observation 2; expected 0 … 1"),
    (GOOD, {"start": -1}, "start observation -1"),
    (GOOD, {"start": {2: 1.0}}, "start observation 2"),
    (GOOD, {"start": {"home": 1.0}}, "start observation 'home'"),
    (GOOD, {"start": {0: "sure"}}, "start holds str"),
    (GOOD, {"start": {0: 0.5}}, "start: probabilities sum to 0.5"),
    (GOOD, {"start": {0: -0.5, 1: 1.5}}, r"they must lie in \[0, 1\]"),
    (GOOD, {"start": {0: np.nan}}, "sum to nan"),
    (GOOD, {"start": [1.0]}, r"start has shape \(1,\)"),
    (GOOD, {"start": 0.0}, r"start has shape \(\)"),
    (GOOD, {"start": "home"}, "start holds"),
    (GOOD, {"labels": [LabelRule("a", source=2)]}, "names the observation 2; expected 0 … 1"),
    (GOOD, {"labels": [LabelRule("a", action=-1)]}, "names the action -1; expected 0 … 1"),
    (GOOD, {"labels": [LabelRule("a", target=2**62)]}, "expected 0 … 1"),
)
ENTRIES = (
    (([0, 2], [0, 0], [0, 0], [1, 1]), "observation numbers run from 0 to 2; expected 0 … 1"),
    (([0, 1], [0, 1], [0, 0], [1, 1]), "action numbers run from 0 to 1"),
    (([0, 1], [0, 0], [-1, 0], [1, 1]), "successor numbers run from -1"),
    (([0, 1], [0, 0], [0.5, 0], [1, 1]), "successor number 0.5; expected an integer"),
    (([0, 1], [0, 0], [np.nan, 0], [1, 1]), "successor numbers run from nan"),
    (([0, 1], [0, 0], [0], [1, 1]), "they must have the same length"),
    (([0, 1], [0], [0, 1], [1, 1]), "they must have the same length"),
    (([[0, 1]], [0], [0, 1], [1, 1]), "expected one dimension"),
    (([0, 1], [0, 0], [0, 1], 1.0), r"probs have shape \(\); expected one dimension"),
    (([0, 0, 1], [0] * 3, [0, 0, 0], [1.5, -0.5, 1]), "action 0: probability -0.5"),
    (([0, 1], [0, 0], [0, 0], [1, np.nan]), "observation 1, action 0: probability nan"),
    (([0, 1], [0, 0], [0, 0], [1, np.inf]), "probability inf"),
)
WRONG = (
    *((lambda e=entries: LabeledMDP.from_entries(2, 1, *e), message) for entries, message in ENTRIES),
    *((lambda d=dense, o=options: LabeledMDP.from_dense(d, **o), message) for dense, options, message in DENSE),
    *((lambda m=matrices: LabeledMDP.from_sparse(m), "square sparse matrices of one shape")
      for matrices in ([], [np.ones((1, 2))], [np.ones(2)], [np.eye(1), np.eye(2)])),
    (lambda: LabeledMDP.from_rows(1, 2, {(0, 0): {0: 1.0}}), "observation 0, action 1 has no successors"),
    (lambda: LabeledMDP.from_rows(1, 1, {}), "observation 0, action 0 has no successors"),
    (lambda: LabeledMDP.from_rows(10**12, 10, {}), "GiB"),
    (lambda: LabeledMDP.from_rows(2.5, 1, {}), "num_observations=2.5; expected an integer"),
)  # fmt: skip


@pytest.mark.parametrize(("make", "message"), WRONG)
def test_what_is_no_mdp_is_refused(make, message):
    with pytest.raises((ModelError, SizeError), match=message):
        make()
