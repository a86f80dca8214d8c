"""The likely loss of a plan: Bayesian, beside the proven bound of its certificate.

Environments are drawn from the posterior (``praemia.exploration.posterior``), and V* − V^π̂ is computed in each. With n
draws, the likely loss at level c is the ⌈c·(n + 1)⌉-th smallest. Why this one: given the data, the true environment is
a draw like the others if the prior is right, so the true loss is at most the k-th smallest of n with probability at
least k/(n + 1). That covers the Monte-Carlo error. An interval between two order statistics says how far the number may
be from the posterior's own quantile.

It needs no correction when data is collected until the number is small: the posterior given the data is the same
whatever rule ended the collection. All of this is under the prior; nothing is proven about an environment that is
unlikely under the prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.errors import ParameterError, require_whole
from praemia.exploration.dataset import Dataset
from praemia.exploration.posterior import PRIOR, Posterior
from praemia.machines.labels import Labels
from praemia.machines.machine import RewardMachine

DRAWS = 200
LEVEL = 0.95
MAX_DRAWS = 1_000_000

OnDraw = Callable[[int, int], None]  # draws so far, and in total


@dataclass(frozen=True, eq=False)
class LikelyLoss:
    """What a plan loses at most, with a probability under the posterior.

    Attributes
    ----------
    losses : float64[draws], the losses in all draws, ascending. level, seed : as requested.
    labels_drawn : whether transitions never seen had labels drawn from those that the data has.
    never_seen : propositions that the machine reads and no label of the data has; draws treat them as impossible.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim(size=4)
    >>> data = praemia.explore(task, episodes=300, method="uncertainty", seed=0)
    >>> likely = praemia.plan_from(data, task.machine).likely(draws=100, level=0.9)
    >>> likely.draws, likely.level
    (100, 0.9)
    >>> likely.at(0.5) <= likely.loss
    True
    """

    losses: NDArray[np.float64] = field(repr=False)
    level: float
    seed: int
    labels_drawn: bool
    never_seen: tuple[str, ...] = ()

    @property
    def draws(self) -> int:
        return len(self.losses)

    @property
    def loss(self) -> float:
        """The likely loss."""
        return self.at(self.level)

    @property
    def mean(self) -> float:
        """The posterior mean of the loss."""
        return float(ordered_sum(self.losses)) / self.draws

    def at(self, level: float) -> float:
        """Return the likely loss at another level, from the same draws."""
        require_draws(self.draws, level)
        return float(self.losses[_rank(level, self.draws) - 1])

    @property
    def monte_carlo(self) -> tuple[float, float]:
        """An interval that holds the posterior's quantile with probability 0.95; its end is ∞ with too few draws."""
        from scipy.stats import binom

        first, last = (int(binom.ppf(tail, self.draws, self.level)) for tail in (0.025, 0.975))
        low = float(self.losses[first - 1]) if first > 0 else 0.0
        return low, float(self.losses[last]) if last < self.draws else math.inf

    def text(self) -> str:
        """Describe the likely loss in a few lines."""
        low, high = self.monte_carlo
        lines = [
            f"likely loss (Bayesian): with probability {self.level:g} under the posterior the plan loses at most "
            f"{self.loss:.4g}",
            f"{self.draws:,} draws, seed {self.seed}; Monte-Carlo error: {low:.4g} … {high:.4g}; "
            f"prior: Dirichlet of total weight {PRIOR:g} over all observations",
        ]
        if self.labels_drawn:
            lines.append("labels of transitions never seen are drawn from those that the data has")
        if self.never_seen:
            lines.append(f"never seen, and so taken to be impossible: {', '.join(self.never_seen)}")
        return "\n".join(lines)


def likely_loss(
    dataset: Dataset,
    machine: RewardMachine,
    policy: NDArray[Any],
    *,
    labels: Labels | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    seed: int = 0,
    on_draw: OnDraw | None = None,
) -> LikelyLoss:
    """Return the likely loss of a policy [H, M, O] for a machine; ``labels`` take the place of the dataset's own."""
    require_draws(draws, level)
    posterior = Posterior(dataset, machine, policy, labels, random_numbers(seed))
    losses = posterior.losses(draws, None if on_draw is None else lambda number, _: on_draw(number + 1, draws))
    return LikelyLoss(np.sort(losses), level, seed, posterior.draws_labels, posterior.never_seen)


def random_numbers(seed: int) -> np.random.Generator:
    """Return the generator of a likely loss."""
    return np.random.default_rng([require_whole("seed", seed, 0), 29])


def require_draws(draws: int, level: float = LEVEL) -> None:
    """Refuse a level outside (0, 1), and fewer draws than it needs."""
    if not 0.0 < level < 1.0:
        raise ParameterError(f"level={level!r}; expected a number between 0 and 1")
    if _rank(level, require_whole("draws", draws, 1, MAX_DRAWS)) > draws:
        fewest = math.ceil(level / (1.0 - level) - 1e-9)
        raise ParameterError(f"draws={draws}; a level of {level:g} needs {fewest:,} at least")


def _rank(level: float, draws: int) -> int:
    """Return ⌈c·(n + 1)⌉, tolerating rounding errors just above a whole number."""
    return math.ceil(level * (draws + 1) - 1e-9)
