"""What can follow a pair, as far as the labels tell: for learners that ask what a pair can lead to at best.

A label and an o' can occur together if some pair has that label when it leads to o'. A pair allows the labels that
it has for any o'. Where the label of every (o, a, o') cannot be asked for — on large tasks, or because it needs what a
step of a black box tells — all labels that occur are allowed after every pair, and in a black box all that the machine
can do: more than can happen, never less. Where episodes may end, they may end on any label.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.records import LabelSupport
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.task import TaskSpec

MAX_TRIPLES = 4_000_000


def asks_every_label(spec: TaskSpec) -> bool:
    """Tell whether the label of every (o, a, o') is asked for."""
    return spec.num_observations**2 * spec.num_actions <= MAX_TRIPLES and not spec.labels_need_info


def find_support(spec: TaskSpec) -> tuple[MachineTable, Callable[[int], LabelSupport]]:
    """Return the machine on the labels that can occur, and the support for tables of a width."""
    num_obs, num_pairs = spec.num_observations, spec.num_observations * spec.num_actions
    if not asks_every_label(spec):
        return _all_labels(spec)
    labels, table = spec.dense_labels
    num_labels = len(table.inert)
    by_pair = labels.reshape(num_pairs, num_obs)
    allowed = np.zeros((num_pairs, num_labels), dtype=bool)
    allowed[np.arange(num_pairs)[:, None], by_pair] = True
    groups, group_of = np.unique(allowed, axis=0, return_inverse=True)
    reaches = np.zeros((num_labels, num_obs), dtype=bool)
    reaches[by_pair, np.arange(num_obs)] = True
    return table, _support(spec, group_of.ravel(), groups, reaches, table)


def _all_labels(spec: TaskSpec) -> tuple[MachineTable, Callable[[int], LabelSupport]]:
    """Allow every label after every pair."""
    sets, num_pairs = spec.labels_to_expect, spec.num_observations * spec.num_actions
    table = spec.table_on(sets) if spec.more_labels else spec.table
    groups = np.ones((1, len(sets)), dtype=bool)
    reaches = np.ones((len(sets), spec.num_observations), dtype=bool)
    return table, _support(spec, np.zeros(num_pairs), groups, reaches, table)


def _support(
    spec: TaskSpec, group_of: NDArray[Any], groups: NDArray[np.bool_], reaches: NDArray[np.bool_], table: MachineTable
) -> Callable[[int], LabelSupport]:
    """Write membership tables as sparse rows; the column after the observations is the end of an episode."""
    if spec.can_end:
        reaches = np.hstack((reaches, np.ones((len(reaches), 1), dtype=bool)))
    parts = (
        group_of.astype(np.int32),
        np.concatenate(([0], np.cumsum(groups.sum(axis=1)))).astype(np.int64),
        np.nonzero(groups)[1].astype(np.int32),
        np.concatenate(([0], np.cumsum(reaches.sum(axis=1)))).astype(np.int64),
        np.nonzero(reaches)[1].astype(np.int32),
    )
    return lambda width: LabelSupport(*parts, layers=table.layers(width))
