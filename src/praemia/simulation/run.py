"""The record of one run: what was played, what it was worth exactly, and what it takes to repeat it."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import PraemiaError


@dataclass(frozen=True, eq=False)
class Run:
    """One learner on one task. A policy is fixed within an episode and changes only at a plan, so the exact regret

    is piecewise linear: a value per plan says it all.

    Attributes
    ----------
    task, learner, parameters, seed, num_episodes : what was run.
    optimal_value : V*(start); None on a black box, where it is not known.
    plan_episodes : int64[E], the first episode of each plan; plan_values : float64[E], the exact value of its policy.
    optimistic_values : float64[E], the learner's own V_k(start); NaN where it has none.
    returns : float64[K], the sampled return of each episode.
    final_policy : the last policy, [H, M, O] or [H, M, O, A].
    seconds : how long it took; versions : of the packages that can change a result.
    """

    task: str
    learner: str
    parameters: dict[str, Any]
    seed: tuple[int, ...]
    num_episodes: int
    optimal_value: float | None
    plan_episodes: NDArray[np.int64]
    plan_values: NDArray[np.float64]
    optimistic_values: NDArray[np.float64]
    returns: NDArray[np.float64]
    final_policy: NDArray[Any]
    seconds: float
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def num_plans(self) -> int:
        return len(self.plan_episodes)

    @property
    def plan_gaps(self) -> NDArray[np.float64]:
        """float64[E], the exact loss per episode of each plan; rounding below 0 is taken for 0."""
        if self.optimal_value is None:
            raise PraemiaError(f"the regret on {self.task} is not known: it is a black box; look at the returns")
        return np.maximum(0.0, self.optimal_value - self.plan_values)

    @property
    def policy_values(self) -> NDArray[np.float64]:
        """float64[K], the exact value of the policy played in each episode."""
        return np.repeat(self.plan_values, plan_lengths(self.plan_episodes, self.num_episodes))

    @property
    def regret(self) -> NDArray[np.float64]:
        """float64[K], the exact cumulative regret after each episode."""
        return cumulative_regret(self.plan_episodes, self.plan_gaps, self.num_episodes)

    def __repr__(self) -> str:
        known = self.optimal_value is not None
        result = f"regret {self.regret[-1]:.2f}" if known else f"mean return {self.returns.mean():.3f}"
        return (
            f"Run({self.learner} on {self.task}: {self.num_episodes:,} episodes, {self.num_plans:,} plans, "
            f"{result}, {self.seconds:.2f} s)"
        )


def plan_lengths(plan_episodes: NDArray[np.int64], num_episodes: int) -> NDArray[np.int64]:
    """Return for how many episodes each plan was played."""
    return np.diff(np.append(plan_episodes, num_episodes))


def cumulative_regret(
    plan_episodes: NDArray[np.int64], plan_gaps: NDArray[np.float64], num_episodes: int
) -> NDArray[np.float64]:
    """Return the regret after each episode, float64[K], from the loss per episode of each plan."""
    lengths = plan_lengths(plan_episodes, num_episodes)
    before = np.concatenate(([0.0], np.cumsum(plan_gaps * lengths)[:-1]))
    within = np.arange(1, num_episodes + 1) - np.repeat(plan_episodes, lengths)
    return np.repeat(before, lengths) + np.repeat(plan_gaps, lengths) * within


def versions() -> dict[str, str]:
    """Return the versions of the packages that can change a result."""
    return {name: version(name) for name in ("praemia", "numpy", "numba")}
