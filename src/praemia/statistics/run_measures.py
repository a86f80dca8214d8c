"""What is asked of a single run beside its regret: is it still losing, and since when is its policy nearly the best?

A run is *linear* when it is still losing: over the last half of its episodes it loses at least half as much per
episode as over all of them, and its policies there are on average worse than the optimum by more than 1 %. A learner
that still explores at the end of a short run is linear by this rule too; longer runs tell the two apart.

A run is *settled* from the first episode on from which every policy that it plays is within 1 % of the optimum. Values
are exact, so chance has no part in it.
"""

from __future__ import annotations

import math

import numpy as np

from praemia.simulation import Run

LATE_SHARE = 0.5  # of the average slope
SMALL_GAP = 0.01  # of the optimal value


def is_linear(run: Run) -> bool:
    """Tell whether a run is still losing at its end."""
    regret, half = run.regret, run.num_episodes // 2
    if half == 0 or run.optimal_value is None:
        return False
    late, overall = (regret[-1] - regret[-half - 1]) / half, regret[-1] / len(regret)
    return bool(late >= LATE_SHARE * overall and late > SMALL_GAP * run.optimal_value)


def settled_after(run: Run) -> float:
    """Return how many episodes were played before all policies were within 1 % of the optimum; infinite if never."""
    assert run.optimal_value is not None
    far = np.flatnonzero(run.plan_gaps > SMALL_GAP * run.optimal_value)
    if len(far) == 0:
        return 0.0
    last = int(far[-1])
    return math.inf if last == run.num_plans - 1 else float(run.plan_episodes[last + 1])
