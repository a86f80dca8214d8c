"""Add up counts: those of equal transitions, and those of two datasets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.machines.labels import Label, Labelling, SeenLabels

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset


def add_up(
    num_observations: int,
    pairs: NDArray[np.int64],
    targets: NDArray[np.int64],
    counts: NDArray[np.int64] | int,
    labels: NDArray[np.integer[Any]] | None = None,
) -> dict[str, Any]:
    """Add up the counts of equal transitions, with equal ``labels`` if given; return the columns of a dataset."""
    keys = pairs * (2 * num_observations) + targets
    num_labels = 1 if labels is None else int(labels.max(initial=0)) + 1
    keys, places = np.unique(keys if labels is None else keys * num_labels + labels, return_inverse=True)
    added = np.zeros(len(keys), dtype=np.int64)
    np.add.at(added, places, counts)
    keys, numbers = np.divmod(keys, num_labels)
    pairs, targets = np.divmod(keys, 2 * num_observations)
    return {"pairs": pairs, "targets": targets, "counts": added, "labels": None if labels is None else numbers}


def add_datasets(first: Dataset, second: Dataset) -> Dataset:
    """Add up two parts; refuse those that label a transition in two ways."""
    both, several = (first, second), first.labels is not None or second.labels is not None
    labels, sets = None, tuple[Label, ...]()
    if several:
        sets = tuple(dict.fromkeys((frozenset(), *first.labelled[1], *second.labelled[1])))
        number_of = {label: i for i, label in enumerate(sets)}
        own = [np.array([number_of[label] for label in part.labelled[1]])[part.labelled[0]] for part in both]
        labels = np.concatenate(own)
    elif not first.labels_known:
        seen = SeenLabels()
        for part in both:
            numbers, own_sets = part.labelled
            steps = zip(*map(np.ndarray.tolist, part.transitions), strict=True)
            for step, number in zip(steps, numbers, strict=True):
                seen.add(step, own_sets[number])
    pairs, targets, counts = (
        np.concatenate([getattr(part, n) for part in both]) for n in ("pairs", "targets", "counts")
    )
    return replace(
        first,
        **add_up(first.num_observations, pairs, targets, counts, labels),
        label_sets=sets,
        can_end=first.can_end or second.can_end,
        first_counts=first.first_counts + second.first_counts,
        labelling=Labelling(tuple(dict.fromkeys((*first.labelling.rules, *second.labelling.rules)))),
        propositions=tuple(sorted({*first.propositions, *second.propositions})),
        sources=(*first.sources, *second.sources),
    )
