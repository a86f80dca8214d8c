"""Load and save tasks and machines, in the format that is named or that of a file's ending."""

from __future__ import annotations

import os
from pathlib import Path

from praemia import envs
from praemia.errors import FileError, ParameterError, PraemiaError
from praemia.files.atomic_io import write_whole
from praemia.files.registry import SUFFIXES, find_reader, find_writer, format_of
from praemia.files.source import read_text
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task


def load(path: str | Path, format: str | None = None, *, pay: str | None = None) -> Task | RewardMachine:
    """Load a file that holds a task or just a machine, whichever it is; see ``load_machine``."""
    text, read = read_text(Path(path)), find_reader(path, format)
    if pay is not None and not getattr(format_of(path, format), "takes_pay", False):
        raise ParameterError(f"{path}: pay={pay!r} is for automata (HOA); this file says itself what it pays")
    loaded: Task | RewardMachine = read(text, str(path), **({} if pay is None else {"pay": pay}))
    return loaded


def load_task(path: str | Path) -> Task:
    """Load a task from a YAML or JSON file; it is named after the file.

    Raises
    ------
    PraemiaError
        With the file, the line and what is wrong there. Every mistake of form is listed, one per line.

    Examples
    --------
    >>> import praemia
    >>> praemia.save_task(praemia.envs.riverswim(), "river.yaml")
    >>> praemia.load_task("river.yaml").horizon
    10
    """
    loaded = load(path)
    if isinstance(loaded, RewardMachine):
        raise FileError(f"{path}: this file holds just a machine; expected a task, with an mdp and a horizon too")
    return loaded


def load_machine(path: str | Path, format: str | None = None, *, pay: str | None = None) -> RewardMachine:
    """Load the machine of a file that holds just a machine, or a task.

    Parameters
    ----------
    format : "yaml", "json", "multiagent", "txt", "dot" or "hoa"; without it the file's ending says, and the keys of a
        JSON or YAML file.
    pay : when an automaton (HOA) pays: at the "first" acceptance, at "each", or for acceptance at the "end".

    Raises
    ------
    PraemiaError
        With the file, the line and what is wrong there, or what cannot be carried over.

    Examples
    --------
    >>> import praemia
    >>> praemia.save_machine(praemia.envs.warehouse().machine, "machine.yaml")
    >>> praemia.load_machine("machine.yaml").states
    ('empty', 'loaded', 'done')
    """
    loaded = load(path, format, pay=pay)
    return loaded if isinstance(loaded, RewardMachine) else loaded.machine


def resolve_task(name_or_path: str) -> Task:
    """Return the task that a user means: a file, or a built-in name such as ``warehouse-4``."""
    if looks_like_file(name_or_path):
        return load_task(name_or_path)
    return envs.make(name_or_path)


def looks_like_file(name_or_path: str) -> bool:
    """Tell a file from a built-in name: it exists, it has folders in it, or it ends like a task file."""
    path = Path(name_or_path)
    return path.name != name_or_path or path.suffix.lower() in SUFFIXES or os.path.isfile(path)


def save_task(task: Task, path: str | Path) -> None:
    """Write a task to a file, whole or not at all: YAML, JSON (.json) or Storm's explicit format (.drn).

    Examples
    --------
    >>> import praemia
    >>> praemia.save_task(praemia.envs.warehouse(size=3), "small.yaml")
    >>> praemia.load_task("small.yaml")
    Task('small': 9 observations, 5 actions, 3 machine states, horizon 9)
    """
    write_whole(Path(path), find_writer(path, "task")(task).encode())


def save_machine(machine: RewardMachine, path: str | Path, format: str | None = None) -> None:
    """Write a machine to a file, whole or not at all, in the format that is named or that of the file's ending.

    In a task file's format (.yaml, .json) a machine that was made from a formula is written as its formula.

    Raises
    ------
    PraemiaError
        If the format cannot say all that the machine does; nothing is written then.

    Examples
    --------
    >>> import praemia
    >>> machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    >>> praemia.save_machine(machine, "machine.yaml")
    >>> praemia.load_machine("machine.yaml") == machine
    True
    """
    write = find_writer(path, "machine", format)
    try:
        text = write(machine)
    except PraemiaError as error:
        raise type(error)(f"{path}: {error}") from None
    write_whole(Path(path), text.encode())
