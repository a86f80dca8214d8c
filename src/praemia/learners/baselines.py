"""Baselines to compare learners with: random actions, the optimal policy, and an oracle.

An oracle knows part of the model, and shows how low a regret is possible. ``told-support`` knows which observations can
follow each pair, but not how likely they are; it samples models from a posterior, as PSRL does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.records import SMALLEST
from praemia.learners.base import Learner, LearnerPlan, parameter
from praemia.learners.experience import Experience
from praemia.planning.exact import solve
from praemia.tasks.task import Task


class Random(Learner):
    """Act uniformly at random.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.Random(), num_episodes=100, seed=0)
    >>> bool(run.plan_values.max() - run.plan_values.min() < 1e-12)  # it learns nothing
    True
    """

    summary = "acts uniformly at random: the regret of learning nothing"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        if previous is not None:
            return previous
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations, spec.num_actions)
        return LearnerPlan(np.broadcast_to(1.0 / spec.num_actions, shape))


class Optimal(Learner):
    """Play the optimal policy of the true task, which it knows: its regret is 0.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.Optimal(), num_episodes=100, seed=0)
    >>> bool(abs(run.regret[-1]) < 1e-9)
    True
    """

    summary = "knows the task and plays its optimal policy: regret 0"
    privileged = True

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        if previous is not None:
            return previous
        assert experience.truth is not None
        plan = solve(experience.truth.model, keep_values=False)
        return LearnerPlan(plan.policy, plan.values[0])


class ToldSupport(Learner):
    """An oracle baseline: posterior sampling that knows the support of every pair.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> told = praemia.simulate(task, praemia.learners.make("told-support"), num_episodes=500).regret[-1]
    >>> bool(told < praemia.simulate(task, praemia.PSRL(), num_episodes=500).regret[-1])
    True
    """

    summary = "posterior sampling that knows the support of p: an oracle"
    reference = "this package; Osband, Russo and Van Roy 2013 for the posterior"
    privileged = True

    prior: float = parameter(1.0, "the Dirichlet prior's total weight, spread evenly over a pair's support", 1e-6)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        truth = experience.truth
        assert truth is not None
        weights = np.maximum(SMALLEST, rng.standard_gamma(self._posterior(experience, truth)))
        sample = weights / np.bincount(truth.mdp.edge_pairs, weights)[truth.mdp.edge_pairs]
        plan = solve(truth.model.with_probs(sample), keep_values=False, threads=1)
        return LearnerPlan(plan.policy, plan.values[0])

    def _posterior(self, experience: Experience, truth: Task) -> NDArray[np.float64]:
        """Return the weight of every edge: the prior's share and how often it was seen."""
        mdp, transitions = truth.mdp, experience.transitions
        pairs = transitions.observations * mdp.num_actions + transitions.actions
        count, targets = 2 * mdp.num_observations, transitions.successors + mdp.num_observations * transitions.ends
        edges = np.searchsorted(mdp.edge_pairs * count + mdp.targets, pairs * count + targets)
        weights: NDArray[np.float64] = (self.prior / np.diff(mdp.indptr))[mdp.edge_pairs]
        weights[edges] += transitions.counts
        return weights
