"""The policy that a run has learned: the best one in the estimate p̂, without a bonus.

A plan that explores is not what one would use: it tries what is uncertain. The *learned policy* is best if p = p̂ and
every pair never visited is as bad as the machine allows. Where there is no estimate (``Learner.has_estimate``), or the
machine is learned too, it is the last plan.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.records import END, UNKNOWN
from praemia.planning.exact import solve
from praemia.simulation.loop import World
from praemia.tasks.extremes import extremes, least_to_earn
from praemia.tasks.model import Model
from praemia.tasks.spec import LearnedMachineSpec, TaskSpec


def learned_policy(world: World) -> NDArray[Any]:
    """Return the policy that a run has learned so far, as kernels take it: [H, O, M]."""
    if not world.learner.has_estimate or isinstance(world.spec, LearnedMachineSpec):
        return world.policy
    return np.ascontiguousarray(solve(estimated_model(world), keep_values=False).policy.swapaxes(1, 2))


def estimated_model(world: World) -> Model:
    """Return p̂ as a model: a pair never visited leaves by the exit UNKNOWN, worth the least that can be earned."""
    spec, seen, pairs = world.spec, world.experience().transitions, world.counts.pairs
    size, visits = spec.num_observations, pairs["visits"].astype(np.int64)
    never = np.flatnonzero(visits == 0)
    owners = seen.observations * spec.num_actions + seen.actions
    places = np.searchsorted(owners, never)
    lengths = np.bincount(owners, minlength=len(visits)) + (visits == 0)
    exits = spec.exits.copy()
    if len(never):
        exits[1:, UNKNOWN] = _least(spec)
    return Model(
        num_actions=spec.num_actions,
        indptr=np.concatenate(([0], np.cumsum(lengths))),
        successors=np.insert(np.where(seen.ends, size + END, seen.successors), places, size + UNKNOWN).astype(np.int32),
        probs=np.insert(seen.counts / visits[owners], places, 1.0),
        labels=np.insert(seen.labels, places, 0).astype(np.int32),
        table=spec.table,
        start_probs=np.full(size, 1.0 / size),  # it does not matter: the policy is best from everywhere
        exits=exits,
        discount=spec.discount,
    )


def _least(spec: TaskSpec) -> NDArray[np.float64]:
    """Return the least that can be earned from each step on: [H, M]."""
    if not spec.more_labels:
        return least_to_earn(spec, spec.table)
    # On any label, without a table of all: for a machine of hundreds of states that would take longer than the run.
    return extremes(spec.machine, spec.horizon, spec.discount, can_end=spec.can_end, sign=-1.0)[:-1]
