"""Play a learner on a task and say exactly what it lost. The only place that knows both.

    plan ─▶ evaluate it exactly ─▶ play it, compiled, until the next plan is due ─▶ plan …

A run has two independent streams of random numbers, one for the world and one for the learner, both made from its
seed alone: the same seed gives the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError
from praemia.kernels import planning as kernels
from praemia.kernels.arrays import MachineArrays, ModelArrays
from praemia.kernels.play import DOUBLING, EPISODE, EPOCH, WorldArrays, play
from praemia.learners.base import Experience, Learner, LearnerPlan, Recent
from praemia.models.arrays import machine_arrays, model_arrays
from praemia.models.limits import require_memory
from praemia.models.task import Task, running_sums
from praemia.planning.exact import solve, start_value
from praemia.simulation.black_box import simulate_black_box
from praemia.simulation.run import Run, versions
from praemia.simulation.seeds import Seed, generators, seed_key
from praemia.simulation.tally import Tally

MAX_EPISODES = 10**9
BUFFER = 1 << 15
NO_VALUES = np.empty((0, 1, 1))
RULES = {"doubling": DOUBLING, "epoch": EPOCH, "episode": EPISODE}


def simulate(
    task: Task | BlackBox,
    learner: Learner,
    num_episodes: int,
    seed: Seed = 0,
    *,
    on_progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a learner on a task for a number of episodes and return the record, with its exact regret.

    On a black box the regret cannot be known, and the record holds the returns alone. ``seed`` is a whole number or
    several; ``on_progress`` is called with the number of episodes played so far.
    """
    key = check_run(num_episodes, seed)
    if isinstance(task, BlackBox):
        if learner.privileged:
            raise ParameterError(f"learner {learner.name!r} must be told the kernel, which a black box does not show")
        return simulate_black_box(task, learner, num_episodes, key, on_progress)
    began = time.perf_counter()
    optimal = solve(task, keep_values=False).value
    game = _Game.start(task, learner, num_episodes, key)
    episodes, values, optimistic = [], [], []
    plan: LearnerPlan | None = None
    value = 0.0
    while game.played < num_episodes:
        before, plan = plan, learner.plan(game.experience(), plan, game.learner_rng)
        if before is None or plan.policy is not before.policy:
            value = game.value_of(plan.policy)
        episodes.append(game.played)
        values.append(value)
        optimistic.append(np.nan if plan.values is None else game.start_value(plan.values))
        game.play(plan.policy)
        if on_progress is not None:
            on_progress(game.played)
    assert plan is not None
    return Run(
        task=task.name,
        learner=learner.name,
        parameters=learner.parameters,
        seed=key,
        num_episodes=num_episodes,
        optimal_value=optimal,
        plan_episodes=np.array(episodes, dtype=np.int64),
        plan_values=np.array(values),
        optimistic_values=np.array(optimistic),
        returns=game.returns,
        final_policy=game.shown(plan.policy),
        seconds=time.perf_counter() - began,
        versions=versions(),
    )


def check_run(num_episodes: int, seed: Seed) -> tuple[int, ...]:
    """Check what a run is asked for, before any work; return the seed as a tuple."""
    if isinstance(num_episodes, bool) or not isinstance(num_episodes, int | np.integer):
        raise ParameterError(f"num_episodes={num_episodes!r}; expected a whole number")
    if not 1 <= num_episodes <= MAX_EPISODES:
        raise ParameterError(f"num_episodes={num_episodes}; expected 1 … {MAX_EPISODES:,}")
    require_memory(16 * int(num_episodes), f"a record of {num_episodes:,} episodes")
    return seed_key(seed)


@dataclass(eq=False)
class _Game:
    """The moving parts of a run: counts, random numbers, how far it is."""

    task: Task
    learner: Learner
    tally: Tally
    world: WorldArrays
    world_rng: np.random.Generator
    learner_rng: np.random.Generator
    uniforms: NDArray[np.float64]
    returns: NDArray[np.float64]
    recent: NDArray[np.int64]
    recent_rewards: NDArray[np.float64]
    model: ModelArrays
    machine: MachineArrays
    cursor: int
    played: int = 0

    @classmethod
    def start(cls, task: Task, learner: Learner, num_episodes: int, seed: tuple[int, ...]) -> _Game:
        world_rng, learner_rng = generators(seed)
        buffer = np.empty(max(BUFFER, 1 + 4 * task.horizon))
        kept = task.horizon if learner.uses_recent else 0
        return cls(
            task=task,
            learner=learner,
            tally=Tally.of(task, on_product=learner.on_product, uses_steps=learner.uses_steps),
            world=world_arrays(task),
            world_rng=world_rng,
            learner_rng=learner_rng,
            uniforms=buffer,
            returns=np.empty(num_episodes),
            recent=np.zeros((kept, 6), dtype=np.int64),
            recent_rewards=np.zeros(kept),
            model=model_arrays(task),
            machine=machine_arrays(task.table),
            cursor=len(buffer),
        )

    def experience(self) -> Experience:
        return Experience(
            spec=self.tally.spec,
            num_episodes=len(self.returns),
            seen=self.tally.seen(),
            steps=self.tally.arrays.steps,
            recent=Recent(self.recent, self.recent_rewards) if self.played else None,
            truth=self.task if self.learner.privileged else None,
        )

    def inner(self, policy: NDArray[Any]) -> NDArray[Any]:
        """Return a plan's policy over (observation, machine state), also if it was made on the product."""
        return policy.reshape(self.task.horizon, self.task.num_observations, -1, *policy.shape[3:])

    def value_of(self, policy: NDArray[Any]) -> float:
        kernel = kernels.evaluate if policy.ndim == 3 else kernels.evaluate_randomised
        first = kernel(self.model, self.machine, self.task.num_actions, NO_VALUES, self.inner(policy))
        return start_value(self.task, first)

    def start_value(self, values: NDArray[np.float64]) -> float:
        return start_value(self.task, values.reshape(self.task.num_observations, -1))

    def play(self, policy: NDArray[Any]) -> None:
        """Play until a plan is due or all episodes are played, drawing random numbers as they are used up."""
        policy = self.inner(policy)
        policy = policy if policy.ndim == 3 else np.cumsum(policy, axis=-1)
        due = False
        while not due and self.played < len(self.returns):
            if self.cursor + 1 + 4 * self.task.horizon > len(self.uniforms):
                self._refill()
            count, self.cursor, due = play(
                self.world,
                self.tally.arrays,
                policy,
                RULES[self.learner.replan],
                self.uniforms,
                self.cursor,
                self.returns[self.played :],
                self.recent,
                self.recent_rewards,
            )
            self.played += count

    def _refill(self) -> None:
        """Move the numbers not yet used to the front and draw the rest: the stream goes on without a gap."""
        left = len(self.uniforms) - self.cursor
        self.uniforms[:left] = self.uniforms[self.cursor :]
        self.uniforms[left:] = self.world_rng.random(len(self.uniforms) - left)
        self.cursor = 0

    def shown(self, policy: NDArray[Any]) -> NDArray[Any]:
        """Return a policy as users see it, [H, M, O] or [H, M, O, A]."""
        return self.inner(policy).swapaxes(1, 2)


def world_arrays(task: Task) -> WorldArrays:
    """Return a task as running sums to sample from."""
    mdp, table = task.mdp, task.table
    starts = np.flatnonzero(mdp.start_probs).astype(np.int32)
    return WorldArrays(
        indptr=mdp.indptr,
        successors=mdp.successors,
        sums=running_sums(mdp.probs, mdp.indptr),
        labels=mdp.labels,
        mach_indptr=table.indptr,
        mach_targets=table.targets,
        mach_sums=table.sums,
        reward_indptr=table.reward_indptr,
        reward_values=table.reward_values,
        reward_sums=running_sums(table.reward_probs, table.reward_indptr),
        start_observations=starts,
        start_sums=np.cumsum(mdp.start_probs[starts]),
        sizes=np.array([task.num_actions, task.num_machine_states, table.initial]),
    )
