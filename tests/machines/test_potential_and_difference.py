"""Potentials are optimal values, and differences are shortest words, against slow searches over all labels."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia import patterns
from praemia.errors import ModelError
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward

SURE = strategies.machines(sure_rewards=(0.0, 0.5))


def best_of_steps(machine: RewardMachine, discount: float, steps: int) -> list[float]:
    """Return the largest expected sum of so many steps from each state, step by step over all labels."""
    value = dict.fromkeys(machine.states, 0.0)
    for _ in range(steps):
        value = {
            state: max(
                sum(out.probability * (out.reward.mean + discount * value[out.target]) for out in outcomes)
                for outcomes in (machine.outcomes(state, label) for label in strategies.ALL_LABELS)
            )
            for state in machine.states
        }
    return list(value.values())


@settings(deadline=None, max_examples=30)
@given(strategies.machines(), st.sampled_from([0.0, 0.25, 0.5]), st.sampled_from([0.0, -1.0, -5.0]))
def test_the_potential_is_the_optimal_value_over_all_labels(
    machine: RewardMachine, discount: float, low: float
) -> None:
    machine = strategies.with_rewards(machine, low, low + 2.0)
    assert machine.potential(discount) == pytest.approx(best_of_steps(machine, discount, 50), rel=1e-12, abs=1e-12)


def layered(rng: np.random.Generator) -> RewardMachine:
    """Sample a machine of three layers of two states each, whose rewards are on the edges between layers."""
    names, rules = [f"q{i}" for i in range(6)], []
    for here, when in product(range(6), ("!a & !b", "a & !b", "b")):
        layer = here // 2 * 2
        targets = rng.permutation(np.arange(layer, 6))[: rng.integers(1, 4)].tolist()
        probs = rng.dirichlet(np.ones(len(targets))).tolist()
        rewards = [0.0 if there < layer + 2 else float(rng.choice([-5, -1, 0, 1, 3])) for there in targets]
        outs = zip(targets, probs, rewards, strict=True)
        to = {names[there]: {"probability": p, "reward": reward} for there, p, reward in outs}
        rules.append({"from": names[here], "when": when, "to": to})
    return RewardMachine(names, "q0", ["a", "b"], rules)


def best_of_policies(machine: RewardMachine, discount: float) -> np.ndarray:
    """Return the largest sum of rewards from each state over all policies, by doubling the number of steps."""
    best = np.full(machine.num_states, -np.inf)
    for policy in product(*map(machine.possible_outcomes, machine.states)):
        probs, total = np.zeros((len(policy), len(policy))), np.zeros(len(policy))
        for here, outcomes in enumerate(policy):
            for out in outcomes:
                probs[here, machine.index[out.target]] += discount * out.probability
                total[here] += out.probability * out.reward.mean
        for _ in range(50):
            total, probs = total + probs @ total, probs @ probs
        best = np.maximum(best, total)
    return best


@pytest.mark.parametrize("discount", [0.9, 0.999999, 1.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_potential_is_the_value_of_the_best_policy_also_at_and_near_a_discount_of_1(
    seed: int, discount: float
) -> None:
    machine = layered(np.random.default_rng(seed))
    assert machine.potential(discount) == pytest.approx(best_of_policies(machine, discount), rel=1e-9, abs=1e-9)


def test_without_a_discount_it_is_best_to_stay_where_every_way_out_has_a_loss() -> None:
    loss = {"from": "b", "when": "true", "to": "c", "reward": -5}
    tempted = RewardMachine(["a", "b", "c"], "a", ["x"], [{"from": "a", "when": "!x", "to": "b", "reward": 1}, loss])
    assert tempted.potential(1.0).tolist() == [0.0, -5.0, 0.0]
    rules = [
        {"from": "a", "when": "true", "to": "b"},
        {"from": "b", "when": "!x", "to": "c", "reward": 1},
        {"from": "b", "when": "x", "to": "a"},
        {"from": "c", "when": "true", "to": "d", "reward": -5},
    ]
    assert RewardMachine(["a", "b", "c", "d"], "a", ["x"], rules).potential(1.0).tolist() == [0.0, 0.0, -5.0, 0.0]


@pytest.mark.parametrize("rest", [1e-3, 1e-6, 1e-9])  # 1 − γ
def test_the_potential_is_exact_near_a_discount_of_1(rest: float) -> None:
    there, back = {"from": "a", "when": "x", "to": "b", "reward": 1}, {"from": "b", "when": "!x", "to": "a"}
    g = 1.0 - rest
    expected = [1.0 / (1.0 - g * g), g / (1.0 - g * g)]
    assert RewardMachine(["a", "b"], "a", ["x"], [there, back]).potential(g) == pytest.approx(expected, rel=1e-6)


def test_potentials_in_closed_form() -> None:
    noticed = RewardMachine.from_ltlf("F a", reward=2.0).with_chance({"a": 0.25})
    for g in (0.0, 0.5, 0.9, 0.999, 1.0):
        assert noticed.potential(g) == pytest.approx([2 * 0.25 / (1 - 0.75 * g), 0.0])
        in_order = RewardMachine.from_ltlf("F(a & X F(b & X F c))")
        assert in_order.potential(g) == pytest.approx([g**2, g, 1.0, 0.0])
    always = RewardMachine(["q"], "q", ["a"], [{"from": "q", "when": "else", "to": "q", "reward": -0.5}])
    assert always.potential(0.99) == pytest.approx([-50.0])
    lottery = RewardMachine.from_ltlf("F a", reward=Reward.uniform(-1, 3))
    assert lottery.potential(1) == pytest.approx([1.0, 0.0])
    tiny = RewardMachine.from_ltlf("F(a & X F b)", reward=1e-30)
    assert tiny.potential(0.5) == pytest.approx([5e-31, 1e-30, 0.0], rel=1e-12)


def test_a_cycle_with_rewards_needs_a_discount() -> None:
    patrol = patterns.patrol("a", "b").machine()
    with pytest.raises(ModelError, match="discount=1, and a cycle through the machine state 's1' has a reward"):
        patrol.potential(1.0)
    assert patrol.potential(0.5).max() == pytest.approx(1 / (1 - 0.25))


def shortest(first: RewardMachine, second: RewardMachine, longest: int) -> int | None:
    """Return the length of the shortest word whose last expected rewards differ, by trying all words."""
    words = [()]
    for length in range(1, longest + 1):
        words = [(*word, label) for word in words for label in strategies.ALL_LABELS]
        for word in words:
            one, other = first.expected_rewards(word)[-1], second.expected_rewards(word)[-1]
            if one != pytest.approx(other, rel=1e-9, abs=1e-12):
                return length
    return None


@settings(deadline=None, max_examples=40)
@given(*[st.one_of(strategies.machines(), SURE)] * 2)
def test_a_difference_is_a_shortest_word(first: RewardMachine, second: RewardMachine) -> None:
    word, expected = first.difference(second), shortest(first, second, 2)
    assert expected == (len(word) if word is not None and len(word) <= 2 else None)
    if word is not None:
        one, other = first.expected_rewards(word), second.expected_rewards(word)
        assert one[:-1] == pytest.approx(other[:-1])
        assert abs(one[-1] - other[-1]) > 1e-9 * max(abs(one[-1]), abs(other[-1]))
        assert len(second.difference(first) or []) == len(word)


@settings(deadline=None, max_examples=25)
@given(st.one_of(strategies.machines(), SURE), st.sampled_from("abc"))
def test_machines_that_do_the_same_do_not_differ(machine: RewardMachine, name: str) -> None:
    """The sum with a machine without rewards has other states and the same rewards."""
    doubled = machine + RewardMachine.from_ltlf(f"F {name}", reward=0.0).with_chance({name: 0.5})
    for other in (machine, doubled, machine.over(["d"]), doubled.replace(propositions=doubled.propositions[::-1])):
        assert machine.difference(other) is None
        assert other.difference(machine) is None


def test_differences_of_known_length() -> None:
    for count in (1, 5, 40):
        word = patterns.at_most("a", count).machine().difference(patterns.at_most("a", count + 1).machine())
        assert word == [{"a"}] * (count + 1)
    ordered, either = (RewardMachine.from_ltlf(text) for text in ("F(a & X F b)", "F a & F b"))
    assert ordered.difference(either) == [{"a", "b"}]
    assert RewardMachine.from_ltlf("F b").difference(RewardMachine.from_ltlf("F a")) == [{"a"}]
    either = RewardMachine.from_regex("(a & !b) (a & !b) | (b & !a) (b & !a) (b & !a)")
    assert either.difference(RewardMachine(["q"], "q", ["a"], [])) == [{"a"}, {"a"}]
    names = [f"p{i}" for i in range(40)]
    one, other = (patterns.visit_in_order(*order).machine() for order in (names, [*names[:-2], *names[:-3:-1]]))
    assert len(one.difference(other) or []) == 40


def test_means_are_compared_and_not_distributions() -> None:
    sure, coin = (RewardMachine.from_ltlf("F a", reward=law) for law in (Reward.of(0.5), Reward.bernoulli(0.5)))
    assert sure.difference(coin) is None
    near, far = (RewardMachine.from_ltlf("F a", reward=0.5 * (1 + gap)) for gap in (1e-12, 1e-7))
    assert sure.difference(near) is None
    assert sure.difference(far) == [{"a"}]
    rare = RewardMachine.from_ltlf("F(a & X F b)").with_chance({"a": 1e-6})
    assert rare.difference(RewardMachine.from_ltlf("F(a & X F b)", reward=0.0)) == [{"a"}, {"b"}]


def test_hidden_chances_are_told_apart_by_longer_words() -> None:
    """After one a both machines have moved with probability 1/2; the one tries again and the other does not."""
    again = RewardMachine.from_ltlf("F(a & X F b)").with_chance({"a": 0.5})
    rules = [
        {"from": "q", "when": "a", "to": {"r": 0.5, "never": 0.5}},
        {"from": "r", "when": "b", "to": {"never": {"probability": 1.0, "reward": 1}}},
    ]
    once = RewardMachine(["q", "r", "never"], "q", ["a", "b"], rules)
    assert again.difference(once) == [{"a"}, {"a"}, {"b"}]
