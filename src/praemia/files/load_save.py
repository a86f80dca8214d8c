"""Load and save tasks and machines. ``READERS`` and ``WRITERS`` list the file formats."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from praemia.envs.black_box import BlackBox
from praemia.errors import FileError, ParameterError, did_you_mean, located
from praemia.files.atomic_io import write_whole
from praemia.files.building import read_task_file
from praemia.files.formats.dot import read_dot
from praemia.files.formats.drn import write_drn
from praemia.files.formats.hoa import read_hoa
from praemia.files.formats.txt import read_txt
from praemia.files.source import read_text
from praemia.files.writing import dump, dump_as_json
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

# The readers of machines by format, which is a file's ending; options of some, with the formats that have them.
READERS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("yaml", "yml", "json"), read_task_file),
    "txt": read_txt,
    **dict.fromkeys(("dot", "gv"), read_dot),
    "hoa": read_hoa,
}
OPTIONS = {"allow_code": ("yaml", "yml", "json"), "pay": ("hoa",)}
WRITERS = {".yaml": dump, ".yml": dump, ".json": dump_as_json, ".drn": write_drn}


def format_of(path: str | Path, name: str | None = None) -> str:
    """Return the format that is named, or that of a file's ending, else YAML."""
    if name is None:
        ending = Path(path).suffix.lower()[1:]
        return ending if ending in READERS else "yaml"
    if name not in READERS:
        raise ParameterError(f"unknown format {name!r}{did_you_mean(name, READERS)}")
    return name


def load(path: str | Path, format: str | None = None, **options: Any) -> Any:
    """Load a file that holds a task or just a machine, whichever it is; see ``load_machine``.

    ``options`` are those of the file's format; None stands for one that is not given.
    """
    if Path(path).suffix.lower() == ".drn" and format is None:
        raise FileError(f"{path}: this format is written but not read; load the task file that it was made from")
    form = format_of(path, format)
    given = {name: value for name, value in options.items() if value not in (None, False)}
    for name, value in given.items():
        if form not in OPTIONS[name]:
            formats = " and ".join(OPTIONS[name])
            raise ParameterError(f"{path}: {name}={value!r} is for files in the format {formats}; leave it out")
    return READERS[form](read_text(Path(path)), str(path), **given)


def load_task(path: str | Path, *, allow_code: bool = False) -> Task | BlackBox:
    """Load a task, or a ``BlackBox``, from a YAML or JSON file; it is named after the file.

    Parameters
    ----------
    allow_code : whether ``encode``, ``labels`` and the environment of a black box may name code, which is executed.

    Raises
    ------
    PraemiaError With the file, the line and the mistake there. Mistakes of form are listed, one per line.

    Examples
    --------
    >>> import praemia
    >>> praemia.save_task(praemia.envs.riverswim(), "river.yaml")
    >>> praemia.load_task("river.yaml").horizon
    10
    """
    loaded: Task | BlackBox | RewardMachine = load(path, allow_code=allow_code)
    if isinstance(loaded, RewardMachine):
        raise FileError(f"{path}: this file holds just a machine; expected a task, with an mdp and a horizon too")
    return loaded


def load_machine(
    path: str | Path,
    format: str | None = None,
    *,
    pay: str | None = None,
) -> RewardMachine:
    """Load the machine of a file that holds just a machine, or a task.

    Parameters
    ----------
    format : "yaml", "json", "txt", "dot" or "hoa"; by default that of the file's ending. The keys of a JSON or YAML
        file distinguish multiagent-rl-rm's machines from ours.
    pay : when acceptance by an automaton (HOA) is rewarded: at the "first" one, at "each", or at the "end".

    Raises
    ------
    PraemiaError With the file, the line and the mistake there, or the part that cannot be converted.

    Examples
    --------
    >>> import praemia
    >>> praemia.save_machine(praemia.envs.warehouse().machine, "machine.yaml")
    >>> praemia.load_machine("machine.yaml").states
    ('empty', 'loaded', 'done')
    """
    loaded: Task | BlackBox | RewardMachine = load(path, format, pay=pay)
    return loaded if isinstance(loaded, RewardMachine) else loaded.machine


def require_writable(path: str | Path, kind: str) -> None:
    """Refuse a file whose ending is no format that a "machine" or a "task" is written in."""
    suffixes = [suffix for suffix in WRITERS if kind == "task" or suffix != ".drn"]
    if Path(path).suffix.lower() not in suffixes:
        raise ParameterError(f"{path}: unknown file extension for a {kind}; expected one of {' '.join(suffixes)}")


def save_task(task: Task | BlackBox, path: str | Path) -> None:
    """Write a task to a file, completely or not at all: YAML, JSON (.json) or Storm's explicit format (.drn).

    A black box can be written if its environment is registered, its labels are predicates and its observations are
    cells or a finite space; or if they are functions of a module.

    Examples
    --------
    >>> import praemia
    >>> praemia.save_task(praemia.envs.warehouse(size=3), "small.yaml")
    >>> praemia.load_task("small.yaml")
    Task('small': 9 observations, 5 actions, 3 machine states, horizon 9)
    """
    _save(task, Path(path), "task")


def save_machine(machine: RewardMachine, path: str | Path) -> None:
    """Write a machine to a file, completely or not at all: YAML or JSON (.json).

    A machine that was made from a formula is written as its formula.

    Raises
    ------
    PraemiaError If the format cannot express the machine; nothing is written then.

    Examples
    --------
    >>> import praemia
    >>> machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    >>> praemia.save_machine(machine, "machine.yaml")
    >>> praemia.load_machine("machine.yaml") == machine
    True
    """
    _save(machine, Path(path), "machine")


def _save(subject: Task | BlackBox | RewardMachine, path: Path, kind: str) -> None:
    require_writable(path, kind)
    with located(str(path)):
        text = WRITERS[path.suffix.lower()](subject)
    write_whole(path, text.encode())
