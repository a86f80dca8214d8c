"""Dense arrays say of every state and label what the machine says, and batches are stepped by them."""

from __future__ import annotations

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia.errors import SizeError
from praemia.machines import arrays as module
from praemia.machines.machine import RewardMachine

COIN = RewardMachine.from_ltlf("F(a & X F b)").with_chance({"a": 0.25})


def label_of(code: int, propositions: list[str]) -> frozenset[str]:
    return frozenset(name for i, name in enumerate(propositions) if code >> i & 1)


@settings(deadline=None, max_examples=50)
@given(strategies.machines(), st.permutations([*strategies.PROPOSITIONS, "other"]))
def test_arrays_hold_the_outcomes_of_every_state_and_label(machine: RewardMachine, names: list[str]) -> None:
    arrays = machine.to_arrays(names)
    assert (arrays.propositions, arrays.states) == (tuple(names), machine.states)
    assert arrays.states[arrays.initial] == machine.initial
    assert (arrays.probs.shape[2] == 1) == machine.is_deterministic
    for m, state in enumerate(machine.states):
        for code in range(2 ** len(names)):
            outcomes = machine.outcomes(state, label_of(code, names))
            expected = [(machine.index[out.target], out.probability, out.reward.mean) for out in outcomes]
            cell = zip(
                *(array[m, code].tolist() for array in (arrays.targets, arrays.probs, arrays.rewards)), strict=True
            )
            assert [outcome for outcome in cell if outcome[1] > 0.0] == expected
            total = sum(probability * reward for _, probability, reward in expected)
            assert arrays.reward[m, code] == pytest.approx(total)
        assert arrays.done[m] == (m in machine.terminal_states)
    assert arrays.targets.min() >= 0
    assert arrays.targets.max() < machine.num_states


@settings(deadline=None, max_examples=30)
@given(strategies.machines(sure_rewards=(0.0, 0.5, 1.0)), st.integers(0, 2**32 - 1))
def test_a_deterministic_batch_is_every_word_by_itself(machine: RewardMachine, seed: int) -> None:
    names = [*strategies.PROPOSITIONS]
    arrays, words = machine.to_arrays(names), np.random.default_rng(seed).integers(2 ** len(names), size=(6, 5))
    states, rewards = np.full(5, arrays.initial), []
    for labels in words:
        assert np.array_equal(arrays.next[states, labels], arrays.step(states, labels)[0])
        states, paid = arrays.step(states, labels)
        rewards.append(paid)
    for column, word in zip(np.array(rewards).T, words.T, strict=True):
        assert column.tolist() == machine.expected_rewards([label_of(code, names) for code in word]).tolist()


def test_outcomes_are_sampled_with_their_probabilities() -> None:
    """In each state and on each label 20,000 steps; a share is off by more than 5 σ with probability below 1e-6."""
    machine, size = strategies.random_machine(4, 3, 0), 20_000
    arrays, rng = machine.to_arrays(strategies.PROPOSITIONS), np.random.default_rng(0)
    states, labels = np.meshgrid(np.arange(4), np.arange(8), indexing="ij")
    targets, rewards = arrays.step(np.repeat(states[..., None], size, axis=2), labels[..., None], rng)
    for cell in np.ndindex(4, 8):
        for target, probability, reward in zip(
            arrays.targets[cell], arrays.probs[cell], arrays.rewards[cell], strict=True
        ):
            if probability > 0.0:
                is_it = targets[cell] == target
                assert abs(is_it.mean() - probability) <= 5 * np.sqrt(probability * (1 - probability) / size)
                assert (rewards[cell][is_it] == reward).all()


def test_an_outcome_of_probability_0_is_never_sampled() -> None:
    class Edges:
        """A generator whose numbers are the ends of [0, 1)."""

        def random(self, shape: tuple[int, ...]) -> np.ndarray:
            return np.resize([0.0, np.nextafter(1.0, 0.0)], shape)

    arrays = COIN.to_arrays(["a", "b"])
    states, labels = np.indices((3, 4)).reshape(2, -1)
    for codes in (labels, labels[::-1]):
        targets, _ = arrays.step(states, codes, Edges())  # type: ignore[arg-type]
        assert all(
            target in arrays.targets[m, code][arrays.probs[m, code] > 0.0]
            for m, code, target in zip(states, codes, targets, strict=True)
        )


def test_a_machine_without_propositions_has_one_label() -> None:
    arrays = RewardMachine(["q", "r"], "q", [], [{"from": "q", "when": "true", "to": "r", "reward": 2}]).to_arrays([])
    assert arrays.next.tolist() == [[1], [1]]
    assert arrays.reward.tolist() == [[2.0], [0.0]]
    assert arrays.done.tolist() == [False, True]


def test_arrays_that_are_too_large_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    with pytest.raises(SizeError, match=r"3 states, 16 labels and 2 outcomes need .* the limit is"):
        COIN.to_arrays(["a", "b", "c", "d"])


def test_arrays_are_never_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        COIN.to_arrays(["a", "b"]).probs[0, 0, 0] = 1.0
