"""Write tasks and machines as the text of task files, which load as the same machine and the same arrays.

Numbers are written with all their digits. A task that was drawn as a map is written as its map. A labelling by rules is
written as its rules; one by a function is written as a rule for each transition that can happen and has a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from praemia.envs.grid_map import GridMap
from praemia.errors import ModelError
from praemia.files.layout import Block, Lines, Rows, json_text, yaml_text
from praemia.machines.guards import reads_back
from praemia.machines.labels import Label, LabelRule, RuleLabelling
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


def dump_task(task: Task) -> str:
    """Return a task as the text of a task file."""
    return yaml_text(_task_record(task))


def dump_machine(machine: RewardMachine) -> str:
    """Return a machine as the text of a file with just a machine."""
    return yaml_text(machine_record(machine))


def dump_task_as_json(task: Task) -> str:
    """Return a task as the text of a task file in JSON."""
    return json_text(_task_record(task))


def dump_machine_as_json(machine: RewardMachine) -> str:
    """Return a machine as the text of a file in JSON with just a machine."""
    return json_text(machine_record(machine))


def _task_record(task: Task) -> Block:
    mdp = task.mdp
    if isinstance(mdp.map, GridMap) and mdp.map.makes(mdp):
        record = mdp.map.record()
        world = {"grid": Block(record, map=Lines(record["map"]))}
    else:
        world = {"mdp": _mdp_record(mdp)}
    return Block(world, machine=machine_record(task.machine), horizon=task.horizon)


def _mdp_record(mdp: LabeledMDP) -> Block:
    starts = {mdp.observation_name(o): float(mdp.start_probs[o]) for o in np.flatnonzero(mdp.start_probs).tolist()}
    ended = list(_ended(mdp))
    return Block(
        observations=mdp.observation_names or mdp.num_observations,
        actions=mdp.action_names or mdp.num_actions,
        start=next(iter(starts)) if list(starts.values()) == [1.0] else starts,
        transitions=Rows(_rows(mdp)),
        labels=Rows(_place_part(mdp, rule) | {"label": sorted(rule.propositions)} for rule in _label_rules(mdp)),
        **({"ended": ended} if ended else {}),
    )


def _ended(mdp: LabeledMDP) -> Iterator[str | dict[str, str]]:
    """Return the observations in which episodes always end, and the other transitions that end one."""
    going_on = mdp.start_probs > 0.0
    going_on[mdp.successors[~mdp.ends]] = True
    met = np.zeros(mdp.num_observations, dtype=bool)
    met[mdp.successors[mdp.ends]] = True
    yield from (mdp.observation_name(o) for o in np.flatnonzero(met & ~going_on).tolist())
    for edge in np.flatnonzero(mdp.ends & going_on[mdp.successors]).tolist():
        (o, a), z = divmod(int(mdp.edge_pairs[edge]), mdp.num_actions), int(mdp.successors[edge])
        row = slice(*mdp.indptr[mdp.edge_pairs[edge] :][:2])
        if np.count_nonzero(mdp.successors[row] == z) > 1:
            raise ModelError(
                f"{mdp.describe(o, a)} leads to {mdp.observation_name(z)} both with and without an end of the episode, "
                "which a file cannot say; give the end an observation of its own"
            )
        yield _place_part(mdp, LabelRule((), o, a, z))


def _rows(mdp: LabeledMDP) -> Iterator[list[Any]]:
    indptr, targets, probs = mdp.indptr.tolist(), mdp.successors.tolist(), mdp.probs.tolist()
    for row, (begin, end) in enumerate(pairwise(indptr)):
        o, a = divmod(row, mdp.num_actions)
        successors = {mdp.observation_name(z): p for z, p in zip(targets[begin:end], probs[begin:end], strict=True)}
        yield [mdp.observation_name(o), mdp.action_name(a), successors]


def _label_rules(mdp: LabeledMDP) -> Iterator[LabelRule]:
    if isinstance(mdp.labelling, RuleLabelling):
        yield from mdp.labelling.rules
        return
    edges = zip(mdp.edge_pairs.tolist(), mdp.successors.tolist(), mdp.labels.tolist(), strict=True)
    for row, target, number in edges:
        label: Label = mdp.label_sets[number]
        o, a = divmod(row, mdp.num_actions)
        if label:
            yield LabelRule(label, o, a, target)


def _place_part(mdp: LabeledMDP, rule: LabelRule) -> dict[str, Any]:
    """Return the transitions that a rule matches, by name."""
    part = {
        "from": None if rule.source is None else mdp.observation_name(rule.source),
        "action": None if rule.action is None else mdp.action_name(rule.action),
        "to": None if rule.target is None else mdp.observation_name(rule.target),
    }
    return {key: name for key, name in part.items() if name is not None}


def machine_record(machine: RewardMachine) -> Block:
    """Return a machine by its rules, or by its formula if it has one: it may have half a million rules."""
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
    if not reads_back(rule.guard):
        raise ModelError(
            f"{rule.where}: this guard does not read back from text; is a name empty, or of several lines?"
        )
    part: dict[str, Any] = {"from": rule.source, "when": str(rule.guard)}
    if len(rule.outcomes) == 1 and rule.outcomes[0].probability == 1.0:
        outcome = rule.outcomes[0]
        reward = {} if outcome.reward.is_nothing else {"reward": outcome.reward.to_data()}
        return part | {"to": outcome.target} | reward
    return part | {"to": {outcome.target: _outcome_part(outcome) for outcome in rule.outcomes}}


def _outcome_part(outcome: Outcome) -> Any:
    if outcome.reward.is_nothing:
        return outcome.probability
    return {"probability": outcome.probability, "reward": outcome.reward.to_data()}
