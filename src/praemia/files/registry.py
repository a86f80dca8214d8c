"""The file formats: one line for each, which says how its files end and what is read from and written to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from praemia.errors import FileError, ParameterError, did_you_mean
from praemia.files.formats.dot import read_dot, write_dot
from praemia.files.formats.drn import write_drn
from praemia.files.formats.hoa import read_hoa, write_hoa
from praemia.files.formats.multiagent import read_multiagent, write_multiagent
from praemia.files.formats.txt import falling_off, read_txt, write_txt
from praemia.files.reading import read_task_file
from praemia.files.writing import dump_machine, dump_machine_as_json, dump_task, dump_task_as_json
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task


@dataclass(frozen=True)
class Format:
    """A file format; what cannot be read from it or written to it is None.

    ``read`` takes a text and the name that stands for it in messages; with ``takes_pay`` also when an automaton pays.
    ``remarks`` says where the format's own tools do something else with a machine that was read.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[..., Task | RewardMachine] | None
    write_machine: Callable[[RewardMachine], str] | None
    write_task: Callable[[Task], str] | None = None
    takes_pay: bool = False
    remarks: Callable[[RewardMachine], Iterable[str]] | None = None


FORMATS = {
    format.name: format
    for format in (
        Format("yaml", (".yaml", ".yml"), read_task_file, dump_machine, dump_task),
        Format("json", (".json",), read_task_file, dump_machine_as_json, dump_task_as_json),
        Format("multiagent", (), read_multiagent, write_multiagent),
        Format("txt", (".txt",), read_txt, write_txt, remarks=falling_off),
        Format("dot", (".dot", ".gv"), read_dot, write_dot),
        Format("hoa", (".hoa",), read_hoa, write_hoa, takes_pay=True),
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
        raise FileError(f"{path}: such files are written only; load the task file or the machine it was made from")
    return read


def find_writer(path: str | Path, kind: Literal["machine", "task"], name: str | None = None) -> Callable[[Any], str]:
    """Return what writes a machine or a task in the format that is named, or that of a file's ending."""
    write: Callable[[Any], str] | None = getattr(format_of(path, name), f"write_{kind}", None)
    if write is None:
        suffixes = [suffix for suffix, format in SUFFIXES.items() if getattr(format, f"write_{kind}")]
        raise ParameterError(f"{path}: no format of a {kind} ends like this; expected one of {' '.join(suffixes)}")
    return write
