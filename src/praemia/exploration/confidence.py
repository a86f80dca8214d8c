"""A confidence set for p that holds for all pairs and all numbers of visits at once.

The successors of a pair (o, a), in the order in which they came, are i.i.d. from p(·|o, a), however adaptively the pair
was visited. (Where episodes may end, o' with and without the end are two successors, and O below is twice the number of
observations.) So a bound that holds for all n simultaneously holds at the random N(o, a), also for data that was
searched for, stopped early or merged. ρ is split into parts, each spread over the O·A pairs and the law of the first
observation, which is estimated like a pair's successors: OA + 1 rows.

1. n·KL(p̂‖p) ≤ R, where s of the O successors were seen, z of them N(z) times, and d = ρ₁/(OA + 1):

       R = ln(1/d) + ln C(O, s) + ln(s(s + 1)·O/(O + 1)) − ln DM − n·H(p̂),
       DM = Γ(s/2)/Γ(s/2 + n) · Π_z Γ(N(z) + ½)/Γ(½),   H the entropy.

   Draw a number of successors s with probability (O + 1)/(O·s(s + 1)), then a set of s successors uniformly, then a law
   q on it from the Dirichlet distribution with parameters ½. The mean over q of Π q(x_i)/p(x_i), a product over the
   successors that came, is a non-negative martingale with mean at most 1, so it ever exceeds 1/d with probability d at
   most (Ville). Of the sets, keep only the one that was seen: the mean over q of Π q(x_i) is then at least DM times the
   set's probability, and Π p(x_i) = exp(−n·H(p̂) − n·KL(p̂‖p)). The cost is that of the successors seen, not of all O.
2. ½‖p̂ − p‖₁ ≤ ½·√(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n), d = ρ₂/(OA + 1): the Laplace method for each of the 2^O − 2
   sets of successors (a set's frequency is ½-subgaussian, and ‖·‖₁ is twice the largest excess of a set). It is better
   than part 1 where most of the O successors occur, and has a tenth of ρ.
3. For the *fixed* functions f = φ + W*_{h+1}(m, ·), every B ≥ f and every ν > B,

       pf ≤ ν − exp(Σ p̂·ln(ν − f) − R₃/n),   R₃ = ln(1/d) + ½·ln n + ln 2,   d = ρ₃/(2·S·H·M·OA),

   and the same for −f, where S machines share ρ₃: the bound of a KL ball of radius R₃/n, in which O does not appear
   (``praemia.kernels.certify``). Let μ = pf. For each u in [0, 1], Π (1 − u + u·(B − f(x_i))/(B − μ)) is a
   non-negative martingale with mean 1, and so is its mean over u from the arcsine law. Multiplied out, both are sums of
   u^k(1 − u)^{n−k} with the same weights ≥ 0, and the mean of u^k(1 − u)^{n−k} is at least its maximum ÷ 2√n
   (Krichevsky and Trofimov's estimator; Willems, Shtarkov and Tjalkens 1995). So the product stays below 2√n/d for all
   n and u at once. With u = (B − μ)/(ν − μ) it is Π (ν − f(x_i))/(ν − μ), and its logarithm is
   n·(Σ p̂·ln(ν − f) − ln(ν − μ)) ≤ R₃. The smallest such B is fixed by f, so a larger one may depend on the data.

Parts 1 and 2 are about p alone, so they hold for all machines, labels, horizons and policies at once, whenever these
are chosen. Part 3 is about the functions f of one machine with its labels and horizon. Were it chosen after the data,
so would f be, and the products would be no martingales. Hence S: all machines that the data records hold together, and
so does the choice among them. All plans from one dataset share one event, except those vouched for.

**Distances from part 1.** Let r = R/n, Z a set of successors, q = p̂(Z) and x = p(Z) = q + t with t > 0. Then
kl(q, x) ≤ r, and kl(q, x) is the integral of (ξ − q)/(ξ(1 − ξ)) from q to x. With ξ(1 − ξ) ≤ ¼, t ≤ √(r/2). With
b = 1 − max p̂, q is at most b or at least 1 − b: for q ≤ b, ξ(1 − ξ) ≤ b + t gives t ≤ r + √(r² + 2br), and for
q ≥ 1 − b, ξ(1 − ξ) ≤ b gives less. If one successor was seen, t ≤ 1 − e^{−r}. The largest t is ½‖p̂ − p‖₁.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import log_of_subsets, one_by_one
from praemia.errors import require_fraction
from praemia.exploration.dataset import Dataset
from praemia.kernels.confidence_sets import l1_radius

DISTANCE_SHARE = 0.1  # of ρ, for part 2


@dataclass(frozen=True, eq=False)
class Confidence:
    """How far p may be from p̂.

    Attributes
    ----------
    kl_level : d of part 1; distance_level : d of part 2.
    function_part : ρ₃/S, a machine's share of part 3; 0 where the machine may have been chosen after the data.
    kl : float64[O, A], a bound on KL(p̂‖p): R/n; ∞ for a pair never visited.
    tv : float64[O, A], the least of the bounds on ½‖p̂ − p‖₁; 1 for a pair never visited.
    start_tv : the same as ``tv`` for the first observation.
    """

    kl_level: float
    distance_level: float
    function_part: float
    kl: NDArray[np.float64]
    tv: NDArray[np.float64]
    start_tv: float


def confidence(dataset: Dataset, failure_prob: float, shares: int = 0) -> Confidence:
    """Return the confidence set of a dataset; it fails with probability ``failure_prob`` at most.

    ``shares`` is S for a machine fixed before the data, 0 for one that may have been chosen after it.
    """
    require_fraction("failure_prob", failure_prob)
    size, shape, rows = dataset.num_successors, dataset.visits.shape, dataset.visits.size + 1
    rest = (1.0 - DISTANCE_SHARE) * failure_prob
    part = 0.5 * rest if shares or dataset.fixed_shares else rest
    levels = part / rows, DISTANCE_SHARE * failure_prob / rows
    distances = _distances(dataset.pairs, dataset.counts, dataset.visits.size, size, *levels)
    kl, tv = (bound.reshape(shape) for bound in distances)
    first, size = dataset.first_counts[dataset.first_counts > 0], dataset.num_observations
    start_tv = float(_distances(np.zeros(len(first), dtype=np.int64), first, 1, size, *levels)[1][0])
    return Confidence(*levels, part / shares if shares else 0.0, kl, tv, start_tv)


def _distances(
    rows: NDArray[np.int64], counts: NDArray[Any], num_rows: int, size: int, kl_level: float, distance_level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound KL(p̂‖p) and the total variation of rows whose successors seen are listed with their counts."""
    n = np.bincount(rows, counts, num_rows)
    seen, visits = np.bincount(rows, minlength=num_rows), np.maximum(1.0, n)
    most = np.zeros(num_rows)
    np.maximum.at(most, rows, counts / visits[rows])
    kl = np.where(n > 0, kl_radius(rows, counts, num_rows, size, kl_level) / visits, np.inf)
    r = np.where(n > 0, kl, 0.0)
    by_kl = np.minimum(np.sqrt(0.5 * r), r + np.sqrt(r * r + 2.0 * (1.0 - most) * r))
    by_kl = np.where(seen == 1, -one_by_one(math.expm1, -r), by_kl)
    log_subsets = log_of_subsets(size)
    by_sets = 0.5 * one_by_one(lambda n: l1_radius(n, log_subsets, distance_level), visits)
    return kl, np.where(n > 0, np.minimum(1.0, np.minimum(by_sets, by_kl)), 1.0)


def kl_radius(
    rows: NDArray[np.int64], counts: NDArray[Any], num_rows: int, size: int, level: float
) -> NDArray[np.float64]:
    """Return R of part 1 for every row; ``size`` is the number of successors that there are."""
    from scipy.special import gammaln, xlogy

    numbers = np.asarray(counts, dtype=np.float64)
    n = np.bincount(rows, numbers, num_rows)
    s = np.maximum(1.0, np.bincount(rows, minlength=num_rows))
    log_sets = gammaln(size + 1.0) - gammaln(s + 1.0) - gammaln(size - s + 1.0)
    log_sizes = one_by_one(math.log, s * (s + 1.0) * size / (size + 1.0))
    log_dm = gammaln(0.5 * s) - gammaln(0.5 * s + n)
    log_dm = log_dm + np.bincount(rows, gammaln(numbers + 0.5) - gammaln(0.5), num_rows)
    entropy = xlogy(n, n) - np.bincount(rows, xlogy(numbers, numbers), num_rows)
    radius: NDArray[np.float64] = -math.log(level) + log_sets + log_sizes - log_dm - entropy
    return radius


def function_radii(
    visits: NDArray[np.int64], confidence: Confidence, horizon: int, num_states: int
) -> NDArray[np.float64]:
    """Return R₃/n as float64[O, A]: ∞ for a pair never visited."""
    level = confidence.function_part / (2.0 * horizon * num_states * visits.size)
    n = np.maximum(1, visits).astype(np.float64)
    return np.where(visits == 0, np.inf, (0.5 * one_by_one(math.log, n) + math.log(2.0 / level)) / n)
