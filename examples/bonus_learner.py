"""Your own learner, with a bonus compiled into the recursion: as fast as the built-in learners.

praemia run warehouse-3 --learner examples/bonus_learner.py:Bernstein --learner headroom
"""

from typing import ClassVar

import numpy as np

from praemia.learners import BonusLearner, parameter


class Bernstein(BonusLearner):
    """Add √(Var/n) and 1/n to every estimate."""

    name: ClassVar[str] = "bernstein"

    bonus_scale: float = parameter(0.3, "multiplies the bonus", 0.0)

    def run_constants(self, spec, num_episodes):
        return self.bonus_scale, self.bonus_scale * spec.horizon

    @staticmethod
    def pair_numbers(visits, visits_of_state, constants):
        return constants[0] / np.sqrt(visits), constants[1] / visits

    @staticmethod
    def worth(mean, deviation, pair):
        return mean + pair.numbers[0] * deviation + pair.numbers[1]


if __name__ == "__main__":
    import praemia

    run = praemia.simulate(praemia.envs.make("warehouse-3"), Bernstein(), num_episodes=2_000, seed=0)
    print(f"{run.regret[-1]:.0f} lost in {run.num_episodes:,} episodes, {run.num_plans} plans")
