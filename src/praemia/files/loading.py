"""Load tasks and machines from files.

Each object is built from its part of the file inside ``source.at(…)``, which puts the part's place before the
message of whatever the object objects to.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from praemia import envs
from praemia.errors import FileError, ModelError, did_you_mean
from praemia.files.complaints import validated
from praemia.files.machines import build_machine
from praemia.files.mdps import build_gymnasium, build_mdp
from praemia.files.schema import (
    FORMULA_KEYS,
    EnvironmentPart,
    FormulaPart,
    MachinePart,
    MdpPart,
    TaskPart,
    machine_kind,
)
from praemia.files.source import Source, parse_source, read_source
from praemia.models.machine import RewardMachine
from praemia.models.task import Task

MACHINE_KEYS = frozenset({"states", "initial", "propositions"}) | FORMULA_KEYS
SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def load(path: str | Path) -> Task | RewardMachine:
    """Load a file that holds a task or just a machine, whichever it is."""
    source = read_source(path)
    if isinstance(source.data, dict) and MACHINE_KEYS & source.data.keys():
        return build_machine(source, _validated_machine(source))
    return _build_task(source, validated(source, TaskPart), Path(path))


def load_task(path: str | Path) -> Task:
    """Load a task from a YAML or JSON file; it is named after the file.

    Raises
    ------
    PraemiaError
        With the file, the line and what is wrong there. Every mistake of form is listed, one per line.
    """
    loaded = load(path)
    if isinstance(loaded, RewardMachine):
        raise FileError(f"{path}: this file holds just a machine; expected a task, with an mdp and a horizon too")
    return loaded


def parse_task(text: str, name: str) -> Task:
    """Make a task from the text of a task file, under a name; the text cannot refer to other files."""
    source = parse_source(text, name)
    return _build_task(source, validated(source, TaskPart), Path(name))


def load_machine(path: str | Path) -> RewardMachine:
    """Load the machine of a file that holds just a machine, or a task."""
    loaded = load(path)
    return loaded if isinstance(loaded, RewardMachine) else loaded.machine


def resolve_task(name_or_path: str) -> Task:
    """Return the task that a user means: a file, or a built-in name such as ``warehouse-4``."""
    if looks_like_file(name_or_path):
        return load_task(name_or_path)
    return envs.make(name_or_path)


def looks_like_file(name_or_path: str) -> bool:
    """Tell a file from a built-in name: it exists, it has folders in it, or it ends like a task file."""
    path = Path(name_or_path)
    return path.name != name_or_path or path.suffix.lower() in SUFFIXES or path.is_file()


def _build_task(source: Source, part: TaskPart, path: Path) -> Task:
    machine, world = _find_machine(source, part, path), part.world
    if isinstance(world, EnvironmentPart):
        return _build_environment(source, part, world, machine, path.stem)
    if machine is None or part.horizon is None:
        key = "machine" if machine is None else "horizon"
        raise FileError(f"{source.spot(())}: the key {key!r} is missing; only an environment brings its own")
    if isinstance(world, MdpPart):
        mdp, labels = build_mdp(source, world), ("mdp", "labels")
    else:
        mdp, labels = build_gymnasium(source, world), ("gymnasium", "labels")
    machine = _with_labels(source, part, machine, [name for rule in world.labels for name in rule.label])
    known = set(machine.propositions)
    strange = (i for i, rule in enumerate(world.labels) if not set(rule.label) <= known)
    with source.at(*labels, *islice(strange, 1)):
        return Task(mdp, machine, part.horizon, path.stem)


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
            machine_source = read_source(machine_path)
        return build_machine(machine_source, _validated_machine(machine_source))
    return None if part.machine is None else build_machine(source, part.machine, ("machine",))
