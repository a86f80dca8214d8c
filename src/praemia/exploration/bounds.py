"""The bounds behind a certificate, each valid on the event that p lies in the confidence set.

**Distances (Lemma 2 with the roles of the models exchanged).** Let P̂ and P be the laws of the trajectory under one
policy in p̂ and in p. For any F with 0 ≤ F ≤ G, |Ĵ − J| ≤ G·TV(P̂, P). Telescoping as in the proof of Lemma 2, but with p̂
first,

    Ĵ − J = Σ_h E_{μ̂_h}[Σ_z (p̂ − p)(z|o_h, a_h)·E_p[F | η_{≤h}, z]],

so that μ̂ is computed in p̂, which is known, and because the inner expectation lies in [0, G] each term is at most
G·½‖p̂ − p‖₁ — half of Lemma 2's. The same step by step, with the total variation never above 1:

    D_h(η) = min(1, tv(o, a) + Σ_z p̂(z|o, a)·D_{h+1}(η a z)),   |Ĵ − J| ≤ G·D_0.

Maximised over actions, D* depends on (h, o) only and bounds every policy, history-dependent or not.

**Distances, for a machine.** A machine's return is no function of η: the machine may move by chance, and a policy may
look at where it went. Then G, the largest *mean*, is no bound after a rare move into a state that pays much. So the
distance is counted in what can still be paid, in the product: with most[h, m] = the most that the machine can pay on
average from m on,

    B_h(o, m) = min(most[h, m], tv(o, a)·most[h, m] + Σ_z p̂(z|o, a)·Σ_m' τ(m'|m, σ)·B_{h+1}(z, m')),

because V̂ − V = (p̂ − p)(φ + W) + p̂τ(V̂_{h+1} − V_{h+1}) with 0 ≤ φ + W ≤ most[h, m]. |V̂^π − V^π| ≤ B^π along a policy,
and the maximum over actions, B*, bounds every policy of the product, the optimal one among them.

All of this holds for whatever machine, labels and policy, also those chosen after looking at the data: tv does not
depend on them. So do the next two.

**Around p̂, for a machine.** V̄ = max_a min(most, p̂Ȳ + tv·most) and V̲ = max(0, p̂Y̲ − tv·most) along π, with Y = φ + W of
each. From the last step backwards, V* ≤ V̄ because Y* ≤ Ȳ, so that pY* ≤ pȲ, and pȲ ≤ p̂Ȳ + tv·most because
0 ≤ Ȳ ≤ most; V̲ ≤ V^π in the same way.

**Confidence sets, for a machine.** V̄ = the optimum over all kernels in the set, V̲ = the policy's value in the worst
kernel of the set; V* ≤ V̄ and V̲ ≤ V^π.

**Bernstein around V*, for a machine fixed before the data.** With the labels and the horizon fixed too, φ + W* is a
function that does not depend on the data, so part 3 of the confidence bounds (p̂ − p)(φ + W*) by b without the factor O
of the L1 ball. (A machine chosen after the data is a W* chosen after the data: one that pays where p̂ exceeds p is
overrated by tv, which can be far above b.) Line by line, from the last step backwards:

    pY* = p̂Y* − (p̂ − p)Y* ≤ p̂Ȳ + b,                       so V̄ = max_a min(most, p̂Ȳ + b) ≥ V*;
    pY* ≥ p̂Y̲ − b,                                          so V̲* = max_a max(0, p̂Y̲ − b) ≤ V*;
    Var_p̂(Y*)^½ ≤ Var_p̂(½(Ȳ + Y̲))^½ + ½(p̂(Ȳ − Y̲)²)^½,    which b needs, since |Y* − ½(Ȳ + Y̲)| ≤ ½(Ȳ − Y̲);
    pY^π = p̂Y^π − (p̂ − p)Y* + (p̂ − p)g, g = Y* − Y^π ≥ 0,  an identity;
    (p̂ − p)g ≥ −e:  p − p̂ is at most upper − p̂ on a successor seen and sums to miss at most on the others, where g is at
                    most Ȳ − Y̲^π and the largest of these; or tv times the largest;
    pY^π ≥ p̂Y̲^π − b − e,                                   so V̲^π = max(0, p̂Y̲^π − b − e) ≤ V^π along π.

π itself may depend on the data: only Y* meets part 3. Wherever tv·most is below b or b + e it takes their place, as
around p̂. No label of an unseen transition is needed here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.confidence import Confidence, function_widths
from praemia.exploration.dataset import Dataset
from praemia.exploration.passes import as_counts, copies_of, run_pass
from praemia.kernels import certify, recursion
from praemia.kernels.arrays import Actions
from praemia.kernels.planners import Recipe
from praemia.learners.best_kernels import best_in_ball, best_in_intervals, prepare_ball, prepare_interval, sort_rows
from praemia.learners.confidence_sets import log_of_subsets
from praemia.models.machine import RewardMachine
from praemia.models.task import Task, TaskSpec

Values = NDArray[np.float64]
MAX_DENSE = 4_000_000  # (o, a, o') for which confidence sets are laid out


def _bracket_recipe(begin_step: Any, doubt: Any) -> Recipe:
    parts = (
        ("prepare_pair", recursion.nothing_for_pair),
        ("begin_step", begin_step),
        ("pair_value", certify.bracket_value),
    )
    return Recipe(recursion, parts, (("doubt", doubt),))


ANY_MACHINE = _bracket_recipe(recursion.nothing_per_step, certify.doubt_by_distance)
FIXED_MACHINE = _bracket_recipe(certify.find_widest_gap, certify.doubt_around_optimum)


def _set_recipe(prepare: Any, best: Any) -> Recipe:
    parts = (
        ("ASKS_UNSEEN", True),
        ("prepare_pair", prepare),
        ("begin_step", sort_rows),
        ("pair_value", certify.along_policy),
    )
    return Recipe(recursion, parts, (("best_in_set", best),))


BALLS, INTERVALS = _set_recipe(prepare_ball, best_in_ball), _set_recipe(prepare_interval, best_in_intervals)


class MachineBounds(NamedTuple):
    """What is known of a machine's values from an estimate, at the first step in the initial machine state."""

    upper: Values  # [O], ≥ V*
    lower: Values  # [O], ≤ V^π
    farthest: Values  # [O], B*
    distance: Values  # [O], B^π
    farthest_policy: Actions  # [H, M, O + 1], one whose distance is B*


def largest_distance(kernel: Any, confidence: Confidence, horizon: int) -> tuple[Values, NDArray[np.int64]]:
    """Return D*_0 as [O] and the actions [H, O] that attain it; ``kernel`` is p̂ as a sparse array [O·A, O]."""
    size, num_actions = confidence.tv.shape
    values = np.zeros(size)
    actions = np.empty((horizon, size), dtype=np.int64)
    for h in range(horizon - 1, -1, -1):
        table = np.minimum(1.0, confidence.tv + (kernel @ values).reshape(size, num_actions))
        actions[h], values = table.argmax(axis=1), table.max(axis=1)
    return values, actions


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


def machine_bounds(
    dataset: Dataset, task: Task, confidence: Confidence, policy: Actions, most: Values
) -> MachineBounds:
    """Bound values and distances in an estimate with its sink; ``policy`` is [H, O + 1, M], ``most`` [H + 1, M].

    The bounds around V* are used when the confidence has a part for them, else those that hold for any machine.
    """
    model, sink = task.arrays, np.ones(task.num_actions)
    is_fixed = confidence.function_part > 0.0
    sizes = (int(task.horizon), task.num_machine_states)
    widths = function_widths(dataset, confidence, *sizes) if is_fixed else np.zeros_like(confidence.tv)
    numbers = ((widths, -sink), (confidence.tv, sink), (confidence.miss, sink))
    values, greedy = run_pass(
        FIXED_MACHINE if is_fixed else ANY_MACHINE,
        as_counts(
            np.ones((task.num_observations, task.num_actions)),
            model.indptr,
            model.probs,
            model.successors,
            model.rows,
            model.row_labels,
            model.row_targets,
        ),
        copies_of(task.table, (1.0, 1.0, 1.0, 0.0, 0.0)),
        policy,
        most.ravel(),
        num_copies=certify.BRACKET_COPIES,
        by_pair=np.column_stack([np.append(own, at_sink) for own, at_sink in numbers]),
        by_successor=_raised(dataset, task, confidence)[:, None],
    )
    first = values[:, :-1, task.table.initial]
    far = greedy[:, :, certify.FARTHEST].transpose(0, 2, 1)
    return MachineBounds(
        first[certify.UPPER], first[certify.OWN], first[certify.FARTHEST], first[certify.DISTANCE], far
    )


def _raised(dataset: Dataset, task: Task, confidence: Confidence) -> Values:
    """Return the upper end of p less p̂ for every edge of the estimate; 0 where nothing is in doubt."""
    owners = task.mdp.edge_pairs
    keys = owners * task.num_observations + task.mdp.successors
    raised = np.zeros(len(keys))
    places = np.searchsorted(keys, dataset.pairs * task.num_observations + dataset.successors)
    raised[places] = confidence.upper - dataset.probs
    is_sure = np.append(confidence.tv.ravel() == 0.0, np.ones(task.num_actions, dtype=bool))
    raised[is_sure[owners]] = 0.0
    return raised


def set_brackets(dataset: Dataset, spec: TaskSpec, confidence: Confidence, policy: Actions) -> tuple[Values, Values]:
    """Return V̄_0 ≥ V* and V̲_0 ≤ V^π, both [O]: the better of L1 balls and intervals; ``policy`` is [H, O, M]."""
    every, table, size = spec.every_row, spec.dense_labels[1], dataset.num_observations
    rows = every.own[dataset.pairs, dataset.successors]
    columns = (dataset.counts, dataset.successors, rows, every.row_labels, every.row_targets[size:])
    counts, layers = as_counts(dataset.visits, dataset.indptr, *columns), copies_of(table, (1.0, -1.0))
    optima, worsts = [], []
    for recipe, constants in (
        (BALLS, (1.0, confidence.set_level, log_of_subsets(size))),
        (INTERVALS, (1.0, confidence.element_level, 0.0)),
    ):
        values, _ = run_pass(
            recipe,
            counts,
            layers,
            policy,
            np.array(constants),
            num_copies=certify.SET_COPIES,
            by_pair=np.zeros((size * dataset.num_actions, size + 1)),
            by_successor=np.zeros((len(rows), 1)),
            every=every,
        )
        optima.append(values[certify.OPTIMUM, :, table.initial])
        worsts.append(-values[certify.WORST, :, table.initial])
    return np.minimum(*optima), np.maximum(*worsts)
