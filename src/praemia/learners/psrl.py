"""Posterior sampling on the factored model: plan in one kernel drawn from the posterior.

p(·|o, a) has a Dirichlet prior of total weight α spread evenly over the observations, so the posterior is
Dirichlet(α/O + N(o, a, ·)). The machine is known and is not sampled. No bonus: exploration comes from the draw.

A draw mixes one from Dirichlet(N), over the successors seen, and one from the prior, weighted by Gamma variables. The
prior's part is drawn by stick-breaking: fractions v_1, v_2 … ~ Beta(1, α) of what is left break off, and each falls on
an observation drawn uniformly (Sethuraman 1994: over finitely many observations this is the Dirichlet law itself). The
last stick takes what is left below 10⁻⁶, so a kernel is off by no more than that. Where observations are few, each gets
a Gamma variable of its own, which is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from praemia.kernels.posterior_draws import draw_kernel, drawn_value
from praemia.learners.base import parameter
from praemia.learners.learned_machine import CanLearnMachine
from praemia.learners.rules import PlanRule
from praemia.tasks.spec import TaskSpec

LEAST_MASS = 1e-6  # a stick below this share of the kernel is not broken any more


@dataclass(frozen=True, kw_only=True)
class PSRL(CanLearnMachine):
    """Posterior sampling for reinforcement learning, over (o, a) and not over the product.

    Examples
    --------
    >>> import praemia
    >>> praemia.simulate(praemia.envs.make("warehouse-3"), praemia.PSRL(), num_episodes=100).learner
    'psrl'
    """

    name: ClassVar[str] = "psrl"
    summary: ClassVar[str] = "plans in an environment drawn from the Dirichlet posterior"
    reference: ClassVar[str] = "Osband, Russo and Van Roy 2013, (More) Efficient RL via Posterior Sampling"

    prior: float = parameter(1.0, "the Dirichlet prior's total weight, spread evenly over the observations", 1e-6)

    def rule(self, spec: TaskSpec, num_episodes: int) -> PlanRule:
        num_sticks, fixed = dirichlet(float(self.prior), spec.num_successors)
        return PlanRule(
            parts={"prepare_pair": draw_kernel, "pair_value": drawn_value},
            fixed={**fixed, "machine_prior": float(self.prior)},
            unseen=True,
            learn_machine=self.learn_machine,
            by_pair=num_sticks,
            by_successor=1,
            drawn=num_sticks,
        )


def dirichlet(weight: float, num_successors: int) -> tuple[int, dict[str, float]]:
    """Return how many sticks of a pair there must be room for, and the numbers that kernels are drawn with."""
    mean = weight * math.log(1.0 / LEAST_MASS)
    # The number of sticks is Poisson with this mean; there is room for ten standard deviations more.
    most = math.ceil(2.0 + mean + 10.0 * math.sqrt(mean))
    breaks_sticks = 1.0 + mean < num_successors  # else every observation has a Gamma variable of its own
    fixed = {"prior": weight, "num_successors": num_successors, "least_mass": LEAST_MASS}
    return most if breaks_sticks else num_successors, {**fixed, "breaks_sticks": breaks_sticks}
