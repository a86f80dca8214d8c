"""EULER (Zanette and Brunskill 2019, Bernstein form), lifted to machines: the bonus shrinks with the value gap.

With n = N(o, a), ℓ = ln(4·S·A·T/ρ), S = Q·O, J = Hℓ/3, B_v = √(2ℓ), B_p = H√(2ℓ), and Y = φ + W:

    bonus(Y) = √(2·Var_p̂(Y)·ℓ/n) + J/n + (4J + B_p)/n + B_v·‖W̄ − W̲‖_{2,p̂}/√n
    Q̄ = min(H − h, p̂Ȳ + γ·bonus(Ȳ)), greedy in Q̄;   V̲ = max(0, p̂Y̲ − γ·bonus(Y̲)) along the greedy action.

Steps h count from 0. A pair never visited has Q̄ = H − h and lower value 0.

Differences: W over next observations takes the place of V over states, and the reward φ, which depends on the next
observation through the label, is part of the variance; the paper's bonus for unknown rewards is absent. The paper has
ρ/7 in place of ρ in ℓ, which makes ℓ larger by ln 7 ≈ 1.9. With ρ, as here, its argument promises optimism at γ = 1
with probability 1 − 7ρ; `failure_prob=ρ/7` gives the paper's ℓ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from praemia.arithmetic import portable_log
from praemia.kernels import two_sided_recursion
from praemia.kernels.compiled_plans import Recipe
from praemia.kernels.recursion import Place, PlanData, lower_value_of, value_of
from praemia.learners.base import bonus_scale_parameter, failure_prob_parameter
from praemia.learners.compiled import CompiledLearner, Sizes
from praemia.tasks.task import TaskSpec


@dataclass(frozen=True, kw_only=True)
class EULER(CompiledLearner):
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
    summary: ClassVar[str] = "upper and lower values; the bonus shrinks with the gap between them"
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

    def recipe(self) -> Recipe:
        return Recipe(two_sided_recursion, (("prepare_pair", bonus_factors), ("pair_bounds", pair_bounds)))

    def sizes(self, spec: TaskSpec) -> Sizes:
        return Sizes(by_pair=2, has_lower_values=True)


def bonus_factors(data: PlanData, pair: int, visits_of_state: float) -> None:
    """Fill γ·√(2ℓ/n) and γ·(5J + B_p)/n of a pair."""
    data.memory.by_pair[pair, 0] = data.constants[0] / np.sqrt(float(data.counts.visits[pair]))
    data.memory.by_pair[pair, 1] = data.constants[1] / data.counts.visits[pair]


def pair_bounds(zero: Any, data: PlanData, pair: int, place: Place) -> tuple[Any, Any]:
    """Return p̂Ȳ + γ·bonus(Ȳ) and p̂Y̲ − γ·bonus(Y̲); means and variances are taken about the first successor."""
    first, inverse = data.counts.first[pair], 1.0 / float(data.counts.visits[pair])
    top, bottom = value_of(zero, data, place, first), lower_value_of(zero, data, place, first)
    mean_up, mean_low, square_up, square_low = zero, zero, zero, zero
    gap = data.counts.counts[first] * (top - bottom) * (top - bottom)
    for e in range(first + 1, first + np.int64(data.counts.distinct[pair])):
        count, high, low = data.counts.counts[e], value_of(zero, data, place, e), lower_value_of(zero, data, place, e)
        up, down = high - top, low - bottom
        mean_up, square_up = mean_up + count * up, square_up + count * up * up
        mean_low, square_low = mean_low + count * down, square_low + count * down * down
        gap = gap + count * (high - low) * (high - low)
    mean_up, mean_low = mean_up * inverse, mean_low * inverse
    spread_up = np.sqrt(np.maximum(square_up * inverse - mean_up * mean_up, zero))
    spread_low = np.sqrt(np.maximum(square_low * inverse - mean_low * mean_low, zero))
    factor, flat, norm = data.memory.by_pair[pair, 0], data.memory.by_pair[pair, 1], np.sqrt(gap * inverse)
    bonus_up, bonus_low = factor * (spread_up + norm) + flat, factor * (spread_low + norm) + flat
    return top + mean_up + bonus_up, bottom + mean_low - bonus_low
