"""The paper's bounds as functions, each term under its name.

T = K·H, ι = ln(6·M·O·A·T/ρ), M machine states. All are functions of sizes alone, for rewards in [0, 1]. Learners map
the range of other rewards onto it: regret and bounds are then to be multiplied by the span (``machine.reward_range``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from praemia.errors import ParameterError, require_fraction

__all__ = [
    "RegretBound",
    "policy_search_episodes",
    "regret_bound",
    "regret_lower_bound",
]


@dataclass(frozen=True)
class RegretBound:
    """Theorem 1: with probability 1 − ρ, UCBVI-PRM's regret is at most the sum of three terms.

    The constants are the paper's; docs/concepts/theory.md names two errors in its proof and mends them.

    Attributes
    ----------
    leading : 72·ι·√(H·O·A·T), the dominant term for large T; the machine enters only through ι.
    model_error : 2500·H²·O²·A^{3/2}·ι², the cost of learning p, which grows with T only through ι.
    martingale : 4·H·√(T·ι), the noise of the episodes.
    trivial : H·K, which no regret exceeds.

    Examples
    --------
    >>> import praemia
    >>> bound = praemia.theory.regret_bound(16, 5, 3, 12, num_episodes=10_000)
    >>> bound.total > bound.trivial, bound.is_vacuous
    (True, True)
    """

    leading: float
    model_error: float
    martingale: float
    trivial: float

    @property
    def total(self) -> float:
        return self.leading + self.model_error + self.martingale

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound is no better than the trivial one, H in every episode."""
        return self.total >= self.trivial


def regret_bound(
    num_observations: int,
    num_actions: int,
    num_machine_states: int,
    horizon: int,
    num_episodes: int,
    failure_prob: float = 0.05,
) -> RegretBound:
    """Return Theorem 1's bound on the regret of UCBVI-PRM.

    Parameters
    ----------
    num_observations, num_actions, num_machine_states, horizon, num_episodes : O, A, M, H and K.
    failure_prob : ρ.

    Examples
    --------
    >>> import praemia
    >>> bound = praemia.theory.regret_bound(16, 5, 3, 12, num_episodes=10**12)
    >>> bound.is_vacuous
    False
    """
    _require_sizes(num_observations, num_actions, num_machine_states, horizon, num_episodes)
    if not isinstance(failure_prob, Real) or not 1e-12 <= failure_prob < 1.0:
        raise ParameterError(f"failure_prob={failure_prob!r}; expected a number from 1e-12 to 1")
    num_steps = num_episodes * horizon
    iota = math.log(6.0 * num_machine_states * num_observations * num_actions * num_steps / failure_prob)
    return RegretBound(
        leading=72.0 * iota * math.sqrt(horizon * num_observations * num_actions * num_steps),
        model_error=2500.0 * horizon**2 * num_observations**2 * num_actions**1.5 * iota**2,
        martingale=4.0 * horizon * math.sqrt(num_steps * iota),
        trivial=horizon * num_episodes,
    )


def regret_lower_bound(num_observations: int, num_actions: int, horizon: int, num_episodes: int) -> float:
    """Return √(H·O·A·T): every learner's worst-case regret is at least a constant times this (the constant is unknown).

    Parameters
    ----------
    num_observations, num_actions, horizon, num_episodes : O, A, H and K, with T = K·H.

    Examples
    --------
    >>> import praemia
    >>> praemia.theory.regret_lower_bound(num_observations=4, num_actions=1, horizon=10, num_episodes=100)
    200.0
    """
    _require_sizes(num_observations, num_actions, 1, horizon, num_episodes)
    return math.sqrt(horizon * num_observations * num_actions * num_episodes * horizon)


def _require_sizes(*sizes: int) -> None:
    for size in sizes:
        if not isinstance(size, Real) or not size >= 1:
            raise ParameterError(f"a size of {size!r}; sizes must be at least 1")


def policy_search_episodes(
    num_observations: int, num_actions: int, horizon: int, significance: float, failure_prob: float = 0.05
) -> float:
    """Return Theorem 3's O²AH⁴ι₀³/δ, ι₀ = ln(OAH/(ρδ)): EULER's episodes for each observation, but for a constant.

    Parameters
    ----------
    num_observations, num_actions, horizon : O, A and H.
    significance : δ, the probability below which the visits to an observation are insignificant.
    failure_prob : ρ.

    Examples
    --------
    >>> import praemia
    >>> praemia.theory.policy_search_episodes(5, 2, 10, significance=0.1) > 1e6
    True
    """
    _require_sizes(num_observations, num_actions, horizon)
    if not isinstance(significance, Real) or not 0.0 < significance < math.inf:
        raise ParameterError(f"significance={significance!r}; expected a positive number")
    require_fraction("failure_prob", failure_prob)
    sizes = float(num_observations) * num_actions * horizon
    iota = max(1.0, math.log(sizes / (failure_prob * significance)))
    return num_observations**2 * num_actions * float(horizon) ** 4 * iota**3 / significance
