"""OPSRL (Tiapkin et al. 2022), lifted to machines: act on the best of a few samples from an optimistic posterior.

The prior of p(·|o, a) is n₀ visits to a fictitious observation that is worth H − h, the most that can still be earned.
With Y = φ + W:

    Q_h = max over J draws w ~ Dirichlet(n₀, N(o, a, ·)) of w₀·(H − h) + Σ w(o')·Y(m, o'),      V_h = max_a Q_h.

Draws are independent for every (h, o, a, m) and every one of the J. A pair never visited is worth H − h.

The prior and the best of J agree with the implementation released with the paper (n₀ = 1 there); it draws one set of
kernels for all steps when p does not depend on h, the paper's algorithm one for each. The theory's J is
⌈ln(2·OA·H·K/ρ)/ln(2/(1 + Φ(1)))⌉ and its n₀ is of the order of ln K (from memory of the paper); the defaults are the
practical ones.

Differences: pairs are (o, a) and not product states, and the machine is not sampled; rewards come through φ; planning
waits for a doubled count (the paper plans before every episode).

The defaults were chosen among n₀ in 0.03, 0.1, 0.3, 1 and J in 1, 2, 4, 8 by the geometric mean of the regrets in
warehouse-3 and riverswim-10 (4 runs, seeds of the tuning stream).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from praemia.kernels.opsrl import plan_opsrl
from praemia.learners.base import TINY, Experience, Learner, LearnerPlan, parameter
from praemia.learners.ucbvi_prm import first_policy
from praemia.models.arrays import transition_arrays


@dataclass(frozen=True, kw_only=True)
class OPSRL(Learner):
    """Optimistic posterior sampling, over (o, a) and not over the product."""

    name: ClassVar[str] = "opsrl"
    summary: ClassVar[str] = "the best of J posterior samples at every step, with an optimistic prior"
    reference: ClassVar[str] = "Tiapkin et al. 2022, Optimistic Posterior Sampling for Reinforcement Learning"

    prior_visits: float = parameter(0.3, "n₀: how often the fictitious best observation counts as visited", TINY)
    num_samples: int = parameter(4, "J: posterior samples for each action value; the largest counts", 1, 10_000)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        policy = first_policy(spec, rng) if previous is None else previous.policy.copy()
        values = plan_opsrl(
            experience.seen,
            transition_arrays(spec.table),
            spec.table.mean_rewards,
            policy,
            spec.num_actions,
            float(self.prior_visits),
            int(self.num_samples),
            rng,
        )
        return LearnerPlan(policy, values)
