"""How often an observation, or a pair, can be visited in an episode: max_π Σ_h μ^π_h, for many targets at once.

    R_h(o) = max_a [1[o = target (and a = its action)] + Σ_z p(z|o, a)·R_{h+1}(z)],   R_H = 0,

one column for each target, so that a backward step is one sparse product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.models.mdp import LabeledMDP

CHUNK = 1 << 22  # numbers in one table


def most_visits(
    kernel: Any, num_actions: int, horizon: int, observations: NDArray[np.int64], actions: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Return R_0 as [T, O], for T targets. ``kernel`` is a sparse array [O·A, O]; a row may be empty, a dead end."""
    num_observations = kernel.shape[1]
    step = max(1, CHUNK // kernel.shape[0])
    found = np.empty((len(observations), num_observations))
    for begin in range(0, len(observations), step):
        part = slice(begin, begin + step)
        columns = np.arange(len(observations[part]))
        gain = np.zeros((num_observations, num_actions, len(columns)))
        if actions is None:
            gain[observations[part], :, columns] = 1.0
        else:
            gain[observations[part], actions[part], columns] = 1.0
        values = np.zeros((num_observations, len(columns)))
        for _ in range(horizon):
            values = (gain + (kernel @ values).reshape(gain.shape)).max(axis=1)
        found[part] = values.T
    return found


def sparse_kernel(mdp: LabeledMDP) -> Any:
    """Return p as a SciPy sparse array [O·A, O]."""
    from scipy.sparse import csr_array

    shape = (mdp.num_pairs, mdp.num_observations)
    return csr_array((mdp.probs.copy(), mdp.successors.copy(), mdp.indptr.copy()), shape=shape)
