"""Headroom: optimism measured against what the machine can still pay.

The learner knows the machine, so it knows the most that a pair can lead to: T = the largest Y = φ + W_{h+1} over the
labels that the pair allows and the o' that come with them (``praemia.tasks.label_support``). A pair never visited is
worth T, no estimate exceeds T, and the *headroom* between the two is all that optimism can add. With n = N(o, a):

    practical (the default):  N(o) = Σ_a n,   L = (N(o)/n)^⅓,   F = max{L, √(c₃·k/n)},   k = the episodes so far,
                              Q = min{T, p̂Y + c₁·√(L·Var_p̂(Y)/n) + c₂·S·F·(T − p̂Y)/n}
    theory:                   ℓ = ln(3·H·Q·O·A·T_steps/ρ),   Q = min{T, p̂Y + max(2√2·√(ℓ·Var_p̂(Y)/n), 8·ℓ·T/n)}

Plans follow the rule `growth`: as `epoch` has it, and at the latest when the episodes have grown by 5 %.

Why L, the neglect: an action given up after a few unlucky tries is tried again once its observation has been visited
often enough. Why F: N(o) does not grow where o itself was given up; the episodes do. So no run settles for good on a
wrong policy. Why S, the spread (``praemia.kernels.bonus``): a few tries say much where outcomes of a pair hardly differ
and little where they do, and how far they differ shows in the pairs tried more often. The theoretical constants make
every V̄_h an upper bound of V*_h with probability 1 − ρ and keep the regret's order (docs/concepts/headroom.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import portable_log
from praemia.errors import unknown_name
from praemia.kernels.bonus import cube_root
from praemia.learners.base import failure_prob_parameter, parameter, replan_parameter
from praemia.learners.compiled import BonusLearner
from praemia.learners.learned_machine import PER_VISIT, CanLearnMachine
from praemia.learners.rules import BonusRule
from praemia.tasks.task import TaskSpec

CONSTANTS = ("practical", "theory")


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
    limited_by_labels: ClassVar[bool] = True
    measures_spread: ClassVar[bool] = True

    constants: str = field(default="practical", metadata={"help": "practical, or theory: provably optimistic"})
    deviation_scale: float = parameter(0.4, "c₁ of the practical bonus, on the standard deviation", 0.0)
    headroom_scale: float = parameter(0.6, "c₂ of the practical bonus, on the headroom", 0.0)
    forgotten_scale: float = parameter(0.1, "c₃ of the practical bonus, on the episodes per visit", 0.0)
    failure_prob: float = failure_prob_parameter()
    replan: str = replan_parameter("growth")

    def __post_init__(self) -> None:
        if self.constants not in CONSTANTS:
            raise unknown_name("constants", self.constants, CONSTANTS)
        super().__post_init__()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ℓ of the theoretical constants."""
        sizes = spec.horizon * spec.num_machine_states * spec.num_observations * spec.num_actions
        return portable_log(3.0 * sizes * num_steps / self.failure_prob)

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        if self.constants == "theory":
            return (8.0 * self.log_term(spec, num_episodes * spec.horizon),)
        return self.deviation_scale, self.headroom_scale, self.forgotten_scale

    def rule(self, spec: TaskSpec, num_episodes: int) -> BonusRule:
        scales = (0.0, PER_VISIT)
        if self.constants == "theory":
            scales = (self.machine_root(spec, num_episodes * spec.horizon, self.failure_prob), 0.0)
        return replace(super().rule(spec, num_episodes), machine=self.machine_bonus(*scales))

    @staticmethod
    def pair_numbers(  # type: ignore[override]  # it is told the episodes too
        visits: float, visits_of_state: float, episodes: float, constants: NDArray[np.float64]
    ) -> tuple[float, ...]:
        neglect = cube_root(visits_of_state / visits)
        forgotten = np.maximum(neglect, np.sqrt(constants[2] * episodes / visits))
        return constants[0] * np.sqrt(neglect / visits), constants[1] * forgotten / visits

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_headroom = pair.numbers
        return mean + (per_deviation * deviation + pair.spread * per_headroom * (pair.limit - mean))

    @staticmethod
    def theory_pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        return np.sqrt(constants[0] / visits), constants[0] / visits

    @staticmethod
    def theory_worth(mean: Any, deviation: Any, pair: Any) -> Any:
        per_deviation, per_limit = pair.numbers
        return mean + np.maximum(per_deviation * deviation, per_limit * pair.limit)

    def functions(self) -> tuple[Any, Any]:
        return self._chosen("pair_numbers"), self._chosen("worth")

    def _chosen(self, name: str) -> Any:
        """Return the function of the chosen constants; one that a subclass defines replaces those above it."""
        names = (f"theory_{name}", name) if self.constants == "theory" else (name,)
        return next(getattr(self, own) for kind in type(self).__mro__ for own in names if own in vars(kind))
