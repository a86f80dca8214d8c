"""Check your own learner, as Gymnasium's ``check_env`` checks an environment."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import fields, replace

import gymnasium
import numpy as np

from praemia import envs
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError, PraemiaError
from praemia.learners.base import Learner
from praemia.learners.baselines import Random
from praemia.learners.external import failure, why_not_a_learner
from praemia.learners.replanning import AT_ONCE
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.simulation.simulate import simulate
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

__all__ = ["LearnerCheckError", "check_learner"]

NUM_EPISODES = 40


class LearnerCheckError(PraemiaError, AssertionError):
    """A learner broke one of the rules that all learners must keep.

    Examples
    --------
    >>> import praemia
    >>> issubclass(praemia.testing.LearnerCheckError, AssertionError)
    True
    """


def check_learner(learner: type[Learner] | Learner, num_episodes: int = NUM_EPISODES) -> None:
    """Check that a learner keeps the rules; raise a ``LearnerCheckError`` that says what is wrong if not.

    Its plans must be valid on tasks of every kind (one machine state and many, deterministic and probabilistic
    machines, one step and one action, a random start, a discount, episodes that end early, a black box), also when it
    plans in the middle of episodes, and so must be what it passes to ``plan_with_bonus`` and ``experience.backup``; the
    same seed must give the same run; planning must change neither the learner nor the experience; and its parameters
    must be plain data from which an equal learner can be made. A learner that plays the same for all rewards gets a
    warning: it plans without the rewards.

    Examples
    --------
    >>> import praemia
    >>> praemia.testing.check_learner(praemia.Headroom)
    """
    kind = learner if isinstance(learner, type) else type(learner)
    if not issubclass(kind, Learner):
        raise ParameterError(f"learner={learner!r}; expected a subclass of praemia.Learner, or one of its objects")
    reason = why_not_a_learner(kind)
    if reason is not None:
        raise LearnerCheckError(f"{kind.__name__} is {reason}")
    instance = learner if isinstance(learner, Learner) else learner()
    _check_parameters(instance)
    for task in _tasks():
        _check_runs(instance, task, num_episodes)
    if not instance.privileged:
        _check_runs(instance, _black_box(), num_episodes)
    _check_at_once(instance, num_episodes)
    if not isinstance(instance, Random):
        _warn_if_rewards_do_not_matter(instance, num_episodes)


def _check_parameters(learner: Learner) -> None:
    parameters = learner.parameters
    try:
        json.dumps(parameters)
    except TypeError as error:
        raise LearnerCheckError(f"the parameters of {learner.name!r} are not plain data: {error}") from None
    values = {item.name: getattr(learner, item.name) for item in fields(learner)}
    if type(learner)(**values) != learner:
        raise LearnerCheckError(f"a learner made from the parameters of {learner.name!r} is not equal to it")


def _check_runs(learner: Learner, task: Task | BlackBox, num_episodes: int) -> None:
    before = repr(learner.parameters)
    try:
        first, second = (simulate(task, learner, num_episodes, 3) for _ in range(2))
    except PraemiaError as error:
        raise LearnerCheckError(f"on {task!r}: {error}") from error
    except Exception as error:  # it is the user's code: it may fail in any way
        remedy = "; experience cannot be changed: copy the array" if "read-only" in str(error) else ""
        raise LearnerCheckError(f"on {task!r}: {failure(error, type(learner))}{remedy}") from error
    if repr(learner.parameters) != before:
        raise LearnerCheckError(f"learner {learner.name!r} changed its own parameters while planning")
    for name in ("plan_episodes", "plan_values", "returns", "final_policy", *("regret",) * first.is_pathwise):
        if not np.array_equal(getattr(first, name), getattr(second, name), equal_nan=name == "plan_values"):
            raise LearnerCheckError(
                f"on {task!r}: the same seed gave different {name.replace('_', ' ')}; sample random numbers only from "
                "rng, and keep nothing on the learner"
            )
    if first.optimal_value is not None:
        above = float((first.plan_values - first.optimal_value).max())
        if above > 1e-9 * max(abs(first.optimal_value), float(np.abs(first.returns).max())):
            raise LearnerCheckError(f"a plan of {learner.name!r} has a value {above:.3g} above the optimum")


def _check_at_once(learner: Learner, num_episodes: int) -> None:
    """Check a learner that plans in the middle of episodes, unless it does so anyway or its rule does not allow it."""
    if learner.replan_rule.at_once:
        return
    try:
        hasty = replace(learner, replan=learner.replan_rule.word + AT_ONCE)
    except PraemiaError:
        return
    _check_runs(hasty, envs.make("warehouse-3"), num_episodes)
    if not learner.privileged:
        _check_runs(hasty, _black_box(), num_episodes)


def _warn_if_rewards_do_not_matter(learner: Learner, num_episodes: int) -> None:
    left, right = (simulate(_two_doors(paying), learner, num_episodes, 3) for paying in ("left", "right"))
    names = ("plan_episodes", "final_policy")
    if all(np.array_equal(getattr(left, name), getattr(right, name)) for name in names):
        warnings.warn(
            f"learner {learner.name!r} plays alike in two tasks that reward opposite actions: does its plan use the "
            "rewards?",
            stacklevel=3,
        )


def _two_doors(paying: str) -> Task:
    """Return a task in which one of two actions is rewarded."""
    rows = {(o, a): {1 + a: 1.0} for o in range(3) for a in range(2)}
    labels = [LabelRule("left", target=1), LabelRule("right", target=2)]
    machine = MachineBuilder("q", propositions=("left", "right")).edge("q", paying, "q", reward=1.0).build()
    return Task(LabeledMDP.from_rows(3, 2, rows, labels=labels, start=0), machine, 2, f"two doors, {paying} pays")


def _tasks() -> Iterator[Task]:
    """Return a small task of each kind."""
    yield envs.make("warehouse-3")
    yield replace(envs.make("warehouse-3").with_until_done(), discount=0.9)
    yield envs.make("riverswim-5", horizon=1)
    yield envs.make("random", observations=4, actions=1, machine_states=2, horizon=3, seed=0)
    yield envs.make("random", observations=3, actions=3, machine_states=1, horizon=4, seed=1)
    yield envs.make("random", observations=5, actions=2, machine_states=9, horizon=4, seed=2)


def _black_box() -> BlackBox:
    """Return a box whose episodes may end: ice between two goals, each with a place before it."""
    env = gymnasium.make("FrozenLake-v1", desc=["GFSFG"])
    machine = MachineBuilder("out").edge("out", "there", "back", reward=1.0).edge("back", "here", "out").build()
    return BlackBox(env, lambda o, a, z, info: {"there"} if z == 3 else {"here"} if z == 1 else set(), machine, 6)
