"""The uncertainty recursion of reward-free exploration (Ménard et al. 2021): where is p̂ not yet good enough?

    E_h(o, a) = min(H, w/n(o, a) + (1 + 1/H)·Σ_z p̂(z|o, a)·max_a' E_{h+1}(z, a')),   E_H = 0,

with w = c·H²·ℓ. A pair never visited has E = H. Acting greedily for E goes where data is missing; no reward is in it.
"""

from __future__ import annotations

import numpy as np

from praemia.kernels.arrays import Actions, Floats
from praemia.kernels.compiling import compiled
from praemia.kernels.observe import SeenArrays
from praemia.kernels.ties import draw_best


@compiled()
def plan_uncertainty(seen: SeenArrays, policy: Actions, num_actions: int, width: float, seed: int) -> Floats:
    """Make a plan: update policy[H, O, 1] for the active observations; return max_a E_0 as [O]."""
    horizon, num_obs, _ = policy.shape
    tables = np.zeros((2, num_obs))
    limit, growth = float(horizon), 1.0 + 1.0 / horizon
    values, tie = np.empty(num_actions), seed
    for h in range(horizon - 1, -1, -1):
        after, here = tables[(h + 1) % 2], tables[h % 2]
        here[:] = limit
        for i in range(seen.active.shape[0]):
            o = seen.active[i]
            for a in range(num_actions):
                v = seen.slots[o * num_actions + a]
                values[a] = limit
                if v >= 0:
                    total = 0.0
                    for e in range(seen.indptr[v], seen.indptr[v + 1]):
                        total += seen.counts[e] * after[seen.successors[e]]
                    values[a] = min(limit, (width + growth * total) / seen.visits[v])
            choice, tie = draw_best(values, 0, 1, num_actions, tie)
            policy[h, o, 0], here[o] = choice, values[choice]
    start: Floats = tables[0].copy()
    return start
