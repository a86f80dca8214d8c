"""Machines fixed before the data: how a dataset records them, and how a plan looks its machine up among them.

What must be fixed is the function V*, that is the machine, the labels and the horizon. A digest of the three is written
before the first episode. Labels that are found by playing (in black boxes) are the environment's own, which no digest
can cover; they were fixed with it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from praemia.errors import ParameterError
from praemia.exploration.dataset import Dataset
from praemia.exploration.environments import Environment
from praemia.exploration.estimate import require_readable
from praemia.machines.algebra import state_digests
from praemia.machines.labels import LabelRule, Labels, RuleLabelling, as_labelling
from praemia.machines.machine import RewardMachine

Rules = Iterable[LabelRule]


def machine_digest(machine: RewardMachine, horizon: int, rules: Rules | None) -> str:
    """Return a digest of all that V* depends on but p; how rules are written, and in which order, does not count.

    ``rules`` is None for labels that are found by playing.
    """
    known = {
        "initial": machine.initial,
        "states": state_digests(machine),
        "idle": machine.idle_reward.mean,
        "horizon": horizon,
        "labels": None if rules is None else sorted({_rule_text(rule) for rule in rules}),
    }
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _rule_text(rule: LabelRule) -> str:
    return json.dumps([sorted(rule.propositions), rule.source, rule.action, rule.target])


def as_machines(machines: Iterable[RewardMachine]) -> tuple[RewardMachine, ...]:
    """Return machines as a tuple; the argument may be a generator."""
    if isinstance(machines, RewardMachine):
        raise ParameterError("machines is one machine; expected a list of them, such as [machine]")
    return tuple(machines)


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


def is_recorded(dataset: Dataset, machine: RewardMachine, horizon: int, labels: Labels | None) -> bool:
    """Tell whether a dataset records a machine with these labels (None: the data's own) and this horizon."""
    if not dataset.fixed_machines:
        return False
    labelling = dataset.labelling if labels is None else as_labelling(labels)
    if not isinstance(labelling, RuleLabelling):
        return False  # a function, which cannot be compared
    rules = labelling.rules if dataset.labels_known or labels is not None else None
    return machine_digest(machine, horizon, rules) in dataset.fixed_machines
