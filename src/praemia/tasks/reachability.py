"""The observations and product states that some policy can reach from the start, and in how many steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.tasks.machine_table import entries_of
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

MAX_LISTED = 5  # names in a message


def reachable_observations(mdp: LabeledMDP) -> NDArray[np.bool_]:
    """Return bool[O], the observations that some policy reaches from the start."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    # A node of its own stands for the start and leads to every first observation.
    # What is reached by an end leads nowhere: it has a node of its own.
    starts, size = np.flatnonzero(mdp.start_probs), 2 * mdp.num_observations + 1
    firsts = np.append(mdp.indptr[:: mdp.num_actions], np.full(mdp.num_observations, len(mdp.targets)))
    places = np.append(mdp.targets, starts).astype(np.int32), np.append(firsts, len(mdp.targets) + len(starts))
    graph = csr_array((np.ones(len(places[0])), places[0], places[1].astype(np.int32)), shape=(size, size))
    is_reached = np.zeros(size, dtype=bool)  # SciPy before 1.14 takes no other indices than int32
    is_reached[breadth_first_order(graph, size - 1, return_predecessors=False)] = True
    return is_reached[: mdp.num_observations] | is_reached[mdp.num_observations : -1]


def unreached_text(mdp: LabeledMDP) -> str:
    """Say which observations cannot be reached from the start; nothing where all can."""
    missing = np.flatnonzero(~reachable_observations(mdp)).tolist()
    names = [*map(mdp.observation_name, missing[:MAX_LISTED]), *(["…"] if missing[MAX_LISTED:] else [])]
    count = f"{len(missing):,} of {mdp.num_observations:,} observations"
    return f"{count} cannot be reached from the start: {', '.join(names)}" if missing else ""


def reachable_states(task: Task) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the product states o · M + m that an episode can reach, and how many of them by each step, int64[H].

    They are in the order of the first step at which an episode can reach them.
    """
    num_states = task.num_machine_states
    is_met = np.zeros(task.num_observations * num_states, dtype=bool)
    front = np.unique(task.starts * num_states + task.table.initial)
    fronts, until, total = [front], [], 0
    is_met[front] = True
    for _ in range(task.max_steps):
        total += len(front)
        until.append(total)
        if len(front):
            front = _next_states(task, front)
            front = front[~is_met[front]]
            is_met[front] = True
            fronts.append(front)
    return np.concatenate(fronts)[:total].astype(np.int32), np.array(until, dtype=np.int64)


def _next_states(task: Task, front: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the product states that follow those of a front under any action."""
    mdp, table, num_states = task.mdp, task.table, task.num_machine_states
    o, m = np.divmod(front, num_states)
    edges, places = entries_of(o, mdp.indptr[:: task.num_actions])
    going_on = ~mdp.ends[edges]
    edges, machine_state = edges[going_on], m[places[going_on]]
    moves, places = entries_of(mdp.labels[edges].astype(np.int64) * num_states + machine_state, table.indptr)
    return np.unique(mdp.successors[edges[places]].astype(np.int64) * num_states + table.targets[moves])
