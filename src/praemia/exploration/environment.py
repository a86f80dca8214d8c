"""A task or a black box to explore, the worlds to play in it, and the dataset of their counts.

Learners play through the one loop of the simulation. With a target, the reward is 1[o_h = target]: the mark ``HERE`` is
on the label of every step that leaves it, and the machine rewards the mark. The task's machine and discount are not
used: p does not depend on the step, so late visits count as much as early ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError
from praemia.exploration.counted import dataset_of, known_rules
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import require_readable
from praemia.learners.base import Learner
from praemia.learners.experience import Transitions
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import Labelling, LabelRule, SeenLabels
from praemia.machines.machine import RewardMachine
from praemia.simulation.box_world import BoxWorld
from praemia.simulation.loop import World
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

HERE = "praemia-here"


class Environment:
    """A task or a black box to explore.

    Attributes
    ----------
    worlds : those whose counts make the data. labelling : the labels; in a black box, of the transitions seen so far.
    """

    def __init__(self, source: Task | BlackBox) -> None:
        if not isinstance(source, Task | BlackBox):
            raise ParameterError(f"cannot explore {type(source).__name__}; expected a Task or a BlackBox")
        source = source.for_run() if isinstance(source, BlackBox) else source
        self.source, self.worlds = source, list[World]()
        self.horizon = source.max_steps
        self._seen = SeenLabels(frozenset({HERE}))
        self.labelling = source.mdp.labelling if isinstance(source, Task) else Labelling(function=self._seen)

    def world(self, learner: Learner, num_episodes: int, seed: tuple[int, ...], target: int | None = None) -> World:
        """Return a new world, with a reward of 1 for every step that leaves the target, or none at all."""
        if isinstance(self.source, Task):  # its transition probabilities are sampled from but never read
            rules = () if target is None else (LabelRule(frozenset({HERE}), source=target),)
            marked = replace(self.source.mdp, labelling=Labelling(rules))
            parts = {"horizon": self.horizon, "discount": 1.0, "until_done": False}
            task = self.source.changed(mdp=marked, machine=_arrival_machine(), **parts)
            world: World = TaskWorld(task, learner, num_episodes, seed, valued=False)
        else:
            world = BoxWorld(_marked_box(self.source, target), learner, num_episodes, seed, self._seen)
        self.worlds.append(world)
        return world

    @cached_property
    def known_rules(self) -> tuple[LabelRule, ...] | None:
        """The labels of all transitions as rules; None where only playing reveals them."""
        return known_rules(self.source)

    def require_machines(self, machines: Iterable[RewardMachine]) -> None:
        """Refuse machines that cannot be read here."""
        rules, declared = self.known_rules, frozenset(self.source.machine.propositions)
        # Where labels are found by playing, only names that the environment declares can occur.
        produced = declared if rules is None else Labelling(rules).propositions()
        for number, machine in enumerate(machines):
            if not isinstance(machine, RewardMachine):
                raise ParameterError(f"machines[{number}] is {type(machine).__name__}; expected a RewardMachine")
            require_readable(machine, produced, produced | declared)

    @property
    def kind(self) -> dict[str, Any]:
        """The properties that data must share to be merged, as far as they are known before playing."""
        source, rules = self.source, self.known_rules
        names = ("num_observations", "num_actions", "discount")
        kind = {name: getattr(source, name) for name in names}
        kind |= {"horizon": self.horizon, "labels": None if rules is None else frozenset(rules)}
        if isinstance(source, Task):
            kind |= {"observation_names": source.mdp.observation_names, "action_names": source.mdp.action_names}
        return kind

    def dataset(self, **record: Any) -> Dataset:
        """Return the counts of all worlds as a dataset, with a record of how it was collected."""
        columns = zip(*(world.experience().transitions for world in self.worlds), strict=True)
        seen = Transitions(*map(np.concatenate, columns))
        numbers, sets = self.labelling.of(seen.observations, seen.actions, seen.successors)
        seen, starts = seen._replace(labels=numbers.astype(np.int64)), [world.counts.starts for world in self.worlds]
        return dataset_of(self.source, seen, sets, np.stack(starts).sum(axis=0), self.known_rules, **record)


def _arrival_machine(propositions: Iterable[str] = ()) -> RewardMachine:
    """Return the machine with a reward of 1 for every step marked with ``HERE``."""
    return MachineBuilder("look").edge("look", HERE, "look", reward=1.0).build().over(propositions)


def _marked_box(box: BlackBox, target: int | None) -> BlackBox:
    """Return a box whose labels have the mark ``HERE`` on every step that leaves the target."""

    def labels(o: Any, a: Any, z: Any, info: dict[str, Any]) -> Iterable[str]:
        own = box.label(o, a, z, info)
        return own | {HERE} if target is not None and box.observations.number(o) == target else own

    machine, parts = _arrival_machine(box.machine.propositions), {"discount": 1.0, "until_done": False}
    return box.changed(labels=labels, machine=machine, horizon=box.max_steps, record=None, **parts)
