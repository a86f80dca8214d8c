"""Two learners of your own in plain NumPy: one with a bonus, and one that goes backwards step by step.

praemia run warehouse-3 --learner examples/own_learner.py:Bernstein --learner examples/own_learner.py:Tighter
"""

import numpy as np

import praemia
from praemia.learners import parameter, portable_log


class Bernstein(praemia.Learner):
    """Add c·(√(2ℓ·Var/n) + 7Hℓ/(3n)) to every estimate, ℓ = ln T."""

    bonus_scale: float = parameter(0.01, "c, multiplies the bonus", 0.0)

    def plan(self, experience, previous, rng):
        n, log_term = np.maximum(1, experience.visits), portable_log(experience.num_steps)
        per_visit = 7 / 3 * experience.spec.horizon * log_term / n
        per_root = np.sqrt(2 * log_term / n)
        return praemia.plan_with_bonus(
            experience, self.bonus_scale * per_visit, deviation_scale=self.bonus_scale * per_root, rng=rng
        )


class Tighter(praemia.Learner):
    """Add the smaller of Bernstein's and Hoeffding's bonus."""

    bonus_scale: float = parameter(0.01, "c, multiplies the bonus", 0.0)

    def plan(self, experience, previous, rng):
        spec, n = experience.spec, np.maximum(1, experience.visits)
        log_term = portable_log(experience.num_steps)
        values = np.zeros((spec.num_machine_states, spec.num_observations))
        policy = np.zeros((spec.horizon, *values.shape), dtype=int)
        for h in reversed(range(spec.horizon)):
            mean, deviation = experience.backup(values, h)
            cap = spec.value_caps[h]
            bernstein = deviation * np.sqrt(2 * log_term / n) + 7 / 3 * cap * log_term / n
            hoeffding = cap * np.sqrt(log_term / (2 * n))
            q = np.minimum(cap, mean + self.bonus_scale * np.minimum(bernstein, hoeffding))
            q = np.where(experience.visits > 0, q, cap)
            values, policy[h] = q.max(-1), q.argmax(-1)
        return praemia.LearnerPlan(policy, values)


if __name__ == "__main__":
    task = praemia.envs.make("warehouse-3")
    for learner in (Bernstein(), Tighter()):
        run = praemia.simulate(task, learner, num_episodes=2_000, seed=0)
        print(f"{run.learner}: regret {run.regret[-1]:.0f} in {run.num_episodes:,} episodes, {run.num_plans} plans")
