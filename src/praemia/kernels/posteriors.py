"""Sample models from Dirichlet posteriors, pair by pair: with a prior over observations, or with a fictitious one.

``praemia.learners.psrl`` says how the first is sampled, and why it is exact. The second is that of
``praemia.learners.opsrl``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import compiled, part
from praemia.kernels.counts import ROWS, Counts, Edges, fill_edges
from praemia.kernels.lanes import load, store, zeros
from praemia.kernels.linear import (
    LinearForm,
    PassArrays,
    Scratch,
    begin_step,
    clear,
    kept_value,
    linear_pass,
    value_unmet,
)
from praemia.kernels.records import LANES, SMALLEST, Actions, Bools, Floats, Ints, Records, SmallInts, Unsigned
from praemia.kernels.ties import take_best


class Prior(Bundle):
    """A Dirichlet prior over the successors of a pair."""

    weight: float  # α
    num_successors: int
    least_mass: float  # a stick below this share of the distribution is not broken any more
    num_sticks: int  # 0: every successor has a Gamma variable of its own


class Seen(Bundle):
    """What was counted: the successors of pair i are at places indptr[i] … indptr[i + 1] − 1."""

    indptr: Ints
    counts: Floats
    targets: SmallInts
    own: Unsigned  # [O·A, N], the continuation row of every successor, seen or not


@compiled
def copy_counts(counts: Counts, seen: Seen) -> None:
    """Copy what was counted, pair by pair."""
    at = np.int64(0)
    for pair in range(counts.visits.shape[0]):
        place = np.int64(counts.first[pair])
        while place > 0:
            transition = counts.transitions[place - 1]
            seen.counts[at], seen.targets[at] = transition["count"], transition["target"]
            at, place = at + 1, np.int64(transition["next"])
        seen.indptr[pair + 1] = at


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


class Sampled(Bundle):
    """A sampled model, and room for the prior's part of one pair."""

    edges: Edges
    weights: Floats
    targets: SmallInts


def new_sample(seen: Seen, prior: Prior) -> Sampled:
    """Return arrays for a sampled model."""
    most = prior.num_sticks or prior.num_successors
    edges = Edges.room(len(seen.own), len(seen.counts) + len(seen.own) * most)
    return Sampled(edges, np.empty(most), np.empty(most, dtype=np.int32))


@part
def sample_edges(seen: Seen, prior: Prior, rng: Any, sampled: Sampled) -> None:
    """Sample a model: for each pair the edges to the successors seen, and those of the prior's part."""
    edges, weights, targets = sampled.edges, sampled.weights, sampled.targets
    for pair in range(seen.own.shape[0]):
        first, total = edges.start[pair], 0.0
        at, edges.totals[pair] = first, 1.0
        for i in range(seen.indptr[pair], seen.indptr[pair + 1]):
            edges.weights[at] = rng.standard_gamma(seen.counts[i])
            edges.rows[at] = seen.own[pair, np.int64(seen.targets[i])]
            total, at = total + edges.weights[at], at + 1
        number, total = sample_prior(prior, rng, total, weights, targets)
        for k in range(number):
            edges.weights[at], edges.rows[at] = weights[k], seen.own[pair, np.int64(targets[k])]
            at += 1
        for i in range(first, at):
            edges.weights[i] /= total
        edges.stop[pair] = at


@compiled
def sample_model(seen: Seen, prior: Prior, rng: Any, sampled: Sampled) -> None:
    """Sample a model from Python."""
    sample_edges(seen, prior, rng, sampled)


@compiled
def plan_sampled(
    task: PassArrays,
    seen: Seen,
    prior: Prior,
    rng: Any,
    sampled: Sampled,
    scratch: Scratch,
    form: LinearForm,
    rows: Records,
    every: Bools,
    policy: Actions,
    stream: Ints,
) -> None:
    """Sample a model and fill policy[H, O, M] with the best policy in it.

    ``rows`` are the extra continuation rows of every (o, a, o'); the form has no bonus.
    """
    sample_edges(seen, prior, rng, sampled)
    linear_pass(task, scratch, form, rows, every, policy, stream)


@part
def sample_best_of(edges: Edges, prior: float, rng: Any, fictitious: Floats, weights: Floats) -> None:
    """Sample several models of each pair: the probabilities of the fictitious observation and of those seen."""
    for pair in range(edges.totals.shape[0]):
        first, stop = edges.start[pair], edges.stop[pair]
        for j in range(fictitious.shape[1] if edges.totals[pair] > 0.0 else 0):
            total = rng.standard_gamma(prior)
            fictitious[pair, j] = total
            for e in range(first, stop):
                weights[e, j] = rng.standard_gamma(edges.weights[e])
                total += weights[e, j]
            fictitious[pair, j] /= total
            for e in range(first, stop):
                weights[e, j] /= total


@compiled
def plan_best_of(
    task: PassArrays,
    counts: Counts,
    scratch: Scratch,
    prior: float,
    rng: Any,
    fictitious: Floats,
    weights: Floats,
    caps: Floats,
    policy: Actions,
    stream: Ints,
) -> None:
    """Fill policy[H, O, M] from the best of several sampled models for each pair.

    ``fictitious`` [O·A, J] and ``weights`` [·, J] are filled with the models.
    """
    zero, actions, rows, edges = zeros(4), policy.reshape(-1), counts.rows[: counts.totals[ROWS]], scratch.edges
    (horizon, size, num_machine_states), width, options = policy.shape, task.is_done.shape[0], scratch.options
    num_actions = counts.visits.shape[0] // size
    fill_edges(counts, edges)
    clear(scratch.tables[horizon % 2], size * width)  # V_H
    sample_best_of(edges, prior, rng, fictitious, weights)
    for h in range(horizon - 1, -1, -1):
        after, here = scratch.tables[(h + 1) % 2], scratch.tables[h % 2]
        begin_step(zero, task, after, size, rows, h)
        for o in range(size):
            if not counts.is_met[o]:
                continue
            for lane in range(0, width, LANES):
                for a in range(num_actions):
                    pair, value = o * num_actions + a, zero + caps[h]
                    if edges.totals[pair] > 0.0:
                        best = zero
                        for j in range(fictitious.shape[1]):
                            mean = zero + fictitious[pair, j] * caps[h]
                            for e in range(edges.start[pair], edges.stop[pair]):
                                mean = mean + weights[e, j] * load(zero, after, np.int64(edges.rows[e]) * width + lane)
                            best = np.maximum(best, mean)
                        value = np.minimum(value, best)
                    store(options, a * LANES, value)
                place = (h * size + o) * num_machine_states + lane
                best = take_best(zero, options, num_actions, actions, place, num_machine_states - lane, stream)
                store(here, o * width + lane, kept_value(zero, task, h, lane, best))
    value_unmet(scratch.tables[0], counts.is_met, caps[0], width)
