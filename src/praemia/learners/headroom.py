"""Headroom: optimism measured against what the machine can still pay.

The learner knows the machine, so it knows the most that a pair can lead to: T = the largest Y = φ + W_{h+1} over the
labels that the pair allows and the o' that come with them (``praemia.tasks.spec``). A pair never visited is
worth T, no estimate exceeds T, and the *headroom* between the two is all that optimism can add. With n = N(o, a):

    practical (the default):  N(o) = Σ_a n,   L = 1 + ½·ln(N(o)/n),   k = the episodes so far,
                              F = max{L, √(c₃·ln(1 + k)/n)},
                              Q = min{T, p̂Y + c₁·√(L·Var_p̂(Y)/n) + c₂·F/n·max{S·(T − p̂Y), S'·(T' − p̂Y)}}
    theory:                   ℓ = ln(3·H·M·O·A·T_steps/ρ),   Q = min{T, p̂Y + max(2√2·√(ℓ·Var_p̂(Y)/n), 8·ℓ·T/n)}

A plan is replanned from scratch once 5% more episodes have been played, and repaired as soon as a pair has twice the
visits that it goes by (``praemia.kernels.headroom``). Among equals what is certain is taken, then the soonest unknown
. Where the machine is learned, equals are drawn; where they are drawn, the learner replans
from scratch by the rule `growth`.

Why L, the neglect: an action given up after a few unlucky tries is tried again once its observation has been visited
often enough. Why F: N(o) does not grow where o itself was given up; the episodes do. So no run settles for good on a
wrong policy. Why S, the spread (``praemia.kernels.headroom``): a few tries say much where outcomes of a pair hardly differ
and little where they do, and how far they differ shows in the pairs tried more often. Why T', the local limit, the most
that was seen to follow o by any action: where all steps are short, T is far above anything a pair can lead to, and S
small with it; but that the only try of a move slipped shows beside what other actions reached from there. Its spread S'
is measured against T'. The theoretical constants make
every V̄_h an upper bound of V*_h with probability 1 − ρ and keep the regret's order (docs/concepts/headroom.md).
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from praemia.arithmetic import portable_log
from praemia.errors import unknown_name
from praemia.kernels.counts import IS_REPAIR, Counts
from praemia.kernels.headroom import HeadroomMemory, KnownArrays, LinkArrays, PlannedArrays, plan_headroom
from praemia.kernels.records import END, LANES, NUM_EXITS, padded_width
from praemia.learners.backward import pass_arrays
from praemia.learners.base import Learner, failure_prob_parameter, parameter, replan_parameter
from praemia.learners.experience import Experience
from praemia.learners.learned_machine import PER_VISIT, CanLearnMachine
from praemia.learners.replanning import REPAIR, ReplanRule
from praemia.learners.stepwise import StepwiseLearner
from praemia.limits import require_memory
from praemia.tasks.extremes import extremes
from praemia.tasks.spec import TaskSpec

CONSTANTS, ORDERS = ("practical", "theory"), ("certain", "drawn")


class Headroom(CanLearnMachine, StepwiseLearner):
    """Optimistic value iteration whose bonus is measured against what can still be earned.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=4)
    >>> run = praemia.simulate(task, praemia.Headroom(), num_episodes=10_000, seed=0)
    >>> bool(run.regret[-1] / run.num_episodes < 0.01)  # of an optimum of 0.8158 per episode
    True
    """

    name: ClassVar[str] = "headroom"
    summary: ClassVar[str] = "optimism measured against what the machine can still pay"
    reference: ClassVar[str] = "this package, docs/concepts/headroom.md"
    optimistic: ClassVar[bool] = True
    has_estimate: ClassVar[bool] = True
    asks_labels: ClassVar[str] = "possible"
    replan_rules: ClassVar[tuple[str, ...]] = (*Learner.replan_rules, REPAIR)
    kernel: ClassVar[Any] = staticmethod(plan_headroom)

    constants: str = field(default="practical", metadata={"help": "practical, or theory: provably optimistic"})
    deviation_scale: float = parameter(0.4, "c₁ of the practical bonus, on the standard deviation", 0.0)
    headroom_scale: float = parameter(1.0, "c₂ of the practical bonus, on the headroom", 0.0)
    forgotten_scale: float = parameter(2.0, "c₃ of the practical bonus, on the logarithm of the episodes", 0.0)
    failure_prob: float = failure_prob_parameter()
    order: str = field(
        default="certain", metadata={"help": "among equals: what is certain, then the soonest unknown; or drawn"}
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
        """Whether the kernel needs nothing from Python between two plans: an estimate of the machine it does."""
        return not self.learn_machine

    @property
    def replan_rule(self) -> ReplanRule:
        """When to plan again; where the machine is learned or ties are sampled, a plan cannot be repaired."""
        return super().replan_rule if self.is_ordered or self.replan != REPAIR else ReplanRule("growth")

    @property
    def is_ordered(self) -> bool:
        """Whether ties are ordered; where the machine is learned, they are sampled."""
        return self.order == "certain" and not self.learn_machine

    def new_memory(self, experience: Experience) -> HeadroomMemory:
        spec, counts = experience.spec, experience._counts
        known = self._known(experience)
        pairs, width = len(counts.visits), padded_width(spec.num_machine_states)
        num_tables = spec.horizon + 1 if self.replan_rule.word == REPAIR else 2
        exists = (np.arange(width) < spec.num_machine_states).astype(np.float64)
        memory = HeadroomMemory(
            known=known,
            planned=_no_counts(pairs),
            links=_no_links(spec.num_observations),
            upper=np.zeros((num_tables, 0)),
            lower=np.zeros((num_tables if known.is_ordered else 0, 0)),
            soon=np.zeros((num_tables if known.is_ordered else 0, 0)),
            tops=np.zeros((0, 0)),
            tops_by_label=np.zeros(0),
            spread=np.zeros(3 * pairs * LANES),
            spread_sums=np.zeros(3),
            shares=np.zeros((spec.horizon, 2)),
            exists=exists,
            options=np.zeros(3 * max(1, spec.num_actions) * LANES),
            values=np.zeros((spec.num_observations, width)),
        )
        return self.updated(memory, experience)

    def updated(self, memory: HeadroomMemory, experience: Experience) -> HeadroomMemory:
        counts, known = experience._counts, self._known(experience)
        if known is not memory.known:
            memory = memory._replace(known=known)
            counts.totals[IS_REPAIR] = 0  # what is known has changed: the plan is made anew
        width, num_tables = memory.values.shape[1], len(memory.upper)
        rows, groups = len(memory.values) + NUM_EXITS + len(counts.rows), len(known.support.group_indptr) - 1
        if memory.upper.shape[1] < rows * width:
            needed = 8 * width * num_tables * (3 * rows + groups)
            require_memory(needed, "the tables of all steps, for plans that are repaired; replan='growth' needs fewer")
            tables = {name: getattr(memory, name) for name in ("upper", "lower", "soon")}
            memory = memory._replace(**{name: _wider(table, rows * width) for name, table in tables.items()})
        if memory.tops.shape[1] < groups * width:
            memory = memory._replace(tops=np.zeros((max(1, num_tables - 1) if num_tables > 2 else 1, groups * width)))
        if len(memory.tops_by_label) < len(known.top_paid[0]):
            memory = memory._replace(tops_by_label=np.zeros(len(known.top_paid[0])))
        return memory._replace(planned=_more_counts(memory.planned, counts), links=_more_links(memory.links, counts))

    def _known(self, experience: Experience) -> KnownArrays:
        spec = experience.spec
        if not self.learn_machine:
            return _known_machine(self, spec, experience.num_steps)
        labels = spec.every_step.labels[1] if spec.asks_every_label else spec.labels_to_expect
        per_root = self.machine_root(experience, self.failure_prob) if self.constants == "theory" else 0.0
        per_visit = 0.0 if self.constants == "theory" else PER_VISIT
        task = pass_arrays(spec, machine=self.estimated_machine(experience, per_root, per_visit, labels))
        support = spec.every_step.support._replace(layers=task.layers)
        return _known_machine(self, spec, experience.num_steps)._replace(
            layers=task.layers, paid=task.paid, nothing=np.zeros_like(task.paid[0]), support=support, top_paid=task.paid
        )


@lru_cache(maxsize=64)
def _known_machine(learner: Headroom, spec: TaskSpec, num_steps: int) -> KnownArrays:
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


def _no_counts(pairs: int) -> PlannedArrays:
    """Return the counts of a plan before the first one."""
    visits, start, used = np.zeros(pairs, dtype=np.int64), np.zeros(pairs, dtype=np.int64), np.zeros(3, dtype=np.int64)
    size, room = np.zeros(pairs, dtype=np.int32), np.zeros(pairs, dtype=np.int32)
    weights, rows = np.zeros(0), np.zeros(0, dtype=np.uint32)
    return PlannedArrays(visits, start, size, room, weights, rows, np.zeros((pairs, 2)), used)


def _more_counts(planned: PlannedArrays, counts: Counts) -> PlannedArrays:
    """Return the counts of a plan with room for all that was counted.

    Rooms are 4, 8, 16 …; those that a pair has outgrown take less than the last one.
    """
    most = 8 * len(counts.transitions) + 4 * len(planned.visits)
    if len(planned.weights) >= most:
        return planned
    weights, rows = np.zeros(most), np.zeros(most, dtype=np.uint32)
    weights[: len(planned.weights)], rows[: len(planned.rows)] = planned.weights, planned.rows
    return planned._replace(weights=weights, rows=rows)


def _no_links(size: int) -> LinkArrays:
    by_state = [np.zeros(size, dtype=np.int32) for _ in range(4)]
    none = np.zeros(0, dtype=np.int32)
    return LinkArrays(by_state[0], none, none, by_state[1], none, *by_state[2:], np.zeros(size, dtype=bool))


def _more_links(links: LinkArrays, counts: Counts) -> LinkArrays:
    """Return the lists with room for all that was counted."""
    sizes = {"link_from": counts.transitions, "link_next": counts.transitions, "row_next": counts.rows}
    grown = {
        name: np.pad(old, (0, len(like) - len(old)))
        for name, like in sizes.items()
        if len(old := getattr(links, name)) < len(like)
    }
    return links._replace(**grown) if grown else links


def _wider(tables: np.ndarray, size: int) -> np.ndarray:
    return np.pad(tables, [(0, 0), (0, size - tables.shape[1])])
