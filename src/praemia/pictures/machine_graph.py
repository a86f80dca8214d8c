"""What is drawn of a machine: its states and edges, few and short enough to be read.

All outcomes from one state to another are one edge with several lines, ``guard | probability, reward``, with three
significant digits and without a probability of 1. Guards are short: in a state whose rules are ``full``,
``served & !full`` and ``late & !full & !served`` they are *full*, *served* and *late*, the first that holds counts; and
a guard that denies all other propositions is *only served*. Three or more states in a row with equal steps are one
node, *loop-1 … loop-20*. What no rule matches (stay, pay 0) is not drawn.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from praemia.machines.formula import Formula, conjunction
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule

SHORTEST_RUN = 3  # states in a row that are drawn as one
MANY_DENIED = 3  # propositions, for which "only" is shorter
_DECIMALS = re.compile(r"\d+\.\d+(e[-+]?\d+)?")

Place = tuple[str, str, str]  # source, target, guard


@dataclass(frozen=True)
class Annotated:
    """A machine with notes: below states, by name, and on edges, by (source, target, guard); what is marked is red."""

    machine: RewardMachine
    title: str | None = None
    state_notes: Mapping[str, str] = field(default_factory=dict)
    edge_notes: Mapping[Place, str] = field(default_factory=dict)
    marked_edges: frozenset[Place] = frozenset()
    marked_states: frozenset[str] = frozenset()


class EdgeLine(NamedTuple):
    """One outcome of one rule, as a line beside its edge."""

    target: str
    text: str
    pays: bool
    note: str = ""
    marked: bool = False


class DrawnNode(NamedTuple):
    """A state, or several in a row that are drawn as one; ``step`` is then what leads from each to the next."""

    states: tuple[str, ...]
    step: str = ""


class DrawnEdge(NamedTuple):
    """All that leads from one node to another; nodes by number."""

    source: int
    target: int
    lines: tuple[EdgeLine, ...]


class MachineGraph(NamedTuple):
    """The nodes of a machine, the number of the initial one, and the edges."""

    nodes: tuple[DrawnNode, ...]
    initial: int
    edges: tuple[DrawnEdge, ...]


def edge_text(rule: Rule, outcome: Outcome, guard: str | None = None) -> str:
    """Write an edge as ``guard | probability, reward``, without a probability of 1."""
    if guard is None:
        guard = f"({rule.guard})" if rule.guard.operator == "|" else str(rule.guard)
    reward = str(outcome.reward)
    if "," in reward:
        reward = f"({reward})"
    chance = "" if len(rule.outcomes) == 1 else f"{outcome.probability:g}, "
    return f"{guard} | " + _DECIMALS.sub(lambda match: f"{float(match[0]):.3g}", chance + reward)


def is_absorbing(machine: RewardMachine, state: str) -> bool:
    """Tell whether a state is never left."""
    return all(outcome.target == state for outcomes in machine.possible_outcomes(state) for outcome in outcomes)


def machine_graph(item: Annotated) -> MachineGraph:
    """Return what is drawn of a machine. States with notes or marks stand alone."""
    machine = item.machine
    lines = {state: list(edge_lines(item, state)) for state in machine.states}
    nodes = list(_nodes(machine, lines, {*item.state_notes, *item.marked_states}))
    number = {state: i for i, node in enumerate(nodes) for state in node.states}
    edges: dict[tuple[int, int], list[EdgeLine]] = {}
    for i, node in enumerate(nodes):
        inner = set(node.states[:-1])
        for state in node.states:
            for line in lines[state]:
                within = state in inner and number[line.target] == i
                between = edges.setdefault((i, number[line.target]), [])
                if not within and line not in between:
                    between.append(line)
    all_edges = tuple(DrawnEdge(*ends, tuple(between)) for ends, between in edges.items() if between)
    return MachineGraph(tuple(nodes), number[machine.initial], all_edges)


def edge_lines(item: Annotated, state: str) -> Iterator[EdgeLine]:
    """Yield the lines of all edges that leave a state."""
    rules = [rule for rule in item.machine.exclusive_rules if rule.source == state]
    for rule, guard in zip(rules, short_guards([rule.guard for rule in rules], item.machine.propositions), strict=True):
        for outcome in rule.outcomes:
            place = (state, outcome.target, str(rule.guard))
            yield EdgeLine(
                outcome.target,
                edge_text(rule, outcome, guard),
                outcome.reward.mean > 0.0,
                item.edge_notes.get(place, ""),
                place in item.marked_edges,
            )


def short_guards(guards: Iterable[Formula], propositions: Collection[str]) -> Iterator[str]:
    """Yield the guards of a state's rules as texts that are read in order: the first that holds counts."""
    deciding: set[str] = set()  # propositions that are whole guards
    for guard in guards:
        literals = guard.parts if guard.operator == "&" else (guard,)
        true = [part.name for part in literals if part.operator == "name"]
        denied = {part.parts[0].name for part in literals if part.operator == "!" and part.parts[0].operator == "name"}
        if len(true) + len(denied) < len(literals):
            yield f"({guard})" if guard.operator == "|" else str(guard)
            continue
        kept = [part for part in literals if part.operator == "name" or part.parts[0].name not in deciding]
        if len(kept) - len(true) >= MANY_DENIED and len(denied) + len(true) == len(propositions):
            yield f"only {', '.join(true)}" if true else "nothing"
        else:
            yield str(conjunction(kept)) if kept else "else"
        if len(kept) == len(true) == 1:
            deciding.add(true[0])


def _nodes(
    machine: RewardMachine, lines: Mapping[str, Sequence[EdgeLine]], apart: Collection[str]
) -> Iterator[DrawnNode]:
    """Yield the nodes: runs of equal steps, and the states that are in none."""
    sources: dict[str, set[str]] = {state: set() for state in machine.states}
    for state, leaving in lines.items():
        for line in leaving:
            sources[line.target] |= {state} - {line.target}
    followers = {
        state for state in machine.states if len(sources[state]) == 1 and state not in {machine.initial, *apart}
    }
    taken: set[str] = set()
    for state in machine.states:
        if state in taken:
            continue
        run = [state] if state in apart else max(_runs(state, lines, followers - taken), key=len)
        if len(run) < SHORTEST_RUN:
            run = [state]
        taken |= {*run}
        steps = [line.text for line in lines[state] if line.target in run[1:]]
        yield DrawnNode(tuple(run), ", ".join(steps))


def _runs(state: str, lines: Mapping[str, Sequence[EdgeLine]], followers: set[str]) -> Iterator[list[str]]:
    """Yield for each way out of a state how long it can be followed by equal steps."""
    yield [state]
    for first in dict.fromkeys(line.target for line in lines[state]):
        run, following = [state], first
        step = _step(lines[state], state, first)
        while following in followers and _step(lines[run[-1]], run[-1], following) == step:
            run.append(following)
            following = next((line.target for line in lines[following] if line.target in followers - {*run}), "")
        yield run


def _step(leaving: Sequence[EdgeLine], state: str, following: str) -> list[tuple[str, str]]:
    """Return what leaves a state, with names for itself and for the next state that are the same in every state."""
    names = {state: "itself", following: "next"}
    return [(line.text, names.get(line.target, f"state {line.target}")) for line in leaving]
