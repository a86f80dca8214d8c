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

from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import compiled, inlined, part
from praemia.kernels.counts import ROWS, TRANSITIONS, Counts, Edges, fill_edges
from praemia.kernels.lanes import following, load, select, store, zeros
from praemia.kernels.records import (
    LANES,
    NUM_EXITS,
    Actions,
    Bools,
    Floats,
    Ints,
    LayerArrays,
    Records,
    Whole,
)
from praemia.kernels.rows import fill_rows
from praemia.kernels.ties import take_best

WRONG_BONUS, WRONG_SCALE = 1, 2  # what a form can have for a fault


class PassArrays(Bundle):
    """What a backward pass needs to know of the task."""

    layers: LayerArrays  # τ
    paid: Floats  # [H or 1, L·W], what rows hold beside W at each step: φ, or 0 where the variance is that of W
    added: Floats  # [L·W], φ that is added to the mean where the variance is that of W; else [0]
    ends: Floats  # [H + 1], γ times the value of an ended episode when step h begins
    is_done: Floats  # [W], 1 for a machine state in which an episode is over
    discount: float


@inlined
def begin_step(zero: Any, task: PassArrays, table: Floats, num_observations: int, rows: Records, h: int) -> None:
    """Fill in what follows a step: the row of ended episodes and the extra rows."""
    width = task.is_done.shape[0]
    for i in range(num_observations * width, (num_observations + 1) * width):
        table[i] = task.ends[h + 1]
    paid = task.paid[min(h, task.paid.shape[0] - 1)]
    fill_rows(zero, table, width, num_observations, rows, task.layers, paid, (0, rows.shape[0]), (0, width))


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
def moments(zero: Any, edges: Edges, pair: Any, table: Floats, width: int, lane: Whole) -> Any:
    """Return p̂Y and √Var_p̂(Y) of a pair with transitions. A deviation that is not used is not computed."""
    e, stop = np.uint64(edges.start[pair]), np.uint64(edges.stop[pair])
    base, mean, square = load(zero, table, np.int64(edges.rows[e]) * width + lane), zero, zero
    e += np.uint64(1)
    while e < stop:  # unsigned: a signed index costs a test for "from the end"
        off = load(zero, table, np.int64(edges.rows[e]) * width + lane) - base
        mean, square = mean + edges.weights[e] * off, square + edges.weights[e] * off * off
        e = following(e)
    inverse = 1.0 / edges.totals[pair]
    mean, square = mean * inverse, square * inverse
    return base + mean, np.sqrt(np.maximum(square - mean * mean, zero))


@inlined
def strides(numbers: Floats) -> Any:
    """Return how far apart the steps, observations and actions of [H, O, A, W] lie; 0 where all have the same."""
    steps, observations, actions, columns = numbers.shape
    by_step, by_observation = observations * actions * columns, actions * columns
    return (
        by_step if steps > 1 else 0,
        by_observation if observations > 1 else 0,
        columns if actions > 1 else 0,
        columns > 1,
    )


@inlined
def coefficient(zero: Any, numbers: Floats, by: Any, h: Whole, o: Whole, a: Whole, lane: Whole) -> Any:
    """Return the numbers of an action for some machine states."""
    at = h * by[0] + o * by[1] + a * by[2]
    return load(zero, numbers, at + lane) if by[3] else zero + numbers[at]


class LinearForm(NamedTuple):
    """What distinguishes one learner of the linear form from another, and one plan from the next.

    Axes of α and β that are the same for all have length 1.
    """

    scale: Floats  # α, [H, O, A, W]
    bonus: Floats  # β
    growth: float  # g
    caps: Floats  # [H]
    old: Floats  # [H, slots·W], Q of the previous plan; pairs whose slot is not in it have no bound
    new: Floats  # the same of this plan, to be filled; [H, 0] if it is not kept
    slots: Any  # [O·A], the place of each pair's Q


class Scratch(Bundle):
    """What a backward pass works in."""

    edges: Edges
    tables: Floats  # [2, (O + NUM_EXITS + X)·W]: γ·V_h is left in tables[h % 2], and V_0 in tables[0]
    options: Floats  # [A·LANES], the values of one observation's actions
    rewards: Floats  # [O·A·W], Σ p̂φ where it is added to the mean; else [0]


def new_scratch(task: PassArrays, counts: Counts) -> Scratch:
    """Return arrays for passes over what is counted, as long as there is room for it in the counts."""
    num_pairs, num_observations, width = len(counts.visits), len(counts.is_met), len(task.is_done)
    edges = Edges.room(num_pairs, len(counts.transitions))
    tables = np.zeros((2, (num_observations + NUM_EXITS + len(counts.rows)) * width))
    rewards = np.zeros(num_pairs * width if len(task.added) else 0)
    return Scratch(edges, tables, np.empty(num_pairs // num_observations * LANES), rewards)


@part
def fill_rewards(counts: Counts, paid: Floats, width: int, rewards: Floats) -> None:
    """Fill in Σ p̂φ of every pair, flat [O·A·W]."""
    clear(rewards, rewards.shape[0])
    for i in range(counts.totals[TRANSITIONS]):
        seen = counts.transitions[i]
        share = seen["count"] / counts.visits[seen["pair"]]
        for m in range(width):
            rewards[np.int64(seen["pair"]) * width + m] += share * paid[np.int64(seen["label"]) * width + m]


@part
def clear(table: Floats, size: int) -> None:
    """Set the first numbers of a table to 0."""
    for i in range(size):
        table[i] = 0.0


@part
def linear_pass(
    task: PassArrays, scratch: Scratch, form: LinearForm, rows: Records, met: Bools, policy: Actions, stream: Ints
) -> None:
    """Fill policy[H, O, M] for the observations met, and the form's new Q. ``rows`` are the extra rows."""
    zero, (horizon, size, num_machine_states) = zeros(4), policy.shape
    edges, options, width = scratch.edges, scratch.options, task.is_done.shape[0]
    num_actions, num_old, num_new = form.slots.shape[0] // size, form.old.shape[1] // width, form.new.shape[1] // width
    scale, by_scale = form.scale.reshape(-1), strides(form.scale)
    bonus, by_bonus = form.bonus.reshape(-1), strides(form.bonus)
    has_deviation = scale.shape[0] > 1 or scale[0] != 0.0
    clear(scratch.tables[horizon % 2], size * width)  # V_H
    for h in range(horizon - 1, -1, -1):
        after, here, actions = scratch.tables[(h + 1) % 2], scratch.tables[h % 2], policy[h].reshape(-1)
        old, new = form.old[h], form.new[h]
        begin_step(zero, task, after, size, rows, h)
        for o in range(size):
            if not met[o]:
                continue
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair, value = np.uint64(o * num_actions + a), zero + form.caps[h]
                    if edges.totals[pair] > 0.0:
                        bound = coefficient(zero, bonus, by_bonus, h, o, a, lane)
                        if has_deviation:
                            mean, deviation = moments(zero, edges, pair, after, width, lane)
                            bound = bound + coefficient(zero, scale, by_scale, h, o, a, lane) * deviation
                        else:
                            mean, _ = moments(zero, edges, pair, after, width, lane)
                        if scratch.rewards.shape[0] > 0:
                            mean = mean + load(zero, scratch.rewards, np.int64(pair) * width + lane)
                        value = np.minimum(value, form.growth * mean + bound)
                        slot = np.int64(form.slots[pair])
                        if slot < num_old:
                            value = np.minimum(value, load(zero, old, slot * width + lane))
                        if slot < num_new:
                            store(new, slot * width + lane, value)
                    store(options, a * LANES, value)
                place, count = o * num_machine_states + lane, num_machine_states - lane
                best = take_best(zero, options, num_actions, actions, place, count, stream)
                store(here, o * width + lane, kept_value(zero, task, h, lane, best))
    value_unmet(scratch.tables[0], met, form.caps[0], width)


@part
def fault_of(scale: Floats, bonus: Floats) -> int:
    """Return what is wrong with the numbers of a form: 0 if nothing is. A bonus may be +∞."""
    for i in range(bonus.shape[0]):
        if not bonus[i] > -np.inf:  # NaN fails too
            return WRONG_BONUS
    for i in range(scale.shape[0]):
        if not -np.inf < scale[i] < np.inf:
            return WRONG_SCALE
    return 0


@compiled
def plan_from_counts(
    task: PassArrays,
    counts: Counts,
    scratch: Scratch,
    scale: Floats,
    bonus: Floats,
    growth: float,
    caps: Floats,
    old: Floats,
    new: Floats,
    policy: Actions,
    stream: Ints,
) -> int:
    """Make a plan of a ``LinearForm`` from what was counted. Return the form's fault: there is no plan then."""
    fault = fault_of(scale.reshape(-1), bonus.reshape(-1))
    if fault != 0:
        return fault
    fill_edges(counts, scratch.edges)
    if task.added.shape[0] > 0:
        fill_rewards(counts, task.added, task.is_done.shape[0], scratch.rewards)
    form = LinearForm(scale, bonus, growth, caps, old, new, counts.slots)
    linear_pass(task, scratch, form, counts.rows[: counts.totals[ROWS]], counts.is_met, policy, stream)
    return 0


@compiled
def back_up(
    task: PassArrays, counts: Counts, scratch: Scratch, values: Floats, h: int, mean: Floats, deviation: Floats
) -> None:
    """Fill mean and deviation, flat [O·A·W], of Y at step h, from values = V_{h+1}, flat [O·W]; else 0."""
    zero, width, size, table = zeros(4), task.is_done.shape[0], counts.is_met.shape[0], scratch.tables[0]
    fill_edges(counts, scratch.edges)
    for at in range(0, size * width, LANES):
        store(table, at, kept_value(zero, task, h + 1, at % width, load(zero, values, at)))
    begin_step(zero, task, table, size, counts.rows[: counts.totals[ROWS]], h)
    for pair in range(counts.visits.shape[0]):
        if counts.visits[pair] > 0:
            for lane in range(0, width, LANES):
                found = moments(zero, scratch.edges, np.uint64(pair), table, width, lane)
                store(mean, pair * width + lane, found[0])
                store(deviation, pair * width + lane, found[1])
