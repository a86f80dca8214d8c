"""Headroom: optimistic planning with a bonus capped by the reward still obtainable.

The learner knows the machine, so it knows an upper bound for a pair: T = the largest Y = φ + W_{h+1} over the labels
that the pair allows and the o' that come with them (``praemia.tasks.spec``). A pair never visited has value T, no
estimate exceeds T, and optimism can add no more than the *headroom* between the two. With n = N(o, a):

    practical (the default):  N(o) = Σ_a n,   L = 1 + ½·ln(N(o)/n),   k = the episodes so far,
                              F = max{L, √(c₃·ln(1 + k)/n)},
                              Q = min{T, p̂Y + c₁·√(L·Var_p̂(Y)/n) + c₂·F/n·max{S·(T − p̂Y), S'·(T' − p̂Y)}}
    theory:                   ℓ = ln(3·H·M·O·A·T_steps/ρ),   Q = min{T, p̂Y + max(2√2·√(ℓ·Var_p̂(Y)/n), 8·ℓ·T/n)}

A full plan is made once 5% more episodes have been played, and repaired as soon as a pair has twice the visits that the
plan used (``praemia.kernels.headroom``). Ties go to known-optimal actions, then to the nearest unknown. If the machine
is learned, ties are broken at random, and full plans are made by the rule `growth`.

docs/concepts/headroom.md explains each term. With the theoretical constants every V̄_h is an upper bound on V*_h with
probability 1 − ρ, and the regret has the same order.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from praemia._support.arithmetic import portable_log
from praemia._support.limits import require_memory
from praemia.errors import unknown_name
from praemia.kernels.counts import IS_REPAIR
from praemia.kernels.headroom_memory import HeadroomMemory, KnownArrays, new_memory, table_bytes, with_room
from praemia.kernels.records import END, padded_width
from praemia.kernels.repair import plan_headroom
from praemia.learners.backward import pass_arrays
from praemia.learners.base import Learner, failure_prob_parameter, parameter, replan_parameter
from praemia.learners.experience import Experience
from praemia.learners.learned_machine import PER_VISIT, CanLearnMachine
from praemia.learners.replanning import REPAIR, ReplanRule
from praemia.learners.stepwise import StepwiseLearner
from praemia.tasks.extremes import extremes
from praemia.tasks.spec import TaskSpec

CONSTANTS, ORDERS = ("practical", "theory"), ("certain", "random")


class Headroom(CanLearnMachine, StepwiseLearner):
    """Optimistic planning with a bonus capped by the reward still obtainable.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=4)
    >>> run = praemia.simulate(task, praemia.Headroom(), num_episodes=10_000, seed=0)
    >>> bool(run.regret[-1] / run.num_episodes < 0.01)  # of an optimum of 0.8158 per episode
    True
    """

    summary = "optimism with a bonus capped by the reward still obtainable"
    reference = "this package, docs/concepts/headroom.md"
    optimistic = True
    has_estimate = True
    asks_labels = "possible"
    replan_rules = (*Learner.replan_rules, REPAIR)
    kernel = staticmethod(plan_headroom)

    constants: str = field(default="practical", metadata={"help": "practical, or theory: provably optimistic"})
    deviation_scale: float = parameter(0.4, "c₁ of the practical bonus, on the standard deviation", 0.0)
    headroom_scale: float = parameter(1.0, "c₂ of the practical bonus, on the headroom", 0.0)
    forgotten_scale: float = parameter(2.0, "c₃ of the practical bonus, on the logarithm of the episodes", 0.0)
    failure_prob: float = failure_prob_parameter()
    order: str = field(
        default="certain",
        metadata={"help": "tie-breaking: known-optimal actions first, then the nearest unvisited pair; or random"},
    )
    replan: str = replan_parameter(REPAIR)

    def __post_init__(self) -> None:
        if self.constants not in CONSTANTS:
            raise unknown_name("constants", self.constants, CONSTANTS)
        if self.order not in ORDERS:
            raise unknown_name("order", self.order, ORDERS)
        super().__post_init__()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ℓ of the theoretical constants."""
        sizes = spec.horizon * spec.num_machine_states * spec.num_observations * spec.num_actions
        return portable_log(3.0 * sizes * num_steps / self.failure_prob)

    @property
    def plans_in_loop(self) -> bool:
        """Whether the kernel can plan repeatedly without Python; not if the machine is learned."""
        return super().plans_in_loop and not self.learn_machine

    @property
    def replan_rule(self) -> ReplanRule:
        """When to plan again; where the machine is learned or ties are sampled, a plan cannot be repaired."""
        return super().replan_rule if self.is_ordered or self.replan != REPAIR else ReplanRule("growth")

    @property
    def is_ordered(self) -> bool:
        """Whether ties are ordered; where the machine is learned, they are sampled."""
        return self.order == "certain" and not self.learn_machine

    def new_memory(self, experience: Experience) -> HeadroomMemory:
        known, num_states = self._known(experience), experience.spec.num_machine_states
        repairs = self.replan_rule.word == REPAIR
        return self._checked(new_memory(known, experience._counts, num_states, repairs=repairs), experience)

    def updated(self, memory: HeadroomMemory, experience: Experience) -> HeadroomMemory:
        counts, known = experience._counts, self._known(experience)
        if known is not memory.known:
            memory = memory._replace(known=known)
            counts.totals[IS_REPAIR] = 0  # what is known has changed: the plan is made anew
        return with_room(self._checked(memory, experience), counts)

    def _checked(self, memory: HeadroomMemory, experience: Experience) -> HeadroomMemory:
        needed = "the tables of all steps, for plans that are repaired; replan='growth' needs fewer"
        require_memory(table_bytes(memory, experience._counts), needed)
        return memory

    def _known(self, experience: Experience) -> KnownArrays:
        spec = experience.spec
        if not self.learn_machine:
            return _known_machine(self, spec, experience.num_steps)
        labels = spec.every_step.possible_labels
        per_root = self.machine_root(experience, self.failure_prob) if self.constants == "theory" else 0.0
        per_visit = 0.0 if self.constants == "theory" else PER_VISIT
        task = pass_arrays(spec, machine=self.estimated_machine(experience, per_root, per_visit, labels))
        support = spec.every_step.support._replace(layers=task.layers)
        return _known_machine(self, spec, experience.num_steps)._replace(
            layers=task.layers, paid=task.paid, nothing=np.zeros_like(task.paid[0]), support=support, top_paid=task.paid
        )


def _known_machine(learner: Headroom, spec: TaskSpec, num_steps: int) -> KnownArrays:
    """Return what is known of the task. A plan is repaired as long as this is the same object."""
    key = (learner, num_steps)
    if key not in spec.kept:
        spec.kept.setdefault(key, _known_arrays(learner, spec, num_steps))
    return spec.kept[key]  # type: ignore[no-any-return]


def _known_arrays(learner: Headroom, spec: TaskSpec, num_steps: int) -> KnownArrays:
    """Return what is known of the task; of a machine that is learned only what does not depend on it."""
    width, is_learned = padded_width(spec.num_machine_states), spec.possible is not None
    layers, support = spec.table.layers(width), spec.every_step.support_for(width)
    ends, least = spec.exits[:, END, 0].copy(), np.zeros((spec.horizon + 1, width))
    if not is_learned:
        least[1:, : spec.num_machine_states] = extremes(spec, spec.every_step.support_table, sign=-1.0)[:-1]
    if not (spec.can_end or spec.done_states):
        ends[:] = 0.0  # never reached, so it must not make equal steps differ
    practical = (learner.deviation_scale, learner.headroom_scale, learner.forgotten_scale)
    return KnownArrays(
        layers=layers,
        paid=layers.paid[None],
        nothing=np.zeros_like(layers.paid),
        support=support,
        top_paid=support.layers.paid[None],
        ends=ends,
        least=least,
        is_done=np.pad(spec.is_done.astype(np.float64), (0, width - spec.num_machine_states)),
        caps=spec.value_caps.copy(),
        constants=np.array([*practical, 8.0 * learner.log_term(spec, num_steps)]),
        discount=spec.discount,
        is_theory=learner.constants == "theory",
        is_ordered=learner.is_ordered,
        has_caps=is_learned,
    )
