"""A learner's plan is checked before it is played: what is wrong with it is one message, never a crash or a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from hidden_tasks import Still

from praemia import BlackBox, envs, evaluate, simulate
from praemia.errors import ModelError
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.tasks.task import Task

TASK = envs.make("warehouse-3")
H, M, A = TASK.horizon, TASK.num_machine_states, TASK.num_actions


class Careless(Learner):
    """Return whatever a function of the right policy makes; the right one first, if it is to go wrong later."""

    name: ClassVar[str] = "careless"
    spoil: Callable[[np.ndarray], Any]
    right_at_first: bool = False
    replan: str = "episode"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        right = np.zeros(shape, dtype=np.int64)
        if self.right_at_first and previous is None:
            return LearnerPlan(right)
        return self.spoil(right)


class CarelessOnProduct(Careless):
    """The same for a learner on the product."""

    sees: ClassVar[str] = "product"


BOX = BlackBox(Still(TASK.num_observations, A), lambda o, a, z, info: (), TASK.machine, H)


def changed(policy: np.ndarray, value: Any) -> np.ndarray:
    """Return the policy with another number in one place, the last that would be looked at."""
    other = policy.astype(np.result_type(policy, type(value)))
    other[-1, -1, -1] = value
    return other


def spread(policy: np.ndarray, total: float = 1.0) -> np.ndarray:
    """Return probabilities that are uniform but for one place, where they sum to ``total``."""
    probs = np.full((*policy.shape, A), 1.0 / A)
    probs[-1, -1, -1] = total / A
    return probs


def negative(policy: np.ndarray) -> np.ndarray:
    """Return probabilities that sum to 1, one of them below 0."""
    probs = spread(policy)
    probs[-1, -1, -1, :2] = -0.1, 2.0 / A + 0.1
    return probs


WRONG = {
    "an action too large": (lambda p: LearnerPlan(changed(p, A)), rf"actions 0 … {A}; expected 0 … {A - 1}"),
    "an action below 0": (lambda p: LearnerPlan(changed(p, -1)), rf"actions -1 … 0; expected 0 … {A - 1}"),
    "an action that wraps": (lambda p: LearnerPlan(changed(p, 256)), r"actions 0 … 256; expected"),
    "a sum of 2.5": (lambda p: LearnerPlan(spread(p, 2.5)), r"probabilities.*sum 1"),
    "a sum of 0": (lambda p: LearnerPlan(spread(p, 0.0)), r"probabilities.*sum 1"),
    "a probability below 0": (lambda p: LearnerPlan(negative(p)), r"probabilities.*≥ 0"),
    "NaN": (lambda p: LearnerPlan(spread(p, np.nan)), r"probabilities.*sum 1"),
    "infinity": (lambda p: LearnerPlan(spread(p, np.inf)), r"probabilities.*sum 1"),
    "the order of axes": (lambda p: LearnerPlan(p.swapaxes(1, 2)), r"shape.*expected .*horizon, machine states, obs"),
    "too few steps": (lambda p: LearnerPlan(p[:-1]), rf"shape \({H - 1}, .*expected \({H}, "),
    "too many steps": (lambda p: LearnerPlan(np.concatenate((p, p))), rf"shape \({2 * H}, .*expected \({H}, "),
    "too few actions": (lambda p: LearnerPlan(spread(p)[..., :-1]), r"a policy of shape.*expected"),
    "actions as floats": (lambda p: LearnerPlan(p.astype(float)), r"float64; expected integers"),
    "NaN as actions": (lambda p: LearnerPlan(p * np.nan), r"float64; expected integers"),
    "booleans": (lambda p: LearnerPlan(p.astype(bool)), r"bool; expected integers"),
    "objects": (lambda p: LearnerPlan(p.astype(object)), r"object; expected integers"),
    "text": (lambda p: LearnerPlan(p.astype(str)), r"expected integers"),
    "None as policy": (lambda p: LearnerPlan(None), r"None as a policy; expected an array"),
    "ragged lists": (lambda p: LearnerPlan([[0], [0, 1]]), r"rows differ in length"),
    "no plan": (lambda p: None, r"NoneType from plan\(\); expected a LearnerPlan"),
    "an array": (lambda p: p, r"ndarray from plan\(\); expected a LearnerPlan"),
    "values of another order": (
        lambda p: LearnerPlan(p, np.zeros(p.shape[:0:-1])),
        r"values of shape.*expected an array of",
    ),
    "values of every step": (
        lambda p: LearnerPlan(p, np.zeros(p.shape)),
        r"values of shape.*expected an array of",
    ),
    "values as a list": (lambda p: LearnerPlan(p, [1.0]), r"values that are a list; expected an array of"),
    "values with NaN": (lambda p: LearnerPlan(p, np.full(p.shape[1:], np.nan)), r"NaN among them; expected numbers"),
    "values that are no numbers": (lambda p: LearnerPlan(p, np.zeros(p.shape[1:], dtype=object)), r"type object"),
}


@pytest.mark.parametrize("right_at_first", [False, True], ids=["at first", "later"])
@pytest.mark.parametrize("kind", [Careless, CarelessOnProduct])
@pytest.mark.parametrize("world", [TASK, BOX], ids=["task", "black box"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_plan_is_refused_with_who_made_it_what_it_is_and_what_was_expected(
    wrong: str, world: Task | BlackBox, kind: type[Careless], right_at_first: bool
) -> None:
    spoil, message = WRONG[wrong]
    with pytest.raises(ModelError, match=rf"^learner '{kind.name}' returned ") as refused:
        simulate(world, kind(spoil=spoil, right_at_first=right_at_first), 20)
    assert refused.match(message)


@pytest.mark.parametrize("world", [TASK, BOX], ids=["task", "black box"])
@pytest.mark.parametrize("kind", [Careless, CarelessOnProduct])
@pytest.mark.parametrize(
    "right",
    [
        lambda p: LearnerPlan(p),
        lambda p: LearnerPlan(p.astype(np.uint8)),
        lambda p: LearnerPlan(p.tolist()),
        lambda p: LearnerPlan(spread(p)),
        lambda p: LearnerPlan(p, np.zeros(p.shape[1:])),
        lambda p: LearnerPlan(np.asfortranarray(p), np.zeros(p.shape[1:], dtype=np.float32)),
    ],
    ids=["integers", "bytes", "lists", "probabilities", "values", "memory in another order"],
)
def test_a_right_plan_is_played_whatever_its_type(right: Any, kind: type[Careless], world: Task | BlackBox) -> None:
    run = simulate(world, kind(spoil=right), 20)
    assert run.returns.shape == (20,)
    assert run.num_plans == 20


class Sly(Careless):
    """Go on with the plan before, but for what ``spoil`` does to it."""

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return super().plan(experience, None, rng) if previous is None else self.spoil(previous)


def test_a_policy_that_is_changed_in_place_is_checked_and_valued_again() -> None:
    def change_to(action: int, previous: Any) -> LearnerPlan:
        previous.policy[...] = action
        return previous

    with pytest.raises(ModelError, match="'sly' returned a policy with actions"):
        simulate(TASK, Sly(spoil=partial(change_to, A), right_at_first=True), 20)
    run = simulate(TASK, Sly(spoil=partial(change_to, 1), right_at_first=True), 20)
    always = np.ones((TASK.horizon, TASK.num_machine_states, TASK.num_observations), dtype=int)
    assert run.plan_values[-1] == pytest.approx(evaluate(TASK, always).value, rel=1e-12)
    assert abs(run.plan_values[-1] - run.plan_values[0]) > 1e-6


def test_values_are_checked_also_when_the_policy_is_the_one_before() -> None:
    with pytest.raises(ModelError, match=r"'sly' returned values of shape \(2,\)"):
        simulate(TASK, Sly(spoil=lambda plan: replace(plan, values=np.zeros(2)), right_at_first=True), 20)
