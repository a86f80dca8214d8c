"""Explore until the data is good enough: stop when the plan of every named machine is known to lose little.

A draw from the posterior in which the plan loses much has another optimal policy than the plan. What the data must
decide is whether that policy is really better, and it can do so only where the two differ. So the draws with the
largest losses give each pair a weight,

    w(o, a) = Σ_draws loss · |μ^{π*_draw}(o, a) − μ^π̂(o, a)|,

with occupancies in p̂, discounted if the machine's rewards are. What a pair contributes to the loss shrinks as w/√n, so
a visit gains in proportion to w/n^{3/2}, early or late in an episode; the policy to play is the one that collects the
most of this in p̂.

After 100, 200, 400, … episodes the largest loss of all machines' plans is computed: the likely loss (Bayesian), or the
certificate's bound (proven). Exploration ends when it is below ε.

*Optional stopping.* The posterior given the data does not depend on the rule that ended the collection, so the likely
loss needs no correction for the checks; it holds under the prior, as ever. For the proven bound ρ is shared among all
checks that there can be. That is on the safe side and not needed: all parts of the confidence
(``praemia.exploration.confidence``) hold for every number of visits at once, so at every check.

Between checks, half of the episodes follow this policy. The other half are the uncertainty explorer's, because the
weights ignore whatever no draw contains.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ParameterError, unknown_name
from praemia.exploration.coverage import best_values
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import LikelyLoss, likely_loss
from praemia.exploration.merging import COLLECT, DIRECT
from praemia.exploration.plan_from import plan_from
from praemia.exploration.sessions import FixedPolicy, Session, play_given
from praemia.kernels.records import Actions, action_type
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import occupancy, solve
from praemia.simulation.loop import World, run_loop

WORST = 25  # draws that give weights

Weights: TypeAlias = NDArray[np.float64]


def loss_and_weights(dataset: Dataset, machine: RewardMachine) -> tuple[LikelyLoss, Weights]:
    """Return the likely loss of a machine's plan, equal to ``plan.likely_loss``, and the weights w[O, A] of pairs."""
    estimate = Estimate.of(dataset, machine)
    model = estimate.model
    policy = solve(model, keep_values=False).policy
    worst: list[tuple[float, int, Actions]] = []

    def keep_worst(number: int, loss: float, best_policy: Actions) -> None:
        if number < WORST:
            heapq.heappush(worst, (loss, number, best_policy))
        elif loss > worst[0][0]:
            heapq.heapreplace(worst, (loss, number, best_policy))

    likely = likely_loss(estimate, policy, after=keep_worst)
    weights, own = np.zeros(dataset.visits.shape), occupancy(model, policy).pairs
    for loss, _, other in worst:
        weights += loss * np.abs(occupancy(model, other).pairs - own)
    return likely, weights


def most_gain(dataset: Dataset, gain: Weights) -> Actions:
    """Return the policy [H, 1, O] that collects the most of gain[O, A] in p̂; what was never visited leads nowhere."""
    actions = best_values(dataset.kernel, gain, dataset.horizon)[1]
    return actions[:, None].astype(action_type(dataset.num_actions))


CERTIFY = ("likely", "proven")
FIRST_CHECK = 100  # episodes
FAILURE_PROB = 0.05  # ρ of the proven bound, shared among all checks
BATCHES = 8  # plans between two checks
NEVER = 0.5  # the visits that a pair never visited counts as having


class Check(NamedTuple):
    """The largest loss of all machines' plans after some episodes, ∞ where it is not known yet."""

    episodes: int
    loss: float


OnCheck: TypeAlias = Callable[[Check], None]


@dataclass(frozen=True)
class Goal:
    """What to reach: every machine's loss below ε."""

    until: float
    machines: tuple[RewardMachine, ...]
    certify: str
    on_check: OnCheck | None = None

    def __post_init__(self) -> None:
        is_number = isinstance(self.until, int | float | np.number) and not isinstance(self.until, bool)
        if not is_number or not 0.0 < self.until < math.inf:
            raise ParameterError(f"until={self.until!r}; expected a positive number: the loss to get below")
        if not self.machines:
            raise ParameterError(f"until={self.until:g} without machines; name those whose plans must lose less")
        if self.certify not in CERTIFY:
            raise unknown_name("kind of certainty", self.certify, CERTIFY)


def check_counts(episodes: int) -> list[int]:
    """Return after how many episodes to check: 100, doubled again and again, and at the end."""
    counts = []
    count = FIRST_CHECK
    while count < episodes:
        counts.append(count)
        count *= 2
    return [*counts, episodes]


def explore_until(session: Session, goal: Goal, scale: float, *, is_directed: bool) -> dict[str, Any]:
    """Explore until the goal is reached or all episodes are played; return a record of how it went."""
    # Both worlds, whether or not both are played: in a black box, the last one made seeds the environment.
    plain = session.world(UncertaintyExplorer(scale=scale), COLLECT)
    directed = session.world(FixedPolicy(), DIRECT)
    counts, checks, weights = check_counts(session.episodes), [], np.zeros(0)
    for count in counts:
        num_episodes = count - session.played
        if weights.any():
            _play_directed(session, plain, directed, weights, num_episodes)
        else:
            run_loop(plain, plain.played + num_episodes, on_progress=session.report)
        goes_on = is_directed and count < session.episodes
        loss, weights = check(_data(session), goal, len(counts), wants_weights=goes_on)
        checks.append(Check(count, loss))
        if goal.on_check is not None:
            goal.on_check(checks[-1])
        if loss < goal.until:
            break
    return {
        "until": float(goal.until),
        "certify": goal.certify,
        "reached": checks[-1].loss < goal.until,
        "checks": [[episodes, loss if math.isfinite(loss) else None] for episodes, loss in checks],
    }


def _play_directed(session: Session, plain: World, directed: World, weights: Weights, num_episodes: int) -> None:
    """Play some more episodes: half of them by the uncertainty explorer, half directed by the weights."""
    for part in np.diff(np.linspace(0, num_episodes, BATCHES + 1).astype(int)).tolist():
        run_loop(plain, plain.played + part // 2, on_progress=session.report)
        if part > part // 2:
            data = _data(session)
            visits = np.maximum(data.visits, NEVER)
            policy = most_gain(data, weights / (visits * np.sqrt(visits)))
            play_given(directed, policy, part - part // 2, session.report)


def _data(session: Session) -> Dataset:
    """Return what was collected so far, without its reachability."""
    return session.environment.dataset(session.collected, fixed_machines=session.fixed_machines)


def check(dataset: Dataset, goal: Goal, num_checks: int, *, wants_weights: bool) -> tuple[float, Weights]:
    """Return the largest loss of all machines' plans, and the weights of pairs for those that lose too much."""
    largest, weights = 0.0, np.zeros(dataset.visits.shape)
    for machine in goal.machines:
        if not _is_readable(dataset, machine):
            largest = math.inf
            continue
        own: Weights | None = None
        if goal.certify == "proven":
            loss = plan_from(dataset, machine, failure_prob=FAILURE_PROB / num_checks).certificate.bound
        else:
            likely, own = loss_and_weights(dataset, machine)
            loss = likely.loss
        largest = max(largest, loss)
        if wants_weights and loss >= goal.until:
            weights += loss_and_weights(dataset, machine)[1] if own is None else own
    return largest, weights


def _is_readable(dataset: Dataset, machine: RewardMachine) -> bool:
    """Tell whether all that the machine reads is known to occur or not; in a black box it must have been seen.

    Draws treat a label that was never seen as impossible, so a machine that waits for one would otherwise be done at
    once.
    """
    return dataset.labels_known or machine.reads <= dataset.labelling.propositions()
