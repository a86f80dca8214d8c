"""Read AALpy's automata in Graphviz' language, and write Mealy machines as AALpy does.

    s0 -> s1 [label="item/1"]          Mealy machine: input/output
    s0 -> s1 [label="item/1:0.3"]      stochastic Mealy machine: input/output:probability
    s0 -> s1 [label="item"]            Moore machine: the output is the target's, s1 [label="s1|1"]
                                       DFA: a step into a node with shape=doublecircle is worth 1, others 0
    s0 -> s1 [label="item:0.3"]        MDP: input:probability; the output is the label of the target
    __start0 -> s0                     the initial state

A step has one input, which is a label (``common``), and pays its output: a number, or what a table of rewards says of
it. What is put out before the first step is not paid. Where a state has no edge on an input it stays and pays 0. A
state is called by the label of its node, if all labels differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from praemia.errors import FileError, ModelError, located, unknown_name
from praemia.files.formats.common import (
    all_labels,
    event_of,
    label_of,
    number,
    parsed,
    without_stays,
    write_number,
)
from praemia.machines.formula import in_quotes, read_name
from praemia.machines.guards import exactly
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Rule

START = "__start"
_INPUT_OUTPUT = re.compile(r"(?P<input>.*)/(?P<output>[^/:]*)(:(?P<chance>[^/:]*))?", re.DOTALL)
_INPUT_CHANCE = re.compile(r".*:\s*[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?\s*", re.DOTALL)
_GRAMMAR = r"""
    start: "strict"? "digraph" ID? "{" statement* "}"
    ?statement: ID "->" ID attributes* ";"?  -> edge
              | ID attributes* ";"?          -> node
              | ID "=" ID ";"?               -> setting
    attributes: "[" (ID "=" ID ("," | ";")?)* "]"
    ID: /[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)|"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\/[^\n]*|#[^\n]*|\/\*.*?\*\//s
"""


class _Arrow(NamedTuple):
    """An arrow between nodes; what its label means is known once all of them are read."""

    line: int
    source: str
    target: str
    label: str
    event: str = ""
    output: str = ""
    chance: float | None = None

    def reading(self, event: str, output: str, chance: float | None = None) -> _Arrow:
        return self._replace(event=event.strip(), output=output.strip(), chance=chance)


@dataclass
class _Graph:
    """What a file draws: the attributes of nodes, arrows between them, and where it starts."""

    nodes: dict[str, dict[str, str]] = field(default_factory=dict)
    starts: list[str] = field(default_factory=list)
    arrows: list[_Arrow] = field(default_factory=list)

    def label(self, node: str) -> str:
        return _without_braces(self.nodes[node].get("label", "")) or node


def _without_braces(label: str) -> str:
    """Return a node's label as the name that it stands for: records have braces around theirs."""
    return label.strip().removeprefix("{").removesuffix("}")


def read_dot(text: str, name: str, rewards: Mapping[str, float] | None = None) -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages.

    ``rewards`` says what outputs that are not numbers pay; those that it does not list pay 0.
    """
    graph = _read_graph(text, name)
    if len(graph.starts) != 1 or graph.starts[0] not in graph.nodes:
        raise FileError(f"{name}: {len(graph.starts)} edges from {START}0; expected one, to the initial state")
    arrows, names = _read_labels(graph, name)
    outputs = dict.fromkeys(arrow.output for arrow in arrows)
    for output in rewards or ():
        if output not in outputs:
            raise unknown_name("output", output, outputs)
    return _machine(name, names, graph.starts[0], arrows, rewards)


def _read_graph(text: str, name: str) -> _Graph:
    tree = parsed(_parser(), text, name, 'a graph: digraph g { s0 -> s1 [label="input/reward"]; … }')
    graph = _Graph()
    for statement in (item for item in tree.children if hasattr(item, "data")):
        ids = [read_name(str(item)) for item in statement.children if not hasattr(item, "data")]
        if statement.data == "setting" or ids[0] in ("graph", "node", "edge"):
            continue
        if ids[0].startswith(START):
            graph.starts += ids[1:]
            continue
        for node in ids:
            graph.nodes.setdefault(node, {})
        if statement.data == "node":
            graph.nodes[ids[0]] |= _attributes(statement)
        else:
            line = int(statement.children[0].line)
            graph.arrows.append(_Arrow(line, ids[0], ids[1], _attributes(statement).get("label", "")))
    return graph


def _read_labels(graph: _Graph, name: str) -> tuple[list[_Arrow], dict[str, str]]:
    """Return the arrows with what they put out, and the names of states; the labels of arrows tell the kind."""
    labels = [arrow.label for arrow in graph.arrows]
    if not labels or any("/" in label for label in labels):
        arrows = [_read_mealy(arrow, name) for arrow in graph.arrows]
        names = {node: graph.label(node) for node in graph.nodes}
    elif all(map(_INPUT_CHANCE.fullmatch, labels)):
        arrows = [_read_mdp(arrow, graph.label(arrow.target)) for arrow in graph.arrows]
        names = {node: node for node in graph.nodes}
    else:
        outputs = _outputs_of_states(graph, name)
        arrows = [arrow.reading(arrow.label, outputs[arrow.target]) for arrow in graph.arrows]
        names = {node: graph.label(node).partition("|")[0].strip() for node in graph.nodes}
    return arrows, names if len(set(names.values())) == len(names) else {node: node for node in names}


def _read_mealy(arrow: _Arrow, name: str) -> _Arrow:
    match = _INPUT_OUTPUT.fullmatch(arrow.label)
    with located(f"{name}:{arrow.line}"):
        if match is None:
            raise FileError(
                f"an edge with the label {arrow.label!r}; expected input/reward or input/reward:probability"
            )
        chance = None if match["chance"] is None else number(match["chance"], "the probability")
    return arrow.reading(match["input"], match["output"], chance)


def _read_mdp(arrow: _Arrow, output: str) -> _Arrow:
    event, _, chance = arrow.label.rpartition(":")
    return arrow.reading(event, output, float(chance))


def _outputs_of_states(graph: _Graph, name: str) -> dict[str, str]:
    """Return what the states of a Moore machine put out, or of a DFA: 1 if they accept, else 0."""
    labels = {node: graph.label(node).partition("|") for node in graph.nodes}
    if any(bar for _, bar, _ in labels.values()):
        return {node: output.strip() for node, (_, _, output) in labels.items()}
    accepting = {node for node, attributes in graph.nodes.items() if attributes.get("shape") == "doublecircle"}
    if not accepting:
        raise FileError(
            f"{name}:{graph.arrows[0].line}: no edge has an output (input/reward), no node has one (name|reward), and "
            "none accepts (shape=doublecircle); what does it pay?"
        )
    return {node: str(int(node in accepting)) for node in graph.nodes}


@cache
def _parser() -> Any:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", propagate_positions=True)


def _attributes(statement: Any) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for item in statement.children:
        if hasattr(item, "data"):
            texts = [read_name(str(token)) for token in item.children]
            attributes |= dict(zip(texts[::2], texts[1::2], strict=True))
    return attributes


def _machine(
    name: str, names: dict[str, str], start: str, arrows: list[_Arrow], rewards: Mapping[str, float] | None
) -> RewardMachine:
    propositions = tuple(dict.fromkeys(prop for arrow in arrows for prop in sorted(label_of(arrow.event))))
    groups: dict[tuple[str, str], list[_Arrow]] = {}
    for arrow in arrows:
        group = groups.setdefault((arrow.source, arrow.event), [])
        group.append(arrow)
        if len(group) > 1 and any(other.chance is None for other in group):
            raise FileError(
                f"{name}:{arrow.line}: a second edge from {arrow.source!r} on {arrow.event!r}; which is taken?"
            )
    rules = []
    for (source, event), group in groups.items():
        outcomes = []
        for arrow in group:
            with located(f"{name}:{arrow.line}"):
                chance = 1.0 if arrow.chance is None else arrow.chance
                outcomes.append(Outcome(names[arrow.target], chance, _reward(arrow.output, rewards)))
        with located(f"{name}:{group[0].line}"):
            rules.append(Rule(names[source], exactly(label_of(event), propositions), tuple(outcomes)))
    return RewardMachine(tuple(names.values()), names[start], propositions, without_stays(rules))


def _reward(output: str, rewards: Mapping[str, float] | None) -> Reward:
    if rewards is not None and output in rewards:
        return Reward.of(rewards[output])
    try:
        return Reward.of(number(output, "the output, which is paid,"))
    except FileError as error:
        if rewards is not None:
            return ZERO
        raise FileError(f"{error}, or a table of rewards: rewards={{{output!r}: 1}}, --reward {output}=1") from None


def write_dot(machine: RewardMachine) -> str:
    """Return the text of a machine: a Mealy machine, or a stochastic one if the machine has any chance in it."""
    lines = ["digraph g {", '__start0 [label="", shape=none];']
    # A name that has braces or blanks at its ends gets braces, which are removed where it is read.
    names = (state if _without_braces(state) == state else f"{{{state}}}" for state in machine.states)
    lines += [f"s{i} [label={in_quotes(name)}];" for i, name in enumerate(names)]
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
        if not outcome.reward.is_discrete:
            raise ModelError(f"the reward {outcome.reward} has infinitely many values; this format lists them")
        for value, _, share in outcome.reward.pieces:
            chance = "" if is_sure else f":{write_number(outcome.probability * share)}"
            yield outcome.target, write_number(value) + chance
