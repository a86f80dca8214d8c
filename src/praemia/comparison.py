"""Compare learners on a task or in a black box: the same seeds for all, tables with intervals, and the curves."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, overload

from praemia import learners as registry
from praemia.activity import Display, display, say
from praemia.envs.black_box import BlackBox
from praemia.errors import LearnerFailure, MissingExtraError, ParameterError, require, require_whole
from praemia.experiments.jobs import MAX_RUNS, Job, LearnerChoice, TaskText, default_title
from praemia.experiments.runner import MAX_JOBS, engine, run_in_memory
from praemia.files.writing import dump
from praemia.learners import Learner
from praemia.planning.exact import evaluate
from praemia.planning.sampled import SampledEvaluation
from praemia.report.compared import RegretComparison, ReturnComparison
from praemia.simulation import Run, simulate
from praemia.simulation.run import Seed
from praemia.simulation.simulate import check_run
from praemia.statistics.series import Series
from praemia.tasks.task import Task

Outcome: TypeAlias = tuple[Run, SampledEvaluation | None]  # a run, and in a black box the score of what it has learned
Work: TypeAlias = tuple[str, Learner, tuple[int, ...]]  # the learner's title, the learner, the seed


@overload
def compare(
    task: Task, learners: Sequence[str | Learner], num_episodes: int = ..., **options: Any
) -> RegretComparison: ...
@overload
def compare(
    task: BlackBox | Callable[[], BlackBox], learners: Sequence[str | Learner], num_episodes: int = ..., **options: Any
) -> ReturnComparison: ...
def compare(  # type: ignore[misc]  # the options are those listed here
    task: Task | BlackBox | Callable[[], BlackBox],
    learners: Sequence[str | Learner],
    num_episodes: int = 1_000,
    *,
    num_runs: int = 8,
    seed: Seed = 0,
    jobs: int = 1,
) -> RegretComparison | ReturnComparison:
    """Play several learners on a task with the same seeds, and compare their regret; in a black box their returns.

    Progress goes to standard error if it takes longer than two seconds. ``praemia run`` plays the same runs. The tables
    need no matplotlib, only the figure does.

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
    try:
        require("matplotlib.figure")
    except MissingExtraError as error:  # said before the runs: whoever wants the figure need not wait for them
        say(f"no figure, only the tables: {error}")
    problem = task if isinstance(task, Task | BlackBox) else task()
    if not isinstance(problem, Task | BlackBox):
        raise ParameterError(f"the function made {problem!r}; expected a BlackBox")
    work = [(title, learner, (*key, number)) for number in range(num_runs) for title, learner in players.items()]
    with display() as progress:
        if require_whole("jobs", jobs, 1, MAX_JOBS) == 1:
            outcomes = _played_here(problem, num_episodes, work, progress)
        elif isinstance(problem, Task):
            outcomes = _played_by_workers(problem, num_episodes, work, progress, jobs)
        else:
            make = _maker(problem) if isinstance(task, Task | BlackBox) else task
            outcomes = _played_in_boxes(make, num_episodes, work, progress, jobs)
    of_learners = [outcomes[place :: len(players)] for place in range(len(players))]
    series = tuple(
        Series.of(replace(run, title=title) for run, _ in own) for title, own in zip(players, of_learners, strict=True)
    )
    if isinstance(problem, Task):
        return RegretComparison(problem, series)
    scores = tuple(tuple(score for _, score in own if score is not None) for own in of_learners)
    return ReturnComparison(problem, series, scores)


def _outcome(
    task: Task | BlackBox,
    learner: Learner,
    num_episodes: int,
    seed: tuple[int, ...],
    on_progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Play a run; in a black box evaluate its policy, in episodes that are the same for all learners of this number."""
    run = simulate(task, learner, num_episodes, seed, on_progress=on_progress)
    return run, evaluate(task, run, seed=seed[-1]) if isinstance(task, BlackBox) else None


def _played_here(task: Task | BlackBox, num_episodes: int, work: Sequence[Work], progress: Display) -> list[Outcome]:
    """Play all runs in this process, one after the other."""
    report, total, outcomes = progress.count("episodes"), len(work) * num_episodes, list[Outcome]()
    for _, learner, seed in work:
        before = len(outcomes) * num_episodes

        def report_all(done: int, before: int = before) -> None:
            report(before + done, total)

        outcomes.append(_outcome(task, learner, num_episodes, seed, report_all))
    return outcomes


def _played_by_workers(
    task: Task, num_episodes: int, work: Sequence[Work], progress: Display, num_workers: int
) -> list[Outcome]:
    text = TaskText(task.name, dump(task))
    jobs = [Job(text, LearnerChoice.of_learner(own, title), num_episodes, seed) for title, own, seed in work]
    runs, failures = run_in_memory(jobs, num_workers=num_workers, progress=progress)
    if failures:
        raise LearnerFailure(failures[0].message)
    return [(run, None) for run in runs]


def _played_in_boxes(
    make: Callable[[], BlackBox], num_episodes: int, work: Sequence[Work], progress: Display, num_workers: int
) -> list[Outcome]:
    """Play all runs in worker processes, each of which makes the box."""
    report, outcomes = progress.count("runs"), list[Outcome]()
    with engine(num_workers, None) as executor:
        for outcome in executor.map(partial(_outcome_in_made, make, num_episodes), work):
            outcomes.append(outcome)
            report(len(outcomes), len(work))
    return outcomes


def _outcome_in_made(make: Callable[[], BlackBox], num_episodes: int, item: Work) -> Outcome:
    _, learner, seed = item
    return _outcome(make(), learner, num_episodes, seed)


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
