"""Explore until the data is good enough: stop when the plan of every named machine is known to lose little.

A draw from the posterior in which the plan loses much has another optimal policy than the plan. What the data must
decide is whether that policy is really better, and it can do so only where the two differ. So the draws with the
largest losses give each pair a weight,

    w(o, a) = Σ_draws loss · |μ^{π*_draw}(o, a) − μ^π̂(o, a)|,

with occupancies in p̂. What a pair contributes to the loss shrinks as w/√n, so a visit gains in proportion to w/n^{3/2};
the policy to play is the one that collects the most of this in p̂.

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
from praemia.exploration.dataset import Dataset
from praemia.exploration.environments import Environment, build_dataset
from praemia.exploration.estimate import best_values
from praemia.exploration.likely_loss import DRAWS, LEVEL, LikelyLoss, random_numbers
from praemia.exploration.merging import Counted
from praemia.exploration.plan_from import plan_from
from praemia.exploration.playing import FixedPolicy, play_given
from praemia.exploration.posterior import Posterior
from praemia.kernels.records import Actions, action_type
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import occupancy, solve
from praemia.simulation.loop import run_loop

WORST = 25  # draws that give weights

Weights: TypeAlias = NDArray[np.float64]


def judged(dataset: Dataset, machine: RewardMachine) -> tuple[LikelyLoss, Weights]:
    """Return the likely loss of a machine's plan, equal to ``plan.likely_loss``, and the weights w[O, A] of pairs."""
    model = dataset.model(machine)
    policy = solve(model, keep_values=False).policy
    posterior = Posterior(dataset, machine, policy, None, random_numbers(0))
    worst: list[tuple[float, int, Actions]] = []

    def keep_worst(number: int, loss: float) -> None:
        if number < WORST:
            heapq.heappush(worst, (loss, number, posterior.best_policy))
        elif loss > worst[0][0]:
            heapq.heapreplace(worst, (loss, number, posterior.best_policy))

    losses = posterior.losses(DRAWS, keep_worst)
    weights, own = np.zeros(dataset.visits.shape), occupancy(model, policy).pairs
    for loss, _, other in worst:
        weights += loss * np.abs(occupancy(model, other).pairs - own)
    return LikelyLoss(np.sort(losses), LEVEL, 0, posterior.draws_labels, posterior.never_seen), weights


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
    """What was found after some episodes: the largest loss of all machines' plans, ∞ where it is not known yet."""

    episodes: int
    loss: float


Report: TypeAlias = Callable[[int, int], None]  # episodes played so far, and in total
OnCheck: TypeAlias = Callable[[Check], None]


@dataclass(frozen=True)
class Target:
    """What to reach: every machine's loss below ε. ``directed``: whether visits go where they help to decide."""

    until: float
    machines: tuple[RewardMachine, ...]
    certify: str
    directed: bool
    fixed: tuple[str, ...]

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


class Players:
    """The two explorers: one driven by uncertainty, one by the weights. All that they play is data."""

    def __init__(
        self, environment: Environment, episodes: int, scale: float, seed: tuple[int, ...], on_progress: Report
    ) -> None:
        self._environment = environment
        self._plain = environment.world(None, UncertaintyExplorer(scale=scale), episodes, (*seed, 2))
        self._directed = environment.world(None, FixedPolicy(), episodes, (*seed, 3))
        self._on_progress = lambda _: on_progress(self.played, episodes)

    @property
    def played(self) -> int:
        return self._plain.played + self._directed.played

    def explore(self, num_episodes: int) -> None:
        """Play some more episodes by the uncertainty explorer."""
        run_loop(self._plain, self._plain.played + num_episodes, on_progress=self._on_progress)

    def explore_for(self, weights: Weights, num_episodes: int) -> None:
        """Play some more episodes: half of them by the uncertainty explorer, half directed by the weights."""
        for part in np.diff(np.linspace(0, num_episodes, BATCHES + 1).astype(int)).tolist():
            self.explore(part // 2)
            if part > part // 2:
                seen = self.dataset(())
                visits = np.maximum(seen.visits, NEVER)
                policy = most_gain(seen, weights / (visits * np.sqrt(visits)))
                play_given(self._directed, policy, part - part // 2, self._on_progress)

    def counted(self) -> Counted:
        """Add up what both have counted."""
        worlds = [world for world in (self._plain, self._directed) if world.played]
        first, *others = map(self._environment.counted, worlds)
        return sum(others, start=first)

    def dataset(self, fixed: tuple[str, ...]) -> Dataset:
        """Return what was collected so far, without its reachability."""
        return build_dataset(self._environment, self.counted(), None, {}, fixed)


def explore_until(players: Players, target: Target, episodes: int, on_check: OnCheck) -> dict[str, Any]:
    """Explore until the target is reached or all episodes are played; return a record of how it went."""
    counts, checks, weights = check_counts(episodes), [], np.zeros(0)
    for count in counts:
        if target.directed and weights.any():
            players.explore_for(weights, count - players.played)
        else:
            players.explore(count - players.played)
        loss, weights = _check(players.dataset(target.fixed), target, len(counts))
        checks.append(Check(count, loss))
        on_check(checks[-1])
        if loss < target.until:
            break
    return {
        "until": float(target.until),
        "certify": target.certify,
        "reached": checks[-1].loss < target.until,
        "checks": [[check.episodes, check.loss if math.isfinite(check.loss) else None] for check in checks],
    }


def _check(dataset: Dataset, target: Target, num_checks: int) -> tuple[float, Weights]:
    """Return the largest loss of all machines' plans, and the weights of pairs for those that lose too much."""
    largest, weights = 0.0, np.zeros(dataset.visits.shape)
    for machine in target.machines:
        if not _is_readable(dataset, machine):
            largest = math.inf
            continue
        losses, own = judged(dataset, machine)
        if target.certify == "proven":
            loss = plan_from(dataset, machine, failure_prob=FAILURE_PROB / num_checks).certificate.bound
        else:
            loss = losses.loss
        largest = max(largest, loss)
        if loss >= target.until:
            weights += own
    return largest, weights


def _is_readable(dataset: Dataset, machine: RewardMachine) -> bool:
    """Tell whether all that the machine reads is known to occur or not; in a black box it must have been seen.

    Draws treat a label that was never seen as impossible, so a machine that waits for one would otherwise be done at
    once.
    """
    return dataset.labels_known or machine.reads <= dataset.labelling.propositions()
