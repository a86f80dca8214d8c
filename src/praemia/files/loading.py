"""Load tasks and machines from files.

Each object is built from its part of the file inside ``source.at(…)``, which puts the part's place before the
message of whatever the object objects to.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from praemia import envs
from praemia.errors import FileError
from praemia.files.complaints import validated
from praemia.files.machines import build_machine
from praemia.files.mdps import build_gymnasium, build_mdp
from praemia.files.schema import EnvironmentPart, MachinePart, MdpPart, TaskPart
from praemia.files.source import Source, parse_source, read_source
from praemia.models.machine import RewardMachine
from praemia.models.task import Task

MACHINE_KEYS = frozenset({"states", "initial", "propositions"})
SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def load(path: str | Path) -> Task | RewardMachine:
    """Load a file that holds a task or just a machine, whichever it is."""
    source = read_source(path)
    if isinstance(source.data, dict) and MACHINE_KEYS & source.data.keys():
        return build_machine(source, validated(source, MachinePart))
    return _build_task(source, validated(source, TaskPart), Path(path))


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
    """Make a task from the text of a task file, under a name; the text cannot refer to other files."""
    source = parse_source(text, name)
    return _build_task(source, validated(source, TaskPart), Path(name))


def load_machine(path: str | Path) -> RewardMachine:
    """Load the machine of a file that holds just a machine, or a task.

    Examples
    --------
    >>> import praemia
    >>> praemia.save_machine(praemia.envs.warehouse().machine, "machine.yaml")
    >>> praemia.load_machine("machine.yaml").states
    ('empty', 'loaded', 'done')
    """
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
        return _build_environment(source, world, machine, part.horizon, path.stem)
    if machine is None or part.horizon is None:
        key = "machine" if machine is None else "horizon"
        raise FileError(f"{source.spot(())}: the key {key!r} is missing; only an environment brings its own")
    if isinstance(world, MdpPart):
        mdp, labels = build_mdp(source, world), ("mdp", "labels")
    else:
        mdp, labels = build_gymnasium(source, world), ("gymnasium", "labels")
    known = set(machine.propositions)
    strange = (i for i, rule in enumerate(world.labels) if not set(rule.label) <= known)
    with source.at(*labels, *islice(strange, 1)):
        return Task(mdp, machine, part.horizon, path.stem)


def _build_environment(
    source: Source, part: EnvironmentPart, machine: RewardMachine | None, horizon: int | None, name: str
) -> Task:
    with source.at("environment"):
        task = envs.make(part.name, **(part.model_extra or {}))
    with source.at("machine"):
        task = task if machine is None else task.with_machine(machine)
    return Task(task.mdp, task.machine, horizon or task.horizon, name)


def _find_machine(source: Source, part: TaskPart, path: Path) -> RewardMachine | None:
    if isinstance(part.machine, str):
        machine_path = path.parent / part.machine
        with source.at("machine"):
            machine_source = read_source(machine_path)
        return build_machine(machine_source, validated(machine_source, MachinePart))
    return None if part.machine is None else build_machine(source, part.machine, ("machine",))
