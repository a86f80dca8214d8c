"""Headroom: optimism measured against what the machine can still pay.

The learner knows the machine, so it knows the most that a pair can lead to: T = the largest Y = φ + W_{h+1} over the
labels that the pair allows and the o' that come with them (``praemia.tasks.spec``). A pair never visited is
worth T, no estimate exceeds T, and the *headroom* between the two is all that optimism can add. With n = N(o, a):

    practical (the default):  N(o) = Σ_a n,   L = 1 + ½·ln(N(o)/n),   k = the episodes so far,
                              F = max{L, √(c₃·ln(1 + k)/n)},
                              Q = min{T, p̂Y + c₁·√(L·Var_p̂(Y)/n) + c₂·F/n·max{S·(T − p̂Y), S'·(T' − p̂Y)}}
    theory:                   ℓ = ln(3·H·M·O·A·T_steps/ρ),   Q = min{T, p̂Y + max(2√2·√(ℓ·Var_p̂(Y)/n), 8·ℓ·T/n)}

A plan is replanned from scratch once 5% more episodes have been played, and repaired as soon as a pair has twice the
visits that it goes by (``praemia.kernels.repair``). Among equals what is certain is taken, then the soonest unknown
(``praemia.kernels.ties``). Where the machine is learned, equals are drawn; where they are drawn, the learner replans
from scratch by the rule `growth`.

Why L, the neglect: an action given up after a few unlucky tries is tried again once its observation has been visited
often enough. Why F: N(o) does not grow where o itself was given up; the episodes do. So no run settles for good on a
wrong policy. Why S, the spread (``praemia.kernels.bonus``): a few tries say much where outcomes of a pair hardly differ
and little where they do, and how far they differ shows in the pairs tried more often. Why T', the local limit, the most
that was seen to follow o by any action: where all steps are short, T is far above anything a pair can lead to, and S
small with it; but that the only try of a move slipped shows beside what other actions reached from there. Its spread S'
is measured against T'. The theoretical constants make
every V̄_h an upper bound of V*_h with probability 1 − ρ and keep the regret's order (docs/concepts/headroom.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import portable_log
from praemia.errors import unknown_name
from praemia.kernels.bonus import natural_log
from praemia.learners.base import failure_prob_parameter, parameter, replan_parameter
from praemia.learners.compiled import BonusLearner
from praemia.learners.learned_machine import PER_VISIT, CanLearnMachine
from praemia.learners.replanning import REPAIR, ReplanRule
from praemia.tasks.spec import TaskSpec

CONSTANTS, ORDERS = ("practical", "theory"), ("certain", "drawn")


@dataclass(frozen=True, kw_only=True)
class Headroom(CanLearnMachine, BonusLearner):
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
    replan_rules: ClassVar[tuple[str, ...]] = (*BonusLearner.replan_rules, REPAIR)
    limit: ClassVar[str] = "labels"
    spread: ClassVar[bool] = True
    tells_episodes: ClassVar[bool] = True

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

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        if self.constants == "theory":
            return (8.0 * self.log_term(spec, num_episodes * spec.horizon),)
        return self.deviation_scale, self.headroom_scale, self.forgotten_scale

    def machine_bonus(self, spec: TaskSpec, num_episodes: int) -> tuple[float, float]:
        if self.constants == "theory":
            return self.machine_root(spec, num_episodes * spec.horizon, self.failure_prob), 0.0
        return 0.0, PER_VISIT

    @property
    def replan_rule(self) -> ReplanRule:
        """When to plan again; where the machine is learned or ties are drawn, a plan cannot be repaired."""
        return super().replan_rule if self.ordered or self.replan != REPAIR else ReplanRule("growth")

    @property
    def ordered(self) -> bool:  # type: ignore[override]
        """Whether ties are ordered; where the machine is learned, they are drawn."""
        return self.order == "certain" and not self.learn_machine

    @staticmethod
    def pair_numbers(  # type: ignore[override]  # it is told the episodes too
        visits: float, visits_of_state: float, episodes: float, constants: NDArray[np.float64]
    ) -> tuple[float, ...]:
        neglect = 1.0 + 0.5 * natural_log(visits_of_state / visits)
        forgotten = np.maximum(neglect, np.sqrt(constants[2] * natural_log(1.0 + episodes) / visits))
        return constants[0] * np.sqrt(neglect / visits), constants[1] * forgotten / visits

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_headroom = pair.numbers
        headroom = np.maximum(pair.spread * (pair.limit - mean), pair.local_spread * (pair.local_limit - mean))
        return mean + (per_deviation * deviation + per_headroom * headroom)

    def functions(self) -> tuple[Any, Any]:
        """Return the functions of the chosen constants; those of a subclass are used with any constants."""
        numbers, worth = super().functions()
        if self.constants == "theory":
            numbers = theory_pair_numbers if numbers is Headroom.pair_numbers else numbers
            worth = theory_worth if worth is Headroom.worth else worth
        return numbers, worth


def theory_pair_numbers(
    visits: float, visits_of_state: float, episodes: float, constants: NDArray[np.float64]
) -> tuple[float, ...]:
    """Return 2√2·√(ℓ/n) and 8·ℓ/n."""
    return np.sqrt(constants[0] / visits), constants[0] / visits


def theory_worth(mean: Any, deviation: Any, pair: Any) -> Any:
    """Return the mean and the larger of the two terms."""
    per_deviation, per_limit = pair.numbers
    return mean + np.maximum(per_deviation * deviation, per_limit * pair.limit)
