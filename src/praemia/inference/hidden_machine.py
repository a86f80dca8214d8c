"""Play in a task whose machine is hidden: explore, infer, plan, play until a surprise, infer again.

The player sees observations, labels and rewards; it knows neither p nor the machine. It holds a machine, the one
inferred last, and follows its state by label and reward. Episodes are played in turn to

- *explore*: go where something is new. New is a pair (o, a) visited less than m times, or a label that came less than m
  times after the same recent events in the same state of the machine held: rewards may depend on the order of events
  even if no reward has been seen yet. When nothing new can be reached, m doubles.
- *exploit*: play the optimum of the machine held in the estimate p̂.

A reward that the machine held cannot pay is a surprise; then a machine is inferred from all episodes so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.errors import ModelError, require_whole
from praemia.exploration.counts import Counted, add_up
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.exploration.sessions import Environment
from praemia.files.writing import machine_record
from praemia.inference.answer import Edge
from praemia.inference.comparing import is_equivalent
from praemia.inference.infer import infer_machine
from praemia.inference.player import Memory, Played, joint_machine, moves_of, play_episodes, recent_events
from praemia.inference.reading import traces_from_arrays
from praemia.inference.traces import Floats
from praemia.limits import MAX_EPISODES
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import evaluate, solve
from praemia.tasks.model import step_weights
from praemia.tasks.task import Task

FIRST_EPISODES, FIRST_ENOUGH = 16, 2
EVENTS = 2  # how many recent events count as the same history
NOTHING_NEW = 0.05  # expected new things in an episode below which m doubles


@dataclass(frozen=True)
class Held:
    """A machine that the player held from an episode on.

    ``is_right`` tells whether it pays what the truth pays wherever an episode can get, with chances in their intervals.
    """

    episode: int
    machine: RewardMachine
    is_right: bool


@dataclass(frozen=True, eq=False)
class HiddenRun:
    """What came of playing with a hidden machine.

    Attributes
    ----------
    seed : what the episodes were drawn from.
    returns : float64[K], what each episode paid, discounted if the task is.
    held : the machines held, each from an episode on.
    value : the exact value of the last plan, in the true task; optimal_value : that of the best plan.
    found_at : the episode from which the right machine was held to the end, or None.
    """

    seed: int
    returns: Floats
    held: tuple[Held, ...]
    value: float
    optimal_value: float

    @property
    def found_at(self) -> int | None:
        wrong = [number for number, held in enumerate(self.held) if not held.is_right]
        right = self.held[wrong[-1] + 1 :] if wrong else self.held
        return right[0].episode if right else None

    def to_json(self) -> dict[str, Any]:
        """Return everything but the optimal value as plain data."""
        return {
            "seed": self.seed,
            "returns": self.returns.tolist(),
            "value": self.value,
            "found_at": self.found_at,
            "machines": [
                {
                    "episode": held.episode,
                    "states": held.machine.num_states,
                    "right": held.is_right,
                    "machine": machine_record(held.machine),
                }
                for held in self.held
            ],
        }


def play_hidden(
    task: Task, num_episodes: int, seed: int = 0, *, on_progress: Callable[[int, int], None] | None = None
) -> HiddenRun:
    """Play a number of episodes of a task whose machine is hidden.

    Each is played to the full horizon, because when the machine is done is hidden too.
    """
    if not isinstance(task, Task):
        raise ModelError(
            f"task={task!r}; expected a Task: how good the last plan is can be computed only there. In a black box, "
            "record traces (record=) and infer the machine from them"
        )
    require_whole("num_episodes", num_episodes, 1, MAX_EPISODES)
    require_whole("seed", seed, 0)
    if not all(reward.is_discrete for reward in task.machine.rewards):
        raise ModelError(
            f"{task.name} pays rewards from an interval, and a machine is inferred from rewards that recur; round them"
        )
    player = _Player(task, num_episodes, np.random.default_rng(seed))
    while player.played < num_episodes:
        player.exploit()
        player.explore()
        if on_progress is not None:
            on_progress(player.played, num_episodes)
    joint = joint_machine(task.machine, player.moves, task.mdp.label_sets)
    policy = np.tile(player.best_policy(), (1, task.machine.num_states, 1))  # the true state varies slowest
    value = evaluate(replace(task, machine=joint), policy).value
    returns = ordered_sum(player.all.rewards * step_weights(task.max_steps, task.discount))
    return HiddenRun(seed, returns, tuple(player.held), float(value), float(solve(task.model).value))


class _Player:
    """The state of play: episodes so far, and the machine held. The first episodes are played uniformly at random."""

    def __init__(self, task: Task, num_episodes: int, rng: np.random.Generator) -> None:
        self.task, self.num_episodes, self.rng = task, num_episodes, rng
        self.labels: tuple[Label, ...] = task.mdp.label_sets
        self.names = tuple(sorted(frozenset().union(*self.labels)))
        self.environment = Environment(task)
        self.held: list[Held] = []
        self.enough = FIRST_ENOUGH
        self.inferred_at = 0  # the episode of the last inference
        self._hold(0, RewardMachine(("q0",), "q0", self.names, ()), ())
        self.all = play_episodes(task, min(FIRST_EPISODES, num_episodes), rng)
        self._check(self.all)

    @property
    def played(self) -> int:
        return len(self.all.rewards)

    def _hold(self, episode: int, machine: RewardMachine, edges: tuple[Edge, ...]) -> None:
        self.machine = machine.over(self.names)
        self.moves = moves_of(self.machine, self.labels)
        self.held.append(Held(episode, self.machine, is_equivalent(self.task, self.machine, self.labels, edges)))

    def _play(self, policy: NDArray[np.int64], memory: Memory) -> None:
        count = min(2 * self.enough, self.num_episodes - self.played)
        if count > 0:
            new = play_episodes(self.task, count, self.rng, policy, memory)
            self.all += new
            self._check(new)

    def _check(self, new: Played) -> None:
        """Infer a machine again if the one held does not explain new episodes."""
        # Where rewards are random nothing may ever be impossible: such a machine is inferred again as data doubles.
        is_old = self.moves.is_random and self.played >= 2 * self.inferred_at
        if is_old or not self.moves.explains(new.labels, new.rewards):
            self.inferred_at = self.played
            traces = traces_from_arrays(self.all.labels, self.all.rewards, self.labels)
            self._hold(self.played, *infer_machine(traces))

    def dataset(self, enough: int = 1) -> Dataset:
        """Return what was counted, without the pairs visited less than ``enough`` times."""
        size, num_actions = self.task.num_observations, self.task.num_actions
        played = self.all.labels >= 0
        pairs = (self.all.observations[:, :-1] * num_actions + self.all.actions)[played]
        is_frequent = np.bincount(pairs, minlength=size * num_actions)[pairs] >= enough
        after, ends = self.all.observations[:, 1:][played][is_frequent], self.all.ends[played][is_frequent]
        columns = add_up(pairs[is_frequent], after, ends, np.ones(len(after), dtype=np.int64), size)
        first_counts = np.bincount(self.all.observations[:, 0], minlength=size)
        return self.environment.dataset(Counted(size, num_actions, **columns, first_counts=first_counts))

    def explore(self) -> None:
        """Play episodes that go for what is new."""
        events = recent_events(self.labels, EVENTS)
        memory = self.moves.beside(events)
        is_new = memory.counts(self.all.labels, self.all.rewards) < self.enough
        machine = joint_machine(self.machine, events, self.labels, is_new)
        everything_new = np.arange(self.task.max_steps, 0, -1.0)[:, None]  # what an unknown pair is worth: 1 a step
        # What is new is as good late in an episode as early.
        estimate = Estimate.of(self.dataset(self.enough), machine, discount=1.0)
        plan = solve(estimate.model_with(everything_new))
        if plan.value < NOTHING_NEW:
            self.enough *= 2
        else:
            self._play(plan.policy.astype(np.int64), memory)

    def best_policy(self) -> NDArray[np.int64]:
        """Return the optimum of the machine held, in p̂: [H, M, O]."""
        return solve(self.dataset().model(self.machine)).policy.astype(np.int64)

    def exploit(self) -> None:
        """Play the best plan for the machine held, if it pays anything."""
        if any(self.machine.mean_rewards):
            self._play(self.best_policy(), self.moves)
