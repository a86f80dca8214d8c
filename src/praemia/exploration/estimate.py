"""The estimate p̂ as a model to plan in.

A pair never visited has no p̂. It leads to a *sink*, one observation more than there are (the last), which is absorbing.
On transitions into it and in it the machine stays and pays the least that it ever pays, so that no plan is drawn to
what is unknown. Plans are made with rewards mapped into [0, 1] (``RewardMachine.in_unit_range``), where the least is
0. After the end of an episode, which is known, the machine stays and pays 0 in the user's units, as in any task.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, did_you_mean
from praemia.exploration.dataset import Dataset
from praemia.machines.labels import AFTER_THE_END, Indices, Label, Labelling, Labels, RuleLabelling, as_labelling
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

SINK = "praemia-sink"
INTO_THE_SINK: Label = AFTER_THE_END | {SINK}


@dataclass(frozen=True, eq=False)
class EstimatedTask(Task):
    """A task in p̂ with its sink, for a machine whose rewards lie in [0, 1]; the sink pays nothing."""

    def __post_init__(self) -> None:
        super().__post_init__()
        number = self.mdp.label_sets.index(INTO_THE_SINK)
        object.__setattr__(self, "table", _paying_nothing(self.table, number))


def _paying_nothing(table: MachineTable, label: int) -> MachineTable:
    """Return a machine's table in which one label, on which every state stays, pays nothing."""
    edges = slice(*table.indptr[[label * table.num_states, (label + 1) * table.num_states]])
    rewards, values, inert = table.rewards.copy(), table.reward_values.copy(), table.inert.copy()
    rewards[edges] = 0.0
    values[table.reward_indptr[edges.start] : table.reward_indptr[edges.stop]] = 0.0
    inert[label] = True
    return replace(table, rewards=rewards, reward_values=values, inert=inert, _layers_of_width={})


@dataclass(frozen=True)
class SinkLabelling(Labelling):
    """The labels of a dataset; on transitions into the sink and from absorbing observations machines halt."""

    inner: Labelling
    sink: int
    absorbing: tuple[int, ...] = ()

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        lost = targets == self.sink
        inside = ~lost & ~np.isin(sources, np.array(self.absorbing, dtype=np.int64))
        part, labels = self.inner.of(sources[inside], actions[inside], targets[inside])
        numbers = np.where(lost, len(labels) + 1, len(labels)).astype(np.int32)
        numbers[inside] = part
        return numbers, [*labels, AFTER_THE_END, INTO_THE_SINK]

    def propositions(self) -> Label | None:
        return self.inner.propositions()


def estimated_mdp(dataset: Dataset, labels: Labels | None = None) -> LabeledMDP:
    """Return p̂ with its sink. ``labels`` takes the place of the dataset's own."""
    size, num_actions = dataset.num_observations, dataset.num_actions
    inner = dataset.labelling if labels is None else as_labelling(labels)
    absorbing = np.flatnonzero(dataset.absorbing)
    own = ~dataset.absorbing[dataset.pairs // num_actions]
    still = _all_pairs(absorbing, num_actions)
    never = np.flatnonzero((dataset.visits == 0) & ~dataset.absorbing[:, None])
    lost = np.concatenate((never, _all_pairs(np.array([size]), num_actions)))
    pairs = np.concatenate((dataset.pairs[own], still, lost))
    targets = np.concatenate((dataset.successors[own], still // num_actions, np.full(len(lost), size)))
    probs = np.concatenate((dataset.probs[own], np.ones(len(still) + len(lost))))
    names = None if dataset.observation_names is None else (*dataset.observation_names, SINK)
    return LabeledMDP.from_entries(
        size + 1,
        num_actions,
        pairs // num_actions,
        pairs % num_actions,
        targets,
        probs,
        SinkLabelling(inner, size, tuple(absorbing.tolist())),
        np.append(dataset.start_probs, 0.0),
        observations=names,
        actions=dataset.action_names,
    )


def _all_pairs(observations: NDArray[np.int64], num_actions: int) -> NDArray[np.int64]:
    return (observations[:, None] * num_actions + np.arange(num_actions)).ravel().astype(np.int64)


def estimated_task(
    dataset: Dataset, machine: RewardMachine, horizon: int | None = None, labels: Labels | None = None
) -> Task:
    """Return the task of a machine in p̂, sink included, with rewards mapped into [0, 1]."""
    _require_labels(dataset, machine, labels)
    mdp = estimated_mdp(dataset, labels)
    produced = sorted(frozenset().union(*mdp.label_sets) - AFTER_THE_END)
    chosen = dataset.horizon if horizon is None else horizon
    return EstimatedTask(mdp, machine.over(produced).in_unit_range, chosen, "estimate")


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
