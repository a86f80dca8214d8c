"""The estimate p̂ as a model to plan in.

A pair never visited has no p̂. It leads to a *sink*, one observation more than there are (the last), which is absorbing.
Transitions into it and in it are labelled as after the end of an episode: the machine stays and pays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, did_you_mean
from praemia.exploration.dataset import Dataset
from praemia.models.labels import AFTER_THE_END, Indices, Label, Labelling, RuleLabelling
from praemia.models.machine import RewardMachine
from praemia.models.mdp import LabeledMDP, Labels, as_labelling
from praemia.models.task import Task

SINK = "praemia-sink"


@dataclass(frozen=True)
class SinkLabelling(Labelling):
    """The labels of a dataset; on transitions into the sink and from absorbing observations machines halt."""

    inner: Labelling
    sink: int
    absorbing: tuple[int, ...] = ()

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        inside = (targets != self.sink) & ~np.isin(sources, np.array(self.absorbing, dtype=np.int64))
        part, labels = self.inner.of(sources[inside], actions[inside], targets[inside])
        numbers = np.full(len(sources), len(labels), dtype=np.int32)
        numbers[inside] = part
        return numbers, [*labels, AFTER_THE_END]

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
    """Return the task of a machine in p̂, sink included."""
    _require_labels(dataset, machine, labels)
    mdp = estimated_mdp(dataset, labels)
    produced = sorted(frozenset().union(*mdp.label_sets) - AFTER_THE_END)
    chosen = dataset.horizon if horizon is None else horizon
    return Task(mdp, machine.over(produced), chosen, "estimate")


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
    """Refuse a machine that reads names not known, or none of those that the labels produce."""
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
