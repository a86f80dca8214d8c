"""Where exploration happens: on a task, compiled, or in a black box, step by step. Both count; neither shows rewards.

``search`` runs EULER towards one observation and returns the policies that it played, with how often it played each.
``collect`` plays given policies. ``wander`` runs the uncertainty explorer. What is counted goes to ``search_counts`` or
to ``counts``: the second are the i.i.d. episodes of Algorithm 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.exploration.boxes import BoxCounts, searching_box
from praemia.exploration.uncertainty import Searcher
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.models.labels import LabelRule, RuleLabelling
from praemia.models.machine import MachineBuilder, RewardMachine
from praemia.models.task import Task
from praemia.simulation.black_box import BlackBoxTally, play_episode
from praemia.simulation.game import Game
from praemia.simulation.interrupts import interrupts_held
from praemia.simulation.seeds import generators

HERE = "praemia-here"
Played: TypeAlias = list[tuple[NDArray[Any], int]]
Progress: TypeAlias = Callable[[int], None]
SeedKey: TypeAlias = tuple[int, ...]


def arrival_machine(propositions: Iterable[str] = ()) -> RewardMachine:
    """Return the machine of the reward 1[o_h = o], where the label HERE marks o."""
    return MachineBuilder("look").edge("look", HERE, "look", reward=1.0).build().over(propositions)


def uniform_at(policy: NDArray[Any], o: int, num_actions: int) -> NDArray[np.float64]:
    """Turn a policy [H, O, 1] into action probabilities [H, O, 1, A], uniform at one observation."""
    weights: NDArray[np.float64] = (policy[..., None] == np.arange(num_actions)).astype(np.float64)
    weights[:, o] = 1.0 / num_actions
    return weights


class Ground(ABC):
    """A place to explore."""

    name: str
    num_observations: int
    num_actions: int
    horizon: int
    targets: NDArray[np.int64]

    @abstractmethod
    def search(self, target: int, learner: Searcher, num_episodes: int, seed: SeedKey) -> Played:
        """Run EULER on the reward 1[o_h = target]; return its policies and how often each was played."""

    @abstractmethod
    def collect(self, policies: Iterator[tuple[NDArray[np.float64], int]], total: int, seed: SeedKey) -> None:
        """Play policies [H, O, 1, A], each so many times."""

    @abstractmethod
    def wander(
        self, learner: Learner, num_episodes: int, seed: SeedKey, stop_below: float, on_progress: Progress
    ) -> tuple[int, float]:
        """Run an explorer until its own V_0 at the start is below a limit; return its episodes and that V_0."""


@dataclass(eq=False)
class TaskGround(Ground):
    """A task: its kernel is sampled from and never looked at."""

    task: Task

    def __post_init__(self) -> None:
        task = self.task
        self.name, self.horizon = task.name, int(task.horizon)
        self.num_observations, self.num_actions = task.num_observations, task.num_actions
        self.targets = np.arange(task.num_observations)
        self.counts, self.search_counts = (np.zeros(len(task.mdp.probs), dtype=np.int64) for _ in range(2))
        self.first, self.search_first = (np.zeros(task.num_observations, dtype=np.int64) for _ in range(2))
        self._game: Game | None = None

    def _towards(self, target: int | None) -> Task:
        rules = () if target is None else (LabelRule(frozenset({HERE}), source=target),)
        return Task(replace(self.task.mdp, labelling=RuleLabelling(rules)), arrival_machine(), self.horizon)

    def search(self, target: int, learner: Searcher, num_episodes: int, seed: SeedKey) -> Played:
        game = Game.start(self._towards(target), learner, num_episodes, seed)
        played: Played = []
        plan: LearnerPlan | None = None
        with interrupts_held() as raise_interrupt:
            while game.played < num_episodes:
                before = game.played
                plan = learner.plan(game.experience(), plan, game.learner_rng)
                game.play(plan.policy, pause=raise_interrupt)
                played.append((plan.policy, game.played - before))
        self.search_counts += game.tally.arrays.entries
        self.search_first += game.tally.arrays.steps[0]
        return played

    def collect(self, policies: Iterator[tuple[NDArray[np.float64], int]], total: int, seed: SeedKey) -> None:
        game = Game.start(self._towards(None), Searcher(), total, seed)
        with interrupts_held() as raise_interrupt:
            for policy, count in policies:
                last = game.played + count
                while game.played < last:
                    game.play(policy, last - game.played, pause=raise_interrupt)
        self.counts += game.tally.arrays.entries
        self.first += game.tally.arrays.steps[0]

    def wander(
        self, learner: Learner, num_episodes: int, seed: SeedKey, stop_below: float, on_progress: Progress
    ) -> tuple[int, float]:
        game = Game.start(self._towards(None), learner, num_episodes, seed)
        plan: LearnerPlan | None = None
        left = np.inf
        with interrupts_held() as raise_interrupt:
            while game.played < num_episodes:
                plan = learner.plan(game.experience(), plan, game.learner_rng)
                first = game.tally.arrays.steps[0]
                left = float(first @ plan.values[:, 0] / max(1, first.sum())) if plan.values is not None else np.inf
                if game.played and left <= stop_below:
                    break
                game.play(plan.policy, pause=raise_interrupt)
                on_progress(game.played)
        self.counts += game.tally.arrays.entries
        self.first += game.tally.arrays.steps[0]
        return game.played, left


@dataclass(eq=False)
class BoxGround(Ground):
    """A black box. Observations in which an episode has ended are known to be absorbing: they are no targets."""

    box: BlackBox

    def __post_init__(self) -> None:
        box = self.box
        self.name, self.horizon = box.name, box.horizon
        self.num_observations, self.num_actions = box.num_observations, box.num_actions
        self.targets = np.arange(box.num_env_observations)
        self.counts, self.search_counts = BoxCounts(), BoxCounts()

    def _begin(self, target: int | None, learner: Learner, seed: SeedKey) -> tuple[BlackBox, BlackBoxTally, Any, Any]:
        machine = arrival_machine(self.box.machine.propositions)
        box = searching_box(self.box, target, HERE, machine)
        world_rng, learner_rng = generators(seed)
        box.env.reset(seed=int(world_rng.integers(2**31)))
        return box, BlackBoxTally(box, learner.on_product, learner.uses_steps), world_rng, learner_rng

    def search(self, target: int, learner: Searcher, num_episodes: int, seed: SeedKey) -> Played:
        box, tally, world_rng, learner_rng = self._begin(target, learner, seed)
        played: Played = []
        plan: LearnerPlan | None = None
        due = True
        for _ in range(num_episodes):
            if due:
                plan = learner.plan(Experience(tally.spec, num_episodes, tally.seen(), tally.steps), plan, learner_rng)
                played.append((plan.policy, 0))
            policy, count = played[-1]
            _, _, due = play_episode(box, policy, tally, learner.replan, world_rng)
            played[-1] = (policy, count + 1)
        self.search_counts.add(tally, HERE)
        return played

    def collect(self, policies: Iterator[tuple[NDArray[np.float64], int]], total: int, seed: SeedKey) -> None:
        box, tally, world_rng, _ = self._begin(None, Searcher(), seed)
        for policy, count in policies:
            for _ in range(count):
                play_episode(box, policy, tally, "doubling", world_rng)
        self.counts.add(tally, HERE)

    def wander(
        self, learner: Learner, num_episodes: int, seed: SeedKey, stop_below: float, on_progress: Progress
    ) -> tuple[int, float]:
        box, tally, world_rng, learner_rng = self._begin(None, learner, seed)
        plan: LearnerPlan | None = None
        due, left, episode = True, np.inf, 0
        while episode < num_episodes:
            if due:
                plan = learner.plan(Experience(tally.spec, num_episodes, tally.seen(), tally.steps), plan, learner_rng)
                first = tally.steps[0]
                left = float(first @ plan.values[:, 0] / max(1, first.sum())) if plan.values is not None else np.inf
                if episode and left <= stop_below:
                    break
            assert plan is not None
            _, _, due = play_episode(box, plan.policy, tally, learner.replan, world_rng)
            episode += 1
            on_progress(episode)
        self.counts.add(tally, HERE)
        return episode, left
