"""The bounds behind a certificate, each valid on the event that p lies in the confidence set.

**Distances (Lemma 2 with the roles of the models exchanged).** Let P̂ and P be the laws of the trajectory under one
policy in p̂ and in p. For any F with 0 ≤ F ≤ G, |Ĵ − J| ≤ G·TV(P̂, P). Telescoping as in the proof of Lemma 2, but with p̂
first,

    Ĵ − J = Σ_h E_{μ̂_h}[Σ_z (p̂ − p)(z|o_h, a_h)·E_p[F | η_{≤h}, z]],

so that μ̂ is computed in p̂, which is known, and because the inner expectation lies in [0, G] each term is at most
G·½‖p̂ − p‖₁ — half of Lemma 2's. The same step by step, with the total variation never above 1:

    D_h(η) = min(1, tv(o, a) + Σ_z p̂(z|o, a)·D_{h+1}(η a z)),   |Ĵ − J| ≤ G·D_0.

Maximised over actions, D* depends on (h, o) only and bounds every policy, history-dependent or not.

**Confidence sets, for a machine.** V̄ = the optimum over all kernels in the set, V̲ = the policy's value in the worst
kernel of the set; V* ≤ V̄ and V̲ ≤ V^π.

**Bernstein around V*, for a machine.** V* does not depend on the data, so (p̂ − p)(φ + W*) obeys Bernstein's inequality
without the factor O of the L1 ball: V̄ = max_a p̂(φ + W̄) + b, with the variance in b taken from the bracket [V̲*, V̄].
For the policy, V^π = p̂(φ + W^π) − (p̂ − p)(φ + W*) + (p̂ − p)(W* − W^π), whose last term is small because W* − W^π is:
it is charged with the element-wise intervals. No label of an unseen transition is needed here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.confidence import Confidence, function_widths
from praemia.exploration.dataset import Dataset
from praemia.kernels.arrays import Actions
from praemia.kernels.certify import bracket, policy_distance, worst_value
from praemia.kernels.ucrl2 import plan_ucrl2
from praemia.learners.ucrl2_rm import bernstein_interval, dense_rows
from praemia.models.machine import RewardMachine
from praemia.models.task import Task, TaskSpec

Values = NDArray[np.float64]
MAX_DENSE = 4_000_000  # (o, a, o') for which confidence sets are laid out


def largest_distance(kernel: Any, confidence: Confidence, horizon: int) -> tuple[Values, NDArray[np.int64]]:
    """Return D*_0 as [O] and the actions [H, O] that attain it; ``kernel`` is p̂ as a sparse array [O·A, O]."""
    size, num_actions = confidence.tv.shape
    values = np.zeros(size)
    actions = np.empty((horizon, size), dtype=np.int64)
    for h in range(horizon - 1, -1, -1):
        table = np.minimum(1.0, confidence.tv + (kernel @ values).reshape(size, num_actions))
        actions[h], values = table.argmax(axis=1), table.max(axis=1)
    return values, actions


def distance_of_policy(task: Task, confidence: Confidence, policy: Actions) -> Values:
    """Return D_0 as [O] of a policy [H, O + 1, M] in the estimate with its sink, from the machine's initial state."""
    tv = np.concatenate((confidence.tv.ravel(), np.zeros(task.num_actions)))
    table = policy_distance(task.arrays, task.table.transition_layers, task.num_actions, tv, policy)
    return table[:-1, task.table.initial]


def most_to_earn(machine: RewardMachine, horizon: int) -> Values:
    """Return the most that a machine can pay on average from step h on, whatever the labels: [H + 1, M]."""
    table = np.zeros((horizon + 1, machine.num_states))
    for h in range(horizon - 1, -1, -1):
        table[h] = table[h + 1]
        for rule in machine.rules:
            m = machine.index[rule.source]
            gain = sum(
                out.probability * (out.reward.mean + table[h + 1, machine.index[out.target]]) for out in rule.outcomes
            )
            table[h, m] = max(table[h, m], gain)
    return table


def bernstein_bracket(
    dataset: Dataset, task: Task, confidence: Confidence, policy: Actions, most: Values
) -> tuple[Values, Values]:
    """Return V̄_0 ≥ V* and V̲_0 ≤ V^π, both [O], by Bernstein around V*; ``policy`` is [H, O + 1, M]."""
    sink = task.num_actions
    widths = function_widths(dataset, confidence, int(task.horizon), task.num_machine_states)
    model = task.arrays
    raised = np.zeros(len(model.probs))
    raised[_places(dataset, task)] = confidence.upper - dataset.probs
    raised[np.repeat(np.append(confidence.tv.ravel() == 0.0, np.ones(sink, bool)), np.diff(model.indptr))] = 0.0
    upper, own = bracket(
        model,
        task.table.layers,
        task.num_actions,
        np.append(widths.ravel(), np.full(sink, -1.0)),
        np.append(confidence.tv.ravel(), np.ones(sink)),
        raised,
        np.append(confidence.miss.ravel(), np.ones(sink)),
        most,
        policy,
    )
    return upper[:-1, task.table.initial], own[:-1, task.table.initial]


def _places(dataset: Dataset, task: Task) -> NDArray[np.int64]:
    """Return the edge of the estimate that each transition of the dataset became."""
    edges = np.repeat(np.arange(task.mdp.num_pairs), np.diff(task.mdp.indptr)) * task.num_observations
    keys = edges + task.mdp.successors
    return np.searchsorted(keys, dataset.pairs * task.num_observations + dataset.successors)


def set_brackets(dataset: Dataset, spec: TaskSpec, confidence: Confidence, policy: Actions) -> tuple[Values, Values]:
    """Return V̄_0 ≥ V* and V̲_0 ≤ V^π, both [O]: the better of L1 balls and intervals; ``policy`` is [H, O, M]."""
    shape = (dataset.num_observations, dataset.num_actions, dataset.num_observations)
    p_hat = np.zeros(shape)
    p_hat.reshape(-1, shape[2])[dataset.pairs, dataset.successors] = dataset.probs
    visits = dataset.visits
    n = np.maximum(1, visits).astype(np.float64)[..., None]
    lower, upper = bernstein_interval(p_hat, n, confidence.element_level, 1.0)
    rows, layers = dense_rows(spec)
    none, flat = np.empty((0, 0, 0)), np.empty((0, 0))
    optima, worsts = [], []
    for radius, low, high in ((confidence.l1, none, none), (flat, lower, upper)):
        free = np.empty_like(policy)
        optima.append(plan_ucrl2(visits, p_hat, radius, low, high, rows, layers, free, 1))
        worsts.append(worst_value(visits, p_hat, radius, low, high, rows, layers, policy))
    start = spec.table.initial
    return np.minimum(*optima)[:, start], np.maximum(*worsts)[:, start]
