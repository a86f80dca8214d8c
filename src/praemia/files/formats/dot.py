"""Read AALpy's automata with rewards as outputs, in Graphviz' language.

    s0 -> s1 [label="item/1"]     Mealy machine: input/output; stochastic: input/output:probability
    s0 -> s1 [label="item"]       Moore machine: the output is the target's, s1 [label="s1|1"]
    s0 -> s1 [label="item:0.3"]   MDP: input:probability; the output is the label of the target
    __start0 -> s0                the initial state

A state is named by its label, if all differ.
"""

from __future__ import annotations

import re
from typing import Any

from praemia.errors import FileError, located
from praemia.files.formats.events import Transition, event_machine, parsed
from praemia.machines.formula import read_name
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward

START = "__start"
_NUMBER = r"\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\s*"
_LABELS = (  # of edges: with an output, and without one
    re.compile(r"(?P<event>.*)/(?P<output>[^/:]*)(:(?P<chance>[^/:]*))?", re.DOTALL),
    re.compile(rf"(?P<event>.*?)(:(?P<chance>{_NUMBER}))?", re.DOTALL),
)
_GRAMMAR = r"""
    start: "strict"? "digraph" ID? "{" statement* "}"
    ?statement: ID "->" ID attributes* ";"?  -> edge
              | ID attributes* ";"?          -> node
              | ID "=" ID ";"?               -> setting
    attributes: "[" (ID "=" ID ("," | ";")?)* "]"
    ID: /[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)|"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\/[^\n]*|#[^\n]*|\/\*.*?\*\//s
"""


def read_dot(text: str, name: str) -> RewardMachine:
    """Parse a machine from DOT; ``name`` stands for the text in messages."""
    nodes, starts, edges = _graph(parsed(_GRAMMAR, text, name, 'a graph: digraph g { s0 -> s1 [label="in/out"]; … }'))
    if len(starts) != 1 or starts[0] not in nodes:
        raise FileError(f"{name}: {len(starts)} edges from {START}0; expected one, to the initial state")
    labels = {node: label.strip().removeprefix("{").removesuffix("}") or node for node, label in nodes.items()}
    names = {node: label.partition("|")[0].strip() for node, label in labels.items()}
    if len(set(names.values())) < len(names):
        names = {node: node for node in nodes}
    outputs = {node: label.rpartition("|")[2] for node, label in labels.items()}
    transitions = []
    for line, source, target, label in edges:
        found = next(filter(None, (pattern.fullmatch(label) for pattern in _LABELS)))
        own = {"output": outputs[target]} | found.groupdict()
        with located(f"{name}:{line}"):
            chance = _number(own["chance"] or "1", "the probability")
            reward = _number(own["output"], "the output, which is the reward,")
        event = own["event"].strip()
        transitions.append(Transition(f"{name}:{line}", names[source], event, names[target], chance, Reward.of(reward)))
    return event_machine(name, [*names.values()], names[starts[0]], [t.event for t in transitions], transitions)


def _graph(tree: Any) -> tuple[dict[str, str], list[str], list[tuple[int, str, str, str]]]:
    """Return the nodes with their labels, where the edges from the start lead, and the other edges."""
    nodes: dict[str, str] = {}
    starts, edges = [], []
    for statement in (item for item in tree.children if hasattr(item, "data")):
        ids = [read_name(str(item)) for item in statement.children if not hasattr(item, "data")]
        lists = (item.children for item in statement.children if hasattr(item, "data"))
        texts = [read_name(str(token)) for tokens in lists for token in tokens]
        label = dict(zip(texts[::2], texts[1::2], strict=True)).get("label", "")
        if ids[0].startswith(START):
            starts += ids[1:]
        elif statement.data != "setting" and ids[0] not in ("graph", "node", "edge"):
            for node in ids:
                nodes.setdefault(node, "")
            if statement.data == "node":
                nodes[ids[0]] = label or nodes[ids[0]]
            else:
                edges.append((statement.meta.line, *ids, label))
    return nodes, starts, edges


def _number(text: str, what: str) -> float:
    if not re.fullmatch(_NUMBER, text):
        raise FileError(f"{what} is {text.strip()[:60]!r}; expected a number")
    return float(text)
