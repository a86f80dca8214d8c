"""A machine that exists is valid, and says what its rules say."""

from collections import defaultdict

import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia import MachineBuilder, Outcome, Reward, RewardMachine, Rule
from praemia.errors import PraemiaError
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


FILE_RULES = [
    {"from": "out", "when": "goal & !home", "to": {"back": {"probability": 0.8, "reward": 1}, "out": 0.2}},
    {"from": "back", "when": "home", "to": "out", "reward": {"bernoulli": 0.5}},
]


def test_rules_may_be_plain_dictionaries_as_in_files() -> None:
    made = RewardMachine(["out", "back"], "out", ["goal", "home"], FILE_RULES)
    rules = [
        Rule("out", parse_guard("goal & !home"), (Outcome("back", 0.8, Reward.of(1)), Outcome("out", 0.2))),
        Rule("back", parse_guard("home"), (Outcome("out", 1.0, Reward.bernoulli(0.5)),)),
    ]
    assert made == RewardMachine(("out", "back"), "out", ("goal", "home"), rules)


def test_a_flat_expression_may_be_long() -> None:
    machine = RewardMachine.from_regex(" ".join("ab" * 200))
    word = [{"a"}, {"b"}] * 200
    assert machine.num_states == 401
    assert machine.expected_rewards(word).tolist() == [0.0] * 399 + [1.0]
    assert RewardMachine.from_regex("(a?" * 300 + ")" * 300).expected_rewards([{"a"}] * 2).tolist() == [1.0, 0.0]


def test_a_name_may_be_long() -> None:
    name = "a" * 30_000
    assert RewardMachine.from_ltlf(f"F {name}").expected_rewards([{name}]).tolist() == [1.0]
    with pytest.raises(PraemiaError, match="unknown proposition"):
        RewardMachine.from_ltlf(f"F {name}", propositions=[name + "b"])


@settings(deadline=None)
@given(strategies.machines(), st.floats(-1e6, 1e6), st.floats(1e-9, 1e6))
def test_mapped_rewards_never_exceed_one(machine: RewardMachine, low: float, span: float) -> None:
    uniform = MachineBuilder("u").edge("u", "b", "u", reward=Reward.uniform(low, low + span)).build()
    unit = (strategies.with_rewards(machine, low, low + span) + uniform).in_unit_range
    for reward in unit.rewards:
        assert 0.0 <= reward.lowest <= reward.mean <= reward.highest <= 1.0
