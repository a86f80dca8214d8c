"""Read AALpy's automata in Graphviz' language.

    s0 -> s1 [label="item/1"]          Mealy machine: input/output
    s0 -> s1 [label="item/1:0.3"]      stochastic Mealy machine: input/output:probability
    s0 -> s1 [label="item"]            Moore machine: the output is the target's, s1 [label="s1|1"]
                                       DFA: a step into a node with shape=doublecircle has reward 1, others 0
    s0 -> s1 [label="item:0.3"]        MDP: input:probability; the output is the label of the target
    __start0 -> s0                     the initial state

A step has one input, which is an event (``events``). Its reward is its output: a number, or an entry of a table of
rewards. The output before the first step is no reward. A state is called by the label of its node, if all labels
differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from praemia.errors import FileError, located, unknown_name
from praemia.files.formats.events import Transition, event_machine, parsed
from praemia.machines.formula import read_name
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward

START = "__start"
_MEALY = re.compile(r"(?P<event>.*)/(?P<output>[^/:]*)(:(?P<chance>[^/:]*))?", re.DOTALL)
_MDP = re.compile(r"(?P<event>.*):(?P<chance>\s*[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?\s*)", re.DOTALL)
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


class _Arrow(NamedTuple):
    where: str
    source: str
    target: str
    label: str


def read_dot(text: str, name: str, rewards: Mapping[str, float] | None = None) -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages.

    ``rewards`` gives the rewards of outputs that are not numbers; those that it does not list are 0.
    """
    tree = parsed(_GRAMMAR, text, name, 'a graph: digraph g { s0 -> s1 [label="input/reward"]; … }')
    nodes: dict[str, dict[str, str]] = {}
    starts: list[str] = []
    arrows: list[_Arrow] = []
    for statement in (item for item in tree.children if hasattr(item, "data")):
        ids = [read_name(str(item)) for item in statement.children if not hasattr(item, "data")]
        if statement.data == "setting" or ids[0] in ("graph", "node", "edge"):
            continue
        if ids[0].startswith(START):
            starts += ids[1:]
            continue
        attributes = _attributes(statement)
        for node in ids:
            nodes.setdefault(node, {})
        if statement.data == "node":
            nodes[ids[0]] |= attributes
        else:
            arrows.append(_Arrow(f"{name}:{statement.meta.line}", ids[0], ids[1], attributes.get("label", "")))
    if len(starts) != 1 or starts[0] not in nodes:
        raise FileError(f"{name}: {len(starts)} edges from {START}0; expected one, to the initial state")
    names, pattern, outputs = _kind(nodes, arrows)
    transitions, met = [], {}
    for where, source, target, label in arrows:
        with located(where):
            match = pattern.fullmatch(label)
            if match is None:
                raise FileError(f"an edge with the label {label!r}; expected input/reward or input/reward:probability")
            own = match.groupdict()
            event, output = own["event"].strip(), own.get("output", outputs.get(target, "")).strip()
            chance = None if own.get("chance") is None else _number(own["chance"], "the probability")
            met[output] = reward = _reward(output, rewards)
        transitions.append(Transition(where, names[source], event, names[target], chance, reward))
    for output in (output for output in rewards or () if output not in met):
        raise unknown_name("output", output, met)
    with located(name):
        return event_machine([*names.values()], names[starts[0]], [t.event for t in transitions], transitions)


def _attributes(statement: Any) -> dict[str, str]:
    lists = (item for item in statement.children if hasattr(item, "data"))
    texts = [read_name(str(token)) for item in lists for token in item.children]
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _kind(
    nodes: Mapping[str, Mapping[str, str]], arrows: list[_Arrow]
) -> tuple[dict[str, str], re.Pattern[str], Mapping[str, str]]:
    """Return the names of states, how the labels of edges are read, and the outputs of states: edges tell the kind."""
    labels = {n: own.get("label", "").strip().removeprefix("{").removesuffix("}") or n for n, own in nodes.items()}
    names, pattern, outputs = labels, _MEALY, dict[str, str]()
    if arrows and not any("/" in arrow.label for arrow in arrows):
        if all(_MDP.fullmatch(arrow.label) for arrow in arrows):
            names, pattern, outputs = {node: node for node in nodes}, _MDP, labels
        else:
            names = {node: label.partition("|")[0].strip() for node, label in labels.items()}
            pattern, outputs = _MOORE, _state_outputs(nodes, labels, arrows)
    return names if len(set(names.values())) == len(names) else {node: node for node in nodes}, pattern, outputs


def _state_outputs(
    nodes: Mapping[str, Mapping[str, str]], labels: Mapping[str, str], arrows: list[_Arrow]
) -> dict[str, str]:
    """Return the outputs of the states of a Moore machine; of a DFA: 1 if they accept, else 0."""
    if any("|" in label for label in labels.values()):
        return {node: label.partition("|")[2] for node, label in labels.items()}
    accepting = {node for node, attributes in nodes.items() if attributes.get("shape") == "doublecircle"}
    if not accepting:
        raise FileError(
            f"{arrows[0].where}: no edge has an output (input/reward), no node has one (name|reward), and none accepts "
            "(shape=doublecircle); where is the reward?"
        )
    return {node: str(int(node in accepting)) for node in nodes}


def _number(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise FileError(f"{what} is {text.strip()[:60]!r}; expected a number")
    return value


def _reward(output: str, rewards: Mapping[str, float] | None) -> Reward:
    if rewards is not None and output in rewards:
        return Reward.of(rewards[output])
    try:
        return Reward.of(_number(output, "the output, which is the reward,"))
    except FileError as error:
        if rewards is not None:
            return Reward.of(0.0)
        raise FileError(f"{error}, or a table of rewards: rewards={{{output!r}: 1}}, --reward {output}=1") from None
