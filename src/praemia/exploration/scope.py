"""What a certificate holds for: anything chosen after looking at the data, or a machine fixed before it.

What must be fixed is the function V*, that is the machine, the labels and the horizon. A dataset records a digest of
the three, written before the first episode; a plan looks its machine up there. Labels that are found by playing (in
black boxes) are the environment's own, which no digest can cover; they were fixed with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from enum import Enum

from praemia.errors import ParameterError
from praemia.exploration.dataset import Dataset
from praemia.exploration.environments import Environment
from praemia.exploration.estimate import require_readable
from praemia.machines.algebra import state_digests
from praemia.machines.labels import LabelRule, Labels, RuleLabelling, as_labelling
from praemia.machines.machine import RewardMachine


class Scope(Enum):
    """What a certificate holds for; the value says it in words."""

    ANY_REWARD = "any reward, also one chosen after looking at the data"
    ANY_MACHINE = "any machine, also one chosen after looking at the data"
    RECORDED = "a machine fixed before the data"
    VOUCHED = "a machine fixed before the data, as you say"


def machine_digest(machine: RewardMachine, horizon: int, rules: Iterable[LabelRule] | None) -> str:
    """Return a digest of all that V* depends on but p; how rules are written, and in which order, does not count.

    ``rules`` is None for labels that are found by playing.
    """
    contents = {
        "initial": machine.initial,
        "states": state_digests(machine),
        "idle": machine.idle_reward.mean,
        "horizon": horizon,
        "labels": None if rules is None else sorted({_rule_text(rule) for rule in rules}),
    }
    return hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()


def _rule_text(rule: LabelRule) -> str:
    return json.dumps([sorted(rule.propositions), rule.source, rule.action, rule.target])


def digests_in_advance(environment: Environment, machines: Sequence[RewardMachine]) -> tuple[str, ...]:
    """Return the digests of machines to record, before anything is played; refuse what cannot be planned for."""
    rules = environment.known_rules()
    for number, machine in enumerate(machines):
        if not isinstance(machine, RewardMachine):
            raise ParameterError(f"machines[{number}] is {type(machine).__name__}; expected a RewardMachine")
        # Where labels are found by playing, only names that the environment declares can occur.
        declared = frozenset(environment.propositions)
        produced = declared if rules is None else RuleLabelling(rules).propositions()
        require_readable(machine, produced, produced | declared)
    return tuple(sorted({machine_digest(machine, environment.horizon, rules) for machine in machines}))


def scope_of(
    dataset: Dataset, machine: RewardMachine, horizon: int, labels: Labels | None, fixed_in_advance: bool
) -> tuple[Scope, int]:
    """Return what a machine's certificate holds for, and how many machines share part 3 of the confidence."""
    if _is_recorded(dataset, machine, horizon, labels):
        return Scope.RECORDED, dataset.fixed_shares
    return (Scope.VOUCHED, 1) if fixed_in_advance else (Scope.ANY_MACHINE, 0)


def _is_recorded(dataset: Dataset, machine: RewardMachine, horizon: int, labels: Labels | None) -> bool:
    """Tell whether a dataset records a machine with these labels (None: the data's own) and this horizon."""
    if not dataset.fixed_machines:
        return False
    labelling = dataset.labelling if labels is None else as_labelling(labels)
    if not isinstance(labelling, RuleLabelling):
        return False  # a function, which cannot be compared
    rules = labelling.rules if dataset.labels_known or labels is not None else None
    return machine_digest(machine, horizon, rules) in dataset.fixed_machines
