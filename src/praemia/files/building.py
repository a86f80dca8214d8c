"""Read the text of a task file (YAML or JSON) and build the task or machine that it holds; mistakes have their line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from praemia import envs
from praemia.envs.grid import require_known
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import read_rows, read_slip
from praemia.errors import FileError, ModelError, PraemiaError, RuleError
from praemia.files.formats.multiagent import KEYS as MULTIAGENT_KEYS
from praemia.files.formats.multiagent import build_multiagent
from praemia.files.mdp_building import build_gymnasium, build_mdp
from praemia.files.schema import (
    FORMULA_KEYS,
    EnvironmentPart,
    FormulaPart,
    FormulaPay,
    GridPart,
    MachinePart,
    MdpPart,
    RewardLaw,
    RulePart,
    TaskPart,
)
from praemia.files.source import DataPath, Source, parse_source, read_text
from praemia.files.validation import validate
from praemia.machines.from_formulas import machine_from, unknown_proposition
from praemia.machines.guards import parse_guard
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.mdp import LabeledMDP
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
    Gymnasium environment, whose options may name files. ``dump`` writes neither.
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
    from praemia.files.load_save import find_reader  # which in turn knows how task files are read

    with source.at("machine"):
        text = read_text(path)
    read = find_reader(path)
    # A file that names itself, or a task that names another, must not be followed for ever.
    return _read_machine(parse_source(text, str(path))) if read is read_task_file else read(text, str(path))


def build_machine(
    source: Source, part: MachinePart | FormulaPart, path: DataPath = (), labels: Collection[str] | None = None
) -> RewardMachine:
    """Build the machine that stands at a path of a source; ``labels`` are the propositions of its task, if any."""
    if isinstance(part, FormulaPart):
        return _from_text(source, part, path, labels)
    return _from_rules(source, part, path)


def _from_text(source: Source, part: FormulaPart, path: DataPath, labels: Collection[str] | None) -> RewardMachine:
    kind = "formula" if part.key == "ltlf" else "regex"
    text = part.text if isinstance(part.text, str) else {text: _pay(value) for text, value in part.text.items()}
    with source.at(*path, part.key):
        machine = machine_from(
            kind,
            text,
            _reward(part.reward, 1.0),
            part.pay,
            part.propositions,
            syntax=part.syntax,
            names_are_checked=labels is not None,
        )
        unread = sorted(machine.reads.difference(labels)) if labels is not None and part.propositions is None else []
        if unread:
            raise ModelError(
                f"the proposition {unread[0]!r} is in no label{unknown_proposition(unread[0], labels or ())}"
            )
    with source.at(*path, "chance"):
        machine = machine.with_chance(part.chance) if part.chance else machine
    return machine.over(labels or ()) if part.propositions is None else machine


def _from_rules(source: Source, part: MachinePart, path: DataPath) -> RewardMachine:
    rules = []
    for number, rule in enumerate(part.transitions):
        with source.at(*path, "transitions", number):
            rules.append(_rule(rule))
    try:
        return RewardMachine(part.states, part.initial, part.propositions, rules, first_match=part.first_match)
    except RuleError as error:
        number = next(number for number, rule in enumerate(rules) if rule is error.rule)
        with source.at(*path, "transitions", number):
            raise
    except PraemiaError:
        with source.at(*path, "states" if part.initial in part.states else "initial"):
            raise


def _pay(part: FormulaPay) -> Reward | dict[str, Any]:
    reward = _reward(part.reward, 1.0)
    return reward if part.pay is None else {"reward": reward, "pay": part.pay}


def _rule(part: RulePart) -> Rule:
    outcomes = (Outcome(to, float(out.probability), _reward(out.reward or part.reward)) for to, out in part.to.items())
    return Rule(part.source, parse_guard(part.when), tuple(outcomes))


def _reward(law: RewardLaw | None, default: float = 0.0) -> Reward:
    return Reward.of(default) if law is None else Reward.from_data(law.model_dump(exclude_none=True))


def build_task(source: Source, part: TaskPart, machine: RewardMachine | None = None) -> Task:
    """Build a task, which is named after the file; ``machine`` is the one of another file that the part names."""
    name, world = Path(source.name).stem, part.world
    if isinstance(world, EnvironmentPart):
        return _build_in_environment(source, part, world, machine, name)
    if part.machine is None or (part.horizon is None and part.discount in (None, 1.0)):
        key = "machine" if part.machine is None else "horizon"
        raise FileError(f"{source.spot(())}: the key {key!r} is missing; only an environment brings its own")
    if isinstance(world, GridPart):
        grid_map = _build_grid(source, world)
        machine = machine or _build_task_machine(source, part, world.propositions)
        with source.at("grid"):
            require_known(grid_map, machine)
            return _task(grid_map.mdp(), machine, part, name)
    machine = machine or _build_task_machine(source, part, [prop for rule in world.labels for prop in rule.label])
    key = "mdp" if isinstance(world, MdpPart) else "gymnasium"
    mdp = build_mdp(source, world) if isinstance(world, MdpPart) else build_gymnasium(source, world)
    unreadable = (i for i, rule in enumerate(world.labels) if not set(rule.label).issubset(machine.propositions))
    with source.at(key, "labels", *islice(unreadable, 1)):
        return _task(mdp, machine, part, name)


def _task(mdp: LabeledMDP, machine: RewardMachine, part: TaskPart, name: str) -> Task:
    length = (part.horizon or 0, name, part.discount or 1.0, part.horizon is not None)
    return Task(mdp, machine, *length, until_done=part.until_done or False)


def _build_task_machine(source: Source, part: TaskPart, labels: Sequence[str]) -> RewardMachine:
    """Build the machine that stands in a task file; a formula that lists no propositions reads those of the labels."""
    assert isinstance(part.machine, MachinePart | FormulaPart)
    return build_machine(source, part.machine, ("machine",), labels)


def _build_grid(source: Source, part: GridPart) -> GridMap:
    with source.at("grid", "map"):
        read_rows(part.map)
    with source.at("grid", "slip"):
        slip = read_slip(part.slip)
    with source.at("grid"):
        return GridMap(part.map, part.legend, part.rooms, part.start, slip, part.stay, part.slip_when_blocked)


def _build_in_environment(
    source: Source, part: TaskPart, world: EnvironmentPart, machine: RewardMachine | None, name: str
) -> Task:
    with source.at("environment"):
        task = envs.make(world.name, **(world.model_extra or {}))
    if machine is None and part.machine is not None:
        machine = _build_task_machine(source, part, task.machine.propositions)
    if machine is not None:
        with source.at("machine"):
            task = task.with_machine(machine)
    keys = ("horizon", "discount", "until_done")
    given = {key: getattr(part, key) for key in keys if getattr(part, key) is not None}
    return replace(task, name=name, **given)
