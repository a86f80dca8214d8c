"""Yardsticks: players that are told part of the truth, to show how low a regret one could hope for at all.

Both draw kernels from a posterior, as PSRL does, over what they are not told:

``told-support``  is told which observations can follow each pair, and not how likely they are
``told-most``     is told p itself but for ``num_unknown`` pairs, drawn once for a run; of these it is told the support

They are no lower bounds: such bounds are asymptotic, and at the sizes of the league's tasks they are 0, or far above
what learners pay. Nobody who is told nothing can be expected to lose less than ``told-most``. ``told-support`` is far
below all learners where the support says nearly everything, as in chains and locks; where chances matter more, it
explores as any posterior sampling does, and good learners lose less.
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
class Told(Learner):
    """Posterior sampling with part of the truth told: the support of every pair, and p itself but for a few pairs.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> told = praemia.simulate(task, praemia.learners.make("told-support"), num_episodes=500).regret[-1]
    >>> bool(told < praemia.simulate(task, praemia.PSRL(), num_episodes=500).regret[-1])
    True
    """

    name: ClassVar[str] = "told-support"
    summary: ClassVar[str] = "a yardstick: posterior sampling that is told the support, or p at most pairs"
    reference: ClassVar[str] = "this package; Osband, Russo and Van Roy 2013 for the posterior"
    privileged: ClassVar[bool] = True
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "told-support": {"told": "support"},
        "told-most": {"told": "most"},
    }

    told: str = field(default="support", metadata={"help": "what it is told: support, or most"})
    prior: float = parameter(1.0, "the Dirichlet prior's total weight, spread evenly over a pair's support", 1e-6)
    num_unknown: int = parameter(8, "told most: the number of pairs at which p is not told", 0, 2**31)

    def __post_init__(self) -> None:
        if self.told not in TOLD:
            raise unknown_name("told", self.told, TOLD)
        super().__post_init__()
        require_whole("num_unknown", self.num_unknown, 0, 2**31)
        object.__setattr__(self, "name", f"told-{self.told}")

    @property
    def parameters(self) -> dict[str, Any]:
        hidden = {"told"} if self.told == "most" else {"told", "num_unknown"}
        return {key: value for key, value in super().parameters.items() if key not in hidden}

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        truth = experience.truth
        assert truth is not None
        unknown = self._unknown_edges(truth, rng) if previous is None else previous.memory
        weights = np.maximum(SMALLEST, rng.standard_gamma(self._posterior(experience, truth)))
        drawn = weights / np.bincount(truth.mdp.edge_pairs, weights)[truth.mdp.edge_pairs]
        model = truth.model.with_probs(np.where(unknown, drawn, truth.mdp.probs))
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
        mdp, seen = truth.mdp, experience.transitions
        pairs = seen.observations * mdp.num_actions + seen.actions
        count, targets = 2 * mdp.num_observations, seen.successors + mdp.num_observations * seen.ends
        edges = np.searchsorted(mdp.edge_pairs * count + mdp.targets, pairs * count + targets)
        weights: NDArray[np.float64] = (self.prior / np.diff(mdp.indptr))[mdp.edge_pairs]
        weights[edges] += seen.counts
        return weights
