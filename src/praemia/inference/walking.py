"""Run episodes through states and edges, count what they do there, and compare how they go on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from praemia.inference.traces import Floats, Ints, Traces


@dataclass(frozen=True)
class Walk:
    """What a set of episodes did from given places on: the symbols counted, and where they left the core."""

    counts: Floats
    exit_state: Ints
    exit_pos: Ints


def walk(traces: Traces, delta: Ints, rows: Ints, positions: Ints, states: Ints) -> Walk:
    """Run episodes from given steps in given states until each ends or meets an undecided edge."""
    num_symbols = delta.shape[1]
    flat = delta.ravel()
    counts = np.zeros(delta.size)
    exit_state, exit_pos = np.full(len(rows), -1), np.full(len(rows), -1)
    index = np.flatnonzero(positions < traces.lengths[rows])
    row, pos, state = rows[index], positions[index], states[index]
    while len(index):
        place = state * num_symbols + traces.symbols[row, pos]
        counts += np.bincount(place, traces.weights[row], delta.size)
        state = flat[place]
        left = state < 0
        if left.any():
            exit_state[index[left]], exit_pos[index[left]] = place[left] // num_symbols, pos[left]
        pos = pos + 1
        going = ~left & (pos < traces.lengths[row])
        if not going.all():
            index, row, pos, state = index[going], row[going], pos[going], state[going]
    return Walk(counts.reshape(delta.shape), exit_state, exit_pos)


def compare_suffixes(
    traces: Traces, rows: Ints, positions: Ints, groups: Ints, arrives: np.ndarray
) -> tuple[Floats, Floats, Ints]:
    """Follow the rests of episodes step by step; those of one group with the same steps so far stay together.

    A group of one episode, or without an arriving one, has nothing to compare and is dropped.
    """
    num_labels, num_rewards = len(traces.labels), len(traces.rewards)
    cells: list[tuple[Floats, Floats, Ints]] = [(np.zeros((0, num_rewards)), np.zeros((0, num_rewards)), groups[:0])]
    while len(rows):
        going = positions < traces.lengths[rows]
        rows, positions, groups, arrives = rows[going], positions[going], groups[going], arrives[going]
        _, groups = np.unique(groups, return_inverse=True)
        size, comes = np.bincount(groups), np.bincount(groups, arrives)
        kept = ((size > 1) & (comes > 0))[groups]
        rows, positions, groups, arrives = rows[kept], positions[kept], groups[kept], arrives[kept]
        if not len(rows):
            break
        symbols, weights = traces.symbols[rows, positions], traces.weights[rows].astype(np.float64)
        names, cell = np.unique(groups * num_labels + traces.label_of[symbols], return_inverse=True)
        place = cell * num_rewards + traces.reward_of[symbols]
        shape = (len(names), num_rewards)
        tables = [
            np.bincount(place, weights * part, shape[0] * shape[1]).reshape(shape).astype(np.float64)
            for part in (arrives, ~arrives)
        ]
        cells.append((tables[0], tables[1], names % num_labels))
        groups, positions = groups * traces.num_symbols + symbols, positions + 1
    return (
        np.vstack([cell[0] for cell in cells]),
        np.vstack([cell[1] for cell in cells]),
        np.concatenate([cell[2] for cell in cells]),
    )


def base_rates(traces: Traces) -> Floats:
    """Return float64[labels, R], how often each reward came with each label over all traces; no entry is 0."""
    table = np.full((len(traces.labels), len(traces.rewards)), 0.5 / len(traces.rewards))
    np.add.at(table, (traces.label_of, traces.reward_of), traces.symbol_counts)
    rates: Floats = table / table.sum(axis=1, keepdims=True)
    return rates
