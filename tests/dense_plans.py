"""A backward pass in plain NumPy, transition by transition: what the two services of learners must compute."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from praemia.learners.experience import Experience


def tabulated(experience: Experience) -> tuple[Any, Any]:
    """Return τ[L, M, M] and φ[H, L, M] of a machine that is known, in the unit range."""
    spec = experience.spec
    states, shape = spec.machine.states, (len(spec.label_sets), spec.num_machine_states)
    probs, rewards = np.zeros((*shape, shape[1])), np.zeros(shape)
    for (i, label), (m, state) in product(enumerate(spec.label_sets), enumerate(states)):
        for out in spec.machine.over(label).outcomes(state, label):
            probs[i, m, states.index(out.target)] += out.probability
            rewards[i, m] += out.probability * out.reward.mean
    return probs, np.broadcast_to(rewards, (spec.horizon, *shape))


def dense_backup(
    experience: Experience, values: Any, step: int, machine: Any = None, variance_of: str = "Y"
) -> tuple[Any, Any]:
    """Return the mean of Y and the deviation of Y, or of γW, transition by transition."""
    spec, seen = experience.spec, experience.transitions
    probs, rewards = tabulated(experience) if machine is None else machine
    ended = spec.machine.idle_reward.mean * spec.value_caps[step + 1]
    after = np.where(spec.is_done[:, None], ended, values)
    shape = (spec.num_machine_states, spec.num_observations, spec.num_actions)
    mean, deviation = np.zeros(shape), np.zeros(shape)
    for o, a in np.argwhere(experience.visits > 0):
        rows = np.flatnonzero((seen.observations == o) & (seen.actions == a))
        p = seen.counts[rows] / experience.visits[o, a]
        w = [
            np.full(shape[0], ended) if seen.ends[i] else probs[seen.labels[i]] @ after[:, seen.successors[i]]
            for i in rows
        ]
        phi = np.array([rewards[step, seen.labels[i]] for i in rows])
        future = spec.discount * np.array(w)
        spread = future if variance_of == "W" else phi + future
        mean[:, o, a] = p @ (phi + future)
        deviation[:, o, a] = np.sqrt(p @ (spread - p @ spread) ** 2)
    return mean, deviation


def dense_plan(
    experience: Experience,
    bonus: Any,
    scale: Any,
    caps: Any,
    *,
    growth: float = 1.0,
    previous: Any = np.inf,
    variance_of: str = "Y",
    machine: Any = None,
) -> tuple[Any, Any]:
    """Return Q[H, M, O, A] and V_0[M, O] of the linear form; ``previous`` is Q before, +∞ where nothing was visited."""
    spec = experience.spec
    shape = (spec.horizon, spec.num_machine_states, spec.num_observations, spec.num_actions)
    bonus, scale, previous = (np.broadcast_to(array, shape) for array in (bonus, scale, previous))
    action_values, values = np.zeros(shape), np.zeros(shape[1:3])
    for h in reversed(range(spec.horizon)):
        mean, deviation = dense_backup(experience, values, h, machine, variance_of)
        bound = np.minimum(previous[h], growth * mean + scale[h] * deviation + bonus[h])
        action_values[h] = np.where(experience.visits > 0, np.minimum(caps[h], bound), caps[h])
        values = action_values[h].max(-1)
    return action_values, values
