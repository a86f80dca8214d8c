"""Write tasks and machines as the text of task files, which load as the same machine and the same arrays.

A task that was made from a map is written as its map, and a labelling by a function as a rule for each transition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from praemia.envs.black_box import BlackBox
from praemia.envs.grid_map import GridMap
from praemia.envs.gymnasium_table import GymnasiumMap
from praemia.errors import ModelError
from praemia.files.boxes import box_record, is_plain
from praemia.files.schema import WORLDS
from praemia.files.source import parse_scalar
from praemia.machines.labels import Label, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

MAX_KEY = 1_000  # characters of a key in YAML before it needs a question mark
BLOCKS = (*WORLDS, "labels", "machine")  # the keys of a file whose values have a line for each key
_PLAIN = re.compile(r"[^\W\d_][\w&|!()*+/.<>=-]*(?: [\w&|!()*+/.<>=-]+)*")  # text that YAML reads as it is


def dump(subject: Task | BlackBox | RewardMachine) -> str:
    """Return a task as the text of a task file, or a machine as that of a file with just a machine."""
    return "".join(f"{_yaml_key(key)}:{_block(key, value)}\n" for key, value in _record(subject).items())


def dump_as_json(subject: Task | BlackBox | RewardMachine) -> str:
    """Return the same in JSON."""
    return json.dumps(_record(subject), indent=1, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Return a reward as files have it, and a number of NumPy's as one of Python's."""
    return value.to_data() if isinstance(value, Reward) else value.item()


def _block(key: str, value: Any, indent: str = "\n  ") -> str:
    """Return what stands behind a key in YAML: mappings of ``BLOCKS``, rows and maps in lines of their own."""
    if key in BLOCKS and isinstance(value, dict):
        return "".join(f"{indent}{_yaml_key(inner)}:{_block('', own, indent + '  ')}" for inner, own in value.items())
    if isinstance(value, list) and value and isinstance(value[0], dict | list):
        return "".join(f"{indent}- {_flow(row)}" for row in value)
    if isinstance(value, str) and "\n" in value[1:-1] and value[0].isprintable() and value[0] != " ":
        lines = value.removesuffix("\n").split("\n")
        if lines[-1] and all(map(str.isprintable, lines)):
            return (" |" if value.endswith("\n") else " |-") + "".join(indent + line for line in lines)
    return " " + _flow(value)


def _flow(value: Any) -> str:
    """Write a value in one line of YAML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_yaml_key(name)}: {_flow(own)}' for name, own in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str):
        return _yaml(value)
    return _flow(value.to_data()) if isinstance(value, Reward) else json.dumps(value, default=_plain)


def _yaml(text: str) -> str:
    if _PLAIN.fullmatch(text) and isinstance(parse_scalar(text), str):
        return text
    return "".join(
        char if char.isprintable() else f"\\U{ord(char):08x}" for char in json.dumps(text, ensure_ascii=False)
    )


def _yaml_key(text: str) -> str:
    written = _yaml(text)
    return written if len(written) <= MAX_KEY else f"? {written} "


def _record(subject: Task | BlackBox | RewardMachine) -> dict[str, Any]:
    return machine_record(subject) if isinstance(subject, RewardMachine) else _task_record(subject)


def _task_record(task: Task | BlackBox) -> dict[str, Any]:
    length = {
        **({} if task.horizon is None else {"horizon": task.horizon}),
        **({} if task.discount == 1.0 else {"discount": task.discount}),
        **({"until_done": True} if task.until_done else {}),
    }
    world = box_record(task) if isinstance(task, BlackBox) else _world_record(task.mdp)
    return world | {"machine": machine_record(task.machine)} | length


def _world_record(mdp: LabeledMDP) -> dict[str, Any]:
    if isinstance(mdp.map, GridMap) and mdp.map.makes(mdp):
        return {"grid": mdp.map.record()}
    if isinstance(mdp.map, GymnasiumMap) and is_plain(mdp.map.options) and mdp.map.makes(mdp):
        return {"gymnasium": {"id": mdp.map.id, "options": dict(mdp.map.options), "labels": _label_parts(mdp)}}
    return {"mdp": _mdp_record(mdp)}


def _mdp_record(mdp: LabeledMDP) -> dict[str, Any]:
    starts = {mdp.observation_name(o): float(mdp.start_probs[o]) for o in np.flatnonzero(mdp.start_probs).tolist()}
    ended = list(_ended(mdp))
    return {
        "observations": mdp.observation_names or mdp.num_observations,
        "actions": mdp.action_names or mdp.num_actions,
        "start": next(iter(starts)) if list(starts.values()) == [1.0] else starts,
        "transitions": list(_rows(mdp)),
        "labels": _label_parts(mdp),
        **({"ended": ended} if ended else {}),
    }


def _label_parts(mdp: LabeledMDP) -> list[dict[str, Any]]:
    return [_pattern_part(mdp, rule) | {"label": sorted(rule.propositions)} for rule in _label_rules(mdp)]


def _ended(mdp: LabeledMDP) -> Iterator[str | dict[str, str]]:
    """Return the observations in which episodes always end, and the other transitions that end one."""
    is_ongoing = mdp.start_probs > 0.0
    is_ongoing[mdp.successors[~mdp.ends]] = True
    has_ending_entry = np.zeros(mdp.num_observations, dtype=bool)
    has_ending_entry[mdp.successors[mdp.ends]] = True
    yield from (mdp.observation_name(o) for o in np.flatnonzero(has_ending_entry & ~is_ongoing).tolist())
    for edge in np.flatnonzero(mdp.ends & is_ongoing[mdp.successors]).tolist():
        pair, z = int(mdp.edge_pairs[edge]), int(mdp.successors[edge])
        row = slice(*mdp.indptr[pair:][:2])
        if np.count_nonzero(mdp.successors[row] == z) > 1:
            raise ModelError(
                f"{mdp.describe(pair)} leads to {mdp.observation_name(z)} both with and without an end of the episode, "
                "which a file cannot say; give the end an observation of its own"
            )
        yield _pattern_part(mdp, LabelRule((), *divmod(pair, mdp.num_actions), z))


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
    observation, places = mdp.observation_name, (rule.source, rule.action, rule.target)
    names = zip(("from", "action", "to"), (observation, mdp.action_name, observation), places, strict=True)
    return {key: name(place) for key, name, place in names if place is not None}


def machine_record(machine: RewardMachine) -> dict[str, Any]:
    """Return a machine by its rules, or by its formula if it has one: it may have half a million rules."""
    if machine.idle_reward != ZERO:
        raise ModelError("the rewards of this machine were mapped into [0, 1]; write the machine that it was made from")
    if machine.source is not None:
        return {**machine.source, "propositions": machine.propositions}
    return {
        "states": machine.states,
        "initial": machine.initial,
        "propositions": machine.propositions,
        **({"first_match": True} if machine.first_match else {}),
        "transitions": list(map(_rule_part, machine.rules if machine.written_rules is None else machine.written_rules)),
    }


def _rule_part(rule: Rule) -> dict[str, Any]:
    if not all(name and "\n" not in name for name in rule.guard.propositions()):
        raise ModelError(
            f"{rule.where}: this guard does not read back from text; is a name empty, or of several lines?"
        )
    part: dict[str, Any] = {"from": rule.source, "when": str(rule.guard)}
    rewards = [{} if out.reward == ZERO else {"reward": out.reward} for out in rule.outcomes]
    if len(rewards) == 1 and rule.outcomes[0].probability == 1.0:
        return part | {"to": rule.outcomes[0].target} | rewards[0]
    pairs = zip(rule.outcomes, rewards, strict=True)
    targets = {o.target: {"probability": o.probability, **own} if own else o.probability for o, own in pairs}
    return part | {"to": targets}
