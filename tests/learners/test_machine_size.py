"""On the flower only the machine grows: UCBVI-PRM does not notice, UCBVI on the product does."""

from __future__ import annotations

import numpy as np

from praemia import envs, learners, simulate


def regrets(name: str, loop: int, num_episodes: int, num_runs: int) -> np.ndarray:
    task, learner = envs.make(f"flower-{loop}"), learners.make(name)
    return np.array([simulate(task, learner, num_episodes, (8, seed)).regret[-1] for seed in range(num_runs)])


def standard_error(first: np.ndarray, second: np.ndarray) -> float:
    """Return the standard error of the difference of two means."""
    return float(np.sqrt(first.var(ddof=1) / len(first) + second.var(ddof=1) / len(second)))


def test_the_regret_of_ucbvi_prm_does_not_grow_with_the_machine() -> None:
    """From 18 to 93 machine states: no growth beyond 4 standard errors (error level 10⁻⁴), nor beyond a half."""
    small, middle, large = (regrets("ucbvi-prm", loop, 3_000, 4) for loop in (5, 20, 80))
    for larger in (middle, large):
        assert larger.mean() - small.mean() <= 4 * standard_error(small, larger)
        assert larger.mean() <= 1.5 * small.mean()


def test_the_regret_of_ucbvi_grows_with_the_machine() -> None:
    """From 18 to 33 machine states: growth by more than 4 standard errors (error level 10⁻⁴)."""
    small, large = (regrets("ucbvi", loop, 500, 3) for loop in (5, 20))
    assert large.mean() - small.mean() > 4 * standard_error(small, large)
    assert small.mean() > 10 * regrets("ucbvi-prm", 5, 500, 3).mean()
