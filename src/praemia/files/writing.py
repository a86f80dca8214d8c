"""Write tasks and machines as YAML text that loads back to the same machine and the same arrays.

Numbers are written with all their digits. A labelling by rules is written as its rules; one by a function is
written as a rule for each transition that can happen and has a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from praemia.errors import ModelError
from praemia.files.source import parse_scalar
from praemia.files.whole import write_whole
from praemia.models.guards import parse_guard
from praemia.models.labels import Label, LabelRule, RuleLabelling
from praemia.models.machine import NOTHING, Outcome, RewardMachine, Rule
from praemia.models.mdp import LabeledMDP
from praemia.models.rewards import Reward
from praemia.models.task import Task

_BARE = re.compile(r"[^\W\d][\w-]*", re.ASCII)


def save_task(task: Task, path: str | Path) -> None:
    """Write a task to a file, whole or not at all.

    Examples
    --------
    >>> import praemia
    >>> praemia.save_task(praemia.envs.warehouse(size=3), "small.yaml")
    >>> praemia.load_task("small.yaml")
    Task('small': 9 observations, 5 actions, 3 machine states, horizon 9)
    """
    write_whole(Path(path), dump_task(task).encode())


def save_machine(machine: RewardMachine, path: str | Path) -> None:
    """Write a machine to a file, whole or not at all.

    Examples
    --------
    >>> import praemia
    >>> machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    >>> praemia.save_machine(machine, "machine.yaml")
    >>> praemia.load_machine("machine.yaml") == machine
    True
    """
    write_whole(Path(path), dump_machine(machine).encode())


def dump_task(task: Task) -> str:
    """Return a task as the text of a task file."""
    lines = ["mdp:", *_mdp_lines(task.mdp, "  "), "machine:", *_machine_lines(task.machine, "  ")]
    return "\n".join([*lines, f"horizon: {task.horizon}"]) + "\n"


def dump_machine(machine: RewardMachine) -> str:
    """Return a machine as the text of a file with just a machine."""
    return "\n".join(_machine_lines(machine, "")) + "\n"


def _mdp_lines(mdp: LabeledMDP, indent: str) -> Iterator[str]:
    yield f"{indent}observations: {_flow(mdp.observation_names or mdp.num_observations)}"
    yield f"{indent}actions: {_flow(mdp.action_names or mdp.num_actions)}"
    starts = {mdp.observation_name(o): mdp.start_probs[o] for o in np.flatnonzero(mdp.start_probs).tolist()}
    yield f"{indent}start: {_flow(next(iter(starts)) if list(starts.values()) == [1.0] else starts)}"
    yield f"{indent}transitions:"
    for row, (begin, end) in enumerate(zip(mdp.indptr[:-1], mdp.indptr[1:], strict=True)):
        o, a = divmod(row, mdp.num_actions)
        successors = zip(mdp.successors[begin:end], mdp.probs[begin:end], strict=True)
        probs = {mdp.observation_name(z): p for z, p in successors}
        yield f"{indent}  - {_flow([mdp.observation_name(o), mdp.action_name(a), probs])}"
    rules = list(_label_rules(mdp))
    yield f"{indent}labels:{'' if rules else ' []'}"
    for rule in rules:
        yield f"{indent}  - {_flow(_label_part(mdp, rule))}"


def _label_rules(mdp: LabeledMDP) -> Iterator[LabelRule]:
    if isinstance(mdp.labelling, RuleLabelling):
        yield from mdp.labelling.rules
        return
    rows = np.repeat(np.arange(mdp.num_pairs), np.diff(mdp.indptr))
    for row, target, number in zip(rows.tolist(), mdp.successors.tolist(), mdp.labels.tolist(), strict=True):
        label: Label = mdp.label_sets[number]
        if label:
            yield LabelRule(label, *divmod(row, mdp.num_actions), target)


def _label_part(mdp: LabeledMDP, rule: LabelRule) -> dict[str, Any]:
    part = {
        "from": None if rule.source is None else mdp.observation_name(rule.source),
        "action": None if rule.action is None else mdp.action_name(rule.action),
        "to": None if rule.target is None else mdp.observation_name(rule.target),
    }
    return {key: name for key, name in part.items() if name is not None} | {"label": sorted(rule.propositions)}


def _machine_lines(machine: RewardMachine, indent: str) -> Iterator[str]:
    yield f"{indent}states: {_flow(machine.states)}"
    yield f"{indent}initial: {_flow(machine.initial)}"
    yield f"{indent}propositions: {_flow(machine.propositions)}"
    yield f"{indent}transitions:{'' if machine.rules else ' []'}"
    for rule in machine.rules:
        yield f"{indent}  - {_flow(_rule_part(rule))}"


def _rule_part(rule: Rule) -> dict[str, Any]:
    if parse_guard(str(rule.guard)) != rule.guard:
        raise ModelError(f"{rule.where}: this guard does not read back from text; are all its names plain words?")
    part: dict[str, Any] = {"from": rule.source, "when": str(rule.guard)}
    if len(rule.outcomes) == 1 and rule.outcomes[0].probability == 1.0:
        outcome = rule.outcomes[0]
        reward = {} if outcome.reward == NOTHING else {"reward": _reward_part(outcome.reward)}
        return part | {"to": outcome.target} | reward
    return part | {"to": {outcome.target: _outcome_part(outcome) for outcome in rule.outcomes}}


def _outcome_part(outcome: Outcome) -> Any:
    if outcome.reward == NOTHING:
        return outcome.probability
    return {"probability": outcome.probability, "reward": _reward_part(outcome.reward)}


def _reward_part(reward: Reward) -> Any:
    if reward == Reward((reward.values[0],)):
        return reward.values[0]
    if reward == Reward.bernoulli(reward.probabilities[-1]):
        return {"bernoulli": reward.probabilities[-1]}
    return {"values": reward.values, "probabilities": reward.probabilities}


def _flow(value: Any) -> str:
    """Write a value on one line, as YAML's flow style does."""
    match value:
        case str():
            return _quoted(value)
        case Mapping():
            return "{" + ", ".join(f"{_quoted(key)}: {_flow(item)}" for key, item in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case int() | np.integer():
            return str(value)
        case _:
            return repr(float(value))


def _quoted(text: str) -> str:
    """Write text bare where it stays text, else in quotes."""
    if _BARE.fullmatch(text) and isinstance(parse_scalar(text), str):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
