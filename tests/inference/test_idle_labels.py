"""Labels that never matter are left out; those that do are not."""

from __future__ import annotations

import numpy as np
import pytest
from machine_traces import LABELS, Table, played_traces, random_traces

import praemia
from praemia.inference.evidence import idle_symbols
from praemia.inference.reading import as_traces
from praemia.inference.traces import Traces


def idle_labels(traces: Traces, deterministic: bool) -> set[frozenset[str]]:
    found = idle_symbols(traces, deterministic=deterministic, failure_prob=0.01)
    return {traces.labels[traces.label_of[symbol]] for symbol in found}


def toggle(chance: float) -> Table:
    """On a the state changes; b pays 1 with this chance in one state and never in the other; nothing does nothing."""
    pays = {1.0: (chance, 0), 0.0: (1.0 - chance, 0)} if chance < 1.0 else {1.0: (1.0, 0)}
    return [[{0.0: (1.0, 0)}, {0.0: (1.0, 1)}, pays], [{0.0: (1.0, 1)}, {0.0: (1.0, 0)}, {0.0: (1.0, 1)}]]


@pytest.mark.parametrize("chance", [1.0, 0.4])
def test_nothing_is_left_out_but_not_what_changes_the_state(chance: float) -> None:
    traces = as_traces(random_traces(toggle(chance), np.random.default_rng(0), 400, 8))
    assert idle_labels(traces, chance == 1.0) == {LABELS[0]}


def test_a_timer_is_not_left_out() -> None:
    """After two empty steps the bell pays: the label that never pays is what matters."""
    timer: Table = [[{0.0: (1.0, min(2, q + 1))}, {float(q == 2): (1.0, q)}, {0.0: (1.0, q)}] for q in range(3)]
    traces = as_traces(random_traces(timer, np.random.default_rng(1), 400, 6))
    for deterministic in (True, False):
        assert idle_labels(traces, deterministic) == {LABELS[2]}


def test_one_long_episode_leaves_nothing_out() -> None:
    """Nothing can contradict that a label does not matter, so nothing speaks for it either."""
    episode = random_traces(toggle(1.0), np.random.default_rng(0), 1, 400)
    assert idle_labels(as_traces(episode), True) == set()
    assert praemia.infer(episode).machine.num_states <= 3  # without a there would be dozens


def test_in_the_river_and_the_warehouse_only_empty_labels_are_left_out() -> None:
    for task in (praemia.envs.riverswim_prm(size=5, horizon=24), praemia.envs.warehouse(size=3, horizon=12)):
        traces = as_traces(played_traces(task, 5_000))
        assert idle_labels(traces, deterministic=False) == {frozenset()}
