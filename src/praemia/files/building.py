"""Build machines and tasks from the parts of a file, so that each mistake is shown with its line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from praemia import envs
from praemia.envs.grid import require_known
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import read_rows, read_slip
from praemia.errors import FileError, ModelError, PraemiaError, RuleError
from praemia.files.mdp_building import build_gymnasium, build_mdp
from praemia.files.schema import (
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
from praemia.files.source import DataPath, Source
from praemia.machines.from_formulas import machine_from, unknown_proposition
from praemia.machines.guards import parse_guard
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.task import Task


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
    if part.machine is None or part.horizon is None:
        key = "machine" if part.machine is None else "horizon"
        raise FileError(f"{source.spot(())}: the key {key!r} is missing; only an environment brings its own")
    if isinstance(world, GridPart):
        grid_map = _build_grid(source, world)
        machine = machine or _build_task_machine(source, part, world.propositions)
        with source.at("grid"):
            require_known(grid_map, machine)
            return Task(grid_map.mdp(), machine, part.horizon, name)
    machine = machine or _build_task_machine(source, part, [prop for rule in world.labels for prop in rule.label])
    key = "mdp" if isinstance(world, MdpPart) else "gymnasium"
    mdp = build_mdp(source, world) if isinstance(world, MdpPart) else build_gymnasium(source, world)
    unreadable = (i for i, rule in enumerate(world.labels) if not set(rule.label).issubset(machine.propositions))
    with source.at(key, "labels", *islice(unreadable, 1)):
        return Task(mdp, machine, part.horizon, name)


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
    return Task(task.mdp, task.machine, part.horizon or task.horizon, name)
