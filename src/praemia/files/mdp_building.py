"""Build labelled MDPs from what a file says about observations, actions, transitions and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, did_you_mean, located, require_distribution
from praemia.files.schema import GymnasiumPart, LabelPart, MdpPart, PatternPart
from praemia.files.source import Source
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import ROW_TOLERANCE, LabeledMDP
from praemia.tasks.mdp_input import require_sizes

_NUMBER = re.compile("[0-9]{1,18}")


def build_mdp(source: Source, part: MdpPart) -> LabeledMDP:
    """Build the MDP that is written out under the key ``mdp``."""
    with source.at("mdp", "actions"):
        actions = NameTable("action", part.actions)
    with source.at("mdp", "observations"):
        observations = NameTable("observation", part.observations)
        require_sizes(observations.size, actions.size)
    space = _Space(source, "mdp", observations, actions)
    rows = _rows(space, part)
    with space.at("start"):
        start = {0: 1.0} if part.start is None else observations.distribution(part.start)
    labels = _label_rules(space, part.labels)
    entries = np.array([(o, a, z) for (o, a), row in rows.items() for z in row], dtype=np.int64).reshape(-1, 3)
    ends = _ends(space, part.ended, entries, start)
    with space.at("transitions"):  # what can still be wrong is a row that is missing
        return LabeledMDP.from_entries(
            observations.size,
            actions.size,
            entries[:, 0],
            entries[:, 1],
            entries[:, 2],
            [probability for row in rows.values() for probability in row.values()],
            labels,
            start,
            ends=ends,
            observations=observations.names,
            actions=actions.names,
        )


def build_gymnasium(source: Source, part: GymnasiumPart) -> LabeledMDP:
    """Build the MDP of a Gymnasium environment that has a table of its transitions."""
    from praemia.envs.gymnasium_table import from_gymnasium

    with source.at("gymnasium"):
        bare = from_gymnasium(part.id, labels=[], **part.options)
    observations = NameTable("observation", bare.observation_names or bare.num_observations)
    actions = NameTable("action", bare.action_names or bare.num_actions)
    labels = _label_rules(_Space(source, "gymnasium", observations, actions), part.labels)
    with source.at("gymnasium"):
        return from_gymnasium(part.id, labels=labels, **part.options)


class NameTable:
    """The observations or the actions of a file, by name; by number where the file has only a count."""

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
        if not (_NUMBER.fullmatch(name) and int(name) < self.size):
            raise ModelError(f"unknown {self.kind} {name!r}; expected 0 … {self.size - 1}")
        return int(name)

    def distribution(self, probs: Mapping[str, float]) -> dict[int, float]:
        """Number the names of a distribution and check that it is one."""
        numbered = {self.number(name): probability for name, probability in probs.items()}
        if len(numbered) < len(probs):
            raise ModelError(f"one {self.kind} is given twice")
        require_distribution("", numbered.values(), ROW_TOLERANCE)
        return numbered


@dataclass(frozen=True)
class _Space:
    """The observations and actions of an MDP, and the key of the file under which it stands."""

    source: Source
    key: str
    observations: NameTable
    actions: NameTable

    def at(self, *path: str | int) -> AbstractContextManager[None]:
        return self.source.at(self.key, *path)


def _rows(space: _Space, part: MdpPart) -> dict[tuple[int, int], dict[int, float]]:
    rows: dict[tuple[int, int], dict[int, float]] = {}
    for i, (observation, action, successors) in enumerate(part.transitions):
        with space.at("transitions", i):
            pair = space.observations.number(observation), space.actions.number(action)
            where = f"observation {observation}, action {action}"
            if pair in rows:
                raise ModelError(f"{where}: this pair already has a row; give it one")
            with located(where):
                rows[pair] = space.observations.distribution(successors)
    return rows


def _numbers(space: _Space, part: PatternPart) -> tuple[int | None, int | None, int | None]:
    """Return the numbers of the observation before a step, of the action and of the observation after it."""
    source, target = (None if o is None else space.observations.number(o) for o in (part.source, part.to))
    return source, None if part.action is None else space.actions.number(part.action), target


def _label_rules(space: _Space, parts: Sequence[LabelPart]) -> list[LabelRule]:
    rules = []
    for i, part in enumerate(parts):
        with space.at("labels", i):
            rules.append(LabelRule(frozenset(part.label), *_numbers(space, part)))
    return rules


def _ends(
    space: _Space, parts: Sequence[PatternPart], entries: NDArray[np.int64], start: Mapping[int, float]
) -> NDArray[np.bool_]:
    """Return which of the entries (o, a, o') end an episode."""
    ends = np.zeros(len(entries), dtype=bool)
    for i, part in enumerate(parts):
        with space.at("ended", i):
            pattern = _numbers(space, part)
            if part.source is part.action is None and pattern[2] is not None and start.get(pattern[2], 0.0) > 0.0:
                raise ModelError(f"episodes start in {part.to}, in which they have ended; let them start elsewhere")
            matches = [entries[:, k] == number for k, number in enumerate(pattern) if number is not None]
            ends |= np.all(matches, axis=0)
    return ends
