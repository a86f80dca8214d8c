"""Build machines and labelled MDPs from their parts of a file, so that each mistake is shown with its line."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from praemia.envs.grid import GridMDP
from praemia.envs.grid_map import GridMap, read_rows, read_slip
from praemia.errors import ModelError, PraemiaError, did_you_mean
from praemia.files.schema import (
    FormulaPart,
    GridPart,
    GymnasiumPart,
    LabelPart,
    MachinePart,
    MdpPart,
    OutcomePart,
    RewardLaw,
    RulePart,
)
from praemia.files.source import DataPath, Source
from praemia.limits import require_memory
from praemia.machines.guards import parse_guard
from praemia.machines.labels import AFTER_THE_END, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.mdp import ROW_TOLERANCE, LabeledMDP

BYTES_PER_ROW = 16
SHOWN_ROWS = 3


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

    def fails(count: int) -> bool:
        try:
            first_rules(count)
        except PraemiaError:
            return True
        return False

    with source.at(*path, "initial" if part.initial not in part.states else "states"):
        first_rules(0)
    if not fails(len(rules)):
        return first_rules(len(rules))
    # The shortest list of rules that is refused ends with the culprit.
    count = bisect_left(range(len(rules)), True, key=fails)
    with source.at(*path, "transitions", count - 1):
        return first_rules(count)


def _rule(part: RulePart) -> Rule:
    guard = parse_guard(part.when)
    if isinstance(part.to, str):
        return Rule(part.source, guard, (Outcome(part.to, 1.0, _reward(part.reward)),))
    outcomes = tuple(_outcome(target, outcome) for target, outcome in part.to.items())
    return Rule(part.source, guard, outcomes)


def _outcome(target: str, part: float | OutcomePart) -> Outcome:
    if isinstance(part, OutcomePart):
        return Outcome(target, float(part.probability), _reward(part.reward))
    return Outcome(target, float(part))


def _reward(part: float | RewardLaw | None) -> Reward:
    return Reward.from_data(part.model_dump(exclude_none=True) if isinstance(part, RewardLaw) else part or 0.0)


class Numbering:
    """The observations or the actions of a file, by name; where there is a mere count, by number."""

    def __init__(self, kind: str, names: int | Sequence[str]) -> None:
        self.kind = kind
        self.names = None if isinstance(names, int) else tuple(names)
        self.size = names if isinstance(names, int) else len(names)
        self._numbers: dict[str, int] = {}
        for number, name in enumerate(self.names or ()):
            if self._numbers.setdefault(name, number) != number:
                raise ModelError(f"{kind} {name!r} is listed twice")

    def number(self, name: str) -> int:
        """Return the number of a name, or raise a ModelError."""
        if self.names is not None:
            if name not in self._numbers:
                raise ModelError(f"unknown {self.kind} {name!r}{did_you_mean(name, self.names)}")
            return self._numbers[name]
        if not (name.isascii() and name.isdecimal() and int(name) < self.size):
            raise ModelError(f"unknown {self.kind} {name!r}; expected 0 … {self.size - 1}")
        return int(name)

    def optional(self, name: str | None) -> int | None:
        return None if name is None else self.number(name)

    def name(self, number: int) -> str:
        return str(number) if self.names is None else self.names[number]

    def distribution(self, probs: Mapping[str, float]) -> dict[int, float]:
        """Number the names of a distribution and check that it is one."""
        numbered = {self.number(name): probability for name, probability in probs.items()}
        if len(numbered) < len(probs):
            raise ModelError(f"one {self.kind} is given twice")
        total = math.fsum(numbered.values())
        if not abs(total - 1.0) <= ROW_TOLERANCE:
            raise ModelError(f"probabilities sum to {total:.12g}; they must sum to 1")
        return numbered


@dataclass(frozen=True)
class _Space:
    """Where an MDP stands in a file, and how its observations and actions are numbered."""

    source: Source
    path: DataPath
    observations: Numbering
    actions: Numbering

    def label_rules(self, parts: Sequence[LabelPart]) -> list[LabelRule]:
        rules = []
        for i, part in enumerate(parts):
            with self.source.at(*self.path, "labels", i):
                source, target = self.observations.optional(part.source), self.observations.optional(part.to)
                action = self.actions.optional(part.action)
                rules.append(LabelRule(frozenset(part.label), source, action, target))
        return rules


def build_mdp(source: Source, part: MdpPart, path: DataPath = ("mdp",)) -> LabeledMDP:
    """Build the MDP that is written out at a path of a source."""
    with source.at(*path, "actions"):
        actions = Numbering("action", part.actions)
    with source.at(*path, "observations"):
        observations = Numbering("observation", part.observations)
        num_rows = observations.size * actions.size
        require_memory(BYTES_PER_ROW * num_rows, f"an MDP of {observations.size:,} × {actions.size:,} rows")
    space = _Space(source, path, observations, actions)
    rows = _rows(space, part)
    with source.at(*path, "transitions"):
        _require_all_rows(space, rows)
    with source.at(*path, "start"):
        first = observations.name(0) if part.start is None else part.start
        start = observations.distribution(first if isinstance(first, dict) else {first: 1.0})
    labels = [*space.label_rules(part.labels), *_endings(space, part)]
    with source.at(*path):
        return LabeledMDP.from_rows(
            observations.size,
            actions.size,
            rows,
            labels,
            start,
            observations=observations.names,
            actions=actions.names,
        )


def _endings(space: _Space, part: MdpPart) -> Iterator[LabelRule]:
    """Yield the rules by which machines halt in the observations where an episode has ended."""
    for i, name in enumerate(part.ended):
        with space.source.at(*space.path, "ended", i):
            yield LabelRule(AFTER_THE_END, source=space.observations.number(name))


def _rows(space: _Space, part: MdpPart) -> dict[tuple[int, int], dict[int, float]]:
    rows: dict[tuple[int, int], dict[int, float]] = {}
    for i, (observation, action, successors) in enumerate(part.transitions):
        with space.source.at(*space.path, "transitions", i):
            pair = space.observations.number(observation), space.actions.number(action)
            where = f"observation {observation}, action {action}"
            if pair in rows:
                raise ModelError(f"{where}: this pair already has a row; give it one")
            try:
                rows[pair] = space.observations.distribution(successors)
            except PraemiaError as error:
                raise ModelError(f"{where}: {error}") from None
    return rows


def _require_all_rows(space: _Space, rows: Mapping[tuple[int, int], object]) -> None:
    num_missing = space.observations.size * space.actions.size - len(rows)
    if num_missing == 0:
        return
    pairs = product(range(space.observations.size), range(space.actions.size))
    missing = islice((pair for pair in pairs if pair not in rows), SHOWN_ROWS)
    named = "; ".join(f"observation {space.observations.name(o)}, action {space.actions.name(a)}" for o, a in missing)
    more = f"; and {num_missing - SHOWN_ROWS:,} more" if num_missing > SHOWN_ROWS else ""
    raise ModelError(f"no row for {named}{more}; every pair of an observation and an action needs one")


def build_grid(source: Source, part: GridPart, path: DataPath = ("grid",)) -> GridMDP:
    """Build the MDP of a map."""
    with source.at(*path, "map"):
        read_rows(part.map)
    with source.at(*path, "slip"):
        slip = read_slip(part.slip)
    with source.at(*path):
        return GridMDP.of(GridMap(part.map, part.legend, part.rooms, part.start, slip, part.stay))


def build_gymnasium(source: Source, part: GymnasiumPart, path: DataPath = ("gymnasium",)) -> LabeledMDP:
    """Build the MDP of a Gymnasium environment that has a table of its transitions."""
    from praemia.envs.gymnasium_table import from_gymnasium

    with source.at(*path):
        bare = from_gymnasium(part.id, labels=[], **part.options)
    observations = Numbering("observation", bare.observation_names or bare.num_observations)
    actions = Numbering("action", bare.action_names or bare.num_actions)
    labels = _Space(source, path, observations, actions).label_rules(part.labels)
    with source.at(*path):
        return from_gymnasium(part.id, labels=labels, **part.options)
