"""Play a learner on a task and compute its exact regret.

plan ─▶ evaluate it exactly ─▶ play it, compiled, until the next plan is due ─▶ plan …
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.activity import displayed_count, working_time
from praemia._support.limits import MAX_EPISODES, require_memory
from praemia._support.text_tables import plural
from praemia.envs.black_box import BlackBox
from praemia.envs.indexing import EncodedIndex, index_from_data, require_same
from praemia.errors import ModelError, ParameterError, PraemiaError, require_whole
from praemia.learners.base import Learner
from praemia.learners.external import LearnerCode
from praemia.learners.registry import make
from praemia.planning.exact import solve
from praemia.policies.policy import Policy
from praemia.simulation.box_world import BoxWorld
from praemia.simulation.loop import World, run_loop
from praemia.simulation.run import Run, Seed, seed_key, versions
from praemia.simulation.sampled_tests import tested_loop
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

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

    In a black box the regret is unknown, and the record has returns only. If an error ends such a run, its attribute
    ``run`` holds the finished episodes.

    Parameters
    ----------
    task : the task or the black box.
    learner : a learner, or the name of one.
    num_episodes : K, the number of episodes.
    seed : an integer, or several.
    num_steps : instead of ``num_episodes``: the run ends with the episode that reaches this number of steps. T = K·H in
        a learner's formulas is then this number, rounded up to full episodes.
    test_every : with ``num_steps``: how often, in steps, the plan and the learned policy are tested against an optimal
        one by sampled episodes (``run.tests``).
    data : counts that the learner begins with: those of another run (``run.dataset``), of ``explore``, or of a log
        (``Dataset.from_episodes``). K in its formulas includes those episodes.
    on_progress : called with the number of episodes (or steps) played so far; by default, progress is shown after two
        seconds.

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
    learner, key = _player(task, learner), check_run(num_episodes, seed, num_steps)
    if test_every is not None:
        require_whole("test_every", test_every, 1)
        if num_steps is None or not isinstance(task, Task):
            raise ParameterError(f"test_every={test_every}; it needs a task, not a black box, and num_steps")
    began, optimal = working_time(), None
    if data is not None:
        _require_fit(data, task, learner)
    if isinstance(task, BlackBox):
        index = None if data is None else index_from_data(data.encoding)
        task = task.for_run(index.codes if isinstance(index, EncodedIndex) else None)
    else:
        optimal = solve(task.in_unit_range.model, keep_values=False).value
    world, code = world_of(task, learner, num_episodes, key, num_steps), LearnerCode.of(type(learner))
    if data is not None:
        world.begin_with(data)

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

        def on_slice(played: int) -> None:
            report(world.steps_played if num_steps else played)

        try:
            if test_every is not None:
                assert isinstance(task, Task)
                return record(tested_loop(world, task, test_every, key, on_slice))
            run_loop(world, len(world.log.returns), on_progress=on_slice)
        except PraemiaError as error:
            if isinstance(task, BlackBox) and world.played:
                error.run = record()
                error.add_note(f"the {plural(world.played, 'episode')} that were finished are kept: error.run")
            raise
    return record()


def _player(task: object, learner: Any) -> Learner:
    """Return a learner, or the one of a name; refuse anything else, and anything that is not a task."""
    if isinstance(learner, str):
        learner = make(learner)
    if isinstance(learner, type) or not (hasattr(learner, "plan") and hasattr(learner, "sees")):
        raise ParameterError(f"learner={learner!r}; expected a learner or its name, such as 'headroom'")
    if not isinstance(task, Task | BlackBox):
        raise ParameterError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4'), or a BlackBox")
    return learner  # type: ignore[no-any-return]


def _require_fit(data: Dataset, task: Task | BlackBox, learner: Learner) -> None:
    """Refuse data of another environment, and learners that cannot begin with counts."""
    if not hasattr(data, "first_counts"):
        raise ParameterError(f"data={data!r}; expected a Dataset, such as run.dataset or what explore returns")
    if not learner.has_estimate or learner.learn_machine or learner.sees == "product" or learner.privileged:
        raise ParameterError(
            f"learner {learner.name!r} does not plan from counts of transitions alone, so it cannot begin with data; "
            "choose one that does, such as headroom, ucbvi-prm or mvp"
        )
    data.require_sizes_of(task)
    if (data.encoding is None) != isinstance(task, Task):
        kinds = ("a black box", "a task")
        raise ModelError(f"data of {kinds[data.encoding is None]}; {task.name!r} is {kinds[isinstance(task, Task)]}")
    if isinstance(task, BlackBox):
        index = index_from_data(data.encoding)
        require_same("data", index, data.num_observations, task.observations, repr(task.name))


def _played(task: Task | BlackBox, world: World, optimal: float | None) -> dict[str, Any]:
    """Return what was played, in the user's units, as fields of a ``Run``."""
    plans, losses = world.log.plans[: world.num_plans], world.log.losses
    plans = plans[plans["episode"] < world.played]  # an error may have ended the run in the first episode of the last
    is_task, units, learned = isinstance(task, Task), task.machine.reward_range, world.shown(world.learned_policy())
    from_unit = partial(units.values_from_unit, horizon=world.spec.horizon, discount=task.discount)
    returns = world.log.returns[: world.played].copy()
    met = world.counts.is_met.reshape(task.num_observations, -1).any(axis=1)  # in a task it acts everywhere
    return {
        "num_episodes": world.played,
        "optimal_value": None if optimal is None else from_unit(optimal),
        "plan_episodes": plans["episode"].copy(),
        "plan_values": from_unit(plans["value"].copy()),
        "optimistic_values": from_unit(plans["optimistic"].copy()),
        "returns": from_unit(returns) if is_task else returns,
        "final_policy": world.shown(world.policy),
        "policy": Policy(learned, task, met=None if is_task else np.asarray(met)),
        "mapped_gaps": None if optimal is None or units.is_unit else (optimal - plans["value"]) * units.span,
        "steps": world.log.steps[: world.played].copy(),
        "path_losses": losses[: world.played] * units.span if len(losses) else None,
    }


def _counted(task: Task | BlackBox, world: World, seed: tuple[int, ...]) -> Callable[[], Dataset]:
    """Return what makes a dataset of the counts of a run, without keeping its world."""
    learner, sets, starts = world.learner, world.spec.label_sets, world.counts.starts.copy()
    seen = world.experience().transitions

    def dataset() -> Dataset:
        from praemia.exploration.counted import dataset_of

        if learner.sees == "product":
            raise PraemiaError(
                f"learner {learner.name!r} counts product states, whose transitions are not those of "
                f"{task.name!r}; run one that sees observations, such as headroom or ucbvi-prm"
            )
        record = {"learner": learner.name, "episodes": int(starts.sum()), "seed": list(seed)}
        return dataset_of(task, [(seen, sets)], starts, **record)

    return dataset


def world_of(
    task: Task | BlackBox, learner: Learner, num_episodes: int | None, seed: tuple[int, ...], num_steps: int | None
) -> World:
    """Return a learner at the start of a run, in a task or in a black box."""
    if isinstance(task, Task):
        return TaskWorld(task.in_unit_range, learner, num_episodes, seed, num_steps=num_steps)
    return BoxWorld(task, learner, num_episodes, seed, num_steps=num_steps)


def check_run(num_episodes: int | None, seed: Seed, num_steps: int | None = None) -> tuple[int, ...]:
    """Check the length and the seed of a run before any work; return the seed as a tuple."""
    if num_episodes is not None and num_steps is not None:
        raise ParameterError(f"num_episodes={num_episodes!r} and num_steps={num_steps!r}; expected one of the two")
    kind, given = ("episodes", num_episodes) if num_steps is None else ("steps", num_steps)
    length = require_whole(f"num_{kind}", given, 1, MAX_EPISODES)
    require_memory(32 * length, f"a record of {length:,} {kind}")
    return seed_key(seed)
