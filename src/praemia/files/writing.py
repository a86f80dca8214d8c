"""Write tasks and machines to files that load back to the same machine and the same arrays.

Numbers are written with all their digits. A task that was drawn as a map is written as its map. A labelling by rules is
written as its rules; one by a function is written as a rule for each transition that can happen and has a label. Other
tools' formats are in ``formats``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from praemia.envs.grid import GridMDP
from praemia.errors import ModelError, ParameterError, PraemiaError
from praemia.files.atomic_io import write_whole
from praemia.files.formats import STORM, format_of, is_text_format, require_known_ending, write_machine_text
from praemia.files.layout import json_text, yaml_text
from praemia.machines.guards import reads_back
from praemia.machines.labels import AFTER_THE_END, Label, LabelRule, RuleLabelling
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


def save_task(task: Task, path: str | Path) -> None:
    """Write a task to a file, whole or not at all: YAML, JSON (.json) or Storm's explicit format (.drn).

    Examples
    --------
    >>> import praemia
    >>> praemia.save_task(praemia.envs.warehouse(size=3), "small.yaml")
    >>> praemia.load_task("small.yaml")
    Task('small': 9 observations, 5 actions, 3 machine states, horizon 9)
    """
    suffix = Path(path).suffix.lower()
    require_known_ending(path, (STORM,))
    if suffix == STORM:
        from praemia.files.formats.drn import write_drn

        text = write_drn(task)
    elif is_text_format(format_of(path, None)):
        raise ModelError(f"{path}: a file {suffix} holds a machine; a task is written as .yaml, .json or {STORM}")
    else:
        text = json_text(_task_record(task)) if suffix == ".json" else dump_task(task)
    write_whole(Path(path), text.encode())


def save_machine(machine: RewardMachine, path: str | Path, format: str | None = None) -> None:
    """Write a machine to a file, whole or not at all, in the format that is named or that of the file's ending.

    In a task file's format (.yaml, .json) a machine that was made from a formula is written as its formula.

    Raises
    ------
    PraemiaError
        If the format cannot say all that the machine does; nothing is written then.

    Examples
    --------
    >>> import praemia
    >>> machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    >>> praemia.save_machine(machine, "machine.yaml")
    >>> praemia.load_machine("machine.yaml") == machine
    True
    """
    if format is None:
        if Path(path).suffix.lower() == STORM:
            raise ParameterError(f"{path}: {STORM} holds a task, and this is just a machine; use save_task")
        require_known_ending(path)
    try:
        text = _machine_text(machine, format_of(path, format))
    except PraemiaError as error:
        raise type(error)(f"{path}: {error}") from None
    write_whole(Path(path), text.encode())


def _machine_text(machine: RewardMachine, format: str) -> str:
    if is_text_format(format):
        return write_machine_text(machine, format)
    if format == "multiagent":
        from praemia.files.formats.multiagent import write_multiagent

        return write_multiagent(machine)
    return json_text(machine_record(machine)) if format == "json" else dump_machine(machine)


def dump_task(task: Task) -> str:
    """Return a task as the text of a task file."""
    return yaml_text(_task_record(task))


def dump_machine(machine: RewardMachine) -> str:
    """Return a machine as the text of a file with just a machine."""
    return yaml_text(machine_record(machine))


def _task_record(task: Task) -> dict[str, Any]:
    mdp = task.mdp
    world = {"grid": mdp.map.record()} if isinstance(mdp, GridMDP) else {"mdp": _mdp_record(mdp)}
    return {**world, "machine": machine_record(task.machine), "horizon": task.horizon}


def _mdp_record(mdp: LabeledMDP) -> dict[str, Any]:
    starts = {mdp.observation_name(o): float(mdp.start_probs[o]) for o in np.flatnonzero(mdp.start_probs).tolist()}
    rules = list(_label_rules(mdp))
    ended = [mdp.observation_name(rule.source) for rule in rules if _is_ending(rule) and rule.source is not None]
    return {
        "observations": mdp.observation_names or mdp.num_observations,
        "actions": mdp.action_names or mdp.num_actions,
        "start": next(iter(starts)) if list(starts.values()) == [1.0] else starts,
        "transitions": list(_rows(mdp)),
        "labels": [_label_part(mdp, rule) for rule in rules if not _is_ending(rule)],
        **({"ended": ended} if ended else {}),
    }


def _is_ending(rule: LabelRule) -> bool:
    """Tell whether a rule says no more than that an episode has ended in an observation."""
    return rule.propositions == AFTER_THE_END and rule.source is not None and rule.action is rule.target is None


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
    ended = _ended_observations(mdp)
    edges = zip(mdp.edge_pairs.tolist(), mdp.successors.tolist(), mdp.labels.tolist(), strict=True)
    for row, target, number in edges:
        label: Label = mdp.label_sets[number]
        o, a = divmod(row, mdp.num_actions)
        if label and o not in ended:
            yield LabelRule(label, o, a, target)
    yield from (LabelRule(AFTER_THE_END, source=o) for o in sorted(ended))


def _ended_observations(mdp: LabeledMDP) -> set[int]:
    """Return the observations that are left with no other label than that of the end of an episode."""
    if AFTER_THE_END not in mdp.label_sets:
        return set()
    sources, is_end = mdp.edge_pairs // mdp.num_actions, mdp.labels == mdp.label_sets.index(AFTER_THE_END)
    return set(sources[is_end].tolist()).difference(sources[~is_end].tolist())


def _label_part(mdp: LabeledMDP, rule: LabelRule) -> dict[str, Any]:
    part = {
        "from": None if rule.source is None else mdp.observation_name(rule.source),
        "action": None if rule.action is None else mdp.action_name(rule.action),
        "to": None if rule.target is None else mdp.observation_name(rule.target),
    }
    return {key: name for key, name in part.items() if name is not None} | {"label": sorted(rule.propositions)}


def machine_record(machine: RewardMachine) -> dict[str, Any]:
    """Return a machine by its rules, or by its formula if it has one: it may have half a million rules."""
    if machine.source is not None:
        return {**machine.source, "propositions": machine.propositions}
    return {
        "states": machine.states,
        "initial": machine.initial,
        "propositions": machine.propositions,
        **({"first_match": True} if machine.first_match else {}),
        "transitions": [_rule_part(rule) for rule in machine.rules],
    }


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
