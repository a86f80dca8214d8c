"""The estimate p̂ as a model to plan in.

A pair never visited has no p̂: it takes the exit UNKNOWN. That is worth the least that the machine can pay from there
on, in the state in which it is, so that no plan is drawn to what is unknown, and none is charged what the machine
cannot charge any more. Plans are made with rewards mapped into [0, 1] (``RewardMachine.in_unit_range``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, did_you_mean
from praemia.kernels.records import END, UNKNOWN
from praemia.machines.labels import Label, Labels, RuleLabelling, as_labelling
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.model import Model, exits_at_end
from praemia.tasks.task import TaskSpec

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

Transitions: TypeAlias = tuple[NDArray[Any], NDArray[Any]]  # o · A + a; o', or O + o' for the end there


def estimated_model(
    dataset: Dataset,
    machine: RewardMachine,
    horizon: int | None = None,
    labels: Labels | None = None,
    unknown: NDArray[np.float64] | None = None,
) -> Model:
    """Return p̂ with a machine, whose rewards are mapped into [0, 1].

    ``labels`` take the place of the dataset's own. ``unknown`` [H, M] is what a pair never visited is worth at each
    step; by default the least that the machine can pay.
    """
    _require_labels(dataset, machine, labels)
    steps = dataset.horizon if horizon is None else horizon
    numbers, sets = (dataset.labelling if labels is None else as_labelling(labels)).of(*dataset.transitions)
    unit = machine.over(sorted(frozenset().union(*sets))).in_unit_range
    exits = exits_at_end(steps, unit.num_states, unit.idle_reward.mean, 1.0)
    exits[1:, UNKNOWN] = least_to_earn(unit, steps, can_end=dataset.can_end)[:-1] if unknown is None else unknown
    # One edge for each pair never visited, in its place among the others.
    never, size = np.flatnonzero(dataset.visits.ravel() == 0), dataset.num_observations
    places, successors = np.searchsorted(dataset.pairs, never), np.where(dataset.ends, size + END, dataset.successors)
    return Model(
        num_actions=dataset.num_actions,
        indptr=dataset.indptr + np.searchsorted(never, np.arange(dataset.visits.size + 1)),
        successors=np.insert(successors, places, size + UNKNOWN).astype(np.int32),
        probs=np.insert(dataset.probs, places, 1.0),
        labels=np.insert(numbers, places, 0).astype(np.int32),
        table=MachineTable.of(unit, sets),
        start_probs=dataset.start_probs,
        exits=exits,
    )


def estimated_spec(dataset: Dataset, machine: RewardMachine, horizon: int, labels: Labels | None) -> TaskSpec:
    """Return what is known of the environment of some data, for a machine. Any label may come that is not known."""
    is_open = labels is None and not dataset.labels_known
    labelling = dataset.labelling if labels is None else as_labelling(labels)
    return TaskSpec(
        dataset.num_observations,
        dataset.num_actions,
        horizon,
        machine,
        RuleLabelling(()) if is_open else labelling,
        (),
        MachineTable.of(machine, [frozenset()]),
        more_labels=True,
        labels_need_info=is_open,
        can_end=dataset.can_end,
    )


def least_to_earn(machine: RewardMachine, horizon: int, *, can_end: bool) -> NDArray[np.float64]:
    """Return the least that a machine can pay on average from step h on, whatever the labels: [H + 1, M]."""
    table = np.zeros((horizon + 1, machine.num_states))
    for h in range(horizon - 1, -1, -1):
        least = table[h + 1]
        if can_end:
            least = np.minimum(least, machine.idle_reward.mean * (horizon - h - 1))
        table[h] = [-worth for worth in machine.highest(partial(_loss, _named(machine, least)))]
    return table


def most_to_earn(machine: RewardMachine, horizon: int, *, can_end: bool = True) -> NDArray[np.float64]:
    """Return the most that a machine can pay on average from step h on, whatever the labels: [H + 1, M].

    Steps on which nothing happens count where they are possible: a label matches no rule, or an episode can end.
    """
    table = np.zeros((horizon + 1, machine.num_states))
    for h in range(horizon - 1, -1, -1):
        table[h] = machine.highest(partial(_gain, _named(machine, table[h + 1])))
        if can_end:
            table[h] = np.maximum(table[h], machine.idle_reward.mean + table[h + 1])
    return table


def _named(machine: RewardMachine, values: NDArray[np.float64]) -> dict[str, float]:
    """Return a number for each machine state by its name."""
    return dict(zip(machine.states, values.tolist(), strict=True))


def _gain(later: Mapping[str, float], outcomes: tuple[Outcome, ...]) -> float:
    """Return what outcomes pay on average, with what can be earned later."""
    return fsum(out.probability * (out.reward.mean + later[out.target]) for out in outcomes)


def _loss(later: Mapping[str, float], outcomes: tuple[Outcome, ...]) -> float:
    return -_gain(later, outcomes)


def sparse_kernel(counted: Transitions, probs: NDArray[np.float64], num_observations: int, num_actions: int) -> Any:
    """Return a kernel as a SciPy sparse array [O·A, 2·O]; column O + o' is the end of the episode in o'."""
    from scipy.sparse import csr_array

    pairs, targets = counted
    return csr_array((probs, (pairs, targets)), shape=(num_observations * num_actions, 2 * num_observations))


def mdp_kernel(mdp: LabeledMDP) -> Any:
    """Return p as a SciPy sparse array [O·A, 2·O]; column O + o' is the end of the episode in o'."""
    return sparse_kernel((mdp.edge_pairs, mdp.targets), mdp.probs, mdp.num_observations, mdp.num_actions)


def best_values(
    kernel: Any,
    gain: NDArray[np.float64],
    horizon: int,
    *,
    last: NDArray[np.float64] | float = 0.0,
    ended: NDArray[np.float64] | float = 0.0,
    most: float = np.inf,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return V_0[O] and the actions [H, O] of V_h = max_a min(most, gain + Σ kernel · V_{h+1}), V_H = ``last``.

    ``kernel`` is [O·A, 2·O]; a row may be empty, a dead end. ``ended`` [O, …] is what the end in each observation is
    worth. gain[O, A, …] may have more axes, which V then has too; the actions are not kept then.
    """
    size = len(gain)
    shape = (size, *gain.shape[2:])
    values, over = (np.array(np.broadcast_to(worth, shape), dtype=np.float64) for worth in (last, ended))
    actions = np.zeros((horizon if gain.ndim == 2 else 0, size), dtype=np.int64)
    for h in range(horizon - 1, -1, -1):
        table = np.minimum(most, gain + (kernel @ np.concatenate((values, over))).reshape(gain.shape))
        values = table.max(axis=1)
        if gain.ndim == 2:
            actions[h] = table.argmax(axis=1)
    return values, actions


def _require_labels(dataset: Dataset, machine: RewardMachine, labels: Labels | None) -> None:
    """Refuse labels outside the data's sizes, and a machine that cannot read them."""
    labelling = dataset.labelling if labels is None else as_labelling(labels)
    produced = labelling.propositions()
    if produced is None:
        return
    if isinstance(labelling, RuleLabelling):
        _require_rules(labelling, dataset)
    require_readable(machine, produced, produced if labels is not None else produced.union(dataset.propositions))


def require_readable(machine: RewardMachine, produced: Label, known: Label) -> None:
    """Refuse a machine that reads unknown names, or none of those that the labels produce."""
    read = machine.reads
    for name in sorted(read - known):
        raise ModelError(
            f"the machine reads {name!r}, which the labels of this data never produce"
            f"{did_you_mean(name, sorted(known))}"
        )
    if read and not read & produced:
        raise ModelError(
            f"the machine reads {', '.join(sorted(read))}; the labels of this data never produce any of it"
        )


def _require_rules(labelling: RuleLabelling, dataset: Dataset) -> None:
    for rule in labelling.rules:
        for kind, number, size in (
            ("observation", rule.source, dataset.num_observations),
            ("action", rule.action, dataset.num_actions),
            ("observation", rule.target, dataset.num_observations),
        ):
            if number is not None and not 0 <= number < size:
                raise ModelError(f"a label rule names the {kind} {number}; expected 0 … {size - 1}")
