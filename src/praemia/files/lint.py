"""Find what is allowed but rarely intended: parts of a task or a machine that can never matter."""

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

Level: TypeAlias = Literal["warning", "info"]


@dataclass(frozen=True)
class Finding:
    """Something odd: a ``warning``, or an ``info`` about what is often intended; ``part`` of the file it is about."""

    level: Level
    message: str
    part: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.level}: {self.message}"


def lint(subject: BaseTask | RewardMachine) -> list[Finding]:
    """Return what seems odd about a task, or about a machine, alone or in a black box, whatever labels it will meet."""
    if isinstance(subject, RewardMachine):
        return list(_odd_machine(subject, None))
    if not isinstance(subject, Task):
        return [*_odd_machine(subject.machine, None), *_dawdling(subject)]
    unreached = unreached_text(subject.mdp)
    first = [Finding("warning", unreached)] if unreached else []
    return [*first, *_odd_machine(subject.machine, subject), *_dawdling(subject)]


def _dawdling(task: BaseTask) -> Iterator[Finding]:
    """Find a task in which a late reward has the same value as an early one, and nothing is lost by waiting."""
    outcomes = {state: list(task.machine.possible_outcomes(state)) for state in task.machine.states}
    moves = [(state, out) for state, own in outcomes.items() for out in chain.from_iterable(own)]
    targets = {state: [out.target for out in chain.from_iterable(own)] for state, own in outcomes.items()}
    rewarded = [(state, out) for state, out in moves if out.reward.highest > 0.0]
    is_free = all(out.reward.lowest >= 0.0 and out.probability == 1.0 for _, out in moves)
    repeats = any(state in closure([out.target], targets) for state, out in rewarded)
    if task.discount == 1.0 and rewarded and is_free and not repeats:
        message = "without a discount a policy may dawdle: a reward at the last step has the same value; with "
        yield Finding("info", f"{message}'discount: 0.99' earlier is better", ("horizon",))


def _odd_machine(machine: RewardMachine, task: Task | None) -> Iterator[Finding]:
    labels = None if task is None else _occurring_labels(task)
    following = {
        state: machine.possible_outcomes(state) if labels is None else [machine.outcomes(state, lab) for lab in labels]
        for state in machine.states
    }
    targets = {state: [out.target for out in chain.from_iterable(own)] for state, own in following.items()}
    reachable = closure([machine.initial], targets)
    for i, state in enumerate(machine.states):
        if state not in reachable:
            yield Finding("warning", f"machine state {state!r} cannot be reached", ("machine", "states", i))
    yield from _idle_rules(machine, labels)
    hopeless = reachable - paying_states(following)
    for i, state in enumerate(machine.states):
        if state in hopeless:
            level: Level = "warning" if state == machine.initial else "info"
            message = f"from machine state {state!r} on, no reward can be earned"
            yield Finding(level, message, ("machine", "states", i))
    yield from _odd_propositions(machine, labels)
    if task is not None and task.until_done and task.done_states.isdisjoint(map(machine.index.get, reachable)):
        message = "until_done: the machine is never done, so no episode ends before its time"
        yield Finding("info", message, ("until_done",))


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
    pairs = zip(machine.written_rules, machine.rules, strict=True) if machine.written_rules is not None else ()
    for i, (rule, exclusive) in enumerate(pairs):
        if not holds(exclusive.guard):
            why = "earlier rules take every label that satisfies its guard" if holds(rule.guard) else reason
            yield Finding("warning", f"{rule.where}: this rule never fires; {why}", ("machine", "transitions", i))


def _odd_propositions(machine: RewardMachine, labels: list[Label] | None) -> Iterator[Finding]:
    rules = machine.written_rules
    read = machine.reads if rules is None else {name for rule in rules for name in rule.guard.propositions()}
    occurring = machine.propositions if labels is None else frozenset().union(*labels)
    unread = [name for name in machine.propositions if name not in read]
    absent = [name for name in machine.propositions if name in read and name not in occurring]
    if unread:
        part = ("machine", "propositions", machine.propositions.index(unread[0]))
        yield Finding("info", f"no rule reads the propositions {', '.join(unread)}", part)
    if absent:
        part = ("machine", "propositions", machine.propositions.index(absent[0]))
        yield Finding("warning", f"rules read propositions that never occur: {', '.join(absent)}", part)
