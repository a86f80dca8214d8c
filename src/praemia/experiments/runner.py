"""Do the jobs that are still to do, wherever; keep each result the moment it is there.

A worker that dies takes its unfinished jobs with it, never a finished one: they are done again, and since a job's
result depends on the job alone, nothing shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from typing import TypeAlias

from praemia.errors import ParameterError
from praemia.experiments.engines import EngineError, engine
from praemia.experiments.records import perform
from praemia.experiments.settings import Job
from praemia.experiments.store import Store

MAX_SETBACKS = 5  # how often workers may die without a single job being finished in between
AHEAD = 64  # jobs handed out at a time: enough to keep workers busy, few enough to stop quickly

Keep: TypeAlias = Callable[[Job, bytes, float], None]


def run_jobs(jobs: Iterable[Job], keep: Keep, open_engine: Callable[[], AbstractContextManager[Executor]]) -> None:
    """Do jobs and hand each result to ``keep`` as soon as it is there, in whatever order they finish."""
    todo = list(jobs)
    setbacks = 0
    while todo:
        before = len(todo)
        try:
            with open_engine() as executor:
                _drain(todo, keep, executor)
        except (BrokenProcessPool, CancelledError, ConnectionError, OSError) as error:
            if isinstance(error, OSError) and not isinstance(error, ConnectionError):
                raise  # the store's trouble, not the engine's
            setbacks = 0 if len(todo) < before else setbacks + 1
            if setbacks >= MAX_SETBACKS:
                raise EngineError(f"the workers died {setbacks} times without finishing a run; {error}") from None


def _drain(todo: list[Job], keep: Keep, executor: Executor) -> None:
    """Work through the list; a job leaves it when its result has been kept."""
    waiting = iter(list(todo))
    ahead = getattr(executor, "ahead", AHEAD)
    running: dict[Future[tuple[bytes, float]], Job] = {}
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
            keep(job, *future.result())
            todo.remove(job)


def run_into_store(
    jobs: list[Job],
    store: Store,
    *,
    num_workers: int | None = None,
    address: str | None = None,
    shard: tuple[int, int] = (1, 1),
    on_start: Callable[[list[Job], list[Job]], None] = lambda jobs, todo: None,
    on_done: Callable[[Job, float], None] = lambda job, seconds: None,
    on_damage: Callable[[str], None] = lambda message: None,
) -> None:
    """Do what is missing of the jobs, into a store.

    ``shard`` (i, n) takes every n-th job from the i-th on, for array jobs that share a folder.
    """
    index, count = shard
    if not 1 <= index <= count:
        raise ParameterError(f"shard {index}/{count}; expected i/n with 1 ≤ i ≤ n")
    mine = jobs[index - 1 :: count]
    todo, damaged = store.missing(mine)
    for message in damaged:
        on_damage(message)
    on_start(mine, todo)

    def keep(job: Job, data: bytes, seconds: float) -> None:
        store.write(job, data, seconds)
        on_done(job, seconds)

    if todo:
        run_jobs(todo, keep, lambda: engine(num_workers, address))
