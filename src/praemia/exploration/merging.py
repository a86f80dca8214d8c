"""What data must be like to be merged: of one environment, with labels that agree, and independent.

Counts of several parts may be added up because the parts were played independently of each other. Explorations of one
task with the same seed draw the same random numbers, by whatever method, so together they would count twice what
happened once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from praemia.errors import ModelError
from praemia.models.labels import Indices, Label, Labelling
from praemia.models.machine import format_label

Sources = Sequence[Mapping[str, Any]]
Transition = tuple[int, int, int]


def require_other_seeds(sources: Sources, others: Sources) -> None:
    """Refuse parts that were played in one task with the same seed; episodes of the user's own have none."""
    known = {_stream(source) for source in sources if "seed" in source}
    for source in others:
        if "seed" in source and _stream(source) in known:
            raise ModelError(
                f"both parts of the data were explored in {source.get('task')!r} with seed "
                f"{str(source['seed']).strip('[]')}; they are not independent, and what happened once would count "
                "twice: take another seed"
            )


def _stream(source: Mapping[str, Any]) -> tuple[str, str]:
    return str(source.get("task")), str(source["seed"])


class SeenLabels:
    """The labels of transitions that were seen; they must be a function of (o, a, o')."""

    def __init__(self) -> None:
        self._labels: dict[Transition, Label] = {}

    def add(self, transition: Transition, label: Label) -> None:
        """Note a label; refuse one that contradicts what was seen before."""
        known = self._labels.setdefault(transition, label)
        if known != label:
            raise ModelError(
                f"the transition {transition} was labelled {format_label(known)} once and {format_label(label)} "
                "another time; labels must be a function of (o, a, o')"
            )

    def __getitem__(self, transition: Transition) -> Label:
        return self._labels[transition]


def require_one_function(parts: Iterable[tuple[Labelling, Indices, Indices, Indices]]) -> None:
    """Refuse parts that label a transition in two ways; each is a labelling, with the transitions that it is about."""
    seen = SeenLabels()
    for labelling, o, a, z in parts:
        numbers, sets = labelling.of(o, a, z)
        for *place, number in zip(o.tolist(), a.tolist(), z.tolist(), numbers.tolist(), strict=True):
            seen.add((place[0], place[1], place[2]), sets[number])
