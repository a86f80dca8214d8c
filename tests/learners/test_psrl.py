"""The kernels that PSRL plans in have the law of the posterior, Dirichlet(α/O + N), by sticks and by Gamma variables.

In a task of one step whose machine pays 1 for reaching some observations, a plan's value is the probability of them
under the kernel drawn: a Beta variable.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pasts import Past, pasts
from scipy.stats import beta, kstwo

from praemia.learners.psrl import PSRL
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

NUM_PLANS = 1_000
LEAST = 1e-4  # below, sticks that were not broken any further would show: less than 10⁻⁶ of the mass
SEEN, UNSEEN = 1, 4
TARGETS = {
    "one seen": {SEEN},
    "one unseen": {UNSEEN},
    "two seen": {0, SEEN},
    "two unseen": {UNSEEN, UNSEEN + 1},
    "a seen and an unseen": {SEEN, UNSEEN},
}
# Sticks are broken where there are more observations than 1 + α·ln(10⁶).
STICKS = [(0.3, 6), (1.0, 40), (2.5, 60)]
GAMMAS = [(0.4, 6), (5.0, 40)]


def task_that_pays(targets: set[int], size: int) -> Task:
    """Return a task of one step that starts at 0, goes to 0, 1 or 2, and pays 1 for some successors."""
    kernel = np.eye(size)[:, None, :].copy()
    kernel[0, 0, :3] = 0.2, 0.3, 0.5
    labels = [LabelRule(frozenset({"hit"}), None, None, z) for z in sorted(targets)]
    machine = MachineBuilder("q", ("hit",)).edge("q", "hit", "q", reward=1).build()
    return Task(LabeledMDP.from_dense(kernel, labels, start=0), machine, 1)


def drawn_masses(learner: PSRL, past: Past) -> NDArray[np.float64]:
    """Return the mass of the targets under many kernels, one row for each pair."""
    rng = np.random.default_rng(2024)
    made, found = None, []
    for _ in range(NUM_PLANS):
        made = learner.plan(past.shown, made, rng)
        found.append(made.values[0])
    return np.array(found).T


def assert_drawn_from(masses: NDArray[np.float64], law: Any) -> None:
    """Compare mean and variance (4 standard errors, error level 10⁻⁴) and distribution (Kolmogorov–Smirnov, 0.001)."""
    size = len(masses)
    mean, variance, kurtosis = (float(number) for number in law.stats(moments="mvk"))
    assert abs(masses.mean() - mean) <= 4 * math.sqrt(variance / size)
    assert abs(masses.var() - variance) <= 4 * variance * math.sqrt((kurtosis + 2) / size)
    ordered, place = np.sort(masses), np.arange(size)
    expected = law.cdf(ordered)
    off = np.maximum((place + 1) / size - expected, expected - place / size)[ordered >= LEAST]
    assert len(off) > 20
    assert kstwo.sf(off.max(), size) > 0.001


CASES = [(*case, True) for case in STICKS] + [(*case, False) for case in GAMMAS]


@pytest.mark.parametrize("targets", TARGETS)
@pytest.mark.parametrize(("prior", "size", "sticks"), CASES)
def test_kernels_are_drawn_from_the_posterior(prior: float, size: int, sticks: bool, targets: str) -> None:
    chosen, learner = TARGETS[targets], PSRL(prior=prior)
    assert (size > 1 + prior * math.log(1e6)) == sticks
    (past,) = pasts(task_that_pays(chosen, size), learner, 5, [12])
    counts = past.shown.counts[0, 0]
    assert counts[SEEN] > 0
    assert counts.sum() == 12
    masses = drawn_masses(learner, past)
    weight, hits = len(chosen) * prior / size, float(counts[sorted(chosen)].sum())
    assert_drawn_from(masses[0], beta(weight + hits, prior - weight + 12 - hits))
    assert_drawn_from(masses[1:].ravel(), beta(weight, prior - weight))  # pairs never visited: all of one law
    assert abs(np.corrcoef(masses[1], masses[0])[0, 1]) <= 4 / math.sqrt(NUM_PLANS)
