"""Confidence in p̂ that holds for all pairs and all numbers of visits at once.

The successors of a pair (o, a), in the order in which they came, are i.i.d. from p(·|o, a), however adaptively the
pair was visited. So a bound that holds for all n simultaneously holds at the random N(o, a), also for data that was
searched for, stopped early or merged. ρ is split into equal parts, each spread over the O·A pairs: 1 and 2, and 3 where
the data records machines that were fixed before it or the user vouches for one.

1. ‖p̂ − p‖₁ ≤ √(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n), d = ρ₁/(OA + 1): the Laplace method for each of the 2^O − 2 sets
   of successors (a set's frequency is ½-subgaussian, and ‖·‖₁ is twice the largest excess of a set).
2. |p̂(z) − p(z)| ≤ √(2ζp(z)(1 − p(z))/n) + ζ/(3n) for each z, d = ρ₂/(2(OA + 1)·O): Bernstein with peeling,
   ζ = η·ln(ln(max(n, e))·ln(η·max(n, e))/(d·ln²η)). In the peel η^{k−1} ≤ n ≤ η^k the failure is at most d/(k(k − 1)),
   and n = 1, 2 add 0.03·d: the sum is below d for each of the two sides.
3. |(p̂ − p)f| ≤ σ(f)√(2ζ/n) + Rζ/(3n) for the *fixed* functions f = φ + W*_{h+1}(m, ·) with values in [0, R], and
   σ² is at most Var_p̂(f) + Rσ√(2ζ/n) + (the first bound)²: Bernstein again, and the lower tail of a non-negative
   variable for the variance. Three events for each (h, m, o, a), d = ρ₃/(3·S·H·M·(OA + 1)), where S machines share ρ₃.

Parts 1 and 2 are about p alone, so they hold for all machines, labels, horizons and policies at once, whenever these
are chosen. Part 3 is about the functions f of one machine with its labels and horizon. Were it chosen after the data,
so would f be, and (p̂ − p)f would be no mean of i.i.d. terms around 0. Hence S: all machines that the data records hold
together, and so does the choice among them. All plans from one dataset share one event, except those vouched for.

The "+ 1" is the distribution of the first observation, which is estimated like a pair's successors. If all episodes
began in one observation, the mass of the others is at most 1 − d^{1/K} (the events "the first n are equal" are nested).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError
from praemia.exploration.dataset import Dataset
from praemia.learners.confidence_sets import ETA, bernstein_interval, l1_radius, log_of_subsets


@dataclass(frozen=True, eq=False)
class Confidence:
    """How far p may be from p̂.

    Attributes
    ----------
    set_level : d of part 1; element_level : d of part 2.
    function_part : ρ₃/S, a machine's share of part 3; 0 where the machine may have been chosen after the data.
    lower, upper : float64[E], the ends of part 2 for the transitions seen.
    tv : float64[O, A], the least of the bounds on ½‖p̂ − p‖₁; 1 for a pair never visited, 0 for absorbing ones.
    miss : float64[O, A], a bound on the mass of the successors never seen.
    start_tv : the same as ``tv`` for the first observation.
    """

    set_level: float
    element_level: float
    function_part: float
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    tv: NDArray[np.float64]
    miss: NDArray[np.float64]
    start_tv: float


def confidence(dataset: Dataset, failure_prob: float, shares: int = 0) -> Confidence:
    """Return the confidence set of a dataset; it fails with probability ``failure_prob`` at most.

    ``shares`` is S for a machine fixed before the data, 0 for one that may have been chosen after it.
    """
    if not 0.0 < failure_prob < 1.0:
        raise ParameterError(f"failure_prob={failure_prob!r}; expected a number between 0 and 1")
    size, shape = dataset.num_observations, dataset.visits.shape
    part = failure_prob / (3.0 if shares or dataset.fixed_shares else 2.0)
    rows = dataset.visits.size + 1
    n = np.maximum(1, dataset.visits).astype(np.float64)
    set_level, level = part / rows, part / (2.0 * rows * size)
    by_sets = 0.5 * l1_radius(n, log_of_subsets(size), set_level)
    lower, upper = bernstein_interval(dataset.probs, n.ravel()[dataset.pairs], level, 1.0)
    miss = np.bincount(dataset.pairs, dataset.probs - lower, dataset.visits.size).reshape(shape)
    tv = np.minimum(1.0, np.minimum(by_sets, miss))
    never, still = dataset.visits == 0, np.broadcast_to(dataset.absorbing[:, None], shape)
    tv = np.where(still, 0.0, np.where(never, 1.0, tv))
    unseen: NDArray[np.float64] = np.where(still, 0.0, np.where(never, 1.0, np.minimum(miss, tv)))
    share = part / shares if shares else 0.0
    return Confidence(set_level, level, share, lower, upper, tv, unseen, _start_tv(dataset, set_level, level))


def _start_tv(dataset: Dataset, set_level: float, element_level: float) -> float:
    total = float(dataset.num_episodes)
    if dataset.first_counts.max() == total:
        # The union is over which observation it is.
        return -math.expm1(math.log(element_level) / total)
    by_sets = 0.5 * float(l1_radius(total, log_of_subsets(dataset.num_observations), set_level))
    probs = dataset.start_probs[dataset.first_counts > 0]
    lower, _ = bernstein_interval(probs, np.array(total), element_level, 1.0)
    return min(1.0, by_sets, float((probs - lower).sum()))


def function_widths(dataset: Dataset, confidence: Confidence, horizon: int, num_states: int) -> NDArray[np.float64]:
    """Return x = √(2ζ/n) of part 3 as float64[O, A]: −1 for a pair never visited, 0 for absorbing ones."""
    level = confidence.function_part / (3.0 * horizon * num_states * (dataset.visits.size + 1))
    n = np.maximum(1, dataset.visits).astype(np.float64)
    most = np.maximum(n, math.e)
    zeta = ETA * np.log(np.log(most) * np.log(ETA * most) / (level * math.log(ETA) ** 2))
    widths = np.where(dataset.visits == 0, -1.0, np.sqrt(2.0 * zeta / n))
    return np.where(dataset.absorbing[:, None], 0.0, widths)
