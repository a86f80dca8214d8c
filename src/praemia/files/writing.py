"""Write tasks and machines as the text of task files, which load as the same machine and the same arrays.

Numbers are written with all their digits. A task that was drawn as a map is written as its map; FrozenLake and
CliffWalking are written as Gymnasium makes them. A labelling by rules is written as its rules; one by a function is
written as a rule for each transition that can happen and has a label. Each key of a block and each row of a list gets a
line of its own.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import yaml

from praemia.envs.grid_map import GridMap
from praemia.envs.gymnasium_table import GymnasiumMap
from praemia.errors import FileError, ModelError
from praemia.files.source import parse_scalar
from praemia.machines.labels import Label, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


class Block(dict[str, Any]):
    """A mapping whose keys get a line each."""


class Rows(list[Any]):
    """A list whose items get a line each."""


class Lines(str):
    """Text of several lines, which YAML can show as they are."""


_MAPPING, _SEQUENCE = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"
_TAGS = {type(value): f"tag:yaml.org,2002:{type(value).__name__}" for value in (True, 1, 1.0, "")}


class _Dumper(yaml.SafeDumper):
    """PyYAML's writer, with the scalars that ``source`` reads: those of YAML 1.2."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)  # rows stand below their key, not beside it

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> Any:
        """Return the tag of what a scalar is read as if it is written without quotes."""
        if kind is not yaml.ScalarNode or not implicit[0]:
            return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        try:
            return _TAGS.get(type(parse_scalar(value)))
        except FileError:  # a number of too many digits
            return None

    def represent_text(self, text: str) -> yaml.Node:
        style = "|" if isinstance(text, Lines) else None if text.isprintable() else '"'
        return self.represent_scalar(_TAGS[str], text, style)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(Lines, _Dumper.represent_text)
_Dumper.add_representer(Block, lambda dumper, data: dumper.represent_mapping(_MAPPING, data, flow_style=False))
_Dumper.add_representer(Rows, lambda dumper, data: dumper.represent_sequence(_SEQUENCE, data, flow_style=False))
_Dumper.add_multi_representer(np.generic, lambda dumper, data: dumper.represent_data(data.item()))  # type: ignore[type-abstract]


def _json(value: Any, indent: str) -> str:
    inner = indent + "  "
    match value:
        case Block():
            items = [f"{json.dumps(key)}: {_json(item, inner)}" for key, item in value.items()]
            return "{" + ",".join(f"\n{inner}{item}" for item in items) + f"\n{indent}}}"
        case Rows() if value:
            return "[" + ",".join(f"\n{inner}{_json(item, inner)}" for item in value) + f"\n{indent}]"
        case _:
            plain = partial(json.dumps, value, default=lambda number: number.item())  # of a number of NumPy's
            return text if (text := plain(ensure_ascii=False)).isprintable() else plain()


def dump(subject: Task | RewardMachine) -> str:
    """Return a task as the text of a task file, or a machine as that of a file with just a machine."""
    text: str = yaml.dump(
        _record(subject), Dumper=_Dumper, default_flow_style=True, width=math.inf, sort_keys=False, allow_unicode=True
    )
    return text


def dump_as_json(subject: Task | RewardMachine) -> str:
    """Return the same in JSON."""
    return _json(_record(subject), "") + "\n"


def _record(subject: Task | RewardMachine) -> Block:
    return machine_record(subject) if isinstance(subject, RewardMachine) else _task_record(subject)


def _task_record(task: Task) -> Block:
    mdp = task.mdp
    if isinstance(mdp.map, GridMap) and mdp.map.makes(mdp):
        record = mdp.map.record()
        world = {"grid": Block(record, map=Lines(record["map"]))}
    elif isinstance(mdp.map, GymnasiumMap) and _is_plain(mdp.map.options) and mdp.map.makes(mdp):
        world = {"gymnasium": Block(id=mdp.map.id, options=dict(mdp.map.options), labels=_label_parts(mdp))}
    else:
        world = {"mdp": _mdp_record(mdp)}
    length: dict[str, float] = {} if task.horizon is None else {"horizon": task.horizon}
    if task.discount < 1.0:
        length["discount"] = task.discount
    if task.until_done:
        length["until_done"] = True
    return Block(world, machine=machine_record(task.machine), **length)


def _mdp_record(mdp: LabeledMDP) -> Block:
    starts = {mdp.observation_name(o): float(mdp.start_probs[o]) for o in np.flatnonzero(mdp.start_probs).tolist()}
    ended = list(_ended(mdp))
    return Block(
        observations=mdp.observation_names or mdp.num_observations,
        actions=mdp.action_names or mdp.num_actions,
        start=next(iter(starts)) if list(starts.values()) == [1.0] else starts,
        transitions=Rows(_rows(mdp)),
        labels=_label_parts(mdp),
        **({"ended": ended} if ended else {}),
    )


def _is_plain(options: Any) -> bool:
    """Tell whether a file can hold options as they are."""
    try:
        return bool(json.loads(json.dumps(options)) == options)
    except (TypeError, ValueError):
        return False


def _label_parts(mdp: LabeledMDP) -> Rows:
    return Rows(_pattern_part(mdp, rule) | {"label": sorted(rule.propositions)} for rule in _label_rules(mdp))


def _ended(mdp: LabeledMDP) -> Iterator[str | dict[str, str]]:
    """Return the observations in which episodes always end, and the other transitions that end one."""
    is_ongoing = mdp.start_probs > 0.0
    is_ongoing[mdp.successors[~mdp.ends]] = True
    has_ending_entry = np.zeros(mdp.num_observations, dtype=bool)
    has_ending_entry[mdp.successors[mdp.ends]] = True
    yield from (mdp.observation_name(o) for o in np.flatnonzero(has_ending_entry & ~is_ongoing).tolist())
    for edge in np.flatnonzero(mdp.ends & is_ongoing[mdp.successors]).tolist():
        (o, a), z = divmod(int(mdp.edge_pairs[edge]), mdp.num_actions), int(mdp.successors[edge])
        row = slice(*mdp.indptr[mdp.edge_pairs[edge] :][:2])
        if np.count_nonzero(mdp.successors[row] == z) > 1:
            raise ModelError(
                f"{mdp.describe(o, a)} leads to {mdp.observation_name(z)} both with and without an end of the episode, "
                "which a file cannot say; give the end an observation of its own"
            )
        yield _pattern_part(mdp, LabelRule((), o, a, z))


def _rows(mdp: LabeledMDP) -> Iterator[list[Any]]:
    indptr, targets, probs = mdp.indptr.tolist(), mdp.successors.tolist(), mdp.probs.tolist()
    for row, (begin, end) in enumerate(pairwise(indptr)):
        o, a = divmod(row, mdp.num_actions)
        successors = {mdp.observation_name(z): p for z, p in zip(targets[begin:end], probs[begin:end], strict=True)}
        yield [mdp.observation_name(o), mdp.action_name(a), successors]


def _label_rules(mdp: LabeledMDP) -> Iterator[LabelRule]:
    if mdp.labelling.by_rules:
        yield from mdp.labelling.rules
        return
    edges = zip(mdp.edge_pairs.tolist(), mdp.successors.tolist(), mdp.labels.tolist(), strict=True)
    for row, target, number in edges:
        label: Label = mdp.label_sets[number]
        o, a = divmod(row, mdp.num_actions)
        if label:
            yield LabelRule(label, o, a, target)


def _pattern_part(mdp: LabeledMDP, rule: LabelRule) -> dict[str, Any]:
    """Return the transitions that a rule matches, by name."""
    part = {
        "from": None if rule.source is None else mdp.observation_name(rule.source),
        "action": None if rule.action is None else mdp.action_name(rule.action),
        "to": None if rule.target is None else mdp.observation_name(rule.target),
    }
    return {key: name for key, name in part.items() if name is not None}


def machine_record(machine: RewardMachine) -> Block:
    """Return a machine by its rules, or by its formula if it has one: it may have half a million rules."""
    if not machine.idle_reward.is_zero:
        raise ModelError("the rewards of this machine were mapped into [0, 1]; write the machine that it was made from")
    if machine.source is not None:
        return Block(machine.source, propositions=machine.propositions)
    return Block(
        states=machine.states,
        initial=machine.initial,
        propositions=machine.propositions,
        **({"first_match": True} if machine.first_match else {}),
        transitions=Rows(_rule_part(rule) for rule in machine.rules),
    )


def _rule_part(rule: Rule) -> dict[str, Any]:
    if not all(name and "\n" not in name for name in rule.guard.propositions()):
        raise ModelError(
            f"{rule.where}: this guard does not read back from text; is a name empty, or of several lines?"
        )
    part: dict[str, Any] = {"from": rule.source, "when": str(rule.guard)}
    rewards = [{} if out.reward.is_zero else {"reward": out.reward.to_data()} for out in rule.outcomes]
    if len(rewards) == 1 and rule.outcomes[0].probability == 1.0:
        return part | {"to": rule.outcomes[0].target} | rewards[0]
    pairs = zip(rule.outcomes, rewards, strict=True)
    targets = {o.target: {"probability": o.probability, **own} if own else o.probability for o, own in pairs}
    return part | {"to": targets}
