"""What a learner may know of a task."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given

from praemia import Task
from praemia.envs import riverswim
from praemia.errors import SizeError


@given(strategies.tasks())
def test_the_machine_is_known_as_arrays_over_the_labels(task: Task) -> None:
    spec = task.spec
    probs, rewards = np.zeros_like(spec.machine_probs), np.zeros_like(spec.machine_rewards)
    assert probs.shape == (len(spec.label_sets), task.num_machine_states, task.num_machine_states)
    for i, label in enumerate(spec.label_sets):
        for m, state in enumerate(spec.machine.states):
            for out in spec.machine.outcomes(state, label):
                probs[i, m, spec.machine.index[out.target]] += out.probability
                rewards[i, m] += out.probability * out.reward.mean
    np.testing.assert_allclose(spec.machine_probs, probs, atol=1e-15)
    np.testing.assert_allclose(spec.machine_rewards, rewards, atol=1e-15)
    for array in (spec.machine_probs, spec.machine_rewards):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


def test_a_machine_that_is_learned_has_no_arrays_and_a_large_one_none_that_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = riverswim(3).spec
    hidden = spec.without_rules(moves_known=True)
    assert not hasattr(hidden, "machine_probs")
    assert not hasattr(hidden, "machine_rewards")
    monkeypatch.setattr("praemia._support.limits.memory_limit", lambda: 50)
    with pytest.raises(SizeError, match="transition probabilities for every label"):
        _ = spec.machine_probs


@given(strategies.tasks())
def test_a_learner_can_have_the_label_of_every_transition(task: Task) -> None:
    indices, sets = task.spec.every_step.labels
    for o, a, z in np.ndindex(indices.shape):
        assert sets[indices[o, a, z]] == oracles.label_of(task.mdp.labelling.rules, o, a, z)


def test_a_learner_is_given_neither_the_transition_probabilities_nor_the_start() -> None:
    names = {field.name for field in fields(riverswim(3).spec)}
    assert names.isdisjoint({"mdp", "probs", "successors", "start_probs"})
