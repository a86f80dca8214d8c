"""``check_learner``: the learners of this package and of the examples pass it, and each kind of mistake is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from praemia import Experience, Learner, LearnerPlan, learners, plan_with_bonus
from praemia.errors import ParameterError
from praemia.learners.registry import BUILT_IN
from praemia.testing import LearnerCheckError, check_learner

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_learner_of_this_package_keeps_the_rules(name: str) -> None:
    check_learner(learners.make(name))


@pytest.mark.parametrize("name", ["Bernstein", "Tighter"])
def test_the_examples_keep_the_rules(name: str) -> None:
    check_learner(learners.make(f"{EXAMPLES / 'own_learner.py'}:{name}"))


def actions(experience: Experience, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    spec = experience.spec
    shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
    return rng.integers(spec.num_actions, size=shape)


class Fair(Learner):
    name: ClassVar[str] = "fair"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(actions(experience, rng))


class Unseeded(Fair):
    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(actions(experience, np.random.default_rng()))


class OutOfRange(Fair):
    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(actions(experience, rng) + experience.spec.num_actions)


class Remembering(Fair):
    runs: list[int] = field(default_factory=list)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        self.runs.append(1)
        return super().plan(experience, previous, rng)


class Arrays(Fair):
    weights: Any = field(default_factory=lambda: np.ones(2))


@dataclass(kw_only=True)
class Changeable:
    name: ClassVar[str] = "changeable"


class Nameless(Fair):
    name: ClassVar[str] = ""


class Writing(Fair):
    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        visits = experience.visits
        visits += 1
        return super().plan(experience, previous, rng)


class NoPlan(Fair):
    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return actions(experience, rng)  # type: ignore[return-value]


class WithBonus(Fair):
    bonus: Any = 0.0

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return plan_with_bonus(experience, self.bonus, rng=rng)


class Backwards(Fair):
    step: int = 0
    more: int = 0

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        experience.backup(np.zeros((spec.num_machine_states, spec.num_observations + self.more)), self.step)
        return super().plan(experience, previous, rng)


class NeedsArgument(Fair):
    size: int


def test_a_fair_learner_passes() -> None:
    with pytest.warns(UserWarning, match="learner 'fair' plays alike in two tasks that reward opposite actions"):
        check_learner(Fair)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Unseeded, "same seed gave different"),
        (OutOfRange, r"learner 'out-of-range' returned a policy with actions .*; expected 0 … "),
        (Remembering, "changed its own parameters"),
        (Arrays, "not plain data"),
        (Nameless, "Nameless is a learner with the name ''"),
        (NeedsArgument, "NeedsArgument is a learner whose parameters need defaults: size"),
        (
            Writing,
            r"learner 'writing' failed: ValueError: .*read-only .*; experience cannot be changed: copy the array",
        ),
        (NoPlan, "on Task.*: learner 'no-plan' returned"),
        (WithBonus(bonus=[0.0] * 7), r"on Task.*: bonus of shape \(7,\); expected one that broadcasts to"),
        (WithBonus(bonus=float("nan")), "on Task.*: bonus has NaN or −∞ in it"),
        (WithBonus(bonus=-float("inf")), "on Task.*: bonus has NaN or −∞ in it"),
        (Backwards(step=9), "on Task.*: step=9; expected"),
        (Backwards(more=1), r"on Task.*: values of shape .*; expected finite numbers of shape \[M, O\]"),
    ],
)
def test_a_mistake_is_found_and_named(kind: type[Learner] | Learner, message: str) -> None:
    with pytest.raises(LearnerCheckError, match=message):
        check_learner(kind)


@pytest.mark.parametrize("thing", [Changeable, Changeable(), "headroom", 3])
def test_only_learners_can_be_checked(thing: Any) -> None:
    with pytest.raises(ParameterError, match="subclass of praemia"):
        check_learner(thing)
