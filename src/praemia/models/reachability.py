"""Which observations some policy can reach from the start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.models.mdp import LabeledMDP


def reachable_observations(mdp: LabeledMDP) -> NDArray[np.bool_]:
    """Return bool[O], the observations that some policy reaches from the start."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    # A node of its own stands for the start and leads to every first observation.
    starts = np.flatnonzero(mdp.start_probs)
    indptr = np.append(mdp.indptr[:: mdp.num_actions], len(mdp.successors) + len(starts))
    indices = np.append(mdp.successors, starts)
    size = mdp.num_observations + 1
    graph = csr_array((np.ones(len(indices)), indices, indptr), shape=(size, size))
    order = breadth_first_order(graph, mdp.num_observations, return_predecessors=False)
    reached = np.zeros(size, dtype=bool)
    reached[order] = True
    return reached[:-1]
