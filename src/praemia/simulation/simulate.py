"""Play a learner on a task and compute its exact regret.

plan ─▶ evaluate it exactly ─▶ play it, compiled, until the next plan is due ─▶ plan …
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.activity import displayed_count, working_time
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError, PraemiaError, require_whole
from praemia.learners.base import Learner
from praemia.learners.external import LearnerCode
from praemia.learners.registry import make
from praemia.limits import MAX_EPISODES, require_memory
from praemia.planning.exact import solve
from praemia.policies.policy import Policy
from praemia.simulation.beginning import begin_with, codes_of, require_fit
from praemia.simulation.box_world import BoxWorld
from praemia.simulation.learned import learned_policy
from praemia.simulation.loop import World, run_loop
from praemia.simulation.product_view import product_box, product_of, shown_policy
from praemia.simulation.run import Run, Seed, seed_key, versions
from praemia.simulation.sampled_tests import check_tests, tested_loop
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task
from praemia.text_tables import plural

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset


def simulate(
    task: Task | BlackBox,
    learner: Learner | str,
    num_episodes: int | None = None,
    seed: Seed = 0,
    *,
    num_steps: int | None = None,
    test_every: int | None = None,
    data: Dataset | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a learner on a task for a number of episodes, or of steps, and return the record, with its exact regret.

    ``learner`` is a learner or the name of one. With ``num_steps`` the episode in which so many steps are reached is
    the last; T = K·H in a learner's formulas is then this number, up to whole episodes. On a black box the regret
    cannot be known, and the record holds the returns alone. ``seed`` is an integer or several; ``on_progress`` is
    called with the number of episodes played so far, of steps with ``num_steps``; without it, progress is shown after
    two seconds. Every ``test_every`` steps of such a run, after the episode, the plan and the learned policy are tested
    against an optimal one by sampled episodes (``run.tests``). With ``data`` the learner begins with what was counted
    there: in another run (``run.dataset``), by ``explore``, or in a log (``Dataset.from_episodes``); K in its formulas
    counts those episodes too.

    If an error ends a run in a black box, its attribute ``run`` holds the episodes that were finished.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> run = praemia.simulate(task, "ucbvi-prm", num_episodes=200, seed=0)
    >>> run.regret.shape, run.returns.shape
    ((200,), (200,))
    >>> again = praemia.simulate(task, praemia.UCBVIPRM(), num_episodes=200, seed=0)
    >>> bool((again.returns == run.returns).all())
    True
    """
    learner = _player(task, learner)
    key = check_run(num_episodes, seed, num_steps)
    if test_every is not None:
        check_tests(task, num_steps, test_every)
    began = working_time()
    optimal: float | None = None
    if data is not None:
        require_fit(data, task, learner)
    if isinstance(task, BlackBox):
        task = task.for_run(None if data is None else codes_of(data))
    else:
        optimal = solve(task.in_unit_range.model, keep_values=False).value
    world, code = world_of(task, learner, num_episodes, key, num_steps), LearnerCode.of(type(learner))
    if data is not None:
        begin_with(world, data)

    def record(tests: NDArray[np.float64] | None = None) -> Run:
        return Run(
            task=task.name,
            learner=learner.name,
            parameters=learner.parameters,
            seed=key,
            versions=versions(),
            origin="" if code is None else code.origin,
            discount=task.discount,
            until_done=task.until_done,
            step_budget=num_steps,
            test_every=test_every,
            tests=tests,
            seconds=working_time() - began,
            data_episodes=world.episodes_before,
            _counted=_counted(task, world, key),
            _player=learner,
            **_played(task, world, optimal),
        )

    with displayed_count("steps" if num_steps else "episodes", num_steps or num_episodes or 0) as display:
        report = on_progress or display
        try:
            tests = _play_to_the_end(world, task, test_every, key, _in_steps(world, report) if num_steps else report)
        except PraemiaError as error:
            if isinstance(task, BlackBox) and world.played:
                error.run = record()
                error.add_note(f"the {plural(world.played, 'episode')} that were finished are kept: error.run")
            raise
    return record(tests)


def _play_to_the_end(
    world: World,
    task: Task | BlackBox,
    test_every: int | None,
    seed: tuple[int, ...],
    on_progress: Callable[[int], None],
) -> NDArray[np.float64] | None:
    """Play a run; return its tests, if there are any."""
    if test_every is None:
        run_loop(world, len(world.log.returns), on_progress=on_progress)
        return None
    assert isinstance(task, Task)
    return tested_loop(world, task, test_every, seed, on_progress)


def _player(task: object, learner: Any) -> Learner:
    """Return a learner, or the one of a name; refuse anything else, and anything that is not a task."""
    if isinstance(learner, str):
        learner = make(learner)
    if isinstance(learner, type) or not (hasattr(learner, "plan") and hasattr(learner, "sees")):
        raise ParameterError(f"learner={learner!r}; expected a learner or its name, such as 'headroom'")
    if not isinstance(task, Task | BlackBox):
        raise ParameterError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4'), or a BlackBox")
    return learner  # type: ignore[no-any-return]


def _played(task: Task | BlackBox, world: World, optimal: float | None) -> dict[str, Any]:
    """Return what was played, in the user's units, as fields of a ``Run``."""
    plans, returns = world.log.plans[: world.num_plans], world.log.returns[: world.played].copy()
    plans = plans[plans["episode"] < world.played]  # an error may have ended the run in the first episode of the last
    units = task.machine.reward_range
    from_unit = partial(units.values_from_unit, horizon=world.spec.horizon, discount=task.discount)
    return {
        "num_episodes": world.played,
        "optimal_value": None if optimal is None else from_unit(optimal),
        "plan_episodes": plans["episode"].copy(),
        "plan_values": from_unit(plans["value"].copy()),
        "optimistic_values": from_unit(plans["optimistic"].copy()),
        "returns": from_unit(returns) if isinstance(task, Task) else returns,
        "final_policy": shown_policy(world.policy, world.learner, task.machine),
        "policy": _policy(task, world),
        "mapped_gaps": _mapped_gaps(task, optimal, plans["value"]),
        "steps": world.log.steps[: world.played].copy(),
        "path_losses": _path_losses(task, world),
    }


def _policy(task: Task | BlackBox, world: World) -> Policy:
    """Return the policy that a run has learned, to be used without the run."""
    table = shown_policy(learned_policy(world), world.learner, task.machine)
    if isinstance(task, Task):
        return Policy(table, task)  # it acts everywhere, as it is evaluated
    return Policy(table, task, met=np.asarray(world.counts.is_met.reshape(task.num_observations, -1).any(axis=1)))


def _counted(task: Task | BlackBox, world: World, seed: tuple[int, ...]) -> Callable[[], Dataset]:
    """Return what makes a dataset of the counts of a run, without keeping its world."""
    learner, sets, starts = world.learner, world.spec.label_sets, world.counts.starts.copy()
    seen = world.experience().transitions

    def dataset() -> Dataset:
        from praemia.exploration.counted import dataset_of, known_rules

        if learner.sees == "product":
            raise PraemiaError(
                f"learner {learner.name!r} counts product states, whose transitions are not those of "
                f"{task.name!r}; run one that sees observations, such as headroom or ucbvi-prm"
            )
        record = {"learner": learner.name, "episodes": int(starts.sum()), "seed": list(seed)}
        return dataset_of(task, seen, sets, starts, known_rules(task), **record)

    return dataset


def world_of(
    task: Task | BlackBox, learner: Learner, num_episodes: int | None, seed: tuple[int, ...], num_steps: int | None
) -> World:
    """Return a learner at the start of a run, in a task or in a black box."""
    sees_product = learner.sees == "product"
    if isinstance(task, Task):
        unit = task.in_unit_range
        return TaskWorld(product_of(unit) if sees_product else unit, learner, num_episodes, seed, num_steps=num_steps)
    return BoxWorld(product_box(task) if sees_product else task, learner, num_episodes, seed, num_steps=num_steps)


def _in_steps(world: World, on_progress: Callable[[int], None]) -> Callable[[int], None]:
    """Return a callback of the loop that reports the steps played so far."""
    return lambda _: on_progress(world.steps_played)


def _path_losses(task: Task | BlackBox, world: World) -> NDArray[np.float64] | None:
    """Return what each episode lost along its path, in the user's units; None where the regret is that of the plans."""
    return world.log.losses[: world.played] * task.machine.reward_range.span if len(world.log.losses) else None


def _mapped_gaps(
    task: Task | BlackBox, optimal: float | None, plan_values: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return what plans lose, from values in the unit range; None where the user's units are the same."""
    units = task.machine.reward_range
    return None if optimal is None or units.is_unit else (optimal - plan_values) * units.span


def check_run(num_episodes: int | None, seed: Seed, num_steps: int | None = None) -> tuple[int, ...]:
    """Check the length and the seed of a run before any work; return the seed as a tuple."""
    if num_episodes is not None and num_steps is not None:
        raise ParameterError(f"num_episodes={num_episodes!r} and num_steps={num_steps!r}; expected one of the two")
    if num_steps is None:
        length = require_whole("num_episodes", num_episodes, 1, MAX_EPISODES)
    else:
        length = require_whole("num_steps", num_steps, 1, MAX_EPISODES)
    require_memory(32 * length, f"a record of {length:,} {'episodes' if num_steps is None else 'steps'}")
    return seed_key(seed)
