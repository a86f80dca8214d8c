"""Read and write Mealy machines as AALpy does, in Graphviz' language.

    s0 -> s1 [label="item/1"]          input/reward
    s0 -> s1 [label="item/1:0.3"]      input/reward:probability, in stochastic machines
    __start0 -> s0                     the initial state

A step has one input, which is a label (``events``). Where a state has no edge on an input it stays and pays 0. A
state is called by the label of its node, if all labels differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from praemia.errors import FileError, ModelError
from praemia.files.formats.common import (
    all_labels,
    at_line,
    event_of,
    label_of,
    number,
    parsed,
    without_stays,
    write_number,
)
from praemia.machines.formula import in_quotes, unquoted
from praemia.machines.guards import exactly
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule

START = "__start"
_EDGE_LABEL = re.compile(r"(?P<input>.*)/(?P<output>[^/:]*)(:(?P<chance>[^/:]*))?", re.DOTALL)
_GRAMMAR = r"""
    start: "strict"? "digraph" ID? "{" statement* "}"
    ?statement: ID "->" ID attributes* ";"?  -> edge
              | ID attributes* ";"?          -> node
              | ID "=" ID ";"?               -> setting
    attributes: "[" (ID "=" ID ("," | ";")?)* "]"
    ID: /[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)|"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\/[^\n]*|#[^\n]*|\/\*.*?\*\//s
"""


class _Edge(NamedTuple):
    line: int
    source: str
    event: str
    target: str
    reward: float
    chance: float | None


def read_dot(text: str, name: str) -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages."""
    tree = parsed(_parser(), text, name, 'a graph: digraph g { s0 -> s1 [label="input/reward"]; … }')
    labels: dict[str, str] = {}
    starts: list[str] = []
    edges: list[_Edge] = []
    for statement in (item for item in tree.children if hasattr(item, "data")):
        ids = [_text(item) for item in statement.children if not hasattr(item, "data")]
        if statement.data == "setting" or ids[0] in ("graph", "node", "edge"):
            continue
        if statement.data == "edge" and ids[0].startswith(START):
            starts.append(ids[1])
            continue
        if ids[0].startswith(START):
            continue
        labels |= {state: state for state in ids if state not in labels}
        label = _attributes(statement).get("label", "")
        if statement.data == "node":
            labels[ids[0]] = label or ids[0]
        else:
            with at_line(name, _line(statement)):
                edges.append(_edge(_line(statement), ids[0], ids[1], label))
    return _machine(name, labels, starts, edges)


@cache
def _parser() -> Any:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True)


def _line(statement: Any) -> int:
    return int(statement.children[0].line)


def _text(token: Any) -> str:
    text = str(token)
    return unquoted(text) if text.startswith('"') else text


def _attributes(statement: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in statement.children:
        if hasattr(item, "data"):
            texts = [_text(token) for token in item.children]
            found |= dict(zip(texts[::2], texts[1::2], strict=True))
    return found


def _edge(line: int, source: str, target: str, label: str) -> _Edge:
    match = _EDGE_LABEL.fullmatch(label)
    if match is None:
        raise FileError(f"an edge with the label {label!r}; expected input/reward or input/reward:probability")
    reward = number(match["output"], "the output, which is paid,")
    chance = None if match["chance"] is None else number(match["chance"], "the probability")
    return _Edge(line, source, match["input"].strip(), target, reward, chance)


def _machine(name: str, labels: dict[str, str], starts: list[str], edges: list[_Edge]) -> RewardMachine:
    if len(starts) != 1 or starts[0] not in labels:
        raise FileError(f"{name}: {len(starts)} edges from {START}0; expected one, to the initial state")
    names = labels if len(set(labels.values())) == len(labels) else {state: state for state in labels}
    propositions = tuple(dict.fromkeys(prop for edge in edges for prop in sorted(label_of(edge.event))))
    groups: dict[tuple[str, str], list[_Edge]] = {}
    for edge in edges:
        group = groups.setdefault((edge.source, edge.event), [])
        group.append(edge)
        if len(group) > 1 and any(other.chance is None for other in group):
            raise FileError(
                f"{name}:{edge.line}: a second edge from {edge.source!r} on {edge.event!r}; which is taken?"
            )
    rules = []
    for (source, event), group in groups.items():
        with at_line(name, group[0].line):
            outcomes = (
                Outcome(names[edge.target], 1.0 if edge.chance is None else edge.chance, Reward.of(edge.reward))
                for edge in group
            )
            rules.append(Rule(names[source], exactly(label_of(event), propositions), tuple(outcomes)))
    return RewardMachine(tuple(names.values()), names[starts[0]], propositions, without_stays(rules))


def write_dot(machine: RewardMachine) -> str:
    """Return the text of a machine: a Mealy machine, or a stochastic one if the machine has any chance in it."""
    lines = ["digraph g {", '__start0 [label="", shape=none];']
    lines += [f"s{i} [label={in_quotes(state)}];" for i, state in enumerate(machine.states)]
    outcomes = [outcome for state in machine.states for outs in machine.possible_outcomes(state) for outcome in outs]
    is_sure = machine.is_deterministic and all(outcome.reward.is_constant for outcome in outcomes)
    labels = list(all_labels(machine))
    for state in machine.states:
        for label in labels:
            for target, output in _outputs(machine.outcomes(state, label), is_sure):
                ends = f"s{machine.index[state]} -> s{machine.index[target]}"
                lines.append(f"{ends} [label={in_quotes(f'{event_of(label)}/{output}')}];")
    return "\n".join([*lines, f"__start0 -> s{machine.index[machine.initial]};", "}"]) + "\n"


def _outputs(outcomes: tuple[Outcome, ...], is_sure: bool) -> Iterator[tuple[str, str]]:
    for outcome in outcomes:
        if any(outcome.reward.widths):
            raise ModelError(f"the reward {outcome.reward} has infinitely many values; this format lists them")
        for value, _, share in outcome.reward.pieces:
            chance = "" if is_sure else f":{write_number(outcome.probability * share)}"
            yield outcome.target, write_number(value) + chance
