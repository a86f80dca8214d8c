"""What exploring needs of a black box: the box with a mark on one observation, and its counts without the mark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError
from praemia.models.labels import Label
from praemia.models.machine import RewardMachine, format_label
from praemia.simulation.black_box import BlackBoxTally


def searching_box(box: BlackBox, target: int | None, mark: str, machine: RewardMachine) -> BlackBox:
    """Return the same box whose labels also carry the mark on steps that leave the target."""

    def labels(o: int, a: int, z: int, info: dict[str, Any]) -> Iterable[str]:
        own = box.label(o, a, z, info)
        return own | {mark} if o == target else own

    return replace(box, labels=labels, machine=machine)


@dataclass(eq=False)
class BoxCounts:
    """The transitions of a black box, counted, each with its label."""

    counts: dict[tuple[int, int], int] = field(default_factory=dict)
    labels: dict[tuple[int, int], Label] = field(default_factory=dict)
    first: Any = 0

    def add(self, tally: BlackBoxTally, mark: str) -> None:
        """Add what a tally counted; the labels must be a function of (o, a, o')."""
        sets = list(tally.labels)
        for pair, entries in tally.entries.items():
            for (successor, number), count in entries.items():
                self._add(pair, successor, sets[number] - {mark}, count, tally.box.num_actions)
        self.first = self.first + tally.steps[0].astype(np.int64)

    def _add(self, pair: int, successor: int, label: Label, count: int, num_actions: int) -> None:
        known = self.labels.setdefault((pair, successor), label)
        if known != label:
            o, a = divmod(pair, num_actions)
            raise ModelError(
                f"the transition ({o}, {a}, {successor}) was labelled {format_label(known)} once and "
                f"{format_label(label)} another time; labels must be a function of (o, a, o')"
            )
        self.counts[pair, successor] = self.counts.get((pair, successor), 0) + count

    def join(self, other: BoxCounts) -> None:
        """Add the counts of another."""
        for (pair, successor), count in other.counts.items():
            self._add(pair, successor, other.labels[pair, successor], count, 1)
        self.first = self.first + other.first
