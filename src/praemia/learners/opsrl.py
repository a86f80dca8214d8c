"""OPSRL (Tiapkin et al. 2022), lifted to machines: act on the best of a few samples from an optimistic posterior.

The prior of p(·|o, a) is n₀ visits to a fictitious observation that is worth H − h, the most that can still be earned.
For every pair J kernels w_j are drawn from Dirichlet(n₀, N(o, a, ·)), and with Y = φ + W:

    Q_h = max_j w_j⁰·(H − h) + Σ w_j(o')·Y(m, o'),      V_h = max_a Q_h.

A pair never visited is worth H − h. With J = 1 this is posterior sampling under an optimistic prior.

The prior, the best of J, and that one set of J kernels serves all steps when p does not depend on h, agree with the
implementation released with the paper (where n₀ = 1). The paper's text, for kernels that differ from step to step,
draws J for each (h, s, a). The theory's J is ⌈ln(2·OA·H·K/ρ)/ln(2/(1 + Φ(1)))⌉ and its n₀ of the order of ln K (from
memory of the paper); the defaults are the practical ones.

Differences: pairs are (o, a) and not product states, the kernels serve all machine states, and the machine is not
sampled; rewards come through φ; planning waits for a doubled count (the paper plans before every episode).

The defaults are the largest of n₀ = 1e-4, 3e-4, …, 1 with J = 1, 2, 4, 8 whose geometric mean regret in warehouse-3 and
riverswim-10 is within a quarter of the best one's: the smallest have the odd run that never recovers (8 runs, seeds of
the tuning stream).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.observe import SeenArrays
from praemia.kernels.opsrl import plan_opsrl
from praemia.learners.base import TINY, Experience, Learner, LearnerPlan, parameter, tie_seed
from praemia.learners.ucbvi_prm import first_policy


@dataclass(frozen=True, kw_only=True)
class OPSRL(Learner):
    """Optimistic posterior sampling, over (o, a) and not over the product."""

    name: ClassVar[str] = "opsrl"
    summary: ClassVar[str] = "the best of J posterior samples at every action value, with an optimistic prior"
    reference: ClassVar[str] = "Tiapkin et al. 2022, Optimistic Posterior Sampling for Reinforcement Learning"

    prior_visits: float = parameter(0.0003, "n₀: how often the fictitious best observation counts as visited", TINY)
    num_samples: int = parameter(2, "J: posterior samples for each pair; the best one counts", 1, 10_000)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        policy = first_policy(spec, rng) if previous is None else previous.policy.copy()
        fictitious, kernels = draw_kernels(experience.seen, self.prior_visits, int(self.num_samples), rng)
        values = plan_opsrl(
            experience.seen,
            spec.table.transition_layers,
            spec.table.layers.paid,
            fictitious,
            kernels,
            policy,
            spec.num_actions,
            tie_seed(rng),
        )
        return LearnerPlan(policy, values)


def draw_kernels(
    seen: SeenArrays, prior_visits: float, num_samples: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw kernels from the posterior: the fictitious observation's part float64[V, J], the entries' float64[E, J]."""
    fictitious = rng.standard_gamma(prior_visits, size=(len(seen.visits), num_samples))
    weights = rng.standard_gamma(seen.counts[:, None], size=(len(seen.counts), num_samples))
    if len(weights):
        sums = fictitious + np.add.reduceat(weights, seen.indptr[:-1], axis=0)
        fictitious /= sums
        weights /= np.repeat(sums, np.diff(seen.indptr), axis=0)
    return fictitious, weights
