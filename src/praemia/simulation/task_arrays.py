"""A task as kernels play it: what can be drawn, where each outcome is counted, which states an episode can reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.arrays import ModelArrays, padded_width
from praemia.kernels.play import OutcomeArrays, WorldArrays
from praemia.kernels.stretch import ValueArrays
from praemia.learners.base import Learner
from praemia.limits import require_memory
from praemia.planning.backward import new_tables
from praemia.tasks.machine_table import continuation_rows, running_sums
from praemia.tasks.task import Task, TaskSpec

_Made = TypeVar("_Made")


def _once_for_a_task(make: Callable[[Task], _Made]) -> Callable[[Task], _Made]:
    """Remember what was made for a task for as long as the task lives: runs of one task share it."""
    known: WeakKeyDictionary[Task, _Made] = WeakKeyDictionary()

    def remembered(task: Task) -> _Made:
        if task not in known:
            known[task] = make(task)
        return known[task]

    return remembered


@_once_for_a_task
def world_arrays(task: Task) -> WorldArrays:
    """Return a task as running sums to draw from."""
    mdp, table = task.mdp, task.table
    starts = task.starts.astype(np.int32)
    return WorldArrays(
        indptr=mdp.indptr.copy(),
        successors=mdp.successors.copy(),
        sums=running_sums(mdp.probs, mdp.indptr),
        labels=mdp.labels.copy(),
        mach_indptr=table.indptr,
        mach_targets=table.targets,
        mach_sums=table.sums,
        reward_indptr=table.reward_indptr,
        reward_values=table.reward_values,
        reward_widths=table.reward_widths,
        reward_sums=running_sums(table.reward_probs, table.reward_indptr),
        start_observations=starts,
        start_sums=np.cumsum(mdp.start_probs[starts]),
        sizes=np.array([task.num_actions, task.num_machine_states, table.initial, task.num_observations]),
    )


def outcome_arrays(task: Task, learner: Learner, known: TaskSpec) -> OutcomeArrays:
    """Return all that can follow the pairs that a learner distinguishes, laid out by what it is told of the machine."""
    mdp = task.mdp
    if learner.on_product:
        return _product_outcomes(task)
    if learner.needs_unseen_labels:
        every = known.every_row
        pairs = mdp.edge_pairs
        rows, row_labels, row_targets = every.own[pairs, mdp.successors], every.row_labels, every.row_targets
        places = np.arange(len(row_targets), dtype=np.int32)[task.num_observations :].copy()
        row_targets = row_targets[task.num_observations :].copy()
    else:
        apart = getattr(learner, "deviation_without_reward", False)
        plain = known.table.still if apart else known.table.inert
        rows, row_labels, row_targets = continuation_rows(mdp.labels, mdp.successors, plain, task.num_observations)
        places = np.full(len(row_labels), -1, dtype=np.int32)
    return _outcomes(
        mdp.indptr.copy(), mdp.successors.copy(), mdp.labels.copy(), rows, row_labels, row_targets, places, task, 0
    )  # fmt: skip


def _outcomes(
    indptr: NDArray[np.int64],
    successors: NDArray[np.int32],
    labels: NDArray[np.int32],
    rows: NDArray[np.uint32],
    row_labels: NDArray[np.int32],
    row_targets: NDArray[np.int32],
    row_places: NDArray[np.int32],
    task: Task,
    width: int,
) -> OutcomeArrays:
    num_states = task.num_observations * (task.num_machine_states if width else 1)
    unseen = np.full(len(successors), -1, dtype=np.int32)
    sizes = np.array([num_states, width])
    return OutcomeArrays(indptr, successors, labels, rows, row_labels, row_targets, unseen, row_places, sizes)


def _product_outcomes(task: Task) -> OutcomeArrays:
    """Lay out, for each product pair, its edges times the most outcomes that a rule has; not all of them occur."""
    mdp, table = task.mdp, task.table
    num_states, num_actions = task.num_machine_states, task.num_actions
    outcomes = np.diff(table.indptr)
    width = int(outcomes.max())
    require_memory(48 * len(mdp.probs) * num_states * width, f"counting in the product of {task!r}")

    state, action = np.divmod(np.arange(task.num_observations * num_states * num_actions), num_actions)
    observation, m = np.divmod(state, num_states)
    pair_row = observation * num_actions + action
    lengths = np.diff(mdp.indptr)[pair_row] * width
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    pair = np.repeat(np.arange(len(pair_row)), lengths)
    place, outcome = np.divmod(np.arange(indptr[-1]) - indptr[pair], width)
    edge = mdp.indptr[pair_row[pair]] + place
    rule_row = mdp.labels[edge].astype(np.int64) * num_states + m[pair]
    branch = table.indptr[rule_row] + np.minimum(outcome, outcomes[rule_row] - 1)
    successors = (mdp.successors[edge].astype(np.int64) * num_states + table.targets[branch]).astype(np.int32)
    labels = np.searchsorted(task.machine.mean_rewards, table.rewards[branch]).astype(np.int32)
    none = np.zeros(0, dtype=np.int32)
    rows = successors.astype(np.uint32)
    return _outcomes(indptr, successors, labels, rows, none, none.copy(), none.copy(), task, width)


def value_arrays(task: Task, valued: bool) -> ValueArrays:
    """Return what the exact value of a policy is computed from; without states if values are not needed."""
    tables = new_tables(task.num_observations + len(task.arrays.row_labels), task.num_machine_states)
    arrays = _value_arrays(task)._replace(tables=tables)
    return arrays if valued else arrays._replace(states=np.zeros(0, dtype=np.int32))


@_once_for_a_task
def _value_arrays(task: Task) -> ValueArrays:
    states, until = reachable_states(task)
    starts = task.starts.astype(np.int32)
    return ValueArrays(
        model=ModelArrays._make(array.copy() for array in task.arrays),
        layers=task.table.layers(padded_width(task.num_machine_states)),
        states=states,
        until=until,
        start_observations=starts,
        start_probs=task.mdp.start_probs[starts],
        tables=np.zeros((2, 0, 0)),
        sizes=np.array([task.num_actions, task.num_machine_states, task.table.initial]),
    )


def reachable_states(task: Task) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the product states o · M + m that an episode can reach, and how many of them by each step, int64[H].

    They are in the order of the first step at which an episode can reach them.
    """
    num_states = task.num_machine_states
    known = np.zeros(task.num_observations * num_states, dtype=bool)
    front = np.unique(task.starts * num_states + task.table.initial)
    found, until, total = [front], [], 0
    known[front] = True
    for _ in range(int(task.horizon)):
        total += len(front)
        until.append(total)
        if len(front):
            front = _next_states(task, front)
            front = front[~known[front]]
            known[front] = True
            found.append(front)
    return np.concatenate(found)[:total].astype(np.int32), np.array(until, dtype=np.int64)


def _next_states(task: Task, front: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the product states that follow those of a front under any action."""
    mdp, table, num_states = task.mdp, task.table, task.num_machine_states
    o, m = np.divmod(front, num_states)
    first, last = mdp.indptr[o * task.num_actions], mdp.indptr[(o + 1) * task.num_actions]
    edges, machine_state = _ranges(first, last, m)
    rows = mdp.labels[edges].astype(np.int64) * num_states + machine_state
    moves, successors = _ranges(table.indptr[rows], table.indptr[rows + 1], mdp.successors[edges].astype(np.int64))
    return np.unique(successors * num_states + table.targets[moves])


def _ranges(
    first: NDArray[np.int64], last: NDArray[np.int64], carried: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all numbers of the ranges first … last − 1, one after the other, and what each range carries along."""
    lengths = last - first
    offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(first, lengths) + offsets, np.repeat(carried, lengths)
