"""Read the text of a task file (YAML or JSON) and build the task or machine that it holds; mistakes have their line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from praemia import envs
from praemia.envs.black_box import BlackBox
from praemia.envs.grid_map import GridMap
from praemia.envs.grid_text import read_rows, read_slip
from praemia.envs.gymnasium_table import from_gymnasium, opens_no_files
from praemia.errors import (
    FileError,
    ModelError,
    did_you_mean,
    located,
    require_distinct,
    require_distribution,
)
from praemia.files.boxes import build_box, is_box
from praemia.files.formats.events import MULTIAGENT_KEYS, build_multiagent
from praemia.files.schema import (
    FORMULA_KEYS,
    FormulaPart,
    GymnasiumPart,
    LabelPart,
    MachinePart,
    MdpPart,
    PatternPart,
    TaskFile,
)
from praemia.files.source import DataPath, Source, machine_of_rules, parse_source, read_text, validate
from praemia.machines.from_formulas import machine_from
from praemia.machines.labels import Labelling, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.mdp_input import ROW_TOLERANCE, require_sizes
from praemia.tasks.task import Task

_NUMBER = re.compile("[0-9]{1,18}")
MACHINE_KEYS = frozenset({"states", "initial", "propositions"}) | FORMULA_KEYS | MULTIAGENT_KEYS


def read_task_file(text: str, name: str, allow_code: bool = False) -> Task | BlackBox | RewardMachine:
    """Return the task or the machine of a text, by its keys. ``name`` is where it stands."""
    source = parse_source(text, name, is_json=name.endswith(".json"))
    if source.has_any(MACHINE_KEYS):
        return _read_machine(source)
    return build_task(source, validate(source, TaskFile), allow_code)


def parse_task(text: str, name: str, allow_code: bool | None = None) -> Task | BlackBox:
    """Make a task from a text that ``dump`` wrote, under a name.

    Without ``allow_code`` the text opens no files: a machine in a file is refused, and so is what Gymnasium may load.
    """
    source = parse_source(text, name)
    part = validate(source, TaskFile)
    if allow_code is not None:
        return build_task(source, part, allow_code)
    remedy = "a stored task opens no files and holds all its parts; this text was not written by praemia"
    if isinstance(part.machine, str):
        with source.at("machine"):
            raise FileError(f"the machine is in another file, {part.machine!r}; {remedy}")
    if part.gymnasium is not None and (is_box(part) or not opens_no_files(part.gymnasium.id)):
        with source.at("gymnasium"):
            raise FileError(f"the observations are Gymnasium's, of {part.gymnasium.id!r}; {remedy}")
    return build_task(source, part)


def _read_machine(source: Source) -> RewardMachine:
    if source.has_any(MULTIAGENT_KEYS):
        return build_multiagent(source)
    if source.has_any(FORMULA_KEYS):
        return build_machine(source, validate(source, FormulaPart))
    return build_machine(source, validate(source, MachinePart))


def _machine_of_file(source: Source, name: str) -> RewardMachine:
    """Read the machine that a task file names: a file of any format, in the task file's folder or below.

    Somebody else may have written the task file, and a message may quote what is read.
    """
    from praemia.files.load_save import READERS  # which in turn knows how task files are read

    folder = Path(source.name).parent
    path = folder / name
    with source.at("machine"):
        if path.suffix.lower()[1:] not in READERS:
            raise FileError(f"the machine is in {name!r}; expected a file of a machine: .{' .'.join(READERS)}")
        text = read_text(path, within=folder)
    read = READERS[path.suffix.lower()[1:]]
    if read is read_task_file:  # a file that names itself, or a task that names another, is not followed
        return _read_machine(parse_source(text, str(path), is_json=name.endswith(".json")))
    machine: RewardMachine = read(text, str(path))
    return machine


def _task_machine(source: Source, part: TaskFile, labels: Iterable[str] | None) -> RewardMachine:
    """Return the machine of a task; a formula that lists no propositions reads those of the labels, if known."""
    if isinstance(part.machine, str):
        return _machine_of_file(source, part.machine)
    assert part.machine is not None
    return build_machine(source, part.machine, ("machine",), labels)


def build_machine(
    source: Source, part: MachinePart | FormulaPart, path: DataPath = (), labels: Iterable[str] | None = None
) -> RewardMachine:
    """Build the machine that stands at a path of a source; ``labels`` are the propositions of its task, if any."""
    if isinstance(part, MachinePart):
        return _from_rules(source, part, path)
    text = part.text
    texts = text if isinstance(text, str) else {key: pay.model_dump(exclude_none=True) for key, pay in text.items()}
    names = list(dict.fromkeys(labels)) if part.propositions is None and labels is not None else part.propositions
    kind, key = ("regex", "regex") if part.ltlf is None else ("formula", "ltlf")
    with source.at(*path, key):
        reward = 1.0 if part.reward is None else Reward.from_data(part.reward.model_dump(exclude_none=True))
        machine = machine_from(kind, texts, reward, part.pay, names, syntax=part.syntax)
    with source.at(*path, "chance"):
        return machine.with_chance(part.chance) if part.chance else machine


def _from_rules(source: Source, part: MachinePart, path: DataPath) -> RewardMachine:
    rules = []
    for number, rule in enumerate(part.transitions):
        place = partial(source.spot, (*path, "transitions", number), column=False)
        with located(place):
            rules.append((place, Rule.of(rule.model_dump(by_alias=True, exclude_none=True))))
    where = partial(source.spot, (*path, "states" if part.initial in part.states else "initial"), column=False)
    return machine_of_rules(where, part.states, part.initial, part.propositions, rules, part.first_match)


def build_task(source: Source, part: TaskFile, allow_code: bool = False) -> Task | BlackBox:
    """Build a task, or a black box, which is named after the file."""
    name, world = Path(source.name).stem, part.mdp or part.gymnasium
    settings = part.model_dump(include={"horizon", "discount", "until_done"}, exclude_none=True)
    if part.environment is not None:
        with source.at("environment"):
            task = envs.make(part.environment.name, **(part.environment.model_extra or {}))
        if part.machine is not None:
            machine = _task_machine(source, part, task.machine.propositions)
            with source.at("machine"):
                task = task.with_machine(machine)
        return replace(task, name=name, **settings)
    if part.machine is None or (part.horizon is None and part.discount in (None, 1.0)):
        key = "machine" if part.machine is None else "horizon"
        raise FileError(f"{source.spot(())}: the key {key!r} is missing; only an environment brings its own")
    if is_box(part):
        machine = _task_machine(source, part, part.labels if isinstance(part.labels, Mapping) else None)
        return build_box(source, part, machine, allow_code, {"name": name} | settings)
    if world is None:
        grid: Any = part.grid
        with source.at("grid", "map"):
            read_rows(grid.map)
        with source.at("grid", "slip"):
            slip = read_slip(grid.slip)
        with source.at("grid"):
            grid_map = GridMap(grid.map, grid.legend, grid.rooms, grid.start, slip, grid.stay, grid.slip_when_blocked)
        machine = _task_machine(source, part, chain(*grid.legend.values(), *grid.rooms.values()))
        with source.at("grid"):
            return Task(grid_map.mdp(), machine, name=name, **settings)
    rules = world.labels or []
    machine = _task_machine(source, part, [prop for rule in rules for prop in rule.label])
    key = "mdp" if isinstance(world, MdpPart) else "gymnasium"
    mdp = build_mdp(source, world) if isinstance(world, MdpPart) else build_gymnasium(source, world)
    unreadable = (i for i, rule in enumerate(rules) if not set(rule.label).issubset(machine.propositions))
    with source.at(key, "labels", *islice(unreadable, 1)):
        return Task(mdp, machine, name=name, **settings)


def build_mdp(source: Source, part: MdpPart) -> LabeledMDP:
    """Build the MDP that is written out under the key ``mdp``."""
    with source.at("mdp", "actions"):
        actions = NameTable("action", part.actions)
    with source.at("mdp", "observations"):
        observations = NameTable("observation", part.observations)
        require_sizes(observations.size, actions.size)
    entries = _entries(source, part, observations, actions)
    with source.at("mdp", "start"):
        start = {0: 1.0} if part.start is None else observations.distribution(part.start)
    labels = _label_rules(source, ("mdp", "labels"), part.labels, observations, actions)
    ended = _label_rules(source, ("mdp", "ended"), part.ended, observations, actions)
    for i, rule in enumerate(ended):
        if rule.source is rule.action is None and rule.target is not None and start.get(rule.target, 0.0) > 0.0:
            with source.at("mdp", "ended", i):
                raise ModelError(f"start state {part.ended[i].to} is terminal; choose another")
    o, a, z, probs = np.array(entries).reshape(-1, 4).T
    ends = Labelling(tuple(ended)).of(*(column.astype(np.int64) for column in (o, a, z)))[0] > 0
    names: Any = {"observations": observations.names, "actions": actions.names}
    with source.at("mdp", "transitions"):  # what can still be wrong is a row that is missing
        sizes = observations.size, actions.size
        return LabeledMDP.from_entries(*sizes, o, a, z, probs, labels, start, ends=ends, **names)


def build_gymnasium(source: Source, part: GymnasiumPart) -> LabeledMDP:
    """Build the MDP of a Gymnasium environment that has a table of its transitions."""
    with source.at("gymnasium"):
        if ":" in part.id:  # Gymnasium would import what stands before it
            raise FileError(f"found {part.id!r}; expected the id of a registered environment, without a module")
        bare = from_gymnasium(part.id, labels=[], **part.options)
    observations = NameTable("observation", bare.observation_names or bare.num_observations)
    actions = NameTable("action", bare.action_names or bare.num_actions)
    labels = _label_rules(source, ("gymnasium", "labels"), part.labels or [], observations, actions)
    with source.at("gymnasium"):
        return from_gymnasium(part.id, labels=labels, **part.options)  # again: its map shows what is labelled


class NameTable:
    """The observations or the actions of a file, by name; by index where the file has only a count."""

    def __init__(self, kind: str, names: int | Sequence[str]) -> None:
        self.kind = kind
        self.names = None if isinstance(names, int) else tuple(names)
        self.size = names if isinstance(names, int) else len(names)
        require_distinct(kind, self.names or ())
        self._indices = {name: number for number, name in enumerate(self.names or ())}

    def index(self, name: str) -> int:
        """Return the index of a name, or raise a ModelError."""
        if self.names is not None:
            if name not in self._indices:
                raise ModelError(f"unknown {self.kind} {name!r}{did_you_mean(name, self.names)}")
            return self._indices[name]
        if not (_NUMBER.fullmatch(name) and int(name) < self.size):
            raise ModelError(f"unknown {self.kind} {name!r}; expected 0 … {self.size - 1}")
        return int(name)

    def distribution(self, probs: Mapping[str, float]) -> dict[int, float]:
        """Return a distribution by index; check that it is one."""
        indexed = {self.index(name): probability for name, probability in probs.items()}
        if len(indexed) < len(probs):
            raise ModelError(f"one {self.kind} is given twice")
        require_distribution("", indexed.values(), ROW_TOLERANCE)
        return indexed


def _entries(
    source: Source, part: MdpPart, observations: NameTable, actions: NameTable
) -> list[tuple[int, int, int, float]]:
    """Return the transitions of all rows: observation, action, next observation, probability."""
    entries, seen = [], set()
    for i, (observation, action, successors) in enumerate(part.transitions):
        with source.at("mdp", "transitions", i), located(f"observation {observation}, action {action}"):
            pair = observations.index(observation), actions.index(action)
            if pair in seen:
                raise ModelError("this pair already has a row; give it one")
            seen.add(pair)
            entries += [(*pair, z, p) for z, p in observations.distribution(successors).items()]
    return entries


def _label_rules(
    source: Source, path: DataPath, parts: Sequence[PatternPart], observations: NameTable, actions: NameTable
) -> list[LabelRule]:
    """Return the rules of a list in a file; those that end an episode label it so."""
    rules = []
    for i, part in enumerate(parts):
        with source.at(*path, i):
            label = part.label if isinstance(part, LabelPart) else ["ended"]
            ends = (None if o is None else observations.index(o) for o in (part.source, part.to))
            action = None if part.action is None else actions.index(part.action)
            rules.append(LabelRule(label, next(ends), action, next(ends)))
    return rules
