"""``check_learner``: the learners of this package and of the examples pass it, and each kind of mistake is found."""

from __future__ import annotations

import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from praemia import Experience, Learner, LearnerPlan, envs, learners, simulate
from praemia.errors import ParameterError
from praemia.learners.registry import BUILT_IN
from praemia.testing import LearnerCheckError, check_learner

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_learner_of_this_package_keeps_the_rules(name: str) -> None:
    check_learner(learners.make(name))


@pytest.mark.parametrize(("file", "name"), [("numpy_learner.py", "Hoeffding"), ("bonus_learner.py", "Bernstein")])
def test_the_examples_keep_the_rules(file: str, name: str) -> None:
    check_learner(learners.make(f"{EXAMPLES / file}:{name}"))


def test_a_learner_whose_module_cannot_be_imported_is_not_kept_on_disk() -> None:
    for _ in range(2):  # the second time it would be found there, and its module would not
        learner = runpy.run_path(str(EXAMPLES / "bonus_learner.py"))["Bernstein"]()
        simulate(envs.warehouse(size=3), learner, num_episodes=5, seed=0)


def actions(experience: Experience, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    spec = experience.spec
    shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
    return rng.integers(spec.num_actions, size=shape)


class Fair(Learner):
    """Play at random, from the run's own generator."""

    name: ClassVar[str] = "fair"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(actions(experience, rng))


class Unseeded(Fair):
    """Draw from a generator of its own."""

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(actions(experience, np.random.default_rng()))


class OutOfRange(Fair):
    """Take an action that there is not."""

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(actions(experience, rng) + experience.spec.num_actions)


class Remembering(Fair):
    """Keep something from run to run."""

    runs: list[int] = field(default_factory=list)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        self.runs.append(1)
        return super().plan(experience, previous, rng)


class Arrays(Fair):
    """Have a parameter that is no plain data."""

    weights: Any = field(default_factory=lambda: np.ones(2))


@dataclass(kw_only=True)
class Changeable:
    """Look like a learner without being one."""

    name: ClassVar[str] = "changeable"


class Nameless(Fair):
    """Have no name."""

    name: ClassVar[str] = ""


class NeedsArgument(Fair):
    """Have a parameter without a default."""

    size: int


def test_a_fair_learner_passes() -> None:
    with pytest.warns(UserWarning, match="learner 'fair' plays alike in two tasks that pay for opposite actions"):
        check_learner(Fair)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Unseeded, "same seed gave different"),
        (OutOfRange, r"learner 'fair' returned a policy with actions .*; expected 0 … "),
        (Remembering, "changed its own parameters"),
        (Arrays, "not plain data"),
        (Nameless, "has no name"),
        (NeedsArgument, "every parameter needs a default"),
    ],
)
def test_a_mistake_is_found_and_named(kind: type[Learner], message: str) -> None:
    with pytest.raises(LearnerCheckError, match=message):
        check_learner(kind)


@pytest.mark.parametrize("thing", [Changeable, Changeable(), "headroom", 3])
def test_only_learners_can_be_checked(thing: Any) -> None:
    with pytest.raises(ParameterError, match="subclass of praemia"):
        check_learner(thing)
