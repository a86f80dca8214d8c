"""Environments to explore, a task or a black box, and the dataset made of what was counted there.

``world`` puts a learner into the environment. With a target, the reward is 1[o_h = target]: the mark ``HERE`` is on the
label of every step that leaves it, and the machine pays for the mark. The task's own machine is not used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError
from praemia.exploration.coverage import from_start, most_visits
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import sparse_kernel
from praemia.exploration.merging import Counted
from praemia.learners.base import Learner
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import Indices, Labelling, LabelRule, RuleLabelling, SeenLabels
from praemia.machines.machine import RewardMachine
from praemia.simulation.box_world import BoxWorld
from praemia.simulation.loop import World
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

HERE = "praemia-here"
MAX_TABULATED = 200_000  # the most (o, a, o') whose labels are computed one by one

SeedKey: TypeAlias = tuple[int, ...]
Names: TypeAlias = tuple[str, ...] | None


class Environment(ABC):
    """Something to explore.

    Attributes
    ----------
    labelling : the labels; in a black box, of the transitions seen so far.
    can_end : whether episodes may end before the horizon.
    propositions : the names that the environment's own machine declares.
    """

    name: str
    num_observations: int
    num_actions: int
    horizon: int
    labelling: Labelling
    can_end: bool
    propositions: tuple[str, ...]

    @abstractmethod
    def world(self, target: int | None, learner: Learner, num_episodes: int, seed: SeedKey) -> World:
        """Return a world that pays 1 for every step that leaves the target, or nothing at all."""

    @abstractmethod
    def names(self) -> tuple[Names, Names]:
        """Return the names of observations and of actions; what was encoded has its names only when it was met."""

    def known_rules(self) -> tuple[LabelRule, ...] | None:
        """Return the labels of all transitions as rules, or None where only playing reveals them."""
        if isinstance(self.labelling, RuleLabelling):
            return self.labelling.rules
        shape = (self.num_observations, self.num_actions, self.num_observations)
        if isinstance(self.labelling, SeenLabels) or int(np.prod(shape)) > MAX_TABULATED:
            return None
        return self._tabulated(*(axis.ravel() for axis in np.indices(shape)))

    def label_rules(self, seen: Counted) -> tuple[tuple[LabelRule, ...], bool]:
        """Return the labels as rules, and whether they hold for every transition or for those seen alone."""
        known = self.known_rules()
        if known is not None:
            return known, True
        return self._tabulated(*np.divmod(seen.pairs, self.num_actions), seen.successors), False

    def _tabulated(self, o: Indices, a: Indices, z: Indices) -> tuple[LabelRule, ...]:
        """Return the labels of some transitions as a rule for each."""
        numbers, sets = self.labelling.of(o, a, z)
        rows = zip(o.tolist(), a.tolist(), z.tolist(), numbers.tolist(), strict=True)
        return tuple(LabelRule(sets[number], *place) for *place, number in rows if sets[number])


class TaskEnvironment(Environment):
    """A task, whose kernel is sampled from but never read."""

    def __init__(self, task: Task) -> None:
        self.mdp, self.labelling, self.can_end = task.mdp, task.mdp.labelling, task.mdp.can_end
        self.name, self.horizon, self.propositions = task.name, int(task.horizon), task.machine.propositions
        self.num_observations, self.num_actions = task.num_observations, task.num_actions

    def world(self, target: int | None, learner: Learner, num_episodes: int, seed: SeedKey) -> World:
        rules = () if target is None else (LabelRule(frozenset({HERE}), source=target),)
        task = Task(replace(self.mdp, labelling=RuleLabelling(rules)), arrival_machine(), self.horizon)
        return TaskWorld(task, learner, num_episodes, seed, valued=False)

    def names(self) -> tuple[Names, Names]:
        return self.mdp.observation_names, self.mdp.action_names


class BoxEnvironment(Environment):
    """A black box, whose episodes may end at any step."""

    can_end = True

    def __init__(self, box: BlackBox) -> None:
        box.renumber()
        self.box = box
        self.name, self.horizon, self.propositions = box.name, box.horizon, box.machine.propositions
        self.num_observations, self.num_actions = box.observations.size, box.num_actions
        self.labelling: SeenLabels = SeenLabels(frozenset({HERE}))

    def world(self, target: int | None, learner: Learner, num_episodes: int, seed: SeedKey) -> World:
        box = self.box

        def labels(o: Any, a: Any, z: Any, info: dict[str, Any]) -> Iterable[str]:
            own = box.label(o, a, z, info)
            return own | {HERE} if target is not None and box.observations.number(o) == target else own

        marked = box.relabelled(labels, arrival_machine(self.propositions))
        return BoxWorld(marked, learner, num_episodes, seed, self.labelling)

    def names(self) -> tuple[Names, Names]:
        return self.box.observations.names(), self.box.actions.names()


def environment_of(task: Task | BlackBox) -> Environment:
    """Return a task or a black box as an environment."""
    if not isinstance(task, Task | BlackBox):
        raise ParameterError(f"cannot explore {type(task).__name__}; expected a Task or a BlackBox")
    if task.discount < 1.0:
        raise ParameterError(f"explore: {task!r} has a discount, which certificates do not know; explore without one")
    return TaskEnvironment(task) if isinstance(task, Task) else BoxEnvironment(task)


def arrival_machine(propositions: Iterable[str] = ()) -> RewardMachine:
    """Return the machine that pays 1 for every step marked with ``HERE``."""
    return MachineBuilder("look").edge("look", HERE, "look", reward=1.0).build().over(propositions)


MAX_WORK = 5_000_000_000  # multiplications for the reachability of all observations: some seconds


def build_dataset(
    environment: Environment,
    kept: Counted,
    every: Counted | None,
    source: dict[str, Any],
    fixed_machines: tuple[str, ...],
) -> Dataset:
    """Return what is kept as a dataset; ``every`` is all that was played, None if reachability is not needed."""
    rules, are_known = environment.label_rules(kept)
    propositions = {*environment.propositions, *(name for rule in rules for name in rule.propositions)}
    observation_names, action_names = environment.names()
    return Dataset(
        environment.num_observations,
        environment.num_actions,
        environment.horizon,
        **vars(kept),
        labelling=RuleLabelling(rules),
        labels_known=are_known,
        can_end=environment.can_end,
        reachability=np.zeros(len(kept.first_counts)) if every is None else _reachability(every, environment),
        propositions=tuple(sorted(propositions)),
        observation_names=observation_names,
        action_names=action_names,
        sources=(source,),
        fixed_machines=fixed_machines,
        fixed_shares=len(fixed_machines),
    )


def _reachability(every: Counted, environment: Environment) -> NDArray[np.float64]:
    """Estimate max_π Σ_h μ^π_h(o) for every o: the optimum in p̂ of all that was played, the search included.

    Where that would take too long, return the mean number of visits in an episode, which is lower.
    """
    size, num_actions = environment.num_observations, environment.num_actions
    visits = np.bincount(every.pairs, every.counts, size * num_actions)
    if len(every.counts) * size * environment.horizon > MAX_WORK:
        mean: NDArray[np.float64] = visits.reshape(size, num_actions).sum(axis=1) / every.num_episodes
        return mean
    probs = every.counts / visits[every.pairs]
    kernel = sparse_kernel((every.pairs, every.successors + size * every.ends), probs, size, num_actions)
    most = most_visits(kernel, num_actions, environment.horizon, np.arange(size), None)
    return from_start(most, every.first_counts / every.num_episodes)
