"""Headroom: optimism measured against what the machine can still pay.

The learner knows the machine, so it knows the most that a pair can lead to: T = the largest Y = φ + W_{h+1} over every
o' that the pair's labels allow. A pair never visited is worth T, no estimate exceeds T, and what lies between the
estimate and T, the *headroom*, is all that optimism can add. With n = N(o, a), N(o) = Σ_a N(o, a) and p̂ as usual:

practical (the default):  L = (N(o)/n)^⅓,   Q = min{T, p̂Y + c₁·√(L·Var_p̂(Y)/n) + c₂·L·(T − p̂Y)/n}
theory:                   ℓ = ln(3·H·Q·O·A·T_steps/ρ),   Q = min{T, p̂Y + max(2√2·√(ℓ·Var_p̂(Y)/n), 8·ℓ·T/n)}

Plans are made by the `epoch` rule: when a pair's visits since the last plan reach its visits before.

Why L, the neglect: an action given up after a few unlucky tries is tried again once its observation has been visited
often enough, so a run does not settle for good on a wrong policy. The theoretical constants make every V̄_h an upper
bound of V*_h with probability 1 − ρ and keep the regret's order (docs/headroom.md has the proof).

T is taken over all (label, o') that can occur together, and over the labels that a pair allows. On tasks too large to
ask for every label of (o, a, o'), it is taken over all labels that occur, for every pair, and in a black box over all
that the machine can do: larger, never smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.errors import unknown_name
from praemia.kernels.arrays import LayerArrays, action_type
from praemia.kernels.headroom import Outlook, plan_headroom
from praemia.learners.base import Experience, Learner, LearnerPlan, failure_prob_parameter, parameter, tie_seed
from praemia.models.guards import Constant, Guard, overlap
from praemia.models.labels import Label
from praemia.models.machine import RewardMachine
from praemia.models.task import MachineTable, TaskSpec

CONSTANTS = ("practical", "theory")
MAX_TRIPLES = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Headroom(Learner):
    """Optimistic value iteration whose bonus is measured against what can still be earned."""

    name: ClassVar[str] = "headroom"
    summary: ClassVar[str] = "optimism measured against what the machine can still pay"
    reference: ClassVar[str] = "this package, docs/headroom.md"
    optimistic: ClassVar[bool] = True

    constants: str = field(default="practical", metadata={"help": "practical, or theory: provably optimistic"})
    deviation_scale: float = parameter(0.4, "c₁ of the practical bonus, on the standard deviation", 0.0)
    headroom_scale: float = parameter(0.1, "c₂ of the practical bonus, on the headroom", 0.0)
    failure_prob: float = failure_prob_parameter()
    replan: str = field(default="epoch", metadata={"help": "when to plan again: doubling, epoch or episode"})

    def __post_init__(self) -> None:
        if self.constants not in CONSTANTS:
            raise unknown_name("constants", self.constants, CONSTANTS)
        super().__post_init__()

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, seen = experience.spec, experience.seen
        outlook, layers = previous.memory if previous is not None else outlook_of(spec)
        policy = np.empty(
            (spec.horizon, spec.num_observations, spec.num_machine_states), dtype=action_type(spec.num_actions)
        )
        values = plan_headroom(
            seen,
            spec.table.layers.paid,
            spec.table.transition_layers,
            outlook,
            layers,
            *self._factors(experience),
            policy,
            spec.num_actions,
            tie_seed(rng),
        )
        return LearnerPlan(policy, values, (outlook, layers))

    def _factors(self, experience: Experience) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return d, r and g of the recursion for every slot."""
        spec, seen = experience.spec, experience.seen
        n = seen.visits
        if self.constants == "theory":
            log_term = self.log_term(spec, experience.num_steps)
            return np.sqrt(8.0 * log_term / n), 8.0 * log_term / n, np.zeros_like(n)
        observations = seen.pairs // spec.num_actions
        totals = np.bincount(observations, weights=n, minlength=spec.num_observations)
        neglect = np.cbrt(totals[observations] / n)
        return self.deviation_scale * np.sqrt(neglect / n), np.zeros_like(n), self.headroom_scale * neglect / n

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ℓ of the theoretical constants."""
        sizes = spec.horizon * spec.num_machine_states * spec.num_observations * spec.num_actions
        return math.log(3.0 * sizes * num_steps / self.failure_prob)


def outlook_of(spec: TaskSpec) -> tuple[Outlook, LayerArrays]:
    """Find out which (label, o') can follow which pair, and tabulate the machine on those labels."""
    num_obs, num_pairs = spec.num_observations, spec.num_observations * spec.num_actions
    if num_pairs * num_obs > MAX_TRIPLES:
        table = MachineTable.of(spec.machine, telling_labels(spec.machine)) if spec.more_labels else spec.table
        return _everything(len(table.inert), num_obs, num_pairs), table.layers
    labels, table = spec.dense_labels
    num_labels = int(labels.max()) + 1
    by_pair = labels.reshape(num_pairs, num_obs)
    allowed = np.zeros((num_pairs, num_labels), dtype=bool)
    allowed[np.arange(num_pairs)[:, None], by_pair] = True
    groups, group_of = np.unique(allowed, axis=0, return_inverse=True)
    reaches = np.zeros((num_labels, num_obs), dtype=bool)
    reaches[by_pair, np.arange(num_obs)] = True
    return _outlook(group_of.ravel(), groups, reaches), table.layers


def telling_labels(machine: RewardMachine) -> list[Label]:
    """Return labels on which every machine state does all that it can do on any label."""
    found: list[Label] = []
    for state in machine.states:
        guards = [rule.guard for rule in machine.rules_from(state)]
        nothing_else: Guard = Constant(True)
        for guard in guards:
            nothing_else = nothing_else & ~guard
        found += [label for guard in (*guards, nothing_else) if (label := overlap(guard, guard)) is not None]
    return list(dict.fromkeys(found))


def _everything(num_labels: int, num_observations: int, num_pairs: int) -> Outlook:
    """Allow every label after every pair, and every observation under every label."""
    group_of = np.zeros(num_pairs, dtype=np.int32)
    return _outlook(group_of, np.ones((1, num_labels), dtype=bool), np.ones((num_labels, num_observations), dtype=bool))


def _outlook(group_of: NDArray[Any], groups: NDArray[np.bool_], reaches: NDArray[np.bool_]) -> Outlook:
    """Write membership tables as sparse rows."""
    return Outlook(
        groups=group_of.astype(np.int32),
        group_indptr=np.concatenate(([0], np.cumsum(groups.sum(axis=1)))).astype(np.int64),
        group_labels=np.nonzero(groups)[1].astype(np.int32),
        indptr=np.concatenate(([0], np.cumsum(reaches.sum(axis=1)))).astype(np.int64),
        targets=np.nonzero(reaches)[1].astype(np.int32),
    )
