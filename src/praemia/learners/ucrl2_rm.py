"""UCRL2-RM (Bourel et al. 2023) for episodes: plan in the best kernel of a confidence set around p̂.

With n = max(1, N(o, a)), d = ρ/(2OA) and κ = ``bonus_scale``:

    l1 (UCRL2-RM-L):         ‖p̃ − p̂‖₁ ≤ κ·√(2(1 + 1/n)·ln(√(n + 1)(2^O − 2)/d)/n)
    bernstein (UCRL2-RM-B):  |x − p̂(o')| ≤ κ(√(2β·x(1 − x)/n) + β/(3n)) for each o', solved for both ends of x,
                             β(n) = η·ln(ln(max(n, e))·ln(η·max(n, e))/(d·ln²η)), η = 1.12

and Q_h = the largest Σ p̃(o')·(φ + W) over all p̃ in the set, V_h = max_a Q_h. A pair never visited may lead anywhere,
whatever κ. Over a finite horizon "extended value iteration" is one backward pass and always ends.

``as_published``: in the code released with the paper the two *ends* of the Bernstein interval are used as
*distances* from p̂, so the set hardly narrows as data arrives. The paper's figures show that variant; it is kept here
only to reproduce them.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from praemia._support.arithmetic import log_of_subsets
from praemia.errors import require_flag
from praemia.kernels.confidence_sets import SetNumbers, new_set_scratch, plan_in_sets
from praemia.kernels.posteriors import copy_counts
from praemia.kernels.ties import new_stream
from praemia.learners.backward import arrays_on, checked_plan, next_policy
from praemia.learners.base import Learner, LearnerPlan, failure_prob_parameter, parameter, replan_parameter
from praemia.learners.experience import Experience
from praemia.learners.psrl import new_seen


class UCRL2RML(Learner):
    """UCRL2-RM with L1 balls.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("riverswim-5")
    >>> run = praemia.simulate(task, praemia.UCRL2RML(bonus_scale=1), num_episodes=50, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)
    True
    """

    name = "ucrl2-rm-l"
    summary = "plans in the best environment in an L1 ball around the estimate"
    reference = "Bourel, Jonsson, Maillard and Talebi 2023, Exploration in Reward Machines"
    optimistic = True
    has_estimate = True
    asks_labels = "every"
    is_ball = True
    as_published = False

    bonus_scale: float = parameter(0.5, "multiplies the set's size; the paper ends with 0.5", 0.0)
    failure_prob: float = failure_prob_parameter()
    replan: str = replan_parameter("epoch")

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, every = experience.spec, experience.spec.every_step
        numbers = SetNumbers(
            scale=float(self.bonus_scale),
            level=self.failure_prob / (2 * spec.num_observations * spec.num_actions),
            log_subsets=log_of_subsets(spec.num_successors),
            is_ball=self.is_ball,
            as_published=self.as_published,
        )
        task, seen, rows = arrays_on(spec, every.table), new_seen(experience, experience._seen.size), every.rows.rows
        copy_counts(experience._counts, seen)
        scratch = new_set_scratch(task, seen, rows, spec.num_observations, spec.num_machine_states)
        caps, policy = spec.named_caps["steps left"], next_policy(experience, rng)
        plan_in_sets(task, seen, numbers, rows, scratch, caps, policy, new_stream(rng))
        return checked_plan(policy, scratch.tables)


class UCRL2RMB(UCRL2RML):
    """UCRL2-RM with element-wise Bernstein intervals.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("riverswim-5")
    >>> run = praemia.simulate(task, praemia.UCRL2RMB(bonus_scale=1), num_episodes=50, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)
    True
    """

    name = "ucrl2-rm-b"
    summary = "plans in the best environment within Bernstein intervals"
    is_ball = False

    bonus_scale: float = parameter(0.1, "multiplies the set's size; the paper ends with 0.1", 0.0)
    as_published: bool = field(default=False, metadata={"help": "use the ends as distances, as the released code does"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require_flag("as_published", self.as_published)
