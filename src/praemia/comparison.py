"""Compare learners on a task or in a black box: the same seeds for all, tables with intervals, and the curves."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

from praemia import learners as registry
from praemia.activity import Display, display
from praemia.envs.black_box import BlackBox
from praemia.errors import LearnerFailure, ParameterError, require_whole
from praemia.experiments.jobs import MAX_RUNS, Job, LearnerChoice, TaskText, default_title
from praemia.experiments.runner import MAX_JOBS, run_in_memory
from praemia.files.writing import dump
from praemia.learners import Learner
from praemia.planning.exact import Evaluation, evaluate
from praemia.report.compared import Comparison
from praemia.simulation import Run, simulate
from praemia.simulation.run import Seed
from praemia.simulation.simulate import check_run
from praemia.statistics.series import Series
from praemia.tasks.task import Task

Scores: TypeAlias = tuple[tuple[Evaluation, ...], ...]
Work: TypeAlias = tuple[str, Learner, tuple[int, ...]]  # the learner's title, the learner, the seed


def compare(
    task: Task | BlackBox | Callable[[], BlackBox],
    learners: Sequence[str | Learner],
    num_episodes: int = 1_000,
    *,
    num_runs: int = 8,
    seed: Seed = 0,
    jobs: int = 1,
) -> Comparison:
    """Play several learners on a task with the same seeds, and compare their regret; in a black box their returns.

    Progress goes to standard error if it takes longer than two seconds. ``praemia run`` plays the same runs.

    Parameters
    ----------
    task : a task; a black box; or a function that makes a black box, which every process calls.
    learners : names, such as ``"headroom"``, or learners, such as ``praemia.Headroom()`` or one of your own.
    num_runs : the number of runs of each learner; run r has the seed (seed, r).
    jobs : the number of processes; a learner of your own has to be in a file for more than one, and a black box has to
        be made by a function in a file, or from an environment that ``gymnasium.make`` can make again.

    Returns
    -------
    The comparison: ``table``, ``ratios`` (in a black box ``differences``) and ``figure``; a notebook shows all three.
    ``to_frame`` gives the runs to pandas, ``save`` keeps them.

    Examples
    --------
    >>> import praemia
    >>> result = praemia.compare(praemia.envs.riverswim(3), ["headroom", "random"], 100, num_runs=2)
    >>> [row[0] for row in result.table.rows]
    ['headroom', 'random']
    """
    if not isinstance(task, Task | BlackBox) and not callable(task):
        raise ParameterError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4'), or a BlackBox")
    key = check_run(num_episodes, seed)
    num_runs = require_whole("num_runs", num_runs, 1, MAX_RUNS)
    players = _titled(learners)
    problem = task if isinstance(task, Task | BlackBox) else task()
    if not isinstance(problem, Task | BlackBox):
        raise ParameterError(f"the function made {problem!r}; expected a BlackBox")
    work = [(title, learner, (*key, number)) for number in range(num_runs) for title, learner in players.items()]
    with display() as progress:
        if require_whole("jobs", jobs, 1, MAX_JOBS) == 1:
            runs = _played_here(problem, num_episodes, work, progress)
        else:
            text = _portable(problem, task)
            parts = [(LearnerChoice.of_learner(own, title), seed) for title, own, seed in work]
            items = [Job(text, choice, num_episodes, seed) for choice, seed in parts]
            runs, failures = run_in_memory(items, num_workers=jobs, progress=progress)
            if failures:
                raise LearnerFailure(failures[0].message)
        members = tuple(
            Series.of(replace(run, title=title) for run in runs[place :: len(players)])
            for place, title in enumerate(players)
        )
        scores: Scores = ()
        if isinstance(problem, BlackBox):  # in episodes that are the same for all learners
            scores = tuple(tuple(evaluate(problem, run, seed=run.seed[-1]) for run in own.runs) for own in members)
    return Comparison(problem, members, scores)


def _played_here(task: Task | BlackBox, num_episodes: int, work: Sequence[Work], progress: Display) -> list[Run]:
    """Play all runs in this process, one after the other."""
    report, total, runs = progress.count("episodes"), len(work) * num_episodes, list[Run]()
    for _, learner, seed in work:
        before = len(runs) * num_episodes

        def report_all(done: int, before: int = before) -> None:
            report(before + done, total)

        runs.append(simulate(task, learner, num_episodes, seed, on_progress=report_all))
    return runs


@dataclass(frozen=True)
class _Made(TaskText):
    """A black box that a function makes: it has no text."""

    function: Callable[[], Task | BlackBox] = field(kw_only=True)

    def make(self) -> Task | BlackBox:
        return self.function()


def _portable(problem: Task | BlackBox, given: object) -> TaskText:
    """Return what makes a task, or a black box as it was given, again in another process."""
    if isinstance(problem, Task):
        return TaskText(problem.name, dump(problem))
    return _Made(problem.name, "", function=given if callable(given) else _maker(problem))


def _maker(box: BlackBox) -> Callable[[], BlackBox]:
    """Return a function that makes a black box again in another process."""
    names = ("labels", "machine", "horizon", "encode", "discount", "until_done", "name")
    parts = {name: getattr(box, name) for name in names}
    if box.encode is not None:
        parts["num_observations"] = box.num_observations
    make = None if box.env.spec is None else partial(_made_again, box.env.spec, parts)
    try:
        pickle.dumps(make)
    except Exception:  # anything that a user's function holds may refuse
        make = None
    if make is None:
        raise ParameterError(
            f"jobs: {box.name!r} cannot be made again in another process; give compare a function in a file that "
            "returns the BlackBox, or jobs=1"
        )
    return make


def _made_again(spec: Any, parts: dict[str, Any]) -> BlackBox:
    import gymnasium

    return BlackBox(gymnasium.make(spec), **parts)


def _titled(learners: Sequence[str | Learner]) -> dict[str, Learner]:
    """Return learners by the titles that tell them apart: their names, with the parameters that are not the default."""
    if isinstance(learners, str) or not learners:
        raise ParameterError(f"learners={learners!r}; expected a list of names or learners, such as ['headroom']")
    players: dict[str, Learner] = {}
    for item in learners:
        learner = registry.make(item) if isinstance(item, str) else item
        if not isinstance(learner, Learner):
            raise ParameterError(f"learner={learner!r}; expected a name or a learner, such as Headroom()")
        is_built_in = learner.name in registry.names()  # two of them may share a class
        usual = (registry.make(learner.name) if is_built_in else type(learner)()).parameters
        changes = {key: value for key, value in learner.parameters.items() if value != usual.get(key)}
        title = default_title(learner.name, changes)
        if title in players:
            raise ParameterError(f"two learners {title!r}; give each of them once")
        players[title] = learner
    return players
