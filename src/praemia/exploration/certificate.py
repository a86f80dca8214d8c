"""Certificates: how far a plan can be from the optimum of the true environment, from the data alone.

With probability 1 − ρ, for all machines, labels, horizons, discounts and rewards at once, also those chosen after
looking at the data:

    J(π*) − J(π̂) ≤ D              a machine: the optimum and the plan in one and the same environment
    J(π*) − J(π̂) ≤ α + 2G·D*      any reward on trajectories: the simulation lemma

and the certificate is never more than G. docs/concepts/certificates.md has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import ordered_sum
from praemia.exploration.confidence import confidence
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.kernels import certify
from praemia.kernels.records import Actions, padded_width
from praemia.tasks.model import padded_exits

NEARLY_ALL = 0.999

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Certificate:
    """An upper bound on J(π*) − J(π̂) in the true environment.

    Attributes
    ----------
    bound : the certificate; largest : G, which no policy's loss exceeds. failure_prob : ρ.
    optimistic, pessimistic : V̄ and V̲ at the start, for a machine; NaN for other rewards.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> data = praemia.explore(task, num_episodes=500, seed=0)
    >>> certificate = praemia.plan_from(data, task.machine).certificate
    >>> certificate.bound <= certificate.largest, certificate.failure_prob
    (True, 0.05)
    """

    bound: float
    largest: float
    failure_prob: float
    optimistic: float = float("nan")
    pessimistic: float = float("nan")

    def __repr__(self) -> str:
        sure = f"with probability {1.0 - self.failure_prob:g}"
        return f"Certificate(loses at most {self.bound:.4g} of at most {self.largest:.4g} {sure})"

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound is no better than the trivial one, G."""
        return self.share >= NEARLY_ALL

    @property
    def share(self) -> float:
        """The bound as a share of G; 0 where nothing can be lost."""
        return self.bound / self.largest if self.largest > 0.0 else 0.0

    def text(self) -> str:
        """Describe the certificate in a few lines."""
        text = f"certificate: with probability {1.0 - self.failure_prob:g} the plan loses at most {self.bound:.4g}"
        text += f" of at most {self.largest:.4g}"
        if self.is_vacuous:
            text = f"certificate: vacuous: it says only that no plan can lose more than {self.largest:.4g}"
        if np.isfinite(self.optimistic):
            text += f"\nthe optimum is at most {self.optimistic:.4g}, the plan's value at least {self.pessimistic:.4g}"
        return text


def certify_history(dataset: Dataset, bound: float, alpha: float, horizon: int, failure_prob: float) -> Certificate:
    """Certify a plan for a reward on trajectories; its policy may depend on the whole history."""
    sure = confidence(dataset, failure_prob)
    distance = sure.start_tv + float(ordered_sum(dataset.start_probs * largest_distances(dataset, sure.tv, horizon)))
    return Certificate(min(bound, alpha + 2.0 * bound * min(1.0, distance)), bound, failure_prob)


def largest_distances(dataset: Dataset, tv: Values, horizon: int) -> Values:
    """Return D_0[O] of D_h(o) = max_a min(1, tv(o, a) + Σ_z p̂(z|o, a)·D_{h+1}(z)), D_H = 0; an end adds nothing."""
    distances, kernel = np.zeros(dataset.num_observations), dataset.kernel[:, : dataset.num_observations]
    for _ in range(horizon):
        distances = np.minimum(1.0, tv + (kernel @ distances).reshape(tv.shape)).max(axis=1)
    return distances


def certify_machine(estimate: Estimate, policy: Actions, failure_prob: float) -> Certificate:
    """Certify a plan for a machine; ``policy`` is [H, M, O]."""
    dataset, model = estimate.dataset, estimate.model
    sure = confidence(dataset, failure_prob)
    # The bounds are for rewards in [0, 1]; results are converted to the user's units at the end.
    span, largest = estimate.machine.reward_range.span, float(estimate.most[0, model.table.initial])
    bounds = machine_bounds(estimate, sure.kl, policy)
    upper, negated, loss = (
        _shifted(values, dataset.start_probs, sure.start_tv) for values in (bounds.upper, -bounds.lower, bounds.loss)
    )
    return Certificate(
        bound=span * min(largest, loss),
        largest=span * largest,
        failure_prob=failure_prob,
        optimistic=estimate.values_from_unit(upper),
        pessimistic=estimate.values_from_unit(0.0 - negated),
    )


class MachineBounds(NamedTuple):
    """Bounds on a machine's values in the unit range, at the first step in the initial machine state."""

    upper: Values  # [O], ≥ V*
    lower: Values  # [O], ≤ V^π
    loss: Values  # [O], ≥ V* − V^π


def machine_bounds(estimate: Estimate, radii: Values, policy: Actions) -> MachineBounds:
    """Bound values and the loss of a policy [H, M, O] over the KL balls of radii[O, A]."""
    model, size = estimate.model, estimate.dataset.num_observations
    width = padded_width(model.num_machine_states)
    layers, support = model.table.layers(width), estimate.spec.every_step.support_for(width)
    paid, exits, paid_there = (
        np.stack([sign * rewards for sign in certify.SIGNS])
        for rewards in (layers.paid, padded_exits(model.exits, width), support.layers.paid)
    )
    data = certify.BoundArrays(
        model.arrays, layers, paid, exits, support, paid_there, np.ascontiguousarray(radii).ravel(), estimate.most
    )
    scratch = certify.BoundScratch(
        tables=np.zeros((2, len(paid), model.num_rows * width)),
        tops=np.zeros((len(paid), (len(support.group_indptr) - 1) * width)),
        tops_by_label=np.zeros((len(support.indptr) - 1) * width),
        successors=np.zeros(int(np.diff(model.arrays.indptr).max())),
    )
    certify.bound_values(data, scratch, np.ascontiguousarray(policy.transpose(0, 2, 1)), model.discount)
    first = scratch.tables[0, :, : size * width].reshape(-1, size, width)[:, :, model.table.initial]
    return MachineBounds(first[certify.UPPER], -first[certify.LOWER], first[certify.LOSS])


def _shifted(values: Values, probs: Values, tv: float) -> float:
    """Return the largest Σ p·values within a total variation of ``probs``: mass moves from the worst to the best."""
    mean, best, left = float(ordered_sum(probs * values)), float(values.max()), tv
    for o in np.argsort(values, kind="stable"):
        mass = min(left, float(probs[o]))
        mean += mass * (best - float(values[o]))
        left -= mass
        if left <= 0.0:
            break
    return mean
