"""Several formulas: each may say when and what it pays; a cost that is paid only once is pointed out."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import praemia
from praemia import Reward, RewardMachine

WORD = [set(), set(), {"goal"}, set(), {"goal"}]
STEP = -0.0625
FULL = {"F goal": {"reward": 1.0, "pay": "first"}, "!F goal": {"reward": STEP, "pay": "each"}}
PAID = [STEP, STEP, 1.0, 0.0, 0.0]  # a cost until the goal is reached, and 1 there


@pytest.mark.parametrize(
    "machine",
    [
        RewardMachine.from_ltlf(FULL),
        RewardMachine.from_ltlf({"F goal": {"reward": 1.0, "pay": "first"}, "!F goal": STEP}, pay="each"),
        RewardMachine.from_regex({"(!goal)* goal": {"reward": 1.0}, "(!goal)+": {"reward": STEP, "pay": "each"}}),
    ],
    ids=["each with its pay", "one pay for those without", "expressions"],
)
def test_each_formula_pays_in_its_own_way(machine: RewardMachine) -> None:
    assert machine.expected_rewards(WORD).tolist() == PAID


def test_a_formula_may_pay_by_a_law() -> None:
    machine = RewardMachine.from_ltlf({"F goal": {"reward": Reward.bernoulli(0.25)}, "F(goal & X F goal)": 2.0})
    assert machine.expected_rewards(WORD).tolist() == [0.0, 0.0, 0.25, 0.0, 2.0]


FILE = """
ltlf:
  "F goal": {{reward: {reward}, pay: first}}
  "!F goal": {{reward: {step}}}
pay: each
"""


@pytest.mark.parametrize(("reward", "mean"), [("1", 1.0), ("{bernoulli: 0.25}", 0.25), ("{uniform: [1, 2]}", 1.5)])
def test_a_file_says_the_same(reward: str, mean: float, tmp_path: Path) -> None:
    file = tmp_path / "machine.yaml"
    file.write_text(FILE.format(reward=reward, step=STEP), encoding="utf-8")
    machine = praemia.load_machine(file)
    assert machine.expected_rewards(WORD).tolist() == [STEP, STEP, mean, 0.0, 0.0]
    praemia.save_machine(machine, tmp_path / "again.yaml")
    assert "F goal" in (tmp_path / "again.yaml").read_text(encoding="utf-8")
    again = praemia.load_machine(tmp_path / "again.yaml")
    assert again.expected_rewards(WORD).tolist() == machine.expected_rewards(WORD).tolist()


def test_a_cost_that_is_paid_once_only_is_pointed_out() -> None:
    with pytest.warns(UserWarning, match="once"):
        RewardMachine.from_ltlf({"F goal": 1.0, "!F goal": STEP})


def test_a_penalty_for_an_event_is_meant_to_be_paid_once() -> None:
    """F alarm becomes true by an event: paying for it once is what it says."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RewardMachine.from_ltlf({"F goal": 1.0, "F alarm": -1.0})
