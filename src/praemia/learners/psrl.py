"""Posterior sampling on the factored model: plan exactly in one kernel drawn from the posterior.

p(·|o, a) has a Dirichlet prior with 1/O on every observation, so the posterior is Dirichlet(1/O + N(o, a, ·)). The
machine is known and is not sampled. No bonus, no optimism: exploration comes from the draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.kernels import planning as kernels
from praemia.kernels.arrays import Actions, LayerArrays, ModelArrays, action_type
from praemia.kernels.ucrl2 import DenseRows
from praemia.learners.base import Experience, Learner, LearnerPlan, parameter
from praemia.learners.ucrl2_rm import dense_estimate, dense_rows
from praemia.models.task import TaskSpec
from praemia.planning.backward import backward


@dataclass(frozen=True, kw_only=True)
class PSRL(Learner):
    """Posterior sampling for reinforcement learning, over (o, a) and not over the product."""

    name: ClassVar[str] = "psrl"
    summary: ClassVar[str] = "plan in a kernel drawn from the Dirichlet posterior"
    reference: ClassVar[str] = "Osband, Russo and Van Roy 2013, (More) Efficient RL via Posterior Sampling"

    prior: float = parameter(1.0, "the Dirichlet prior's total weight, spread evenly over the observations", 1e-6)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        rows, layers = previous.memory if previous is not None else dense_rows(spec)
        visits, p_hat = dense_estimate(experience)
        weights = p_hat * visits[..., None] + self.prior / spec.num_observations
        drawn = rng.standard_gamma(weights)
        # With tiny weights all draws of a row can round to 0; the posterior mean then stands for them.
        sums = drawn.sum(axis=-1, keepdims=True)
        probs = np.where(sums > 0.0, drawn / np.where(sums > 0.0, sums, 1.0), weights / weights.sum(-1, keepdims=True))
        policy, values = _solve_dense(spec, probs, rows, layers)
        return LearnerPlan(policy, values, (rows, layers))


def _solve_dense(
    spec: TaskSpec, probs: NDArray[np.float64], rows: DenseRows, layers: LayerArrays
) -> tuple[Actions, NDArray[np.float64]]:
    """Solve a model whose kernel is an array [O, A, O]."""
    num_obs, num_pairs = spec.num_observations, spec.num_observations * spec.num_actions
    no_labels = np.zeros(0, dtype=np.int32)
    model = ModelArrays(
        indptr=np.arange(num_pairs + 1) * num_obs,
        successors=no_labels,
        probs=probs.ravel(),
        labels=no_labels,
        rows=rows.own.ravel(),
        row_labels=rows.extra_labels,
        row_targets=rows.targets[num_obs:],
    )
    policy = np.empty((spec.horizon, num_obs, spec.num_machine_states), dtype=action_type(spec.num_actions))
    values = backward(kernels.solve, model, layers, spec.num_actions, np.empty((0, 1, 1)), policy, threads=1)
    return policy, values
