"""Run the jobs that are missing, on any engine; keep each run as soon as it is finished.

When a worker dies, only its unfinished jobs are lost. They are run again, and since a run depends on its job alone,
the results are the same. A user's learner that fails costs only its own runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from praemia.activity import SILENCE, Progress, report_progress
from praemia.errors import LearnerFailure, ParameterError, PlanError
from praemia.experiments.engines import EngineError, default_jobs, engine
from praemia.experiments.settings import Job, failures_named
from praemia.experiments.store import Store
from praemia.simulation import Run, simulate

MAX_SETBACKS = 5  # how often workers may die without a single job being finished in between
AHEAD = 64  # jobs handed out at a time: enough to keep workers busy, few enough to stop quickly


class Failure(NamedTuple):
    """A job without a run: the learner's own code raised an error, or its plan cannot be played."""

    job: Job
    message: str
    is_bad_plan: bool = False


def perform(job: Job) -> Run | Failure:
    """Run a job, in a worker. A failure is returned, not raised, so that no engine tries again."""
    try:
        learner = job.learner.make()
        with (
            failures_named(type(learner), job.learner.code),
            report_progress(job.task.name, job.length) as on_progress,
        ):
            length = {"num_episodes": job.num_episodes, "num_steps": job.num_steps}
            run = simulate(job.task.make(), learner, seed=job.seed, on_progress=on_progress, **length)
    except LearnerFailure as error:
        return Failure(job, str(error))
    except PlanError as error:
        return Failure(job, str(error), is_bad_plan=True)
    return replace(
        run,
        parameters=dict(job.learner.parameters),
        title=job.learner.title,
        task_text=job.task.text,
        origin=job.learner.origin,
    )


def run_in_memory(
    jobs: list[Job], *, num_workers: int | None = None, progress: Progress = SILENCE
) -> tuple[list[Run], list[Failure]]:
    """Run the jobs of a setting; return their runs in order, and the failures."""
    runs: list[Run] = []
    progress.start(jobs, jobs)
    failures = _run(jobs, runs.append, progress, num_workers, None)
    order = {(job.learner.title, job.seed): place for place, job in enumerate(jobs)}
    return sorted(runs, key=lambda run: order[run.title, run.seed]), failures


def run_into_store(
    jobs: list[Job],
    store: Store,
    *,
    num_workers: int | None = None,
    address: str | None = None,
    shard: tuple[int, int] = (1, 1),
    keep_policies: bool = True,
    progress: Progress = SILENCE,
) -> list[Failure]:
    """Run the jobs whose runs are missing from a store; return the failures.

    ``shard`` (i, n) with 1 ≤ i ≤ n takes every n-th job, starting with the i-th, for array jobs that share a folder.
    """
    index, count = shard
    mine = jobs[index - 1 :: count]
    todo, damaged = store.missing(mine)
    for message in damaged:
        progress.damage(message)
    progress.start(mine, todo)

    def keep(run: Run) -> None:
        store.write(run if keep_policies else replace(run, final_policy=None))

    return _run(todo, keep, progress, num_workers, address)


def _run(
    todo: list[Job], keep: Callable[[Run], None], progress: Progress, num_workers: int | None, address: str | None
) -> list[Failure]:
    """Run jobs here or in workers; keep each run as soon as it is finished, and return the failures."""
    if address is not None or (default_jobs() if num_workers is None else num_workers) > 1:
        for job in todo:
            _require_portable(job)
    failures: list[Failure] = []

    def finish(job: Job, result: Run | Failure) -> None:
        if isinstance(result, Run):
            keep(result)
        else:
            failures.append(result)
        progress.done(job)

    run_jobs(todo, finish, lambda: engine(num_workers, address))
    return failures


def _require_portable(job: Job) -> None:
    code = job.learner.code
    if code is not None and not code.is_portable:
        raise ParameterError(
            f"learner {job.learner.name!r} is {code.place}:{code.class_name}, which worker processes cannot import; "
            "put it in a file of its own, or run with jobs=1"
        )


Finish: TypeAlias = Callable[[Job, Run | Failure], None]


def run_jobs(jobs: Iterable[Job], finish: Finish, open_engine: Callable[[], AbstractContextManager[Executor]]) -> None:
    """Run jobs and hand each result to ``finish`` as soon as it is there, in any order."""
    todo = list(jobs)
    setbacks = 0
    while todo:
        before = len(todo)
        try:
            with open_engine() as executor:
                _drain(todo, finish, executor)
        except (BrokenProcessPool, CancelledError, ConnectionError, OSError) as error:
            if isinstance(error, OSError) and not isinstance(error, ConnectionError):
                raise  # from the store, not from the engine
            setbacks = 0 if len(todo) < before else setbacks + 1
            if setbacks >= MAX_SETBACKS:
                raise EngineError(f"the workers died {setbacks} times without finishing a run; {error}") from None


def _drain(todo: list[Job], finish: Finish, executor: Executor) -> None:
    """Work through the list; a job leaves it when its result has been dealt with."""
    waiting = iter(list(todo))
    ahead = getattr(executor, "ahead", AHEAD)
    running: dict[Future[Run | Failure], Job] = {}
    while True:
        for job in waiting:
            running[executor.submit(perform, job)] = job
            if len(running) >= ahead:
                break
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            job = running.pop(future)
            finish(job, future.result())
            todo.remove(job)
