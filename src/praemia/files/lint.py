"""Look for what is allowed but rarely intended: parts of a task or a machine that can never matter.

For a task, what can happen is decided on the labels of transitions from observations that the start can
reach. For a machine alone, any label may come, and the question is whether a guard can be satisfied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias

import numpy as np

from praemia.machines.formula import Formula
from praemia.machines.guards import example_label
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import closure, paying_states
from praemia.tasks.base import BaseTask
from praemia.tasks.reachability import reachable_observations, unreached_text
from praemia.tasks.task import Task

Level: TypeAlias = Literal["warning", "note"]


@dataclass(frozen=True)
class Finding:
    """Something odd: a ``warning``, or a ``note`` about what is often intended."""

    level: Level
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message}"


def lint(subject: BaseTask | RewardMachine) -> list[Finding]:
    """Return what seems odd about a task, or about a machine, alone or in a black box, whatever labels it will meet."""
    if not isinstance(subject, Task):
        return list(_odd_machine(subject.machine if isinstance(subject, BaseTask) else subject, None))
    unreached = unreached_text(subject.mdp)
    first = [Finding("warning", unreached)] if unreached else []
    return [*first, *_odd_machine(subject.machine, subject)]


def _odd_machine(machine: RewardMachine, task: Task | None) -> Iterator[Finding]:
    labels = None if task is None else _occurring_labels(task)
    following = {
        state: machine.possible_outcomes(state) if labels is None else [machine.outcomes(state, lab) for lab in labels]
        for state in machine.states
    }
    targets = {state: [out.target for out in chain.from_iterable(own)] for state, own in following.items()}
    reachable = closure([machine.initial], targets)
    for state in machine.states:
        if state not in reachable:
            yield Finding("warning", f"machine state {state!r} cannot be reached")
    yield from _idle_rules(machine, labels)
    hopeless = reachable - paying_states(following)
    for state in machine.states:
        if state in hopeless:
            level: Level = "warning" if state == machine.initial else "note"
            yield Finding(level, f"from machine state {state!r} on, no reward can be earned")
    yield from _odd_propositions(machine, labels)
    if task is not None and task.until_done and task.done_states.isdisjoint(map(machine.index.get, reachable)):
        yield Finding("note", "until_done: the machine is never done, so no episode ends before its time")


def _occurring_labels(task: Task) -> list[Label]:
    mdp = task.mdp
    is_reachable = reachable_observations(mdp)[mdp.edge_pairs // mdp.num_actions]
    return [mdp.label_sets[number] for number in np.unique(mdp.labels[is_reachable])]


def _idle_rules(machine: RewardMachine, labels: list[Label] | None) -> Iterator[Finding]:
    holds: Callable[[Formula], bool]
    if labels is None:
        holds, reason = lambda guard: example_label(guard) is not None, "no label satisfies its guard"
    else:
        holds = lambda guard: any(map(guard.holds, labels))  # noqa: E731
        reason = "no label that occurs satisfies its guard"
    pairs = zip(machine.rules, machine.exclusive_rules, strict=True) if machine.written_rules is not None else ()
    for rule, exclusive in pairs:
        if not holds(exclusive.guard):
            why = "earlier rules take every label that satisfies its guard" if holds(rule.guard) else reason
            yield Finding("warning", f"{rule.where}: this rule never fires; {why}")


def _odd_propositions(machine: RewardMachine, labels: list[Label] | None) -> Iterator[Finding]:
    rules = machine.written_rules
    read = machine.reads if rules is None else {name for rule in rules for name in rule.guard.propositions()}
    occurring = machine.propositions if labels is None else frozenset().union(*labels)
    unread = [name for name in machine.propositions if name not in read]
    absent = [name for name in machine.propositions if name in read and name not in occurring]
    if unread:
        yield Finding("note", f"no rule reads the propositions {', '.join(unread)}")
    if absent:
        yield Finding("warning", f"rules read propositions that never occur: {', '.join(absent)}")
