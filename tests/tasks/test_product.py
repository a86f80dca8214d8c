"""The explicit product is the one of the definition."""

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given

from praemia.envs.classics import warehouse
from praemia.errors import SizeError
from praemia.tasks.product import product


@given(strategies.tasks())
def test_the_product_is_that_of_the_definition(task):
    built, edges = product(task), oracles.product(task)
    transitions = np.zeros((built.num_states, built.num_actions, built.num_states))
    rewards = np.zeros((built.num_states, built.num_actions))
    for ((m, o), a), successors in edges.items():
        for p, reward, (m_next, z) in successors:
            transitions[m * task.num_observations + o, a, m_next * task.num_observations + z] += p
            rewards[m * task.num_observations + o, a] += p * reward
    np.testing.assert_allclose(built.to_dense(), transitions, atol=1e-15)
    np.testing.assert_allclose(built.rewards, rewards, atol=1e-15)
    start = np.zeros(built.num_states)
    for (m, o), p in oracles.start(task).items():
        start[m * task.num_observations + o] = p
    np.testing.assert_array_equal(built.start_probs, start)


@given(strategies.tasks())
def test_rows_are_laws_and_dense_is_sparse(task):
    built = product(task)
    dense = built.to_dense()
    np.testing.assert_allclose(dense.sum(axis=-1), 1.0)
    assert built.horizon == task.horizon
    for a, matrix in enumerate(built.to_sparse()):
        np.testing.assert_array_equal(matrix.toarray(), dense[:, a])


def test_a_product_that_cannot_fit_is_refused(monkeypatch):
    built, larger = product(warehouse(4)), warehouse(12)
    monkeypatch.setattr("praemia._support.limits.memory_limit", lambda: 50_000)
    with pytest.raises(SizeError, match="the dense product needs"):
        built.to_dense()
    with pytest.raises(SizeError, match="the explicit product needs"):
        product(larger)
