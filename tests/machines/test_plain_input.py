"""What people type is accepted as it is meant, or refused with what to do instead."""

import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from praemia import MachineBuilder, Outcome, Reward, RewardMachine, Rule
from praemia.errors import PraemiaError
from praemia.machines.syntax import parse_guard

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
