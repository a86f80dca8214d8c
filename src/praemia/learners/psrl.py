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

from praemia.kernels import learned_machine, recursion
from praemia.kernels.compiled_plans import Recipe
from praemia.kernels.posterior_draws import draw_kernel, mean_value
from praemia.kernels.recursion import nothing_per_step
from praemia.learners.base import parameter
from praemia.learners.compiled import Sizes
from praemia.learners.learned_machine import CanLearnMachine
from praemia.tasks.task import TaskSpec

LEAST_MASS = 1e-6


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
    summary: ClassVar[str] = "plan in a kernel drawn from the Dirichlet posterior"
    reference: ClassVar[str] = "Osband, Russo and Van Roy 2013, (More) Efficient RL via Posterior Sampling"
    needs_unseen_labels: ClassVar[bool] = True

    prior: float = parameter(1.0, "the Dirichlet prior's total weight, spread evenly over the observations", 1e-6)

    def run_constants(self, spec: TaskSpec, num_episodes: int) -> tuple[float, ...]:
        own = float(self.prior), float(spec.num_observations), LEAST_MASS, float(self._breaks_sticks(spec))
        return *own, *self.machine_constants(0.0, float(self.prior))

    def _breaks_sticks(self, spec: TaskSpec) -> bool:
        """Tell whether there are fewer sticks than observations, on average."""
        return 1.0 + self.prior * math.log(1.0 / LEAST_MASS) < spec.num_observations

    def recipe(self) -> Recipe:
        hooks = (("prepare_pair", draw_kernel), ("begin_step", nothing_per_step), ("pair_value", mean_value))
        machine = learned_machine.BY_DRAWING if self.learn_machine else ()
        return Recipe(recursion, (("ASKS_UNSEEN", True), *hooks, *machine))

    def sizes(self, spec: TaskSpec) -> Sizes:
        # The number of sticks is Poisson with this mean; there is room for ten standard deviations more.
        mean = self.prior * math.log(1.0 / LEAST_MASS)
        most = math.ceil(2.0 + mean + 10.0 * math.sqrt(mean))
        sticks = most if self._breaks_sticks(spec) else spec.num_observations
        return Sizes(by_pair=sticks, by_successor=1, drawn=sticks)
