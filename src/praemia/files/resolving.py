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
    """Return the task or black box that a user means: a file, or a built-in name such as ``warehouse-4``."""
    if looks_like_file(name_or_path):
        from praemia.files.load_save import load_task

        task = load_task(name_or_path, allow_code=allow_code)
    else:
        task = envs.make(name_or_path)
    task = task.with_until_done() if until_done else task
    return task if discount is None else task.with_discount(discount)


def looks_like_file(name_or_path: str) -> bool:
    """Return whether a text is a file, not a name: it exists, has folders in it, or an ending such as ``.yaml``."""
    path = Path(name_or_path)
    return path.name != name_or_path or path.suffix[1:2].isalpha() or os.path.isfile(path)
