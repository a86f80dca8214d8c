"""Which observations some policy can reach from the start, and in how few steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.tasks.mdp import LabeledMDP


def reachable_observations(mdp: LabeledMDP) -> NDArray[np.bool_]:
    """Return bool[O], the observations that some policy reaches from the start."""
    return distances(mdp) >= 0


def distances(mdp: LabeledMDP) -> NDArray[np.int64]:
    """Return int64[O], the fewest steps from the start to each observation; −1 where no policy gets there."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    # A node of its own stands for the start and leads to every first observation.
    # What is reached by an end leads nowhere: it has a node of its own.
    starts, size = np.flatnonzero(mdp.start_probs), 2 * mdp.num_observations + 1
    firsts = np.append(mdp.indptr[:: mdp.num_actions], np.full(mdp.num_observations, len(mdp.successors)))
    indptr = np.append(firsts, len(mdp.successors) + len(starts))
    indices = np.append(mdp.targets, starts)
    graph = csr_array((np.ones(len(indices)), indices, indptr), shape=(size, size))
    order, before = breadth_first_order(graph, size - 1)
    steps = np.full(size, -1, dtype=np.int64)
    for node in order[1:].tolist():  # each comes after the one that leads to it
        steps[node] = steps[before[node]] + 1
    going_on, ended = steps[:-1].reshape(2, -1)
    return np.where(going_on < 0, ended, np.where(ended < 0, going_on, np.minimum(going_on, ended)))
