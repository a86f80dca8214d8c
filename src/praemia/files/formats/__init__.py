"""Machines in other tools' formats: which there are, and how each is read and written."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from praemia.errors import ParameterError, did_you_mean
from praemia.machines.machine import RewardMachine

_TEXT_FORMATS = ("txt", "dot", "hoa")  # each has a module with functions read_… and write_…
SUFFIXES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".json": "json",
    ".txt": "txt",
    ".dot": "dot",
    ".gv": "dot",
    ".hoa": "hoa",
}
STORM = ".drn"  # tasks, written only
FORMATS = ("yaml", "json", "multiagent", *_TEXT_FORMATS)


def format_of(path: str | Path, format: str | None) -> str:
    """Return the format that was named, or that of a file's ending."""
    if format is not None:
        if format not in FORMATS:
            raise ParameterError(f"unknown format {format!r}{did_you_mean(format, FORMATS)}")
        return format
    return SUFFIXES.get(Path(path).suffix.lower(), "yaml")


def require_known_ending(path: str | Path, others: tuple[str, ...] = ()) -> None:
    """Refuse to write a file whose ending does not say in which format; ``others`` are known besides machines'."""
    suffix, known = Path(path).suffix.lower(), (*SUFFIXES, *others)
    if suffix not in known:
        found = f"the ending {suffix!r}" if suffix else "a name without an ending"
        raise ParameterError(f"{path}: {found} does not say in which format to write; known: {' '.join(known)}")


def is_text_format(format: str) -> bool:
    """Tell whether a format is no YAML or JSON."""
    return format in _TEXT_FORMATS


def read_machine_text(text: str, name: str, format: str, pay: str | None) -> RewardMachine:
    """Read a machine from text; ``pay`` says when an automaton pays."""
    options = {"pay": pay} if format == "hoa" else {}
    machine: RewardMachine = _function("read", format)(text, name, **options)
    return machine


def write_machine_text(machine: RewardMachine, format: str) -> str:
    """Write a machine as text, or raise an error that names what the format cannot say."""
    text: str = _function("write", format)(machine)
    return text


def _function(verb: str, format: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(f"praemia.files.formats.{format}"), f"{verb}_{format}")
    return function
