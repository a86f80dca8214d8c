"""Where jobs run: in this process, in processes on this machine, or on a Dask cluster.

Each is an ``Executor`` of the standard library, so the runner has one code path.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from praemia.activity import join_board, shared_board
from praemia.errors import PraemiaError, require, require_whole

CONNECT_SECONDS = 10
MAX_JOBS = 10_000


class EngineError(PraemiaError):
    """Report an engine that cannot be reached or was lost."""


def default_jobs() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def engine(jobs: int | None = None, address: str | None = None) -> Iterator[Executor]:
    """Yield an executor: on a cluster if there is an address, else ``jobs`` processes (all cores by default)."""
    if address is not None:
        with _dask(address) as executor:
            yield executor
        return
    count = default_jobs() if jobs is None else jobs
    require_whole("jobs", count, 1, MAX_JOBS)
    if count == 1:
        yield _InThisProcess()
        return
    # Spawn, not fork: a fork would copy locks that threads of this process hold.
    context = multiprocessing.get_context("spawn")
    if sys.platform == "win32":
        count = min(count, 61)  # the most that Windows can wait for
    with shared_board(context, count) as board:
        executor = ProcessPoolExecutor(count, context, initializer=join_board, initargs=board)
        try:
            yield executor
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


class _InThisProcess(Executor):
    """Run each job at once, in this process. One is submitted at a time, so its result is stored before the next."""

    ahead = 1

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    require("distributed")
    import distributed

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
        address = json.loads(Path(text).read_text(encoding="utf-8"))["address"]
    except (OSError, ValueError, KeyError, TypeError):
        raise _no_engine(text, "this is not a scheduler file") from None
    return {"address": str(address)}


def _no_engine(text: str, reason: str) -> EngineError:
    return EngineError(
        f"no engine at {text!r} ({reason}). Start one with: dask scheduler --host 127.0.0.1 "
        "--scheduler-file engine.json, then dask worker --scheduler-file engine.json, and pass --engine engine.json"
    )
