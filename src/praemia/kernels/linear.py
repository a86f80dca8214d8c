"""The backward pass of most learners: optimism that is linear in the mean and the deviation of what follows.

With p̂ the weights of a pair's transitions over their sum, Y(m, o') = φ + γ·W_{h+1} and V_h = max_a Q_h:

    Q_h(o, m, a) = min{cap_h, Q_h of the previous plan, g·p̂Y + α_h(o, m, a)·√Var_p̂(Y) + β_h(o, m, a)},

and a pair without transitions has cap_h. The variance can be that of W alone: rows then hold W, and the mean of φ is
added to the pair's mean. Mean and variance are taken about the first transition: when all lead to the same value, the
deviation is exactly 0. Where the machine is done, or the episode ended, V_h is the value of an ended episode.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import compiled, inlined, part
from praemia.kernels.counts import ROWS, TRANSITIONS, Counts, Edges, fill_edges
from praemia.kernels.lanes import load, select, store, zeros
from praemia.kernels.records import (
    LANES,
    NUM_EXITS,
    Actions,
    Bools,
    Floats,
    Ints,
    LayerArrays,
    Records,
    Unsigned,
    Whole,
)
from praemia.kernels.rows import fill_rows
from praemia.kernels.ties import take_best


class PassArrays(NamedTuple):
    """What a backward pass needs to know of the task."""

    layers: LayerArrays  # τ
    paid: Floats  # [H or 1, L·W], what rows hold beside W at each step: φ, or 0 where the variance is that of W
    added: Floats  # [L·W], φ that is added to the mean where the variance is that of W; else [0]
    ends: Floats  # [H + 1], γ times the value of an ended episode when step h begins
    is_done: Floats  # [W], 1 for a machine state in which an episode is over
    discount: float


@inlined
def begin_step(
    zero: Any, task: PassArrays, table: Floats, num_observations: int, rows: Records, count: int, h: int
) -> None:
    """Fill in what follows a step: the row of ended episodes and the first ``count`` extra rows."""
    width = task.is_done.shape[0]
    for i in range(num_observations * width, (num_observations + 1) * width):
        table[i] = task.ends[h + 1]
    paid = task.paid[min(h, task.paid.shape[0] - 1)]
    fill_rows(zero, table, width, num_observations, rows, task.layers, paid, (0, count), (0, width))


@inlined
def kept_value(zero: Any, task: PassArrays, h: Whole, lane: Whole, value: Any) -> Any:
    """Return what a table keeps of V_h: γ times it, or the value of an end where the machine is done; V_0 as it is."""
    if h == 0:
        return value
    is_done = load(zero, task.is_done, lane) > 0.0
    return select(is_done, zero + task.ends[h], task.discount * value)


@part
def value_unmet(table: Floats, is_met: Bools, cap: float, width: int) -> None:
    """Give observations that were never met the value that a pair never visited has."""
    for o in range(is_met.shape[0]):
        if not is_met[o]:
            for i in range(o * width, (o + 1) * width):
                table[i] = cap


@inlined
def mean_of(
    zero: Any,
    start: Ints,
    weights: Floats,
    rows: Unsigned,
    totals: Floats,
    pair: Any,
    table: Floats,
    width: int,
    lane: Whole,
) -> Any:
    """Return p̂Y of a pair with transitions (``Edges``)."""
    e, last = np.uint64(start[pair]), np.uint64(start[pair + np.uint64(1)])
    base, mean = load(zero, table, np.int64(rows[e]) * width + lane), zero
    e += np.uint64(1)
    while e < last:  # unsigned: a signed index costs a test for "from the end"
        mean = mean + weights[e] * (load(zero, table, np.int64(rows[e]) * width + lane) - base)
        e += np.uint64(1)
    return base + mean * (1.0 / totals[pair])


@inlined
def moments(
    zero: Any,
    start: Ints,
    weights: Floats,
    rows: Unsigned,
    totals: Floats,
    pair: Any,
    table: Floats,
    width: int,
    lane: Whole,
) -> Any:
    """Return p̂Y and √Var_p̂(Y) of a pair with transitions (``Edges``)."""
    e, last = np.uint64(start[pair]), np.uint64(start[pair + np.uint64(1)])
    base, mean, square = load(zero, table, np.int64(rows[e]) * width + lane), zero, zero
    e += np.uint64(1)
    while e < last:
        off = load(zero, table, np.int64(rows[e]) * width + lane) - base
        mean, square = mean + weights[e] * off, square + weights[e] * off * off
        e += np.uint64(1)
    inverse = 1.0 / totals[pair]
    mean, square = mean * inverse, square * inverse
    return base + mean, np.sqrt(np.maximum(square - mean * mean, zero))


class Coefficients(NamedTuple):
    """Numbers by step, observation, action and machine state, flat; a stride of 0 means the same for all."""

    numbers: Floats
    by_step: int
    by_observation: int
    by_action: int
    by_state: int  # 1, or 0


@inlined
def lanes_at(zero: Any, numbers: Floats, at: Whole, lane: Whole, by_state: int) -> Any:
    """Return the numbers at a place, for some machine states."""
    return load(zero, numbers, at + lane) if by_state > 0 else zero + numbers[at]


class Scratch(NamedTuple):
    """What a backward pass works in."""

    edges: Edges
    tables: Floats  # [2, (O + NUM_EXITS + X)·W]: γ·V_h is left in tables[h % 2], and V_0 in tables[0]
    options: Floats  # [A·LANES], the values of one observation's actions
    rewards: Floats  # [O·A·W], Σ p̂φ where it is added to the mean; else [0]


def new_scratch(task: PassArrays, counts: Counts) -> Scratch:
    """Return arrays for a pass over what was counted."""
    num_pairs, num_observations, width = len(counts.visits), len(counts.is_met), len(task.is_done)
    edges = Edges.room(num_pairs, int(counts.totals[TRANSITIONS]))
    tables = np.zeros((2, (num_observations + NUM_EXITS + int(counts.totals[ROWS])) * width))
    rewards = np.zeros(num_pairs * width if len(task.added) else 0)
    return Scratch(edges, tables, np.empty(num_pairs // num_observations * LANES), rewards)


@part
def fill_rewards(counts: Counts, paid: Floats, width: int, rewards: Floats) -> None:
    """Fill in Σ p̂φ of every pair, flat [O·A·W]."""
    for i in range(counts.totals[TRANSITIONS]):
        seen = counts.transitions[i]
        share = seen["count"] / counts.visits[seen["pair"]]
        for m in range(width):
            rewards[np.int64(seen["pair"]) * width + m] += share * paid[np.int64(seen["label"]) * width + m]


@part
def linear_pass(
    task: PassArrays,
    scratch: Scratch,
    rows: Records,
    num_rows: int,
    is_planned: Bools,
    scale: Coefficients,
    bonus: Coefficients,
    caps: Floats,
    growth: float,
    old: Floats,
    new: Floats,
    slots: Any,
    policy: Actions,
    stream: Ints,
) -> None:
    """Fill policy[H, O, M] for the observations that are planned, and new with Q.

    ``scale`` and ``bonus`` are α and β; ``old`` and ``new`` are Q of the previous plan and of this one, [H, slots·W].
    """
    zero, (horizon, size, num_machine_states) = zeros(4), policy.shape
    width, num_actions = task.is_done.shape[0], slots.shape[0] // size
    tables, options, rewards = scratch.tables, scratch.options, scratch.rewards
    num_old, num_new, totals = old.shape[1] // width, new.shape[1] // width, scratch.edges.totals
    has_deviation = scale.numbers.shape[0] > 1 or scale.numbers[0] != 0.0
    start, weights, edge_rows = scratch.edges.start, scratch.edges.weights, scratch.edges.rows
    alpha, beta = scale.numbers, bonus.numbers
    for h in range(horizon - 1, -1, -1):
        after, here, actions, old_h, new_h = tables[(h + 1) % 2], tables[h % 2], policy[h].reshape(-1), old[h], new[h]
        begin_step(zero, task, after, size, rows, num_rows, h)
        for o in range(size):
            if not is_planned[o]:
                continue
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair, value = np.uint64(o * num_actions + a), zero + caps[h]
                    if totals[pair] > 0.0:
                        at = h * bonus.by_step + o * bonus.by_observation + a * bonus.by_action
                        bound = lanes_at(zero, beta, at, lane, bonus.by_state)
                        if has_deviation:
                            at = h * scale.by_step + o * scale.by_observation + a * scale.by_action
                            mean, deviation = moments(zero, start, weights, edge_rows, totals, pair, after, width, lane)
                            bound = bound + lanes_at(zero, alpha, at, lane, scale.by_state) * deviation
                        else:
                            mean = mean_of(zero, start, weights, edge_rows, totals, pair, after, width, lane)
                        if rewards.shape[0] > 0:
                            mean = mean + load(zero, rewards, np.int64(pair) * width + lane)
                        value = np.minimum(value, growth * mean + bound)
                        slot = np.int64(slots[pair])
                        if slot < num_old:
                            value = np.minimum(value, load(zero, old_h, slot * width + lane))
                        if slot < num_new:
                            store(new_h, slot * width + lane, value)
                    store(options, a * LANES, value)
                place, count = o * num_machine_states + lane, num_machine_states - lane
                best = take_best(zero, options, num_actions, actions, place, count, stream)
                store(here, o * width + lane, kept_value(zero, task, h, lane, best))
    value_unmet(tables[0], is_planned, caps[0], width)


@compiled
def plan_from_counts(
    task: PassArrays,
    counts: Counts,
    scratch: Scratch,
    scale: Coefficients,
    bonus: Coefficients,
    caps: Floats,
    growth: float,
    old: Floats,
    new: Floats,
    policy: Actions,
    stream: Ints,
) -> None:
    """Make a plan from what was counted; see ``linear_pass``."""
    fill_edges(counts, scratch.edges)
    if task.added.shape[0] > 0:
        fill_rewards(counts, task.added, task.is_done.shape[0], scratch.rewards)
    rows, size, met = counts.rows, counts.totals[ROWS], counts.is_met
    linear_pass(task, scratch, rows, size, met, scale, bonus, caps, growth, old, new, counts.slots, policy, stream)


@compiled
def back_up(
    task: PassArrays, counts: Counts, scratch: Scratch, values: Floats, h: int, mean: Floats, deviation: Floats
) -> None:
    """Fill mean and deviation, flat [O·A·W], of Y at step h, from values = V_{h+1}, flat [O·W]; else 0."""
    zero, width, size, num_rows = zeros(4), task.is_done.shape[0], counts.is_met.shape[0], counts.totals[ROWS]
    table, (start, weights, rows, totals) = scratch.tables[0], scratch.edges
    fill_edges(counts, scratch.edges)
    for o in range(size):
        for lane in range(0, width, LANES):
            at = o * width + lane
            store(table, at, kept_value(zero, task, h + 1, lane, load(zero, values, at)))
    begin_step(zero, task, table, size, counts.rows, num_rows, h)
    for i in range(counts.visits.shape[0]):
        pair = np.uint64(i)
        if totals[pair] > 0.0:
            for lane in range(0, width, LANES):
                found = moments(zero, start, weights, rows, totals, pair, table, width, lane)
                store(mean, i * width + lane, found[0])
                store(deviation, i * width + lane, found[1])
