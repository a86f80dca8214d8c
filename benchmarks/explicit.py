"""The explicit product of a task, built with as little memory as possible: the input of every solver for plain MDPs.

``praemia.tasks.product`` builds it in one go and temporarily needs several times its size. Here it is filled one
machine state at a time, for the benefit of the peers: their peak then excludes the overhead of building it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from praemia.tasks.task import Task


@dataclass(frozen=True)
class Explicit:
    """P[S·A, S] in sparse rows, R[S·A], and the start; product state (m, o) has the number m · O + o."""

    transitions: csr_array
    rewards: NDArray[np.float64]
    start: int
    num_states: int
    num_actions: int


def num_transitions(task: Task) -> int:
    """Return the number of transitions of the explicit product, before any are merged."""
    branches = np.diff(task.table.indptr).reshape(-1, task.num_machine_states)
    return int(branches.sum(axis=1)[task.mdp.labels].sum())


def explicit_product(task: Task) -> Explicit:
    """Build the product of a task, one block of rows for each machine state."""
    num_obs, num_pairs, num_machine = task.num_observations, task.mdp.num_pairs, task.num_machine_states
    size = num_transitions(task)
    data, columns = np.empty(size), np.empty(size, dtype=np.int32)
    indptr = np.zeros(num_machine * num_pairs + 1, dtype=np.int64 if size >= 2**31 else np.int32)
    rewards, place = np.empty(num_machine * num_pairs), 0
    for m in range(num_machine):
        probs, targets, lengths, paid = _block(task, m)
        data[place : place + len(probs)], columns[place : place + len(probs)] = probs, targets
        pairs = slice(m * num_pairs, (m + 1) * num_pairs)
        rewards[pairs] = paid
        indptr[m * num_pairs + 1 : (m + 1) * num_pairs + 1] = place + np.cumsum(lengths)
        place += len(probs)
    shape = (num_machine * num_pairs, num_machine * num_obs)
    start = task.table.initial * num_obs + int(np.argmax(task.mdp.start_probs))
    return Explicit(csr_array((data, columns, indptr), shape=shape), rewards, start, shape[1], task.num_actions)


def _block(task: Task, m: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return probabilities, targets, the length of each pair's row and its mean reward, in machine state m."""
    mdp, table = task.mdp, task.table
    rule = mdp.labels.astype(np.int64) * task.num_machine_states + m
    repeats = np.diff(table.indptr)[rule]
    edge = np.repeat(np.arange(len(rule)), repeats)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    branch = table.indptr[rule][edge] + within
    probs = mdp.probs[edge] * table.probs[branch]
    targets = table.targets[branch].astype(np.int64) * task.num_observations + mdp.successors[edge]
    lengths = np.add.reduceat(repeats, mdp.indptr[:-1])
    first = np.cumsum(lengths) - lengths
    return probs, targets, lengths, np.add.reduceat(probs * table.rewards[branch], first)
