"""Look for what is allowed but rarely intended: parts of a task that can never matter.

For a task, what can happen is decided on the labels of transitions from observations that the start can
reach. For a machine alone, any label may come, and the question is whether a guard can be satisfied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.machines.guards import Guard, example_label
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.reachability import reachable_observations
from praemia.tasks.task import Task

SHOWN_NAMES = 5

Holds: TypeAlias = Callable[[Guard], bool]


@dataclass(frozen=True)
class Finding:
    """Something odd: a ``warning``, or a ``note`` about what is often as it should be."""

    level: Literal["warning", "note"]
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message}"


def lint(task: Task) -> list[Finding]:
    """Return what seems odd about a task."""
    observations = reachable_observations(task.mdp)
    labels = _occurring_labels(task.mdp, observations)
    steps, paying = _steps(task.machine, labels)
    reached = _closure([task.machine.initial], steps)
    hopeful = _closure(paying, {(target, source) for source, target in steps})

    def holds(guard: Guard) -> bool:
        return any(guard.holds(label) for label in labels)

    return [
        *_unreached_observations(task.mdp, observations),
        *_unreached_states(task.machine, reached),
        *_idle_rules(task.machine, holds, "no label that occurs satisfies its guard"),
        *_hopeless_states(task.machine, reached - hopeful),
        *_odd_propositions(task.machine, frozenset().union(*labels)),
        *_endless_episodes(task, reached),
    ]


def lint_machine(machine: RewardMachine) -> list[Finding]:
    """Return what seems odd about a machine, whatever environment it will meet."""
    reached = machine.reachable_states()

    def holds(guard: Guard) -> bool:
        return example_label(guard) is not None

    return [
        *_unreached_states(machine, reached),
        *_idle_rules(machine, holds, "no label satisfies its guard"),
        *_hopeless_states(machine, reached - _can_earn(machine)),
        *_odd_propositions(machine, frozenset(machine.propositions)),
    ]


def _occurring_labels(mdp: LabeledMDP, reached: NDArray[np.bool_]) -> list[Label]:
    rows = mdp.edge_pairs
    return [mdp.label_sets[number] for number in np.unique(mdp.labels[reached[rows // mdp.num_actions]])]


def _unreached_observations(mdp: LabeledMDP, reached: NDArray[np.bool_]) -> Iterator[Finding]:
    missing = np.flatnonzero(~reached)
    if len(missing):
        names = [mdp.observation_name(o) for o in missing[:SHOWN_NAMES].tolist()]
        more = ", …" if len(missing) > SHOWN_NAMES else ""
        yield Finding(
            "warning",
            f"{len(missing)} observations cannot be reached from the start: {', '.join(names)}{more}",
        )


def _steps(machine: RewardMachine, labels: Iterable[Label]) -> tuple[set[tuple[str, str]], set[str]]:
    """Return the steps (from, to) that some labels lead to, and the states that may be paid on one."""
    steps: set[tuple[str, str]] = set()
    paying: set[str] = set()
    for state, label in product(machine.states, labels):
        for out in machine.outcomes(state, label):
            steps.add((state, out.target))
            if out.reward.mean != 0.0:
                paying.add(state)
    return steps, paying


def _can_earn(machine: RewardMachine) -> set[str]:
    """Return the states from which some sequence of labels is paid."""
    states: set[str] = set()

    def pays(outcomes: tuple[Outcome, ...]) -> float:
        return float(any(out.reward.mean != 0.0 or out.target in states for out in outcomes))

    while len(more := {s for s, can in zip(machine.states, machine.highest(pays), strict=True) if can}) > len(states):
        states = more
    return states


def _unreached_states(machine: RewardMachine, reached: set[str]) -> Iterator[Finding]:
    for state in machine.states:
        if state not in reached:
            yield Finding("warning", f"machine state {state!r} cannot be reached")


def _hopeless_states(machine: RewardMachine, hopeless: set[str]) -> Iterator[Finding]:
    for state in machine.states:
        if state in hopeless:
            level: Literal["warning", "note"] = "warning" if state == machine.initial else "note"
            yield Finding(level, f"from machine state {state!r} on, no reward can be earned")


def _endless_episodes(task: Task, reached: set[str]) -> Iterator[Finding]:
    if task.until_done and not any(task.machine.index[state] in task.done_states for state in reached):
        yield Finding("note", "until_done: the machine is never done, so no episode ends before its time")


def _idle_rules(machine: RewardMachine, holds: Holds, reason: str) -> Iterator[Finding]:
    if machine.written_rules is None:
        return
    for rule, exclusive in zip(machine.written_rules, machine.exclusive_rules, strict=True):
        if not holds(exclusive.guard):
            why = "earlier rules take every label that satisfies its guard" if holds(rule.guard) else reason
            yield Finding("warning", f"{rule.where}: this rule never fires; {why}")


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
    rules = machine.written_rules
    read = machine.reads if rules is None else {name for rule in rules for name in rule.guard.propositions()}
    unread = [name for name in machine.propositions if name not in read]
    absent = [name for name in machine.propositions if name in read and name not in occurring]
    if unread:
        yield Finding("note", f"no rule reads the propositions {', '.join(unread)}")
    if absent:
        yield Finding("warning", f"rules read propositions that never occur: {', '.join(absent)}")
