"""EULER (Zanette and Brunskill 2019, Bernstein form) for reward machines: the bonus shrinks with the value gap.

With n = N(o, a), ℓ = ln(4·S·A·T/ρ), S = M·O, J = Hℓ/3, B_v = √(2ℓ), B_p = H√(2ℓ), Y = φ + W and
κ = ``bonus_scale``:

    bonus(Y) = √(2·Var_p̂(Y)·ℓ/n) + J/n + (4J + B_p)/n + B_v·‖W̄ − W̲‖_{2,p̂}/√n
    Q̄ = min(H − h, p̂Ȳ + κ·bonus(Ȳ)), greedy in Q̄;   V̲ = max(0, p̂Y̲ − κ·bonus(Y̲)) along the greedy action.

Steps h count from 0. A pair never visited has Q̄ = H − h and lower value 0.

Differences: W over next observations takes the place of V over states, and the reward φ, which depends on the next
observation through the label, is part of the variance; the paper's bonus for unknown rewards is absent. The paper has
ρ/7 in place of ρ in ℓ, which makes ℓ larger by ln 7 ≈ 1.9. With ρ, as here, its argument promises optimism at κ = 1
with probability 1 − 7ρ; `failure_prob=ρ/7` gives the paper's ℓ.
"""

from __future__ import annotations

import numpy as np

from praemia._support.arithmetic import portable_log
from praemia.kernels.euler import plan_euler
from praemia.kernels.ties import new_stream
from praemia.learners.backward import checked_plan, next_policy, pass_arrays, scratch_for
from praemia.learners.base import Learner, LearnerPlan, bonus_scale_parameter, failure_prob_parameter
from praemia.learners.experience import Experience
from praemia.tasks.spec import TaskSpec


class EULER(Learner):
    """EULER on the factored model, with upper and lower values.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.EULER(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # its values are never below the optimum
    True
    """

    summary = "upper and lower values; the bonus shrinks with their gap"
    reference = "Zanette and Brunskill 2019, Tighter Problem-Dependent Regret Bounds"
    optimistic = True
    has_estimate = True

    bonus_scale: float = bonus_scale_parameter(0.01)
    failure_prob: float = failure_prob_parameter()

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return ℓ."""
        sizes = spec.num_machine_states * spec.num_observations * spec.num_actions
        return portable_log(4.0 * sizes * num_steps / self.failure_prob)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec, n = experience.spec, np.maximum(1.0, experience.visits).ravel()
        log_term, cap = self.log_term(spec, experience.num_steps), spec.value_caps[0]
        factor = self.bonus_scale * np.sqrt(2 * log_term / n)
        flat = self.bonus_scale * (5 * cap * log_term / 3 + cap * np.sqrt(2 * log_term)) / n
        task, counts, policy = pass_arrays(spec), experience._counts, next_policy(experience, rng)
        scratch, caps = scratch_for(experience, task), spec.named_caps["steps left"]
        lower, lowest = np.zeros_like(scratch.tables), np.zeros_like(scratch.options)
        plan_euler(task, counts, scratch, lower, lowest, factor, flat, caps, policy, new_stream(rng))
        return checked_plan(policy, scratch.tables)
