"""Where no reward shows a move, merged states look like mixtures of others, and the answer says so."""

from __future__ import annotations

import numpy as np
import pytest
from machine_traces import random_table, random_traces

import praemia
from praemia.inference.doubts import _likeliest_mixture

WAREHOUSE = praemia.envs.warehouse(size=3).machine
LABELS = (frozenset(), frozenset({"item"}), frozenset({"delivery"}))


def warehouse_traces(num_traces: int, seed: int) -> list[list[tuple[frozenset[str], float]]]:
    """Sample traces of the warehouse's machine, whose rewards are fixed by the move, on uniformly random labels."""
    rng, traces = np.random.default_rng(seed), []
    for _ in range(num_traces):
        state, trace = WAREHOUSE.initial, []
        for number in rng.integers(len(LABELS), size=12):
            outcomes = WAREHOUSE.outcomes(state, LABELS[number])
            out = outcomes[rng.choice(len(outcomes), p=[out.probability for out in outcomes])]
            state = out.target
            trace.append((LABELS[number], out.reward.values[0]))
        traces.append(trace)
    return traces


def test_hidden_moves_are_said_and_the_merged_machine_is_returned() -> None:
    """Nothing shows whether the item was taken: a state for each belief is found, 3 true states take 4 or 5."""
    for seed in range(3):
        traces = warehouse_traces(600, seed)
        found = praemia.infer(traces)
        assert "looks like a mixture of" in str(found.outside_class), seed
        assert f"outside the class: {found.outside_class}" in found.lines()
        assert found.machine.num_states in (4, 5)
        assert sum(edge.count for edge in found.edges) == 600 * 12  # each is counted


def test_a_mixture_is_found_from_how_often_its_outcomes_occurred() -> None:
    parts = np.random.default_rng(0).dirichlet(np.ones(12), size=4)
    mixture = _likeliest_mixture(parts, 1e4 * np.array([0.3, 0.0, 0.7, 0.0]) @ parts)
    assert mixture == pytest.approx([0.3, 0.0, 0.7, 0.0], abs=0.04)


def check_machines_of_the_class(seeds: range) -> None:
    """Small and middle data sets of machines whose rewards show every move."""
    for seed in seeds:
        rng = np.random.default_rng([seed, 11])
        table = random_table(rng, 1 + seed % 5, 2 + seed % 2)
        num_traces, length = (50, 200, 1_000, 4_000)[seed // 5 % 4], (4, 8, 15)[seed // 20 % 3]
        found = praemia.infer(random_traces(table, rng, num_traces, length), deterministic=False)
        assert found.outside_class is None, seed


def test_machines_whose_rewards_show_their_moves_are_not_said_to_hide_them() -> None:
    check_machines_of_the_class(range(10))


@pytest.mark.slow
def test_a_hundred_and_twenty_machines_are_not_said_to_hide_moves() -> None:
    check_machines_of_the_class(range(200, 320))  # not those that the limits were chosen on
