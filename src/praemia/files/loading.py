"""Load tasks and machines from files.

Each object is built from its part of the file inside ``source.at(…)``, which puts the part's place before the
message of whatever the object objects to.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from praemia import envs
from praemia.envs.grid import require_known
from praemia.errors import FileError, ModelError, ParameterError, did_you_mean
from praemia.files.building import build_grid, build_gymnasium, build_machine, build_mdp
from praemia.files.formats import STORM, SUFFIXES, format_of, is_text_format, read_machine_text
from praemia.files.formats.multiagent import KEYS as MULTIAGENT_KEYS
from praemia.files.formats.multiagent import read_multiagent
from praemia.files.schema import (
    FORMULA_KEYS,
    EnvironmentPart,
    FormulaPart,
    GridPart,
    MachinePart,
    MdpPart,
    TaskPart,
    machine_kind,
)
from praemia.files.source import Source, parse_source, read_text
from praemia.files.validation import validated
from praemia.machines.machine import RewardMachine
from praemia.tasks.task import Task

MACHINE_KEYS = frozenset({"states", "initial", "propositions"}) | FORMULA_KEYS


def load(path: str | Path, format: str | None = None, *, pay: str | None = None) -> Task | RewardMachine:
    """Load a file that holds a task or just a machine, whichever it is; see ``load_machine``."""
    found = _machine_or_source(read_text(Path(path)), path, format, pay)
    return _build_task(found, validated(found, TaskPart), Path(path)) if isinstance(found, Source) else found


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


def parse_task(text: str, name: str) -> Task:
    """Make a task from a text that is stored with runs, under a name; such a text opens no files.

    Anybody may have written it, so it has to say everything itself. A machine in another file is refused, and so is a
    Gymnasium environment, whose options may name files. ``dump_task`` writes neither.
    """
    source = parse_source(text, name)
    part = validated(source, TaskPart)
    _require_whole_text(source, part)
    return _build_task(source, part, Path(name))


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
    return path.name != name_or_path or path.suffix.lower() in (*SUFFIXES, STORM) or path.is_file()


def _machine_or_source(text: str, path: str | Path, format: str | None, pay: str | None) -> RewardMachine | Source:
    """Return the machine of a text, or its data if that is something else."""
    chosen = format_of(path, format)
    if format is None and Path(path).suffix.lower() == STORM:
        raise FileError(f"{path}: {STORM} files are written only; load the task file or the machine it was made from")
    if pay is not None and chosen != "hoa":
        raise ParameterError(f"{path}: pay={pay!r} is for automata (HOA); this file says itself what it pays")
    if is_text_format(chosen):
        return read_machine_text(text, str(path), chosen, pay)
    source = parse_source(text, str(path))
    keys = source.data.keys() if isinstance(source.data, dict) else set()
    if chosen == "multiagent" or MULTIAGENT_KEYS & keys:
        return read_multiagent(source)
    return build_machine(source, _validated_machine(source)) if MACHINE_KEYS & keys else source


def _require_whole_text(source: Source, part: TaskPart) -> None:
    """Refuse a stored text that would open files."""
    remedy = "a stored task opens no files and holds all its parts; this text was not written by praemia"
    if isinstance(part.machine, str):
        with source.at("machine"):
            raise FileError(f"the machine is in another file, {part.machine!r}; {remedy}")
    if part.gymnasium is not None:
        with source.at("gymnasium"):
            raise FileError(f"the observations are Gymnasium's, of {part.gymnasium.id!r}; {remedy}")


def _build_task(source: Source, part: TaskPart, path: Path) -> Task:
    machine, world = _find_machine(source, part, path), part.world
    if isinstance(world, EnvironmentPart):
        return _build_environment(source, part, world, machine, path.stem)
    if machine is None or part.horizon is None:
        key = "machine" if machine is None else "horizon"
        raise FileError(f"{source.spot(())}: the key {key!r} is missing; only an environment brings its own")
    if isinstance(world, GridPart):
        return _build_grid(source, part, world, machine, path.stem)
    if isinstance(world, MdpPart):
        mdp, labels = build_mdp(source, world), ("mdp", "labels")
    else:
        mdp, labels = build_gymnasium(source, world), ("gymnasium", "labels")
    machine = _with_labels(source, part, machine, [name for rule in world.labels for name in rule.label])
    known = set(machine.propositions)
    strange = (i for i, rule in enumerate(world.labels) if not set(rule.label) <= known)
    with source.at(*labels, *islice(strange, 1)):
        return Task(mdp, machine, part.horizon, path.stem)


def _build_grid(source: Source, part: TaskPart, world: GridPart, machine: RewardMachine, name: str) -> Task:
    grid_map = build_grid(source, world)
    machine = _with_labels(source, part, machine, world.propositions)
    with source.at("grid"):
        require_known(grid_map, machine)
        return Task(grid_map.mdp(), machine, part.horizon or 0, name)


def _with_labels(source: Source, part: TaskPart, machine: RewardMachine, known: Sequence[str]) -> RewardMachine:
    """Let a formula that lists no propositions read those of the labels, and no others."""
    if not isinstance(part.machine, FormulaPart) or part.machine.propositions is not None:
        return machine
    for name in sorted(machine.reads.difference(known)):
        with source.at("machine", part.machine.key):
            raise ModelError(f"the proposition {name!r} is in no label{did_you_mean(name, sorted(set(known)))}")
    return machine.over(known)


def _build_environment(
    source: Source, part: TaskPart, world: EnvironmentPart, machine: RewardMachine | None, name: str
) -> Task:
    with source.at("environment"):
        task = envs.make(world.name, **(world.model_extra or {}))
    if machine is not None:
        machine = _with_labels(source, part, machine, task.machine.propositions)
        with source.at("machine"):
            task = task.with_machine(machine)
    return Task(task.mdp, task.machine, part.horizon or task.horizon, name)


def _validated_machine(source: Source) -> MachinePart | FormulaPart:
    if machine_kind(source.data) == "<formula>":
        return validated(source, FormulaPart)
    return validated(source, MachinePart)


def _find_machine(source: Source, part: TaskPart, path: Path) -> RewardMachine | None:
    if isinstance(part.machine, str):
        machine_path = path.parent / part.machine
        with source.at("machine"):
            text = read_text(machine_path)
        found = _machine_or_source(text, machine_path, None, None)
        return build_machine(found, _validated_machine(found)) if isinstance(found, Source) else found
    return None if part.machine is None else build_machine(source, part.machine, ("machine",))
