"""UCBVI on the cross product (Azar et al. 2017, Bernstein form), which does not use the machine.

It counts product states s = (m, o) and their successors, with S = Q·O and L = ln(5·S·A·T/ρ), for visited pairs:

    b = √(8L·Var_P̂(V)/N) + 14HL/(3N) + √(8·Σ P̂(s')·min(100²H³S²AL²/N'_{h+1}(s'), H²)/N)
    Q_h = min{Q_h of the previous plan, H, Σ P̂(ν̄ + V) + γ·b},      V_h = max_a Q_h,

and Q_h = H for the others. The reward of a transition that was seen is known (ν̄), so there is no bonus for rewards.
Everything else is as in UCBVI-PRM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from praemia.arithmetic import portable_log
from praemia.learners.ucbvi_prm import BernsteinUCBVI
from praemia.tasks.task import TaskSpec


@dataclass(frozen=True, kw_only=True)
class UCBVI(BernsteinUCBVI):
    """UCBVI on the cross product of the environment and the machine.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.UCBVI(bonus_scale=1), num_episodes=100, seed=0)
    >>> bool(run.optimistic_values.min() >= run.optimal_value)  # it never promises less than the optimum
    True
    """

    name: ClassVar[str] = "ucbvi"
    summary: ClassVar[str] = "the same value iteration on the cross product, blind to the machine"
    reference: ClassVar[str] = "Azar, Osband and Munos 2017, Minimax Regret Bounds for RL"
    sees: ClassVar[str] = "product"

    def log_term(self, spec: TaskSpec, num_steps: int) -> float:
        """Return L; the spec is that of the product task, whose observations are the product states."""
        return portable_log(5.0 * spec.num_observations * spec.num_actions * num_steps / self.failure_prob)

    def reward_term(self, iota: float) -> float:
        """Return 0: the reward of a transition that was seen is known."""
        return 0.0
