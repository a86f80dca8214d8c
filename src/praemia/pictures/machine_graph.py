"""The graph of a machine to render: states and edges, few and short enough to be read.

All outcomes from one state to another are one edge with several lines, ``guard | probability, reward``; each guard is
true by itself. Three or more states in a row with equal steps are one node, *loop-1 … loop-20*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from praemia.machines.formula import Formula
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule

SHORTEST_RUN = 3  # states in a row that are drawn as one
LONGEST_REWARD = 30  # letters; of a longer distribution the mean is written
MANY_DENIED = 3  # propositions, for which "only" is shorter
_DECIMALS = re.compile(r"\d+\.\d+(e[-+]?\d+)?")


@dataclass(frozen=True)
class Annotated:
    """A machine with a title, notes below states and edges, and the states and labels where it is wrong, in red."""

    machine: RewardMachine
    title: str | None = None
    state_notes: Mapping[str, str] = field(default_factory=dict)
    edge_note: Callable[[Rule, Outcome], str] = lambda rule, outcome: ""
    wrong: Collection[tuple[str, Label]] = ()


class EdgeLine(NamedTuple):
    """One outcome of one rule, as a line beside its edge."""

    target: str
    text: str
    has_reward: bool
    note: str = ""
    is_wrong: bool = False


class MachineGraph(NamedTuple):
    """The nodes of a machine, each a state or several in a row, and the lines from one node to another."""

    nodes: Sequence[tuple[str, ...]]
    edges: Mapping[tuple[int, int], Sequence[EdgeLine]]

    @property
    def names(self) -> list[str]:
        """What each node is called."""
        return [" … ".join(dict.fromkeys((states[0], states[-1]))) for states in self.nodes]


def is_terminal(machine: RewardMachine, state: str) -> bool:
    """Return whether a state is never left."""
    return all(outcome.target == state for outcomes in machine.possible_outcomes(state) for outcome in outcomes)


def machine_graph(item: Annotated) -> MachineGraph:
    """Return the graph of a machine. Initial and terminal states stand alone, and those with notes or faults."""
    machine, lines = item.machine, edge_lines(item)
    ends = {machine.initial, *(state for state in machine.states if is_terminal(machine, state))}
    nodes = _runs(machine, lines, {*ends, *item.state_notes, *(state for state, _ in item.wrong)})
    index = {state: i for i, node in enumerate(nodes) for state in node}
    edges: dict[tuple[int, int], dict[EdgeLine, None]] = {}
    for state, leaving in lines.items():
        i = index[state]
        for line in leaving:
            if state == nodes[i][-1] or index[line.target] != i:  # the steps of a run are written in its node
                edges.setdefault((i, index[line.target]), {})[line] = None
    return MachineGraph(nodes, {ends: [*own] for ends, own in edges.items()})


def edge_lines(item: Annotated) -> dict[str, list[EdgeLine]]:
    """Return the lines of all edges that leave each state; a step without a rule has one if its reward is not 0."""
    machine = item.machine
    lines: dict[str, list[EdgeLine]] = {state: [] for state in machine.states}
    for rule in machine.rules:
        is_wrong = any(state == rule.source and rule.guard.holds(label) for state, label in item.wrong)
        guard = guard_text(rule.guard, machine.propositions)
        for out in rule.outcomes:
            note, has_reward = item.edge_note(rule, out), out.reward.mean > 0.0
            lines[rule.source].append(EdgeLine(out.target, edge_text(guard, out), has_reward, note, is_wrong))
    ruled = {rule.source for rule in machine.rules if rule.is_else}
    for state in {*machine.states} - ruled if machine.idle_reward.mean else ():
        idle = Outcome(state, reward=machine.idle_reward)
        if (idle,) in machine.possible_outcomes(state):
            text = edge_text("else" if lines[state] else "true", idle)
            lines[state].append(EdgeLine(state, text, idle.reward.mean > 0.0))
    return lines


def guard_text(guard: Formula, propositions: Collection[str]) -> str:
    """Write a guard; one that denies all but a few propositions as *only* these, or as *nothing*."""
    literals = guard.parts if guard.operator == "&" else (guard,)
    true = [part.name for part in literals if part.operator == "name"]
    denied = [part for part in literals if part.operator == "!" and part.parts[0].operator == "name"]
    if len(denied) >= MANY_DENIED and len(true) + len(denied) == len(literals) == len(propositions):
        return f"only {', '.join(true)}" if true else "nothing"
    return f"({guard})" if guard.operator == "|" else str(guard)


def edge_text(guard: str, outcome: Outcome) -> str:
    """Write an edge as ``guard | probability, reward`` with three significant digits, without a probability of 1."""
    reward = str(outcome.reward)
    if len(reward) > LONGEST_REWARD:
        reward = f"mean {outcome.reward.mean}"
    elif "," in reward:
        reward = f"({reward})"
    chance = "" if math.isclose(outcome.probability, 1.0) else f"{outcome.probability:g}, "
    return f"{guard} | " + _DECIMALS.sub(lambda match: f"{float(match[0]):.3g}", chance + reward)


def _runs(
    machine: RewardMachine, lines: Mapping[str, Sequence[EdgeLine]], apart: Collection[str]
) -> list[tuple[str, ...]]:
    """Return runs of states with equal steps from each to the next, and the states that are in none."""
    sources: dict[str, set[str]] = {state: set() for state in machine.states}
    for state, leaving in lines.items():
        for line in leaving:
            sources[line.target] |= {state} - {line.target}
    # A state that is entered from one other alone may follow it.
    free = {state for state in machine.states if len(sources[state]) == 1} - {*apart}

    def step(state: str, following: str) -> list[tuple[str, str]]:
        names = {state: "itself", following: "next"}
        return [(line.text, names.get(line.target, f"state {line.target}")) for line in lines[state]]

    nodes: list[tuple[str, ...]] = []
    taken: set[str] = set()
    for state in machine.states:
        if state in taken:
            continue
        run = [state]
        while len(ways := {line.target for line in lines[run[-1]]} & free - taken - {*run}) == 1 and state not in apart:
            (following,) = ways
            if len(run) > 1 and step(run[-1], following) != step(run[0], run[1]):
                break
            run.append(following)
        nodes.append(tuple(run) if len(run) >= SHORTEST_RUN else (state,))
        taken |= {*nodes[-1]}
    return nodes
