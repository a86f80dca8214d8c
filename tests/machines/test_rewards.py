"""Rewards are laws over finite numbers and intervals, in one normal form; ranges map them onto [0, 1]."""

import math

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from praemia.errors import ModelError
from praemia.machines.rewards import Reward, RewardRange


@given(strategies.rewards())
def test_a_reward_is_a_law_in_increasing_order(reward):
    assert list(reward.values) == sorted(set(reward.values))
    assert all(p > 0 for p in reward.probabilities)
    assert math.fsum(reward.probabilities) == pytest.approx(1.0)
    assert reward.values[0] - 1e-12 <= reward.mean <= reward.values[-1] + 1e-12
    assert reward.is_constant == (len(reward.values) == 1)


@given(strategies.rewards(), strategies.rewards(), st.integers(1, 5), st.integers(1, 5))
def test_a_mixture_pays_each_value_as_often_as_its_parts(first, second, weight, other_weight):
    mixed = Reward.mixture([(weight, first), (other_weight, second)])
    total = weight + other_weight
    for value in {*first.values, *second.values}:
        expected = weight * chance(first, value) / total + other_weight * chance(second, value) / total
        assert chance(mixed, value) == pytest.approx(expected)


def chance(reward, value):
    return dict(zip(reward.values, reward.probabilities, strict=True)).get(value, 0.0)


def test_equal_values_are_added_and_impossible_ones_dropped():
    assert Reward((1, 0, 1, 0.5), (0.25, 0.5, 0.25, 0.0)) == Reward.bernoulli(0.5)
    assert Reward.bernoulli(1.0) == Reward.of(1)
    assert Reward.of(Reward.bernoulli(0.3)) == Reward.bernoulli(0.3)


@pytest.mark.parametrize(
    ("reward", "text"),
    [
        (Reward.of(0.25), "0.25"),
        (Reward.bernoulli(0.3), "Bernoulli(0.3)"),
        (Reward((0.2, 0.4), (0.5, 0.5)), "P(0.2) = 0.5, P(0.4) = 0.5"),
        (Reward.of(-3), "-3"),
        (Reward.uniform(-1, 2), "uniform(-1, 2)"),
        (Reward((0.0, 1.0), (0.5, 0.5), (0.0, 1.0)), "P(0) = 0.5, P(uniform(1, 2)) = 0.5"),
    ],
)
def test_a_reward_is_written_for_people(reward, text):
    assert str(reward) == text


def test_a_uniform_reward_has_the_moments_of_its_interval():
    law = Reward.uniform(-1, 3)
    assert (law.mean, law.lowest, law.highest, law.is_constant) == (1.0, -1.0, 3.0, False)
    assert Reward.uniform(2, 2) == Reward.of(2)


def test_a_range_holds_0_and_its_ends_are_mapped_onto_0_and_1():
    wide = RewardRange.of([Reward.of(-3), Reward.uniform(2, 5)])
    assert (wide.low, wide.high, wide.span) == (-3.0, 5.0, 8.0)
    assert wide.to_unit(Reward.of(-3)) == Reward.of(0)
    assert wide.to_unit(Reward.uniform(1, 5)) == Reward.uniform(0.5, 1)
    assert wide.values_from_unit(0.5, 10, 1.0) == 0.5 * 8 - 30
    small, negative, nothing = (RewardRange.of(map(Reward.of, rewards)) for rewards in ([0.2], [-3, -1], []))
    assert (small.low, small.high, small.to_unit(Reward.of(0.2))) == (0.0, 0.2, Reward.of(1))
    assert (negative.low, negative.high) == (-3.0, 0.0)
    assert nothing.is_unit
    assert nothing.to_unit(law := Reward.of(1)) is law


@pytest.mark.parametrize("make", [Reward.of, Reward.bernoulli, lambda number: Reward.uniform(0, number)])
def test_an_integer_too_large_for_a_float_is_refused(make):
    with pytest.raises(ModelError, match=r"a reward above 1e\+100"):
        make(10**400)
