"""Machines outside the class are recognised, at a level; machines in the class are not taken for such."""

from __future__ import annotations

import numpy as np
import pytest
from machine_traces import Table, random_table, random_traces
from scipy.stats import binom

import praemia
from praemia.inference.episode_sampler import Sampler
from praemia.inference.evidence import differ
from praemia.inference.infer import infer
from praemia.inference.merging import merge_states
from praemia.inference.reading import as_traces, traces_from_arrays
from praemia.inference.states_needed import states_needed
from praemia.inference.traces import Traces
from praemia.tasks.task import Task


def sampled(task: Task, num_episodes: int, seed: int) -> Traces:
    played = Sampler(task).play(num_episodes, np.random.default_rng(seed))
    return traces_from_arrays(played.labels, played.rewards, task.mdp.label_sets)


def one_state(traces: Traces) -> np.ndarray:
    return np.zeros((1, traces.num_symbols), dtype=np.int64)


COIN: Table = [[{0.0: (0.7, 0), 1.0: (0.3, 0)}] * 3]


def test_histories_of_one_state_are_told_apart_no_more_often_than_the_level_allows() -> None:
    """A coin in one state, 25 times at level 0.2: more than the bound would have a chance below 1e-3."""
    wrong = 0
    for seed in range(25):
        traces = as_traces(random_traces(COIN, np.random.default_rng(seed), 60, 3))
        wrong += states_needed(traces, one_state(traces), 0.2) > 1
    assert wrong <= binom.ppf(0.999, 25, 0.2)


def test_the_states_of_a_machine_are_needed() -> None:
    for seed, num_states in ((0, 2), (1, 3), (2, 4)):
        rng = np.random.default_rng([seed, 3])
        traces = as_traces(random_traces(random_table(rng, num_states, 2), rng, 1_000, 5))
        table = merge_states(traces, deterministic=False, failure_prob=0.01)
        assert states_needed(traces, table.moves, 0.01) == num_states


def test_rewards_dealt_out_at_random_differ_no_more_often_than_the_level_allows() -> None:
    """Six cells of one law each, 400 times at level 0.05: more than the bound would have a chance below 1e-3."""
    rng = np.random.default_rng(0)
    laws, wrong = rng.dirichlet([0.3, 0.3, 3.0], size=6), 0
    for _ in range(400):
        one, two = (
            np.array([rng.multinomial(n, law) for n, law in zip(rng.integers(1, 40, size=6), laws, strict=True)])
            for _ in range(2)
        )
        wrong += differ(one.astype(float), two.astype(float), 0.05, rng)
    assert wrong <= binom.ppf(0.999, 400, 0.05)


def test_small_differences_in_many_cells_add_up() -> None:
    """Forty cells with 14 against 6 of 20: no cell tells (Fisher's p is 0.026), all together do."""
    one, two = np.tile([14.0, 6.0], (40, 1)), np.tile([6.0, 14.0], (40, 1))
    rng = np.random.default_rng(0)
    assert not differ(one[:1], two[:1], 0.01, rng)
    assert differ(one, two, 0.01, rng)


def test_the_warehouse_is_outside_the_class_at_its_own_horizon() -> None:
    found = infer(sampled(praemia.envs.warehouse(size=3), 40_000, 0))
    assert found.outside_class is not None
    assert "at least 3 states would be needed (at level 0.01), but 2 states" in found.outside_class


@pytest.mark.slow
@pytest.mark.parametrize(("size", "horizon"), [(3, 9), (3, 12), (3, 20), (3, 30), (4, 24)])
def test_warehouses_are_outside_the_class(size: int, horizon: int) -> None:
    """In most data sets: no test at a level has all the power."""
    told = [infer(sampled(praemia.envs.warehouse(size, horizon), 40_000, seed)).outside_class for seed in range(3)]
    assert sum(text is not None for text in told) >= 2


@pytest.mark.slow
def test_machines_in_the_class_are_not_reported_as_outside() -> None:
    """120 small and middle data sets; with a true rate of 1 % more than 5 would have a chance below 1 %."""
    wrong = 0
    for seed in range(120):
        rng = np.random.default_rng([seed, 11])
        table = random_table(rng, 1 + seed % 5, 2 + seed % 2)
        num_traces, length = (50, 200, 1_000, 4_000)[seed // 5 % 4], (4, 8, 15)[seed // 20 % 3]
        wrong += infer(random_traces(table, rng, num_traces, length), deterministic=False).outside_class is not None
    print(f"reported as outside: {wrong} of 120")
    assert wrong <= 5
