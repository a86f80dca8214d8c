"""Continuation rows and the layers they are filled from, against plain sums over the machine's edges."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from row_tables import fill_table

from praemia.kernels.records import END, NUM_EXITS, padded_width, rows_of
from praemia.tasks.machine_table import build_layers, continuation_rows


def random_machine(rng: np.random.Generator, num_labels: int, num_states: int, density: float) -> NDArray[np.float64]:
    """Return τ[L, M, M] in which a machine state reaches about this share of the others, and at least one."""
    weights = rng.random((num_labels, num_states, num_states)) * (rng.random((1, 1, num_states)) < density)
    weights *= rng.random((num_labels, num_states, num_states)) < density
    own = np.arange(num_states)
    weights[:, own, own] += weights.sum(axis=2) == 0.0
    return weights / weights.sum(axis=2, keepdims=True)


@pytest.mark.parametrize("num_states", [1, 3, 4, 5, 17, 37])
@pytest.mark.parametrize("density", [0.05, 0.4, 1.0])
def test_rows_are_what_the_label_pays_and_where_it_leads(num_states: int, density: float) -> None:
    rng = np.random.default_rng([num_states, int(100 * density)])
    num_labels, num_obs = 6, 9
    tau, phi = random_machine(rng, num_labels, num_states, density), rng.random((num_labels, num_states))
    label, m, target = np.nonzero(tau)
    lengths = np.bincount(label * num_states + m, minlength=num_labels * num_states)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    width = padded_width(num_states)
    layers = build_layers(indptr, target.astype(np.int32), tau[label, m, target], phi, width)

    row_labels = rng.integers(0, num_labels, size=25).astype(np.int32)
    row_targets = rng.integers(0, 2 * num_obs, size=25).astype(np.int32)  # from num_obs on: the end of the episode
    first = num_obs + NUM_EXITS
    table = np.zeros((first + 25, width))
    table[:first, :num_states] = rng.random((first, num_states))
    before = table[:first].copy()
    fill_table(table, num_obs, rows_of(row_labels, row_targets), layers)

    assert np.array_equal(table[:first], before)
    for x, (which, z) in enumerate(zip(row_labels, row_targets, strict=True)):
        expected = phi[which] + tau[which] @ before[min(z, num_obs + END), :num_states]
        assert table[first + x, :num_states] == pytest.approx(expected, abs=1e-13)
    assert not table[:, num_states:].any(), "columns that are no machine state stay 0"


def test_a_label_gets_the_kind_of_layer_that_takes_less_work() -> None:
    """One label moves each state to its neighbour (own targets), the other anywhere from anywhere (common targets)."""
    num_states = 12
    ring = np.roll(np.eye(num_states), 1, axis=1)
    everywhere = np.full((num_states, num_states), 1.0 / num_states)
    tau = np.stack([ring, everywhere])
    label, m, target = np.nonzero(tau)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(label * num_states + m))))
    layers = build_layers(indptr, target.astype(np.int32), tau[label, m, target], np.zeros((2, num_states)), num_states)
    assert layers.indptr.tolist() == [0, 1, 1 + num_states]
    assert layers.common.tolist() == [-1, *range(num_states)]


def test_edges_with_a_plain_label_keep_their_successors_row_and_others_share_rows() -> None:
    labels, successors = np.array([0, 1, 1, 2, 1], np.int32), np.array([2, 2, 0, 2, 2], np.int32)
    rows, extra_rows = continuation_rows(labels, successors, labels != 0, 3)
    first = 3 + NUM_EXITS
    assert rows.tolist() == [2, first + 1, first, first + 2, first + 1]
    assert extra_rows[["label", "target"]].tolist() == [(1, 0), (1, 2), (2, 2)]
