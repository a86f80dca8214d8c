"""Find the task that a user names. The readers of files are imported for a file only: they take a while."""

from __future__ import annotations

import os
from pathlib import Path

from praemia import envs
from praemia.envs.black_box import BlackBox
from praemia.tasks.task import Task


def resolve_task(
    name_or_path: str, *, until_done: bool = False, discount: float | None = None, allow_code: bool = False
) -> Task | BlackBox:
    """Return the task or black box that a user means: a file, or a built-in name such as ``warehouse-4``.

    With ``until_done`` its episodes end when the machine is done, with ``discount`` later rewards count less, whatever
    the task says. A file may name code only with ``allow_code``.
    """
    task = _loaded(name_or_path, allow_code) if looks_like_file(name_or_path) else envs.make(name_or_path)
    task = task.with_until_done() if until_done else task
    return task if discount is None else task.with_discount(discount)


def looks_like_file(name_or_path: str) -> bool:
    """Tell a file from a built-in name: it exists, it has folders in it, or it has an ending such as ``.yaml``."""
    path = Path(name_or_path)
    return path.name != name_or_path or path.suffix[1:2].isalpha() or os.path.isfile(path)


def _loaded(path: str, allow_code: bool) -> Task | BlackBox:
    from praemia.files.load_save import load_task

    return load_task(path, allow_code=allow_code)
