"""The policy that a run has learned: the best one in the estimate p̂, without a bonus.

A plan that explores is not what one would use: it tries what is uncertain. The *learned policy* is best if p = p̂ and
every pair never visited is as bad as the machine allows. Where there is no estimate (``Learner.has_estimate``), or the
machine is learned too, it is the last plan.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.planning.exact import solve
from praemia.simulation.loop import World
from praemia.tasks.extremes import extremes
from praemia.tasks.model import Model


def learned_policy(world: World) -> NDArray[Any]:
    """Return the policy that a run has learned so far, as kernels take it: [H, O, M]."""
    if not world.learner.has_estimate or world.learner.learn_machine:
        return world.policy
    return np.ascontiguousarray(solve(estimated_model(world), keep_values=False).policy.swapaxes(1, 2))


def estimated_model(world: World) -> Model:
    """Return p̂ as a model: a pair never visited leaves by the exit UNKNOWN, worth the least that can be earned."""
    spec, seen, visits = world.spec, world.experience().transitions, world.counts.visits
    size, least = spec.num_observations, None
    if not visits.all():
        # In a black box on any label; a table of all, for hundreds of machine states, would take longer than the run.
        least = extremes(spec, spec.table if spec.unseen_labels == "listed" else None, sign=-1.0)
    pairs, targets = seen.observations * spec.num_actions + seen.actions, seen.successors + size * seen.ends
    starts = np.full(size, 1.0 / size)  # it does not matter: the policy is best from everywhere
    return Model.of_estimate(spec, pairs, targets, seen.counts, seen.labels, spec.table, starts, least)
