"""The yardstick told-support: what it is told it uses, and the rest it learns."""

from __future__ import annotations

import numpy as np
import pytest

from praemia import envs, learners, simulate, solve


def test_who_is_told_the_support_loses_less() -> None:
    """Means of 12 runs; the order is far beyond chance on this task."""
    task = envs.make("random-10x3x5-1")
    names = ("told-support", "psrl")
    means = [
        np.mean([simulate(task, learners.make(name), 300, seed).regret[-1] for seed in range(12)]) for name in names
    ]
    assert means == sorted(means)


def test_a_model_with_other_probabilities_is_valued_as_if_made_anew() -> None:
    task = envs.make("random-5x2x3-4", horizon=6)
    rng = np.random.default_rng(3)
    weights = rng.random(len(task.mdp.probs))
    probs = weights / np.add.reduceat(weights, task.mdp.indptr[:-1])[task.mdp.edge_pairs]
    before = solve(task).value
    entries = (task.mdp.edge_pairs // 2, task.mdp.edge_pairs % 2, task.mdp.successors, probs)
    anew = type(task.mdp).from_entries(5, 2, *entries, labels=task.mdp.labelling.rules)
    assert solve(task.model.with_probs(probs)).value == pytest.approx(
        solve(type(task)(anew, task.machine, task.horizon)).value, abs=1e-12
    )
    assert solve(task).value == before
