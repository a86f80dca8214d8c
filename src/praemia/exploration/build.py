"""Datasets from what was counted, with the labels as data and the reachability that the counts show."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.dataset import Dataset, add_up
from praemia.exploration.grounds import BoxGround, TaskGround
from praemia.exploration.reach import most_visits
from praemia.models.labels import LabelRule, RuleLabelling
from praemia.models.machine import RewardMachine
from praemia.models.mdp import LabeledMDP

MAX_TABULATED = 200_000  # (o, a, o') whose labels are asked for one by one
MAX_WORK = 5_000_000_000  # multiplications for the reachability of all observations: some seconds

Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


def task_dataset(ground: TaskGround, source: dict[str, Any], keep_search: bool) -> Dataset:
    """Return the data collected on a task."""
    mdp = ground.task.mdp
    pairs = np.repeat(np.arange(mdp.num_pairs), np.diff(mdp.indptr))
    successors = mdp.successors.astype(np.int64)

    def columns(counts: NDArray[np.int64]) -> Columns:
        return add_up(pairs, successors, counts, mdp.num_observations)

    every = columns(ground.counts + ground.search_counts), ground.first + ground.search_first
    kept = every if keep_search else (columns(ground.counts), ground.first)
    rules, known = _label_rules(mdp, kept[0])
    return Dataset(
        mdp.num_observations,
        mdp.num_actions,
        ground.horizon,
        *kept[0],
        first_counts=kept[1],
        labelling=RuleLabelling(rules),
        labels_known=known,
        absorbing=np.zeros(mdp.num_observations, dtype=bool),
        reachability=_reachability(*every, ground),
        propositions=_vocabulary(ground.task.machine, rules),
        observation_names=mdp.observation_names,
        action_names=mdp.action_names,
        sources=(source,),
    )


def _label_rules(mdp: LabeledMDP, seen: Columns) -> tuple[tuple[LabelRule, ...], bool]:
    """Return the labels as rules, and whether they hold for every transition or for those seen alone."""
    if isinstance(mdp.labelling, RuleLabelling):
        return mdp.labelling.rules, True
    shape = (mdp.num_observations, mdp.num_actions, mdp.num_observations)
    known = int(np.prod(shape)) <= MAX_TABULATED
    if known:
        o, a, z = (axis.ravel() for axis in np.indices(shape))
    else:
        (o, a), z = np.divmod(seen[0], mdp.num_actions), seen[1]
    numbers, sets = mdp.labelling.of(o, a, z)
    rows = zip(o.tolist(), a.tolist(), z.tolist(), numbers.tolist(), strict=True)
    return tuple(LabelRule(sets[number], *place) for *place, number in rows if sets[number]), known


def box_dataset(ground: BoxGround, source: dict[str, Any], keep_search: bool) -> Dataset:
    """Return the data collected in a black box; its labels are known on the transitions seen."""
    box = ground.box
    every = ground.search_counts
    every.join(ground.counts)
    kept = every if keep_search else ground.counts
    rules = tuple(
        LabelRule(label, *divmod(pair, box.num_actions), z)
        for (pair, z), label in sorted(kept.labels.items(), key=_place)
        if label
    )

    def columns(counts: dict[tuple[int, int], int]) -> Columns:
        table = np.array([(pair, z, counts[pair, z]) for pair, z in sorted(counts)], dtype=np.int64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    return Dataset(
        box.num_observations,
        box.num_actions,
        box.horizon,
        *columns(kept.counts),
        first_counts=kept.first,
        labelling=RuleLabelling(rules),
        labels_known=False,
        absorbing=np.arange(box.num_observations) >= box.num_env_observations,
        reachability=_reachability(columns(every.counts), every.first, ground),
        propositions=_vocabulary(box.machine, rules),
        sources=(source,),
    )


def _vocabulary(machine: RewardMachine, rules: tuple[LabelRule, ...]) -> tuple[str, ...]:
    return tuple(sorted({*machine.propositions, *(name for rule in rules for name in rule.propositions)}))


def _place(item: tuple[tuple[int, int], Any]) -> tuple[int, int]:
    return item[0]


def _reachability(columns: Columns, first: NDArray[np.int64], ground: TaskGround | BoxGround) -> NDArray[np.float64]:
    """Estimate max_π Σ_h μ^π_h(o) for every o: the optimum in p̂ of all that was played, the search included.

    Where that would take too long, the mean number of visits in an episode stands for it, which is lower.
    """
    from scipy.sparse import csr_array

    pairs, successors, counts = columns
    shape = (ground.num_observations * ground.num_actions, ground.num_observations)
    visits = np.bincount(pairs, counts, shape[0])
    if len(counts) * shape[1] * ground.horizon > MAX_WORK:
        mean: NDArray[np.float64] = visits.reshape(-1, ground.num_actions).sum(axis=1) / first.sum()
        return mean
    kernel = csr_array((counts / visits[pairs], (pairs, successors)), shape=shape)
    targets = np.arange(ground.num_observations)
    most = most_visits(kernel, ground.num_actions, ground.horizon, targets, None)
    found: NDArray[np.float64] = most @ (first / first.sum())
    return found
