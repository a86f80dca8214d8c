"""Run the jobs that are missing, on any engine; keep each run as soon as it is finished.

When a worker dies, only its unfinished jobs are lost. They are run again, and since a run depends on its job alone,
the results are the same. A user's learner that fails costs only its own runs.

Jobs run in this process, or in workers: processes on this computer or on a Dask cluster, both an ``Executor`` of the
standard library.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from praemia._support.activity import display, join_board, report_progress, shared_board
from praemia._support.limits import usable_cores
from praemia.errors import (
    FileError,
    LearnerFailure,
    ParameterError,
    PlanError,
    PraemiaError,
    PraemiaWarning,
    require,
    require_whole,
)
from praemia.experiments.jobs import Job, failures_named
from praemia.experiments.store import StoredRuns
from praemia.files.atomic_io import read_bytes, require_inside
from praemia.simulation import Run, simulate

CONNECT_SECONDS = 10
MAX_JOBS = 10_000
MAX_SETBACKS = 5  # how often workers may die without a single job being finished in between
QUIET = ("distributed", "distributed.client", "distributed.core", "tornado.application")  # loggers
AHEAD = 64  # jobs handed out at a time: enough to keep workers busy, few enough to stop quickly


def perform(job: Job) -> Run | PraemiaError:
    """Run a job, in a worker. The failure of a learner is returned, not raised, so that no engine tries again."""
    try:
        learner = job.learner.make()
        with failures_named(type(learner), job.learner.code), report_progress(job.length) as on_progress:
            length: dict[str, Any] = {
                "num_episodes": job.num_episodes,
                "num_steps": job.num_steps,
                "test_every": job.test_every,
            }
            run = simulate(job.task.make(), learner, seed=job.seed, on_progress=on_progress, **length)
    except (LearnerFailure, PlanError) as error:  # its own code raised an error, or its plan cannot be played
        return error.with_traceback(None)
    return replace(
        run,
        parameters=dict(job.learner.parameters),
        title=job.learner.title,
        task_text=job.task.text,
        origin=job.learner.origin,
    )


def run_in_memory(jobs: list[Job], *, num_workers: int | None = None) -> tuple[list[Run], list[PraemiaError]]:
    """Run jobs; return their runs in order, and the failures."""
    runs: list[Run] = []
    failures = _run(jobs, jobs, runs.append, num_workers, None)
    order = {(job.digest, job.seed): place for place, job in enumerate(jobs)}
    return sorted(runs, key=lambda run: order[Job.of(run).digest, run.seed]), failures


def run_into_store(
    jobs: list[Job],
    store: StoredRuns,
    *,
    num_workers: int | None = None,
    address: str | None = None,
    shard: tuple[int, int] = (1, 1),
    keep_policies: bool = True,
) -> list[PraemiaError]:
    """Run the jobs whose runs are missing from a store; return the failures.

    ``shard`` (i, n) with 1 ≤ i ≤ n takes every n-th job, starting with the i-th, for array jobs that share a folder.
    """
    index, count = shard
    mine = jobs[index - 1 :: count]
    todo = [job for job in mine if store.read(job) is None]
    for job in todo:
        require_inside(store.path_of(job), store.folder)  # before any work
    for message in store.damaged.values():
        warnings.warn(f"{message}; this run is repeated", PraemiaWarning, stacklevel=2)

    def keep(run: Run) -> None:
        store.write(run if keep_policies else replace(run, final_policy=None, policy=None, _counted=None))

    return _run(mine, todo, keep, num_workers, address)


def _run(
    jobs: list[Job], todo: list[Job], keep: Callable[[Run], None], num_workers: int | None, address: str | None
) -> list[PraemiaError]:
    """Do what is left of some jobs, in any order, and show how far they are.

    Each run is kept as soon as it is finished; the failures are returned.
    """
    failures: list[PraemiaError] = []
    num_workers = require_whole("jobs", usable_cores() if num_workers is None else num_workers, 1, MAX_JOBS)
    is_here = address is None and num_workers == 1
    if address is not None:
        _address(address)
    for job in () if is_here else todo:
        _require_portable(job)
    with display() as progress:
        progress.start(jobs, todo)

        def finish(job: Job, result: Run | PraemiaError) -> None:
            if isinstance(result, Run):
                keep(result)
            else:
                failures.append(result)
            progress.done()

        if is_here:
            for job in todo:
                finish(job, perform(job))
        else:
            _run_in_workers(list(todo), finish, num_workers, address)
    return failures


def _run_in_workers(
    todo: list[Job], finish: Callable[[Job, Run | PraemiaError], None], num_workers: int, address: str | None
) -> None:
    """Work through a list on an engine; where workers die, what is left of it goes to new ones."""
    setbacks = 0
    while todo:
        before = len(todo)
        try:
            with engine(num_workers, address) as executor:
                _drain(todo, finish, executor)
        except (BrokenProcessPool, CancelledError, ConnectionError, OSError) as error:
            if isinstance(error, OSError) and not isinstance(error, ConnectionError):
                raise  # from the store, not from the engine
            setbacks = 0 if len(todo) < before else setbacks + 1
            if setbacks >= MAX_SETBACKS:
                raise EngineError(f"the workers died {setbacks} times without finishing a run; {error}") from None


def _require_portable(job: Job) -> None:
    code = job.learner.code
    if code is not None and not code.is_portable:
        raise ParameterError(
            f"learner {job.learner.name!r} is {code.place}:{code.class_name}, which worker processes cannot import; "
            "put it in a file of its own, or run with jobs=1"
        )


def _drain(todo: list[Job], finish: Callable[[Job, Run | PraemiaError], None], executor: Executor) -> None:
    """Work through the list; a job leaves it when its result has been dealt with."""
    waiting = iter(list(todo))
    running: dict[Future[Run | PraemiaError], Job] = {}
    while True:
        for job in waiting:
            running[executor.submit(perform, job)] = job
            if len(running) >= AHEAD:
                break
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            job = running.pop(future)
            finish(job, future.result())
            todo.remove(job)


class EngineError(PraemiaError):
    """Report an engine that cannot be reached or was lost."""


@contextmanager
def engine(num_workers: int, address: str | None) -> Iterator[Executor]:
    """Yield an executor: on a cluster if there is an address, else processes on this computer."""
    if address is not None:
        with _dask(address) as executor:
            yield executor
        return
    # Spawn, not fork: a fork would copy locks that threads of this process hold.
    context = multiprocessing.get_context("spawn")
    if sys.platform == "win32":
        num_workers = min(num_workers, 61)  # the most that Windows can wait for
    with shared_board(context, num_workers) as board:
        executor = _Workers(num_workers, context, initializer=_begin_worker, initargs=board)
        others = multiprocessing.active_children()
        try:
            yield executor
        except BaseException:
            for worker in multiprocessing.active_children():
                if worker not in others:
                    worker.terminate()
            raise
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


class _Workers(ProcessPoolExecutor):
    """Processes that never get Ctrl-C, not even while they start: their parent ends them.

    Nor do they execute the user's script again: a job is text and numbers, or can be imported.
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call, for which a worker may be started; it inherits the blocked signal and an empty main module."""
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        try:
            if sys.platform == "win32":
                return super().submit(fn, *args, **kwargs)
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                return super().submit(fn, *args, **kwargs)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        finally:
            sys.modules["__main__"] = main


def _begin_worker(*board: Any) -> None:
    """Join the board, in a worker process, and end when the parent does, however that ends."""

    def end_with(parent: Any) -> None:
        parent.join()
        os._exit(1)

    join_board(*board)
    threading.Thread(target=end_with, args=(multiprocessing.parent_process(),), daemon=True).start()


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    require("distributed")
    import distributed

    for name in QUIET:  # a lost scheduler is reported in one message, without Dask's tracebacks
        logging.getLogger(name).setLevel(logging.CRITICAL)
    where = _address(address)
    try:
        client: Any = distributed.Client(**where, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise _no_engine(address, str(error).splitlines()[0] if str(error) else type(error).__name__) from None
    try:
        yield client.get_executor(retries=3, pure=False)
    finally:
        client.close(timeout=CONNECT_SECONDS)


def _address(text: str) -> dict[str, str]:
    """Parse an engine's address, or the scheduler file that holds it; Dask would wait long on a malformed one."""
    if not Path(text).exists():
        if not re.fullmatch(".+:[0-9]{1,5}", text):
            raise _no_engine(text, "neither a scheduler file nor an address such as tcp://127.0.0.1:8786")
        return {"address": text}
    try:
        address = json.loads(read_bytes(Path(text)))["address"]
    except (FileError, ValueError, KeyError, TypeError):
        raise _no_engine(text, "this is not a scheduler file") from None
    return {"address": str(address)}


def _no_engine(text: str, reason: str) -> EngineError:
    return EngineError(
        f"no engine at {text!r} ({reason}). Start one with: dask scheduler --host 127.0.0.1 "
        "--scheduler-file engine.json, then dask worker --scheduler-file engine.json, and pass --engine engine.json"
    )
