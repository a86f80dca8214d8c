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
from typing import Any, ClassVar

import numpy as np

from praemia.kernels import learned_machine, recursion
from praemia.kernels.compiled_plans import Recipe
from praemia.kernels.compiling import inlined
from praemia.kernels.recursion import Place, PlanData, nothing_per_step, value_at, value_of
from praemia.learners.base import parameter
from praemia.learners.compiled import Sizes
from praemia.learners.machine_learning import CanLearnMachine
from praemia.models.task import TaskSpec

LEAST_MASS = 1e-6
SMALLEST = 1e-300


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


def draw_kernel(data: PlanData, pair: int, visits_of_state: float) -> None:
    """Draw a kernel for a pair: weights of the successors seen, and where the prior's part falls."""
    first, last = data.counts.first[pair], data.counts.first[pair] + np.int64(data.counts.distinct[pair])
    total = 0.0
    for e in range(first, last):
        data.memory.by_successor[e, 0] = data.rng.standard_gamma(data.counts.counts[e])
        total += data.memory.by_successor[e, 0]
    if data.constants[3] > 0.0:
        total = break_sticks(data, pair, total)
    else:
        size = data.memory.by_pair.shape[1]
        for z in range(size):
            data.memory.drawn[pair, z] = z
            # A weight of 0 would end the list.
            data.memory.by_pair[pair, z] = max(SMALLEST, data.rng.standard_gamma(data.constants[0] / size))
            total += data.memory.by_pair[pair, z]
    for e in range(first, last):
        data.memory.by_successor[e, 0] /= total
    k = 0
    while k < data.memory.by_pair.shape[1] and data.memory.by_pair[pair, k] > 0.0:
        data.memory.by_pair[pair, k] /= total
        k += 1


@inlined
def break_sticks(data: PlanData, pair: int, seen: float) -> Any:
    """Draw the prior's part as sticks, ended by a weight of 0; return the total weight, what was seen included."""
    memory, num_sticks = data.memory, data.memory.by_pair.shape[1]
    prior, size, least = data.constants[0], data.constants[1], data.constants[2]
    left = max(SMALLEST, data.rng.standard_gamma(prior))
    total, k = seen + left, 0
    while left > 0.0:
        kept = 0.0
        if left >= least * total and k < num_sticks - 1:
            kept = data.rng.random()
            kept = left * (kept if prior == 1.0 else kept ** (1.0 / prior))
        memory.by_pair[pair, k] = left - kept
        memory.drawn[pair, k] = min(size - 1.0, size * data.rng.random())
        left = kept
        k += 1
    if k < num_sticks:
        memory.by_pair[pair, k] = 0.0
    return total


def mean_value(zero: Any, data: PlanData, pair: int, place: Place) -> Any:
    """Return the mean of Y under the kernel that was drawn."""
    first, total, k = data.counts.first[pair], zero, 0
    for e in range(first, first + np.int64(data.counts.distinct[pair])):
        total = total + data.memory.by_successor[e, 0] * value_of(zero, data, place, e)
    while k < data.memory.by_pair.shape[1] and data.memory.by_pair[pair, k] > 0.0:
        total = total + data.memory.by_pair[pair, k] * value_at(zero, data, place, pair, data.memory.drawn[pair, k])
        k += 1
    return total
