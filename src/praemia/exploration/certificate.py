"""Certificates: how far a plan can be from the optimum of the true environment, from the data alone.

With probability 1 − ρ:

    J(π*) − J(π̂) ≤ α + 2G·D*                   (the simulation lemma; any reward on trajectories, any policy)
    J(π*) − J(π̂) ≤ D ≤ B* + B^π̂                (a machine; the optimum and the plan in one and the same environment)

and the certificate is never more than G. (B* + B^π̂ is the simulation lemma in the product.)
``praemia.exploration.bounds`` has the proofs. With a discount, J and G are discounted; what is known of p is the same.

``scope`` says what may be chosen after looking at the data. By default everything may: only parts 1 and 2 of the
confidence are used, and all such certificates hold together. For a machine that was fixed before the data, with its
labels, horizon and discount, part 3 is used too: usually tighter, though parts 1 and 2 then have less of ρ. If the data
records the machine, its certificate holds together with all other recorded ones and with the default's. If the user
vouches for it, each certificate holds with probability 1 − ρ by itself; for several of them, divide ``failure_prob`` by
their number.

What must be fixed is the function V*, that is the machine, the labels, the horizon and the discount. A dataset records
a digest of the four, written before the first episode; a plan looks its machine up there. Labels that are found by
playing (in black boxes) are the environment's own, which no digest can cover; they were fixed with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from praemia.arithmetic import ordered_sum
from praemia.exploration.bounds import Values, machine_bounds
from praemia.exploration.confidence import Confidence, confidence
from praemia.exploration.coverage import best_values
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.kernels.records import Actions
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import occupancy
from praemia.text_tables import plural

NUM_SUGGESTIONS = 10
NEARLY_ALL = 0.999
NO_MACHINE = RewardMachine(("any",), "any", (), ())  # for policies of observations alone


class Scope(Enum):
    """What a certificate holds for; the value says it in words."""

    ANY_REWARD = "any reward, also one chosen after looking at the data"
    ANY_MACHINE = "any machine, also one chosen after looking at the data"
    RECORDED = "a machine fixed before the data"
    VOUCHED = "a machine fixed before the data, as you say"


@dataclass(frozen=True)
class Suggestion:
    """A pair to visit more: what it adds to the certificate, and how often it was visited."""

    observation: int
    action: int
    visits: int
    weight: float


@dataclass(frozen=True, eq=False)
class Certificate:
    """An upper bound on J(π*) − J(π̂) in the true environment.

    Attributes
    ----------
    bound : the certificate; largest : G, which no policy's loss exceeds. failure_prob : ρ.
    alpha : the planner's α. simulation : the simulation lemma's bound, before it is cut off at G.
    optimistic, pessimistic : V̄ and V̲ at the start, for a machine; NaN for other rewards.
    start_tv : what not knowing the first observation's law adds, in total variation.
    scope : what it holds for; ``scope.value`` says it in words.
    to_visit : the pairs that add the most, the worst first.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()
    >>> data = praemia.explore(task, episodes=500, method="uncertainty", seed=0)
    >>> certificate = praemia.plan_from(data, task.machine).certificate
    >>> certificate.bound <= certificate.largest, certificate.failure_prob
    (True, 0.05)
    """

    bound: float
    largest: float
    failure_prob: float
    alpha: float
    simulation: float
    optimistic: float = float("nan")
    pessimistic: float = float("nan")
    start_tv: float = 0.0
    scope: Scope = Scope.ANY_REWARD
    to_visit: tuple[Suggestion, ...] = field(default=())

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

    def text(self, dataset: Dataset) -> str:
        """Describe in a few lines what is certain, and what to visit."""
        sure = f"with probability {1.0 - self.failure_prob:g}"
        if self.is_vacuous:
            lines = [f"certificate: vacuous: it says only that no plan can lose more than {self.largest:.4g}"]
        else:
            lines = [f"certificate: {sure} the plan loses at most {self.bound:.4g} of at most {self.largest:.4g}"]
        lines.append(f"it holds for {self.scope.value}")
        if np.isfinite(self.optimistic):
            lines.append(
                f"the optimum is at most {self.optimistic:.4g}, the plan's value at least {self.pessimistic:.4g}"
            )
        if self.to_visit:
            names = (
                f"{dataset.observation_name(s.observation)}/{dataset.action_name(s.action)} "
                f"({plural(s.visits, 'visit')})"
                for s in self.to_visit[:5]
            )
            lines.append("to shrink it, visit " + ", ".join(names))
        return "\n".join(lines)


def certify_history(dataset: Dataset, bound: float, alpha: float, horizon: int, failure_prob: float) -> Certificate:
    """Certify a plan for a reward on trajectories; its policy may depend on the whole history."""
    sure = confidence(dataset, failure_prob)
    distances, actions = best_values(dataset.kernel, sure.tv, horizon, most=1.0)
    distance = min(1.0, sure.start_tv + float(ordered_sum(dataset.start_probs * distances)))
    simulation = alpha + 2.0 * bound * distance
    visits = occupancy(dataset.model(NO_MACHINE, horizon), actions[:, None]).pairs
    return Certificate(
        bound=float(np.fmin(bound, simulation)),
        largest=bound,
        failure_prob=failure_prob,
        alpha=alpha,
        simulation=simulation,
        start_tv=sure.start_tv,
        to_visit=_suggestions(dataset, sure, visits),
    )


def certify_machine(estimate: Estimate, policy: Actions, failure_prob: float, fixed_in_advance: bool) -> Certificate:
    """Certify the exact plan for a machine; ``policy`` is [H, M, O]."""
    dataset, model = estimate.dataset, estimate.model
    scope, shares = scope_of(estimate, fixed_in_advance)
    sure = confidence(dataset, failure_prob, shares)
    # The bounds are for rewards in [0, 1]; results are converted to the user's units at the end.
    span, largest = estimate.machine.reward_range.span, float(estimate.most[0, model.table.initial])
    bounds, start = machine_bounds(estimate, sure, policy.transpose(0, 2, 1)), dataset.start_probs
    ends = (float(ordered_sum(start * far)) for far in (bounds.farthest, bounds.distance))
    farthest, own = (min(largest, sure.start_tv * largest + end) for end in ends)
    simulation, loss = farthest + own, _shifted(bounds.loss, start, sure.start_tv)
    return Certificate(
        bound=span * min(largest, loss),  # never more than the simulation lemma's
        largest=span * largest,
        failure_prob=failure_prob,
        alpha=0.0,
        simulation=span * simulation,
        optimistic=estimate.values_from_unit(_shifted(bounds.upper, start, sure.start_tv)),
        pessimistic=estimate.values_from_unit(0.0 - _shifted(-bounds.lower, start, sure.start_tv)),
        start_tv=sure.start_tv,
        scope=scope,
        to_visit=_suggestions(dataset, sure, occupancy(model, policy).pairs),
    )


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


def _suggestions(dataset: Dataset, sure: Confidence, occupied: Values) -> tuple[Suggestion, ...]:
    weights = sure.tv * occupied
    order = np.argsort(-weights.ravel(), kind="stable")[:NUM_SUGGESTIONS]
    places = (divmod(int(pair), dataset.num_actions) for pair in order if weights.ravel()[pair] > 0.0)
    return tuple(Suggestion(o, a, int(dataset.visits[o, a]), float(weights[o, a])) for o, a in places)


def scope_of(estimate: Estimate, fixed_in_advance: bool) -> tuple[Scope, int]:
    """Return what a machine's certificate holds for, and how many machines share part 3 of the confidence."""
    if estimate.is_recorded:
        return Scope.RECORDED, estimate.dataset.fixed_shares
    return (Scope.VOUCHED, 1) if fixed_in_advance else (Scope.ANY_MACHINE, 0)
