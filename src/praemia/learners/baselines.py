"""Baselines to compare learners with: acting at random, playing the optimum, and being told part of the truth.

Oracle baselines, which know part of the truth, show how low a regret one could hope for. Both draw kernels from a
posterior, as PSRL does, over what they do not know:

``told-support``  knows which observations can follow each pair, but not how likely they are
``told-most``     knows p itself except at ``num_unknown`` pairs, drawn once for a run, where it knows the support

They are not lower bounds: such bounds are asymptotic, and at the sizes of the league's tasks they are 0, or far above
what learners pay. No learner that knows nothing of p can be expected to lose less than ``told-most``. ``told-support``
is far below all learners where the support says nearly everything, as in chains and locks; elsewhere it explores like
any posterior sampling, and good learners lose less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.errors import require_whole, unknown_name
from praemia.learners.base import Experience, Learner, LearnerPlan, parameter
from praemia.planning.exact import solve
from praemia.tasks.task import Task

TOLD = ("support", "most")
SMALLEST = 1e-300  # no weight is 0, so that rows can be divided by their sums


@dataclass(frozen=True, kw_only=True)
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

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "acts uniformly at random: the regret of learning nothing"
    reference: ClassVar[str] = "—"

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        if previous is not None:
            return previous
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations, spec.num_actions)
        return LearnerPlan(np.full(shape, 1.0 / spec.num_actions))


@dataclass(frozen=True, kw_only=True)
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

    name: ClassVar[str] = "optimal"
    summary: ClassVar[str] = "knows the task and plays its optimal policy: regret 0"
    reference: ClassVar[str] = "—"
    privileged: ClassVar[bool] = True

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        if previous is not None:
            return previous
        assert experience.truth is not None
        plan = solve(experience.truth, keep_values=False)
        return LearnerPlan(plan.policy, plan.values[0])


@dataclass(frozen=True, kw_only=True)
class Told(Learner):
    """An oracle baseline, posterior sampling that knows the support of every pair, or p itself except at a few pairs.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> told = praemia.simulate(task, praemia.learners.make("told-support"), num_episodes=500).regret[-1]
    >>> bool(told < praemia.simulate(task, praemia.PSRL(), num_episodes=500).regret[-1])
    True
    """

    name: ClassVar[str] = "told-support"
    summary: ClassVar[str] = "an oracle baseline: posterior sampling that knows the support, or p at most pairs"
    reference: ClassVar[str] = "this package; Osband, Russo and Van Roy 2013 for the posterior"
    privileged: ClassVar[bool] = True
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "told-support": {"told": "support", "num_unknown": 8},
        "told-most": {"told": "most"},
    }

    told: str = field(default="support", metadata={"help": "what it knows: support, or most"})
    prior: float = parameter(1.0, "the Dirichlet prior's total weight, spread evenly over a pair's support", 1e-6)
    num_unknown: int = parameter(8, "told most: the number of pairs at which p is not told", 0, 2**31)

    def __post_init__(self) -> None:
        if self.told not in TOLD:
            raise unknown_name("told", self.told, TOLD)
        super().__post_init__()
        require_whole("num_unknown", self.num_unknown, 0, 2**31)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        truth = experience.truth
        assert truth is not None
        unknown = self._unknown_edges(truth, rng) if previous is None else previous.memory
        weights = np.maximum(SMALLEST, rng.standard_gamma(self._posterior(experience, truth)))
        sample = weights / np.bincount(truth.mdp.edge_pairs, weights)[truth.mdp.edge_pairs]
        model = truth.model.with_probs(np.where(unknown, sample, truth.mdp.probs))
        plan = solve(model, keep_values=False, threads=1)
        return LearnerPlan(plan.policy, plan.values[0], unknown)

    def _unknown_edges(self, truth: Task, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Draw the pairs at which p is not told; return which edges are theirs."""
        unknown = np.ones(truth.mdp.num_pairs, dtype=bool)
        if self.told == "most":
            unknown[rng.permutation(truth.mdp.num_pairs)[self.num_unknown :]] = False
        edges: NDArray[np.bool_] = unknown[truth.mdp.edge_pairs]
        return edges

    def _posterior(self, experience: Experience, truth: Task) -> NDArray[np.float64]:
        """Return the weight of every edge: the prior's share and how often it was seen."""
        mdp, transitions = truth.mdp, experience.transitions
        pairs = transitions.observations * mdp.num_actions + transitions.actions
        count, targets = 2 * mdp.num_observations, transitions.successors + mdp.num_observations * transitions.ends
        edges = np.searchsorted(mdp.edge_pairs * count + mdp.targets, pairs * count + targets)
        weights: NDArray[np.float64] = (self.prior / np.diff(mdp.indptr))[mdp.edge_pairs]
        weights[edges] += transitions.counts
        return weights
