"""A machine that exists is valid, and says what its rules say."""

from collections import defaultdict

import pytest

from praemia.machines.builder import MachineBuilder
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard

A, B = parse_guard("a"), parse_guard("b")


def machine(*rules, states=("q", "r"), initial="q", propositions=("a", "b")):
    return RewardMachine(states, initial, propositions, rules)


TO_R = (Outcome("r"),)


def rule(source="q", guard="a", outcomes=TO_R):
    return Rule(source, parse_guard(guard), tuple(outcomes))


def test_outcomes_with_one_target_are_mixed_and_keep_the_law():
    outcomes = [
        Outcome("r", 0.2, Reward.of(1)),
        Outcome("q", 0.5, Reward.of(0.5)),
        Outcome("r", 0.3, Reward.bernoulli(0.5)),
        Outcome("q", 0.0, Reward.of(1)),
    ]
    law = defaultdict(float)
    for outcome in outcomes:
        for value, p in zip(outcome.reward.values, outcome.reward.probabilities, strict=True):
            law[outcome.target, value] += outcome.probability * p
    merged = rule(outcomes=outcomes).outcomes
    assert [outcome.target for outcome in merged] == ["r", "q"]
    for outcome in merged:
        for value, p in zip(outcome.reward.values, outcome.reward.probabilities, strict=True):
            assert outcome.probability * p == pytest.approx(law.pop((outcome.target, value)))
    assert not any(law.values())


def test_the_builder_numbers_states_as_they_are_named_and_takes_guards_or_text():
    built = MachineBuilder(initial="z").edge("z", A & ~B, "y").edge("x", "b", "z").build()
    assert built.states == ("z", "y", "x")
    assert built.initial == "z"
    assert built.propositions == ("a", "b")
    assert built.index == {"z": 0, "y": 1, "x": 2}


def test_the_builder_joins_edges_with_the_same_guard_into_one_rule():
    built = (
        MachineBuilder(initial="q", propositions=["a", "unused"])
        .edge("q", "a", "r", probability=0.75)
        .edge("q", "(a)", "q", probability=0.25)
        .build()
    )
    assert len(built.rules) == 1
    assert built.propositions == ("a", "unused")


def test_more_propositions_change_nothing_else():
    larger = machine(rule()).over(["c", "a"])
    assert larger.propositions == ("a", "b", "c")
    assert larger.outcomes("q", {"a", "c"}) == (Outcome("r"),)
