"""Look for what is allowed and yet seldom meant: parts of a task that can never matter.

For a task, what can happen is decided on the labels of transitions from observations that the start can
reach. For a machine alone, any label may come, and the question is whether a guard can be satisfied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.models.guards import Constant, overlap
from praemia.models.labels import AFTER_THE_END, Label
from praemia.models.machine import RewardMachine, Rule
from praemia.models.mdp import LabeledMDP
from praemia.models.reachability import reachable_observations
from praemia.models.symbolic import SymbolicMachine
from praemia.models.task import Task

SHOWN_NAMES = 5

CanFire: TypeAlias = Callable[[Rule], bool]


@dataclass(frozen=True)
class Finding:
    """Something odd: a ``warning``, or a ``note`` about what is often as it should be."""

    level: Literal["warning", "note"]
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message}"


def lint(task: Task) -> list[Finding]:
    """Return what seems odd about a task."""
    reached = reachable_observations(task.mdp)
    labels = _occurring_labels(task.mdp, reached)

    def can_fire(rule: Rule) -> bool:
        return any(rule.guard.holds(label) for label in labels)

    return [
        *_unreached_observations(task.mdp, reached),
        *_odd_rules(task.machine, can_fire, "no label that occurs satisfies its guard"),
        *_odd_propositions(task.machine, frozenset().union(*labels)),
    ]


def lint_machine(machine: RewardMachine) -> list[Finding]:
    """Return what seems odd about a machine, whatever environment it will meet."""

    def can_fire(rule: Rule) -> bool:
        return overlap(rule.guard, Constant(True)) is not None

    return [
        *_odd_rules(machine, can_fire, "no label satisfies its guard"),
        *_odd_propositions(machine, frozenset(machine.propositions)),
    ]


def _occurring_labels(mdp: LabeledMDP, reached: NDArray[np.bool_]) -> list[Label]:
    rows = mdp.edge_pairs
    found = (mdp.label_sets[number] for number in np.unique(mdp.labels[reached[rows // mdp.num_actions]]))
    return [label for label in found if label != AFTER_THE_END]


def _unreached_observations(mdp: LabeledMDP, reached: NDArray[np.bool_]) -> Iterator[Finding]:
    missing = np.flatnonzero(~reached)
    if len(missing):
        names = [mdp.observation_name(o) for o in missing[:SHOWN_NAMES].tolist()]
        more = ", …" if len(missing) > SHOWN_NAMES else ""
        yield Finding(
            "warning",
            f"{len(missing)} observations cannot be reached from the start: {', '.join(names)}{more}",
        )


def _odd_rules(machine: RewardMachine, can_fire: CanFire, reason: str) -> Iterator[Finding]:
    fires = [can_fire(rule) for rule in machine.rules]
    firing = [rule for rule, can in zip(machine.rules, fires, strict=True) if can]
    steps = {(rule.source, out.target) for rule in firing for out in rule.outcomes}
    reached = _closure([machine.initial], steps)
    for state in machine.states:
        if state not in reached:
            yield Finding("warning", f"machine state {state!r} cannot be reached")
    for rule, can in zip(machine.rules, fires, strict=True):
        if not can and not isinstance(machine, SymbolicMachine):  # whose rules nobody wrote
            yield Finding("warning", f"{rule.where}: this rule never fires; {reason}")
    paying = {rule.source for rule in firing if any(out.reward.mean != 0.0 for out in rule.outcomes)}
    hopeful = _closure(paying, {(target, source) for source, target in steps})
    for state in machine.states:
        if state in reached and state not in hopeful:
            level: Literal["warning", "note"] = "warning" if state == machine.initial else "note"
            yield Finding(level, f"from machine state {state!r} on, no reward can be earned")


def _closure(begin: Iterable[str], steps: Iterable[tuple[str, str]]) -> set[str]:
    """Return the states that steps lead to, with those they begin from."""
    following: dict[str, list[str]] = {}
    for source, target in steps:
        following.setdefault(source, []).append(target)
    reached, waiting = set(begin), list(begin)
    while waiting:
        new = set(following.get(waiting.pop(), ())) - reached
        reached |= new
        waiting.extend(new)
    return reached


def _odd_propositions(machine: RewardMachine, occurring: Label) -> Iterator[Finding]:
    read = machine.reads
    unread = [name for name in machine.propositions if name not in read]
    absent = [name for name in machine.propositions if name in read and name not in occurring]
    if unread:
        yield Finding("note", f"no rule reads the propositions {', '.join(unread)}")
    if absent:
        yield Finding("warning", f"rules read propositions that never occur: {', '.join(absent)}")
