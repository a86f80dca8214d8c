"""Formats in which a step has one event (or input), as labels.

An event is a whole label: ``item`` is the label {item}, on which nothing else is true. A label of several propositions,
or of none, is written in braces: ``{delivery, item}``, ``{}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from praemia.errors import ModelError, SizeError
from praemia.models.guards import Constant, Guard, Proposition
from praemia.models.labels import Label
from praemia.models.machine import RewardMachine, format_label

MAX_EDGES = 100_000


def label_of(event: str) -> Label:
    """Return the label that an event stands for."""
    event = event.strip()
    if event.startswith("{") and event.endswith("}"):
        return frozenset(name.strip() for name in event[1:-1].split(",") if name.strip())
    return frozenset({event})


def event_of(label: Label) -> str:
    """Write a label as an event, or raise a ModelError if it would not be read back."""
    event = next(iter(label)) if len(label) == 1 else format_label(label)
    if label_of(event) != label:
        raise ModelError(f"the label {format_label(label)} does not read back as an event; rename its propositions")
    return event


def exactly(label: Label, propositions: Iterable[str]) -> Guard:
    """Return the guard that holds on one label alone."""
    guard: Guard = Constant(True)
    for name in propositions:
        guard = guard & (Proposition(name) if name in label else ~Proposition(name))
    return guard


def all_labels(machine: RewardMachine) -> Iterator[Label]:
    """Yield every label, the smaller ones first; refuse a machine with too many of them."""
    names: Sequence[str] = machine.propositions
    if machine.num_states << len(names) > MAX_EDGES:
        raise SizeError(
            f"{machine.num_states} states on 2^{len(names)} labels; this format needs a line for each, "
            f"and at most {MAX_EDGES:,} are written"
        )
    for size in range(len(names) + 1):
        yield from map(frozenset, combinations(names, size))
