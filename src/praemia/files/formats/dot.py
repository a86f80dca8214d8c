"""Read AALpy's automata in Graphviz' language.

    s0 -> s1 [label="item/1"]     Mealy machine: input/output; stochastic: input/output:probability
    s0 -> s1 [label="item"]       Moore machine: the output is the target's, s1 [label="s1|1"]; DFA: shape=doublecircle
    s0 -> s1 [label="item:0.3"]   MDP: input:probability; the output is the label of the target
    __start0 -> s0                the initial state

An output is a reward: a number, or an entry of a table of rewards. A state is named by its label, if all differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from praemia.errors import FileError, located, unknown_name
from praemia.files.formats.events import Transition, event_machine, parsed
from praemia.machines.formula import read_name
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward

START = "__start"
_NUMBER = r"\s*[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\s*"
_MEALY = re.compile(r"(?P<event>.*)/(?P<output>[^/:]*)(:(?P<chance>[^/:]*))?", re.DOTALL)
_MDP = re.compile(rf"(?P<event>.*):(?P<chance>{_NUMBER})", re.DOTALL)
_MOORE = re.compile("(?P<event>.*)", re.DOTALL)
_GRAMMAR = r"""
    start: "strict"? "digraph" ID? "{" statement* "}"
    ?statement: ID "->" ID attributes* ";"?  -> edge
              | ID attributes* ";"?          -> node
              | ID "=" ID ";"?               -> setting
    attributes: "[" (ID "=" ID ("," | ";")?)* "]"
    ID: /[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)|"(?:[^"\\]|\\.)*"/s
    %ignore /\s+|\/\/[^\n]*|#[^\n]*|\/\*.*?\*\//s
"""


def read_dot(text: str, name: str, rewards: Mapping[str, float] | None = None) -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages.

    ``rewards`` gives the rewards of outputs that are not numbers; those that it does not list are 0.
    """
    nodes, starts, edges = _graph(parsed(_GRAMMAR, text, name, 'a graph: digraph g { s0 -> s1 [label="in/out"]; … }'))
    if len(starts) != 1 or starts[0] not in nodes:
        raise FileError(f"{name}: {len(starts)} edges from {START}0; expected one, to the initial state")
    labels = {n: own.get("label", "").strip().removeprefix("{").removesuffix("}") or n for n, own in nodes.items()}
    names = {node: label.partition("|")[0].strip() for node, label in labels.items()}
    if len(set(names.values())) < len(names):
        names = {node: node for node in nodes}
    with located(name):
        pattern, outputs = _kind(nodes, labels, [label for *_, label in edges])
    transitions, met = [], {}
    for line, source, target, label in edges:
        with located(f"{name}:{line}"):
            match = pattern.fullmatch(label)
            if match is None:
                raise FileError(f"an edge with the label {label!r}; expected input/reward or input/reward:probability")
            own = match.groupdict()
            output = own.get("output", outputs.get(target, "")).strip()
            chance = None if own.get("chance") is None else _number(own["chance"], "the probability")
            met[output] = _reward(output, rewards)
        event = own["event"].strip()
        transitions.append(Transition(f"{name}:{line}", names[source], event, names[target], chance, met[output]))
    for output in (output for output in rewards or () if output not in met):
        raise unknown_name("output", output, met)
    return event_machine(name, [*names.values()], names[starts[0]], [t.event for t in transitions], transitions)


def _graph(tree: Any) -> tuple[dict[str, dict[str, str]], list[str], list[tuple[int, str, str, str]]]:
    """Return the nodes with their attributes, where the edges from the start lead, and the other edges."""
    nodes: dict[str, dict[str, str]] = {}
    starts, edges = [], []
    for statement in (item for item in tree.children if hasattr(item, "data")):
        ids = [read_name(str(item)) for item in statement.children if not hasattr(item, "data")]
        lists = (item.children for item in statement.children if hasattr(item, "data"))
        texts = [read_name(str(token)) for tokens in lists for token in tokens]
        attributes = dict(zip(texts[::2], texts[1::2], strict=True))
        if ids[0].startswith(START):
            starts += ids[1:]
        elif statement.data != "setting" and ids[0] not in ("graph", "node", "edge"):
            for node in ids:
                nodes.setdefault(node, {})
            if statement.data == "node":
                nodes[ids[0]] |= attributes
            else:
                edges.append((statement.meta.line, *ids, attributes.get("label", "")))
    return nodes, starts, edges


def _kind(
    nodes: Mapping[str, Mapping[str, str]], labels: Mapping[str, str], edges: list[str]
) -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Return how the labels of edges are read, and the outputs of states."""
    if not edges or any("/" in label for label in edges):
        return _MEALY, {}
    if all(map(_MDP.fullmatch, edges)):
        return _MDP, labels
    if any("|" in label for label in labels.values()):
        return _MOORE, {node: label.partition("|")[2] for node, label in labels.items()}
    accepting = {node for node, attributes in nodes.items() if attributes.get("shape") == "doublecircle"}
    if not accepting:
        raise FileError(
            "no edge has an output (input/reward), no node has one (name|reward), and none accepts "
            "(shape=doublecircle); where is the reward?"
        )
    return _MOORE, {node: str(int(node in accepting)) for node in nodes}


def _number(text: str, what: str) -> float:
    if not re.fullmatch(_NUMBER, text):
        raise FileError(f"{what} is {text.strip()[:60]!r}; expected a number")
    return float(text.strip())


def _reward(output: str, rewards: Mapping[str, float] | None) -> Reward:
    if rewards is not None and (output in rewards or not re.fullmatch(_NUMBER, output)):
        return Reward.of(rewards.get(output, 0.0))
    try:
        return Reward.of(_number(output, "the output, which is the reward,"))
    except FileError as error:
        raise FileError(f"{error}, or a table of rewards: rewards={{{output!r}: 1}}, --reward {output}=1") from None
