"""EULER (Zanette and Brunskill 2019, Bernstein form), lifted to machines: the bonus shrinks with the value gap.

With n = N(o, a), ℓ = ln(4·S·A·T/ρ), S = M·O, J = Hℓ/3, B_v = √(2ℓ), B_p = H√(2ℓ), Y = φ + W and
κ = ``bonus_scale``:

    bonus(Y) = √(2·Var_p̂(Y)·ℓ/n) + J/n + (4J + B_p)/n + B_v·‖W̄ − W̲‖_{2,p̂}/√n
    Q̄ = min(H − h, p̂Ȳ + κ·bonus(Ȳ)), greedy in Q̄;   V̲ = max(0, p̂Y̲ − κ·bonus(Y̲)) along the greedy action.

Steps h count from 0. A pair never visited has Q̄ = H − h and lower value 0.

Differences: W over next observations takes the place of V over states, and the reward φ, which depends on the next
observation through the label, is part of the variance; the paper's bonus for unknown rewards is absent. The paper has
ρ/7 in place of ρ in ℓ, which makes ℓ larger by ln 7 ≈ 1.9. With ρ, as here, its argument promises optimism at κ = 1
with probability 1 − 7ρ; `failure_prob=ρ/7` gives the paper's ℓ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import portable_log
from praemia.learners.base import bonus_scale_parameter, failure_prob_parameter
from praemia.learners.compiled import BonusLearner
from praemia.tasks.spec import TaskSpec


@dataclass(frozen=True, kw_only=True)
class EULER(BonusLearner):
    """EULER on the factored model, with upper and lower values.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.EULER(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # it never promises less than the optimum
    True
    """

    name: ClassVar[str] = "euler"
    summary: ClassVar[str] = "upper and lower values; the bonus shrinks with their gap"
    reference: ClassVar[str] = "Zanette and Brunskill 2019, Tighter Problem-Dependent Regret Bounds"
    optimistic: ClassVar[bool] = True

    bonus_scale: float = bonus_scale_parameter(0.01)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ℓ."""
        sizes = spec.num_machine_states * spec.num_observations * spec.num_actions
        return portable_log(4.0 * sizes * num_steps / self.failure_prob)

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        log_term, most = self.log_term(spec, num_episodes * spec.horizon), float(spec.value_caps[0])
        root = math.sqrt(2.0 * log_term)
        return self.bonus_scale * root, self.bonus_scale * (5.0 * most * log_term / 3.0 + most * root)

    @staticmethod
    def pair_numbers(visits: float, visits_of_state: float, constants: NDArray[np.float64]) -> tuple[float, ...]:
        """Return κ·√(2ℓ/n) and κ·(5J + B_p)/n."""
        return constants[0] / np.sqrt(visits), constants[1] / visits

    @staticmethod
    def worth(mean: Any, deviation: Any, pair: Any) -> Any:
        """Return p̂Ȳ + κ·bonus(Ȳ)."""
        factor, flat = pair.numbers
        return mean + (factor * (deviation + pair.gap) + flat)

    @staticmethod
    def lower(mean: Any, deviation: Any, pair: Any) -> Any:
        """Return p̂Y̲ − κ·bonus(Y̲)."""
        factor, flat = pair.numbers
        return mean - (factor * (deviation + pair.gap) + flat)
