"""What is not a valid argument is a PraemiaError that names it, never an error from within."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest

import praemia
from praemia.errors import PraemiaError, located

TASK: Any = praemia.envs.riverswim(3)
MACHINE: Any = praemia.RewardMachine.from_ltlf("F a")
DATA = praemia.explore(TASK, num_episodes=5)
ANY: Any = None  # any value may be given where a type says otherwise


def lake(**options: Any) -> praemia.BlackBox:
    machine = praemia.RewardMachine.from_ltlf("F goal")
    return praemia.BlackBox(gymnasium.make("FrozenLake-v1"), lambda *_: {"goal"}, machine, 5, **options)


def ending(ends: Any) -> praemia.LabeledMDP:
    return praemia.LabeledMDP.from_entries(2, 1, [0, 1], [0, 0], [0, 1], [1.0, 1.0], ends=ends)


def for_trajectories(**options: Any) -> Any:
    return praemia.plan_from(DATA, praemia.TrajectoryReward(lambda seen: 0.5, 1.0), **options)


WRONG: dict[str, Callable[[], Any]] = {
    "learner=.*expected a learner": lambda: praemia.simulate(TASK, object(), num_episodes=1),  # type: ignore[arg-type]
    "name of a learner is 3": lambda: praemia.learners.make(ANY or 3),
    "mdp=None; expected a LabeledMDP": lambda: praemia.Task(ANY, ANY, 3),
    "machine=None; expected a RewardMachine": lambda: praemia.Task(TASK.mdp, ANY, 3),
    "machine=None; expected a Reward": lambda: TASK.with_machine(ANY),
    "weights with the sum 0": lambda: praemia.Reward.mixture([(0.0, praemia.Reward.of(1))]),
    "weights with the sum nan": lambda: praemia.Reward.mixture([(np.nan, praemia.Reward.of(1))]),
    "chance of noticing 'a' is 'b'": lambda: MACHINE.with_chance({"a": "b"}),
    "chance of noticing 'a' is nan": lambda: MACHINE.with_chance({"a": np.nan}),
    r"ends have the shape \(3,\)": lambda: ending([True] * 3),
    r"ends have the shape \(1,\)": lambda: ending([True]),
    "failure_prob=None; expected a number": lambda: praemia.plan_from(DATA, TASK.machine, failure_prob=ANY),
    "failure_prob='x'; expected a number": lambda: for_trajectories(failure_prob="x"),
    "until_done='no'; expected True or False": lambda: lake(until_done="no"),
    "labels have 3; expected LabelRules": lambda: DATA.with_labels(ANY or 3),
    "threads='x'": lambda: praemia.solve(TASK.with_discount(0.9).with_horizon(None), threads=ANY or "x"),
}


@pytest.mark.parametrize("message", WRONG)
def test_invalid_input_is_an_error_that_names_it(message: str) -> None:
    with pytest.raises(PraemiaError, match=message):
        WRONG[message]()


def test_ends_are_one_value_or_one_for_each_entry() -> None:
    assert ending(True).ends.tolist() == ending([True, True]).ends.tolist() == [True, True]
    assert ending([False, True]).ends.tolist() == [False, True]


def test_an_error_with_a_place_keeps_what_it_carries() -> None:
    error = PraemiaError("wrong")
    error.rule = 7  # type: ignore[attr-defined]
    with pytest.raises(PraemiaError, match=r"^file:3: wrong$") as caught, located("file:3"):
        raise error
    assert caught.value.rule == 7  # type: ignore[attr-defined]


def test_a_message_with_half_a_surrogate_pair_can_be_printed() -> None:
    assert str(PraemiaError("\ud800 and \u061c")) == r"\ud800 and \u061c"
