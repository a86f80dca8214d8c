"""Your own learner in plain NumPy: compute a bonus array, and let a helper do the backward pass.

praemia run warehouse-3 --learner examples/numpy_learner.py:Hoeffding --learner headroom
"""

from typing import ClassVar

import numpy as np

from praemia import Experience, Learner, LearnerPlan
from praemia.learners import parameter, plan_with_bonus


class Hoeffding(Learner):
    """Add a Hoeffding bonus to every estimate: scale · H · √(ln(T)/n)."""

    name: ClassVar[str] = "hoeffding"
    summary: ClassVar[str] = "value iteration with Hoeffding's bonus"

    bonus_scale: float = parameter(0.01, "multiplies the bonus", 0.0)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        visits = np.maximum(1, experience.visits)  # int64[O, A]
        bonus = experience.spec.horizon * np.sqrt(np.log(experience.num_steps) / visits)
        return plan_with_bonus(experience, self.bonus_scale * bonus, rng)


if __name__ == "__main__":
    import praemia

    task = praemia.envs.make("warehouse-3")
    run = praemia.simulate(task, Hoeffding(), num_episodes=2_000, seed=0)
    print(f"{run.regret[-1]:.0f} lost in {run.num_episodes:,} episodes, {run.num_plans} plans")
