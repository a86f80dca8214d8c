"""Load and save tasks and machines. ``FORMATS`` lists the file formats, a line for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from praemia.errors import FileError, ParameterError, did_you_mean, located
from praemia.files.atomic_io import write_whole
from praemia.files.building import read_task_file
from praemia.files.formats.dot import read_dot, write_dot
from praemia.files.formats.drn import write_drn
from praemia.files.formats.hoa import read_hoa, write_hoa
from praemia.files.formats.multiagent import read_multiagent, write_multiagent
from praemia.files.formats.txt import falling_off, read_txt, write_txt
from praemia.files.source import read_text
from praemia.files.writing import dump, dump_as_json, require_own_units
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task


@dataclass(frozen=True)
class Format:
    """A file format; what cannot be read from it or written to it is None.

    ``read`` takes a text, the name that stands for it in messages, and ``options`` that only this format has.
    ``remarks`` says where the format's own tools do something else with a machine that was read.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[..., Task | RewardMachine] | None
    write_machine: Callable[[RewardMachine], str] | None
    write_task: Callable[[Task], str] | None = None
    options: tuple[str, ...] = ()
    remarks: Callable[[RewardMachine], Iterable[str]] | None = None


FORMATS = {
    format.name: format
    for format in (
        Format("yaml", (".yaml", ".yml"), read_task_file, dump, dump),
        Format("json", (".json",), read_task_file, dump_as_json, dump_as_json),
        Format("multiagent", (), read_multiagent, write_multiagent),
        Format("txt", (".txt",), read_txt, write_txt, remarks=falling_off),
        Format("dot", (".dot", ".gv"), read_dot, write_dot, options=("rewards",)),
        Format("hoa", (".hoa",), read_hoa, write_hoa, options=("pay",)),
        Format("drn", (".drn",), None, None, write_drn),
    )
}
MACHINE_FORMATS = tuple(name for name, format in FORMATS.items() if format.write_machine is not None)
SUFFIXES = {suffix: format for format in FORMATS.values() for suffix in format.suffixes}


def format_of(path: str | Path, name: str | None = None) -> Format | None:
    """Return the format that is named, or that of a file's ending, if it has one."""
    if name is None:
        return SUFFIXES.get(Path(path).suffix.lower())
    if name not in MACHINE_FORMATS:
        raise ParameterError(f"unknown format {name!r}{did_you_mean(name, MACHINE_FORMATS)}")
    return FORMATS[name]


def find_reader(path: str | Path, name: str | None = None) -> Callable[..., Any]:
    """Return what reads a text in the format that is named, or that of a file's ending, else as YAML."""
    read = (format_of(path, name) or FORMATS["yaml"]).read
    if read is None:
        raise FileError(
            f"{path}: this format can be written but not read; load the task file or the machine it was made from"
        )
    return read


def find_writer(path: str | Path, kind: Literal["machine", "task"], name: str | None = None) -> Callable[[Any], str]:
    """Return what writes a machine or a task in the format that is named, or that of a file's ending."""
    write: Callable[[Any], str] | None = getattr(format_of(path, name), f"write_{kind}", None)
    if write is None:
        suffixes = [suffix for suffix, format in SUFFIXES.items() if getattr(format, f"write_{kind}")]
        raise ParameterError(f"{path}: unknown file extension for a {kind}; expected one of {' '.join(suffixes)}")
    return write


def load(path: str | Path, format: str | None = None, **options: Any) -> Task | RewardMachine:
    """Load a file that holds a task or just a machine, whichever it is; see ``load_machine``.

    ``options`` are those of the file's format; None stands for one that is not given.
    """
    text, read = read_text(Path(path)), find_reader(path, format)
    own_options = {name: value for name, value in options.items() if value is not None}
    for name, value in own_options.items():
        if name not in getattr(format_of(path, format), "options", ()):
            formats = " and ".join(other.name for other in FORMATS.values() if name in other.options)
            raise ParameterError(f"{path}: {name}={value!r} is for files in the format {formats}; leave it out")
    loaded: Task | RewardMachine = read(text, str(path), **own_options)
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


def load_machine(
    path: str | Path,
    format: str | None = None,
    *,
    pay: str | None = None,
    rewards: Mapping[str, float] | None = None,
) -> RewardMachine:
    """Load the machine of a file that holds just a machine, or a task.

    Parameters
    ----------
    format : "yaml", "json", "multiagent", "txt", "dot" or "hoa"; without it the file's ending says, and the keys of a
        JSON or YAML file.
    pay : when an automaton (HOA) pays: at the "first" acceptance, at "each", or for acceptance at the "end".
    rewards : what outputs of AALpy's automata (DOT) pay that are not numbers; those that are not listed pay 0.

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
    loaded = load(path, format, pay=pay, rewards=rewards)
    return loaded if isinstance(loaded, RewardMachine) else loaded.machine


def save_task(task: Task, path: str | Path) -> None:
    """Write a task to a file, completely or not at all: YAML, JSON (.json) or Storm's explicit format (.drn).

    Examples
    --------
    >>> import praemia
    >>> praemia.save_task(praemia.envs.warehouse(size=3), "small.yaml")
    >>> praemia.load_task("small.yaml")
    Task('small': 9 observations, 5 actions, 3 machine states, horizon 9)
    """
    write_whole(Path(path), find_writer(path, "task")(task).encode())


def save_machine(machine: RewardMachine, path: str | Path, format: str | None = None) -> None:
    """Write a machine to a file, completely or not at all, in the named format or that of the file extension.

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
    with located(str(path)):
        require_own_units(machine)
        text = write(machine)
    write_whole(Path(path), text.encode())
