"""Build machines and tasks from the parts of a file, so that each mistake is shown with its line."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from praemia import envs
from praemia.envs.grid import require_known
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import read_rows, read_slip
from praemia.errors import FileError, ModelError, PraemiaError, did_you_mean
from praemia.files.mdp_building import build_gymnasium, build_mdp
from praemia.files.schema import (
    EnvironmentPart,
    FormulaPart,
    GridPart,
    MachinePart,
    MdpPart,
    RewardLaw,
    RulePart,
    TaskPart,
)
from praemia.files.source import DataPath, Source
from praemia.machines.guards import parse_guard
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import NOTHING, Outcome, Rule
from praemia.tasks.task import Task


def build_machine(source: Source, part: MachinePart | FormulaPart, path: DataPath = ()) -> RewardMachine:
    """Build the machine that stands at a path of a source."""
    return _from_text(source, part, path) if isinstance(part, FormulaPart) else _from_rules(source, part, path)


def _from_text(source: Source, part: FormulaPart, path: DataPath) -> RewardMachine:
    make = RewardMachine.from_ltlf if part.key == "ltlf" else RewardMachine.from_regex
    with source.at(*path, part.key):
        reward = 1.0 if part.reward is None else part.reward
        machine = make(part.text, reward, part.pay, propositions=part.propositions)
    with source.at(*path, "chance"):
        return machine.with_chance(part.chance) if part.chance else machine


def _from_rules(source: Source, part: MachinePart, path: DataPath) -> RewardMachine:
    rules = []
    for number, rule in enumerate(part.transitions):
        with source.at(*path, "transitions", number):
            rules.append(_rule(rule))

    def first_rules(count: int) -> RewardMachine:
        names = tuple(part.states), part.initial, tuple(part.propositions)
        return RewardMachine(*names, tuple(rules[:count]), first_match=part.first_match)

    try:
        return first_rules(len(rules))
    except PraemiaError:
        count = _num_refused(first_rules, len(rules))
    names = "states" if part.initial in part.states else "initial"
    with source.at(*path, *(("transitions", count - 1) if count else (names,))):
        return first_rules(count)


def _num_refused(first_rules: Callable[[int], RewardMachine], num_rules: int) -> int:
    """Return the least number of rules with which a machine is refused: the last of them is the culprit."""

    def is_refused(count: int) -> bool:
        try:
            first_rules(count)
        except PraemiaError:
            return True
        return False

    return bisect_left(range(num_rules), True, key=is_refused)


def _rule(part: RulePart) -> Rule:
    outcomes = (Outcome(to, float(out.probability), _reward(out.reward or part.reward)) for to, out in part.to.items())
    return Rule(part.source, parse_guard(part.when), tuple(outcomes))


def _reward(law: RewardLaw | None) -> Reward:
    return NOTHING if law is None else Reward.from_data(law.model_dump(exclude_none=True))


def build_task(source: Source, part: TaskPart, machine: RewardMachine | None = None) -> Task:
    """Build a task, which is named after the file; ``machine`` is the one of another file that the part names."""
    name, world = Path(source.name).stem, part.world
    if machine is None and part.machine is not None and not isinstance(part.machine, str):
        machine = build_machine(source, part.machine, ("machine",))
    if isinstance(world, EnvironmentPart):
        return _build_in_environment(source, part, world, machine, name)
    if machine is None or part.horizon is None:
        key = "machine" if machine is None else "horizon"
        raise FileError(f"{source.spot(())}: the key {key!r} is missing; only an environment brings its own")
    if isinstance(world, GridPart):
        grid_map = _build_grid(source, world)
        machine = _over_labels(source, part, machine, world.propositions)
        with source.at("grid"):
            require_known(grid_map, machine)
            return Task(grid_map.mdp(), machine, part.horizon, name)
    key = "mdp" if isinstance(world, MdpPart) else "gymnasium"
    mdp = build_mdp(source, world) if isinstance(world, MdpPart) else build_gymnasium(source, world)
    machine = _over_labels(source, part, machine, [prop for rule in world.labels for prop in rule.label])
    unreadable = (i for i, rule in enumerate(world.labels) if not set(rule.label).issubset(machine.propositions))
    with source.at(key, "labels", *islice(unreadable, 1)):
        return Task(mdp, machine, part.horizon, name)


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
    if machine is not None:
        machine = _over_labels(source, part, machine, task.machine.propositions)
        with source.at("machine"):
            task = task.with_machine(machine)
    return Task(task.mdp, task.machine, part.horizon or task.horizon, name)


def _over_labels(source: Source, part: TaskPart, machine: RewardMachine, names: Sequence[str]) -> RewardMachine:
    """Let a formula that lists no propositions read those of the labels, and no others."""
    if not isinstance(part.machine, FormulaPart) or part.machine.propositions is not None:
        return machine
    unknown = sorted(machine.reads.difference(names))
    if unknown:
        with source.at("machine", part.machine.key):
            raise ModelError(
                f"the proposition {unknown[0]!r} is in no label{did_you_mean(unknown[0], sorted(set(names)))}"
            )
    return machine.over(names)
