"""Play a learner on a task and say exactly what it lost. The only place that knows both.

    plan ─▶ evaluate it exactly ─▶ play it, compiled, until the next plan is due ─▶ plan …

A run has two independent streams of random numbers, one for the world and one for the learner, both made from its
seed alone: the same seed gives the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError
from praemia.learners.base import Learner, LearnerPlan
from praemia.models.limits import require_memory
from praemia.models.task import Task
from praemia.planning.exact import solve
from praemia.simulation.black_box import simulate_black_box
from praemia.simulation.game import Game
from praemia.simulation.interrupts import interrupts_held
from praemia.simulation.run import Run, versions
from praemia.simulation.seeds import Seed, seed_key

MAX_EPISODES = 10**9


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
    if isinstance(learner, type) or not hasattr(learner, "plan"):
        raise ParameterError(f"learner={learner!r}; expected a learner, such as learners.make('ucbvi-prm')")
    if not isinstance(task, Task | BlackBox):
        raise ParameterError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4'), or a BlackBox")
    key = check_run(num_episodes, seed)
    if isinstance(task, BlackBox):
        if learner.privileged:
            raise ParameterError(f"learner {learner.name!r} must be told the kernel, which a black box does not show")
        return simulate_black_box(task, learner, num_episodes, key, on_progress)
    began = time.perf_counter()
    optimal = solve(task, keep_values=False).value
    game = Game.start(task, learner, num_episodes, key)
    episodes, values, optimistic = [], [], []
    plan: LearnerPlan | None = None
    value = 0.0
    with interrupts_held() as raise_interrupt:
        while game.played < num_episodes:
            before, plan = plan, learner.plan(game.experience(), plan, game.learner_rng)
            if before is None or plan.policy is not before.policy:
                value = game.value_of(plan.policy)
            episodes.append(game.played)
            values.append(value)
            optimistic.append(np.nan if plan.values is None else game.start_value(plan.values))
            game.play(plan.policy, pause=raise_interrupt)
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
