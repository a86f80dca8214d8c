"""How exploration plays: an environment, sessions in it, the learners that play, and the dataset of what was counted.

All learners play through the one loop of the simulation, in worlds that the environment makes. With a target, the
reward is 1[o_h = target]: the mark ``HERE`` is on the label of every step that leaves it, and the machine pays for the
mark. The task's own machine is not used, nor is its discount: p does not depend on the step, so a visit is worth as
much late in an episode as early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.activity import OnProgress
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError
from praemia.exploration.counts import Counted
from praemia.exploration.coverage import most_visits
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import machine_digest, require_readable
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.learners.euler import EULER
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import Indices, Labelling, LabelRule, SeenLabels
from praemia.machines.machine import RewardMachine
from praemia.simulation.box_world import BoxWorld
from praemia.simulation.loop import World, run_loop
from praemia.simulation.run import Seed, seed_key
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

HERE = "praemia-here"
MAX_TABULATED = 200_000  # the most (o, a, o') whose labels are computed one by one

SeedKey: TypeAlias = tuple[int, ...]
Names: TypeAlias = tuple[str, ...] | None


class Environment:
    """A task or a black box to explore: worlds to play in it, and the dataset of what was counted there.

    Attributes
    ----------
    labelling : the labels; in a black box, of the transitions seen so far.
    """

    def __init__(self, source: Task | BlackBox) -> None:
        if not isinstance(source, Task | BlackBox):
            raise ParameterError(f"cannot explore {type(source).__name__}; expected a Task or a BlackBox")
        if isinstance(source, BlackBox):
            source.observations.forget()
        self.source = source
        self.horizon = source.max_steps if isinstance(source, Task) else source.horizon
        self._seen = SeenLabels(frozenset({HERE}))
        self.labelling = source.mdp.labelling if isinstance(source, Task) else Labelling(function=self._seen)

    def world(self, target: int | None, learner: Learner, num_episodes: int, seed: SeedKey) -> World:
        """Return a world that pays 1 for every step that leaves the target, or nothing at all."""
        if isinstance(self.source, Task):  # its kernel is sampled from but never read
            rules = () if target is None else (LabelRule(frozenset({HERE}), source=target),)
            marked = replace(self.source.mdp, labelling=Labelling(rules))
            task = Task(marked, arrival_machine(), self.horizon)
            return TaskWorld(task, learner, num_episodes, seed, valued=False)
        return BoxWorld(_marked_box(self.source, target), learner, num_episodes, seed, self._seen)

    def known_rules(self) -> tuple[LabelRule, ...] | None:
        """Return the labels of all transitions as rules, or None where only playing reveals them."""
        if self.labelling.by_rules:
            return self.labelling.rules
        size, num_actions = self.source.num_observations, self.source.num_actions
        if isinstance(self.source, BlackBox) or size * num_actions * size > MAX_TABULATED:
            return None
        return self._tabulated(*(axis.ravel() for axis in np.indices((size, num_actions, size))))

    def _tabulated(self, o: Indices, a: Indices, z: Indices) -> tuple[LabelRule, ...]:
        """Return the labels of some transitions as a rule for each."""
        numbers, sets = self.labelling.of(o, a, z)
        rows = zip(o.tolist(), a.tolist(), z.tolist(), numbers.tolist(), strict=True)
        return tuple(LabelRule(sets[number], *place) for *place, number in rows if sets[number])

    def digests(self, machines: Iterable[RewardMachine]) -> tuple[str, ...]:
        """Return the digests of machines that are fixed before anything is played; refuse any that cannot be read."""
        rules, declared = self.known_rules(), frozenset(self.source.machine.propositions)
        # Where labels are found by playing, only names that the environment declares can occur.
        produced = declared if rules is None else Labelling(rules).propositions()
        for number, machine in enumerate(machines):
            if not isinstance(machine, RewardMachine):
                raise ParameterError(f"machines[{number}] is {type(machine).__name__}; expected a RewardMachine")
            require_readable(machine, produced, produced | declared)
        length = self.horizon, self.source.discount
        return tuple(sorted({machine_digest(machine, *length, rules) for machine in machines}))

    def dataset(
        self,
        kept: Counted,
        every: Counted | None = None,
        sources: tuple[dict[str, Any], ...] = (),
        fixed_machines: tuple[str, ...] = (),
    ) -> Dataset:
        """Return what is kept as a dataset; ``every`` is all that was played, None if reachability is not needed."""
        source, rules = self.source, self.known_rules()
        labelling = Labelling(self._tabulated(*kept.transitions) if rules is None else rules)
        names = _names(source)
        return Dataset(
            horizon=self.horizon,
            **{item.name: getattr(kept, item.name) for item in fields(kept)},
            labelling=labelling,
            labels_known=rules is not None,
            can_end=isinstance(source, BlackBox) or source.mdp.can_end,
            reachability=np.zeros(kept.num_observations) if every is None else _reachability(every, self.horizon),
            propositions=tuple(sorted(labelling.propositions().union(source.machine.propositions))),
            observation_names=names[0],
            action_names=names[1],
            sources=sources,
            fixed_machines=fixed_machines,
            fixed_shares=len(fixed_machines),
            discount=source.discount,
        )


def arrival_machine(propositions: Iterable[str] = ()) -> RewardMachine:
    """Return the machine that pays 1 for every step marked with ``HERE``."""
    return MachineBuilder("look").edge("look", HERE, "look", reward=1.0).build().over(propositions)


def _marked_box(box: BlackBox, target: int | None) -> BlackBox:
    """Return a box whose labels have the mark ``HERE`` on every step that leaves the target."""

    def labels(o: Any, a: Any, z: Any, info: dict[str, Any]) -> Iterable[str]:
        own = box.label(o, a, z, info)
        return own | {HERE} if target is not None and box.observations.number(o) == target else own

    return box.relabelled(labels, arrival_machine(box.machine.propositions))


def _names(source: Task | BlackBox) -> tuple[Names, Names]:
    """Return the names of observations and of actions; what was encoded has its names only when it was met."""
    if isinstance(source, Task):
        return source.mdp.observation_names, source.mdp.action_names
    return source.observations.names(), source.actions.names()


MAX_WORK = 5_000_000_000  # multiplications for the reachability of all observations: some seconds


def _reachability(every: Counted, horizon: int) -> NDArray[np.float64]:
    """Estimate max_π Σ_h μ^π_h(o) for every o: the optimum in p̂ of all that was played, the search included.

    Where that would take too long, return the mean number of visits in an episode, which is lower.
    """
    size = every.num_observations
    if len(every.counts) * size * horizon > MAX_WORK:
        mean: NDArray[np.float64] = every.visits.sum(axis=1) / every.num_episodes
        return mean
    return most_visits(every, horizon, np.arange(size), None)


class Session:
    """One exploration of a task or a black box: N, the seed, and what was counted so far.

    Attributes
    ----------
    machines : those fixed before the first episode; fixed_machines : their digests, to be recorded.
    total : all episodes that will be played, those of a search included.
    searched : what was counted in the worlds of a search.
    """

    def __init__(
        self,
        source: Task | BlackBox,
        episodes: int,
        seed: Seed,
        machines: Iterable[RewardMachine],
        on_progress: OnProgress | None,
    ) -> None:
        if isinstance(machines, RewardMachine):
            raise ParameterError("machines is one machine; expected a list of them, such as [machine]")
        self.environment, self.episodes, self.seed = Environment(source), episodes, seed_key(seed)
        self.machines = tuple(machines)
        self.fixed_machines = self.environment.digests(self.machines)
        self.total = episodes
        self.searched: Counted | None = None
        self._on_progress = on_progress
        self._worlds: list[World] = []

    def world(self, learner: Learner, *stream: int, episodes: int | None = None, target: int | None = None) -> World:
        """Return a new world to play in, with a random stream of its own; N episodes by default."""
        room = self.episodes if episodes is None else episodes
        self._worlds.append(self.environment.world(target, learner, room, (*self.seed, *stream)))
        return self._worlds[-1]

    def end_search(self, world: World) -> None:
        """Keep what was counted in a world of a search, and let go of the world."""
        self._worlds.remove(world)
        counts = Counted.of(world)
        self.searched = counts if self.searched is None else self.searched + counts

    def report(self, _: int = 0) -> None:
        """Report the progress of all worlds together."""
        if self._on_progress is not None:
            self._on_progress(self.played, self.total)

    @property
    def played(self) -> int:
        """The episodes played in all worlds."""
        return sum(world.played for world in self._worlds) + (self.searched.num_episodes if self.searched else 0)

    @property
    def collected(self) -> Counted:
        """What was counted in all worlds but those of a search."""
        first, *others = map(Counted.of, self._worlds)
        return sum(others, start=first)


@dataclass(frozen=True, kw_only=True)
class Searcher(EULER):
    """EULER as Algorithm 3 uses it, which also counts the observations in which episodes begin."""

    uses_steps: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedPolicy(Learner):
    """Play a given policy [H, 1, O, A]."""

    name: ClassVar[str] = "given"
    uses_steps: ClassVar[bool] = True

    policy: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0, 0)))

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(self.policy)


def search(world: World, on_progress: Callable[[int], None]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Play all episodes; return the policies [H, 1, O] that were played, and for how many episodes each was."""
    policies: list[NDArray[Any]] = []
    total = len(world.log.returns)
    run_loop(world, total, on_plan=lambda: policies.append(world.policy.swapaxes(1, 2).copy()), on_progress=on_progress)
    return policies, np.diff(world.log.plans["episode"][: len(policies)], append=total)


def play_given(
    world: World, policy: NDArray[np.float64], num_episodes: int, on_progress: Callable[[int], None]
) -> None:
    """Play a policy [H, 1, O, A] for some more episodes, in a world made for ``FixedPolicy``."""
    world.learner = FixedPolicy(policy=policy)
    world.replan()
    run_loop(world, world.played + num_episodes, on_progress=on_progress)


def uniform_at(policy: NDArray[Any], o: int, num_actions: int) -> NDArray[np.float64]:
    """Turn a policy [H, 1, O] into action probabilities [H, 1, O, A], uniform at one observation."""
    weights: NDArray[np.float64] = (policy[..., None] == np.arange(num_actions)).astype(np.float64)
    weights[:, :, o] = 1.0 / num_actions
    return weights
