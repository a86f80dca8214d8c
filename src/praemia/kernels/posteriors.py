"""Sample models from Dirichlet posteriors, pair by pair: with a prior over observations, or with a fictitious one.

``praemia.learners.psrl`` says how the first is sampled, and why it is exact. The second is that of
``praemia.learners.opsrl``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from praemia.kernels.compiling import borrowed, compiled, part
from praemia.kernels.counts import ROWS, Counts, Edges, edges_of
from praemia.kernels.lanes import load, store, zeros
from praemia.kernels.linear import Coefficients, PassArrays, begin_step, kept_value, linear_pass
from praemia.kernels.records import LANES, NUM_EXITS, SMALLEST, Actions, Floats, Ints, Records, SmallInts, Unsigned
from praemia.kernels.ties import take_best


class Prior(NamedTuple):
    """A Dirichlet prior over the successors of a pair."""

    weight: float  # α
    num_successors: int
    least_mass: float  # a stick below this share of the distribution is not broken any more
    num_sticks: int  # 0: every successor has a Gamma variable of its own


class Seen(NamedTuple):
    """What was counted: the successors of pair i are at places indptr[i] … indptr[i + 1] − 1."""

    indptr: Ints
    counts: Floats
    targets: SmallInts
    own: Unsigned  # [O·A, N], the continuation row of every successor, seen or not


@part
def sample_prior(prior: Prior, rng: Any, seen: float, weights: Floats, targets: SmallInts) -> tuple[int, float]:
    """Sample the prior's part of a pair; return how many weights it has, and the total with what was seen."""
    if prior.num_sticks == 0:
        total = seen
        for z in range(prior.num_successors):
            targets[z], weights[z] = z, max(SMALLEST, rng.standard_gamma(prior.weight / prior.num_successors))
            total += weights[z]
        return prior.num_successors, total
    left, k = max(SMALLEST, rng.standard_gamma(prior.weight)), 0
    total = seen + left
    while left > 0.0:
        kept = 0.0
        if left >= prior.least_mass * total and k < prior.num_sticks - 1:
            kept = rng.random()
            kept = left * (kept if prior.weight == 1.0 else kept ** (1.0 / prior.weight))
        weights[k], targets[k] = left - kept, min(prior.num_successors - 1.0, prior.num_successors * rng.random())
        left = kept
        k += 1
    return k, total


@part
def sample_edges(seen: Seen, prior: Prior, rng: Any) -> Edges:
    """Sample a model: for each pair the edges to the successors seen, and those of the prior's part."""
    num_pairs, room = seen.own.shape[0], max(prior.num_successors, prior.num_sticks)
    most = seen.counts.shape[0] + num_pairs * (prior.num_successors if prior.num_sticks == 0 else prior.num_sticks)
    start, totals = np.empty(num_pairs + 1, dtype=np.int64), np.ones(num_pairs)
    probs, rows, at = np.empty(most), np.empty(most, dtype=np.uint32), 0
    weights, targets = np.empty(room), np.empty(room, dtype=np.int32)
    for pair in range(num_pairs):
        first, total = at, 0.0
        start[pair] = first
        for i in range(seen.indptr[pair], seen.indptr[pair + 1]):
            probs[at], rows[at] = rng.standard_gamma(seen.counts[i]), seen.own[pair, np.int64(seen.targets[i])]
            total, at = total + probs[at], at + 1
        number, total = sample_prior(prior, rng, total, weights, targets)
        for k in range(number):
            probs[at], rows[at] = weights[k], seen.own[pair, np.int64(targets[k])]
            at += 1
        for i in range(first, at):
            probs[i] /= total
    start[num_pairs] = at
    return Edges(start, probs, rows, totals)


@compiled
def sample_model(seen: Seen, prior: Prior, rng: Any) -> tuple[Ints, Floats, Unsigned]:
    """Sample a model; return where the edges of each pair begin, their probabilities and continuation rows."""
    edges = sample_edges(seen, prior, rng)
    size = edges.start[edges.start.shape[0] - 1]
    return edges.start, edges.weights[:size].copy(), edges.rows[:size].copy()


@compiled
def plan_sampled(
    task: PassArrays, seen: Seen, prior: Prior, rows: Records, caps: Floats, policy: Actions, stream: Ints, rng: Any
) -> Floats:
    """Sample a model and fill policy[H, O, M] with the best policy in it; return V_0, flat [O·W].

    ``rows`` are the extra continuation rows of every (o, a, o').
    """
    task, policy = borrowed(task), borrowed(policy)
    edges, width = sample_edges(seen, prior, rng), task.is_done.shape[0]
    every, nothing, none = np.ones(policy.shape[1], dtype=np.bool_), np.empty((policy.shape[0], 0)), np.zeros(1)
    zero = Coefficients(none, 0, 0, 0, 0)
    slots = np.zeros(seen.own.shape[0], dtype=np.int32)
    return linear_pass(
        task, edges, rows, rows.shape[0], every, none[:0], zero, zero, caps, 1.0, nothing, nothing, slots, policy, stream
    )


@compiled
def plan_best_of(
    task: PassArrays, counts: Counts, prior: float, num_samples: int, caps: Floats, policy: Actions, stream: Ints, rng: Any
) -> Floats:
    """Fill policy[H, O, M] from the best of several sampled models for each pair; return V_0, flat [O·W]."""
    task, counts, policy, stream = borrowed(task), borrowed(counts), borrowed(policy), borrowed(stream)
    zero, actions, num_rows, edges = zeros(4), policy.reshape(-1), counts.totals[ROWS], edges_of(counts)
    horizon, size, num_machine_states = policy.shape
    width, num_actions = task.is_done.shape[0], counts.visits.shape[0] // size
    fictitious, weights = np.empty((size * num_actions, num_samples)), np.empty((edges.weights.shape[0], num_samples))
    for pair in range(size * num_actions):
        if edges.totals[pair] > 0.0:
            for j in range(num_samples):
                total = rng.standard_gamma(prior)
                fictitious[pair, j] = total
                for e in range(edges.start[pair], edges.start[pair + 1]):
                    weights[e, j] = rng.standard_gamma(edges.weights[e])
                    total += weights[e, j]
                fictitious[pair, j] /= total
                for e in range(edges.start[pair], edges.start[pair + 1]):
                    weights[e, j] /= total
    tables, options = np.zeros((2, (size + NUM_EXITS + num_rows) * width)), np.empty(num_actions * LANES)
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        begin_step(zero, task, after, size, counts.rows, num_rows, h)
        for o in range(size):
            if not counts.is_met[o]:
                continue
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair, value = o * num_actions + a, zero + caps[h]
                    if edges.totals[pair] > 0.0:
                        best = zero
                        for j in range(num_samples):
                            mean = zero + fictitious[pair, j] * caps[h]
                            for e in range(edges.start[pair], edges.start[pair + 1]):
                                mean = mean + weights[e, j] * load(zero, after, np.int64(edges.rows[e]) * width + lane)
                            best = np.maximum(best, mean)
                        value = np.minimum(value, best)
                    store(options, a * LANES, value)
                place = (h * size + o) * num_machine_states + lane
                best = take_best(zero, options, num_actions, actions, place, num_machine_states - lane, stream)
                store(here, o * width + lane, kept_value(zero, task, h, lane, best))
    return tables[0, : size * width]
