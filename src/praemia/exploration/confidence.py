"""A confidence set for p that holds for all pairs and all numbers of visits at once: n·KL(p̂‖p) ≤ R.

Where s of the O successors of a pair were seen, z of them N(z) times, and d = ρ/(OA + 1),

    R = ln(1/d) + ln C(O, s) + ln(s(s + 1)·O/(O + 1)) − ln DM − n·H(p̂),
    DM = Γ(s/2)/Γ(s/2 + n) · Π_z Γ(N(z) + ½)/Γ(½),   H the entropy.

The distribution of the first observation is estimated like a pair's successors. (Where episodes may end, o' with and
without the end are two successors, and O is twice the number of observations.) docs/concepts/certificates.md has the
proof. The set is about p alone, so it holds for all machines, labels, horizons and policies at once, whenever these are
chosen; and for data that was searched for, stopped early or merged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import one_by_one
from praemia.errors import ModelError, require_fraction
from praemia.exploration.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Confidence:
    """How far p may be from p̂.

    Attributes
    ----------
    kl : float64[O, A], a bound on KL(p̂‖p): R/n; ∞ for a pair never visited.
    tv : float64[O, A], a bound on ½‖p̂ − p‖₁ that follows from it; 1 for a pair never visited.
    start_tv : the same as ``tv`` for the first observation.
    """

    kl: NDArray[np.float64]
    tv: NDArray[np.float64]
    start_tv: float


def confidence(dataset: Dataset, failure_prob: float) -> Confidence:
    """Return the confidence set of a dataset; it fails with probability ``failure_prob`` at most."""
    require_fraction("failure_prob", failure_prob)
    require_one_label(dataset, "a certificate")
    num_pairs, shape = dataset.visits.size, dataset.visits.shape
    level = failure_prob / (num_pairs + 1)
    kl, tv = _distances(dataset.pairs, dataset.counts, num_pairs, dataset.num_successors, level)
    first = dataset.first_counts[dataset.first_counts > 0]
    rows = np.zeros(len(first), dtype=np.int64)
    start_tv = _distances(rows, first, 1, dataset.num_observations, level)[1]
    return Confidence(kl.reshape(shape), tv.reshape(shape), float(start_tv[0]))


def require_one_label(dataset: Dataset, what: str) -> None:
    """Refuse data in which a transition has several labels: how many there can be is not known."""
    if not dataset.has_one_label_each:
        raise ModelError(several_labels(what))


def several_labels(what: str) -> str:
    """Say why data is of no use for a purpose."""
    return (
        f"{what} needs one label for each (o, a, o'), and this data has several for some, as where a threshold is "
        "inside a cell; divide the cells there (bins), or learn with simulate(…, data=…)"
    )


def _distances(
    rows: NDArray[np.int64], counts: NDArray[Any], num_rows: int, size: int, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound KL(p̂‖p) and the total variation of rows whose successors seen are listed with their counts.

    With r = R/n and b = 1 − max p̂, ½‖p̂ − p‖₁ ≤ min(√(r/2), r + √(r² + 2br)); 1 − e^{−r} if one successor was seen.
    """
    n = np.bincount(rows, counts, num_rows)
    seen, visits, most = np.bincount(rows, minlength=num_rows), np.maximum(1.0, n), np.zeros(num_rows)
    np.maximum.at(most, rows, counts / visits[rows])
    kl = np.where(n > 0, kl_radius(rows, counts, num_rows, size, level) / visits, np.inf)
    r = np.where(n > 0, kl, 0.0)
    tv = np.minimum(np.sqrt(0.5 * r), r + np.sqrt(r * r + 2.0 * (1.0 - most) * r))
    tv = np.where(seen == 1, -one_by_one(math.expm1, -r), tv)
    return kl, np.where(n > 0, np.minimum(1.0, tv), 1.0)


def kl_radius(
    rows: NDArray[np.int64], counts: NDArray[Any], num_rows: int, size: int, level: float
) -> NDArray[np.float64]:
    """Return R for every row; ``size`` is the number of successors that there are."""
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
