"""Read the text of a task file (YAML or JSON), which holds a task or just a machine."""

from __future__ import annotations

from pathlib import Path

from praemia.errors import FileError
from praemia.files.building import build_machine, build_task
from praemia.files.formats.multiagent import KEYS as MULTIAGENT_KEYS
from praemia.files.formats.multiagent import build_multiagent
from praemia.files.schema import FORMULA_KEYS, FormulaPart, MachinePart, TaskPart
from praemia.files.source import Source, parse_source, read_text
from praemia.files.validation import validate
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

MACHINE_KEYS = frozenset({"states", "initial", "propositions"}) | FORMULA_KEYS | MULTIAGENT_KEYS


def read_task_file(text: str, name: str) -> Task | RewardMachine:
    """Return the task or the machine of a text; its keys tell which. ``name`` is where it stands."""
    source = parse_source(text, name)
    if source.has_any(MACHINE_KEYS):
        return _read_machine(source)
    part = validate(source, TaskPart)
    if isinstance(part.machine, str):
        return build_task(source, part, _machine_of_file(source, Path(name).parent / part.machine))
    return build_task(source, part)


def parse_task(text: str, name: str) -> Task:
    """Make a task from a text that is stored with runs, under a name; such a text opens no files.

    Anybody may have written it, so it has to say everything itself. A machine in another file is refused, and so is a
    Gymnasium environment, whose options may name files. ``dump_task`` writes neither.
    """
    source = parse_source(text, name)
    part = validate(source, TaskPart)
    remedy = "a stored task opens no files and holds all its parts; this text was not written by praemia"
    if isinstance(part.machine, str):
        with source.at("machine"):
            raise FileError(f"the machine is in another file, {part.machine!r}; {remedy}")
    if part.gymnasium is not None:
        with source.at("gymnasium"):
            raise FileError(f"the observations are Gymnasium's, of {part.gymnasium.id!r}; {remedy}")
    return build_task(source, part)


def _read_machine(source: Source) -> RewardMachine:
    if source.has_any(MULTIAGENT_KEYS):
        return build_multiagent(source)
    if source.has_any(FORMULA_KEYS):
        return build_machine(source, validate(source, FormulaPart))
    return build_machine(source, validate(source, MachinePart))


def _machine_of_file(source: Source, path: Path) -> RewardMachine:
    """Read the machine that a task file names; it may have any format."""
    from praemia.files.registry import find_reader  # which in turn knows how task files are read

    with source.at("machine"):
        text = read_text(path)
    read = find_reader(path)
    # A file that names itself, or a task that names another, must not be followed for ever.
    return _read_machine(parse_source(text, str(path))) if read is read_task_file else read(text, str(path))
