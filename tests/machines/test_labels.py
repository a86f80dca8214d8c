"""Labellings number the labels that occur."""

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from praemia.errors import ModelError
from praemia.machines.labels import Labelling, LabelRule

SIZE, ACTIONS = 4, 3
EVERY = tuple(axis.ravel() for axis in np.indices((SIZE, ACTIONS, SIZE)))
ZERO = tuple(np.zeros(0, dtype=np.int64) for _ in range(3))


def indices(size):
    """Numbers in range and out of it on both sides, some of them huge."""
    return st.none() | st.integers(-1, size + 1) | st.just(2**62)


rules = st.lists(
    st.builds(
        LabelRule,
        st.frozensets(st.sampled_from(strategies.PROPOSITIONS), max_size=2),
        indices(SIZE),
        indices(ACTIONS),
        indices(SIZE),
    ),
    max_size=10,
)


def labels_of(labelling, columns):
    numbers, labels = labelling.of(*columns)
    assert numbers.dtype == np.int32
    assert len(set(labels)) == len(labels)
    return [labels[number] for number in numbers]


@given(rules)
def test_a_transition_has_the_union_of_the_rules_that_match_it(rules):
    expected = [oracles.label_of(rules, *transition) for transition in zip(*EVERY, strict=True)]
    assert labels_of(Labelling(tuple(rules)), EVERY) == expected


@given(rules, st.lists(st.integers(0, SIZE * ACTIONS * SIZE - 1), max_size=6))
def test_any_list_of_transitions_can_be_asked_for(rules, chosen):
    columns = tuple(axis[np.array(chosen, dtype=np.int64)] for axis in EVERY)
    expected = [oracles.label_of(rules, *transition) for transition in zip(*columns, strict=True)]
    assert labels_of(Labelling(tuple(rules)), columns) == expected


def test_rules_know_their_propositions_and_a_function_does_not():
    assert Labelling((LabelRule(frozenset("ab")), LabelRule(frozenset("bc")))).propositions() == set("abc")
    assert Labelling().propositions() == frozenset()
    assert not Labelling(function=lambda o, a, z: ()).by_rules


@given(rules)
def test_a_function_gives_the_labels_that_it_returns(rules):
    def function(o, a, z):
        assert all(type(number) is int for number in (o, a, z))
        return list(oracles.label_of(rules, o, a, z))

    assert labels_of(Labelling(function=function), EVERY) == labels_of(Labelling(tuple(rules)), EVERY)


@pytest.mark.parametrize("returned", [None, b"goal", 1, {1}, ["goal", None], [["goal"]], [{}], {"goal": False}])
def test_what_is_not_a_label_is_refused_with_its_transition(returned):
    with pytest.raises(ModelError, match=r"the label of \(0, 0, 0\) is .*; expected a set of proposition names"):
        Labelling(function=lambda o, a, z: returned).of(*EVERY)
