"""The last term of UCBVI's bonus: what the estimate at the next step may still be wrong by (Azar et al. 2017)."""

from __future__ import annotations

import numpy as np

from praemia.kernels.recursion import PlanData


def add_later_visits(data: PlanData, pair: int, visits_of_state: float) -> None:
    """Fill by_step[h, pair] = factor·√(Σ p̂(o')·min(c/N'_{h+1}(o'), cap_h²)/n), from the visits N' at each step.

    constants begin with c, the cap of the first step, and the factor. Nothing is done where by_step has no rows.
    """
    cost, factor, first = data.constants[0], data.constants[2], data.counts.first[pair]
    for h in range(data.memory.by_step.shape[0]):
        most, total = data.spec.caps[h] * data.spec.caps[h], 0.0
        for e in range(first, first + np.int64(data.counts.distinct[pair])):
            later = data.counts.steps[h + 1, data.counts.successors[e]]
            total += data.counts.counts[e] * (most if later == 0 else min(cost / later, most))
        data.memory.by_step[h, pair] = factor * np.sqrt(total) / data.counts.visits[pair]
