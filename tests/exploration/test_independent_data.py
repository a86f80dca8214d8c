"""Data is merged only if its parts are independent: other random numbers, whatever the task and the seed are called."""

from __future__ import annotations

import numpy as np
import pytest

import praemia
from praemia import PraemiaError, Task

RIVER = praemia.envs.riverswim(size=4)
TWIN = Task(RIVER.mdp, RIVER.machine, RIVER.horizon, "twin")


def explored(task: Task, seed: int | tuple[int, ...]) -> praemia.Dataset:
    return praemia.explore(task, episodes=30, method="uncertainty", seed=seed)


def same_counts(first: praemia.Dataset, second: praemia.Dataset) -> bool:
    return np.array_equal(first.pairs, second.pairs) and np.array_equal(first.counts, second.counts)


def test_one_environment_under_two_names_is_one_environment() -> None:
    first, second = explored(RIVER, 0), explored(TWIN, 0)
    assert same_counts(first, second)
    with pytest.raises(PraemiaError, match="independent"):
        first.merge(second)


def test_two_names_and_two_seeds_may_be_merged() -> None:
    assert explored(RIVER, 0).merge(explored(TWIN, 1)).num_episodes == 60


def test_two_ways_to_write_one_seed_are_one_seed() -> None:
    """Seeds are words of 32 bits: 2³² is (0, 1)."""
    first, second = explored(RIVER, 2**32), explored(RIVER, (0, 1))
    assert same_counts(first, second)
    with pytest.raises(PraemiaError, match="independent"):
        first.merge(second)


def test_the_search_of_one_seed_may_not_be_the_collection_of_another() -> None:
    """EULER's search for observation 2 draws from the stream that seed (0, 1) collects from."""
    searched = praemia.explore(RIVER, episodes=20, policy_episodes=20, keep_search=True, seed=0)
    with pytest.raises(PraemiaError, match="independent"):
        searched.merge(explored(RIVER, (0, 1)))
