"""Q-learning on the cross product, and CRM: the best-known methods for reward machines.

Both keep one table Q(o, m, a) and act ε-greedily in it. After every step (o, a, o'), in which the machine goes from m
to m', with learning rate α and discount d:

    Q(o, m, a) ← Q(o, m, a) + α·(reward + d·max_a' Q(o', m', a') − Q(o, m, a)).

Q-learning updates the machine state it was in, with the reward it got. CRM (counterfactual experiences for reward
machines) updates every machine state m from each step, as if the step had been taken in m: with the mean reward ν̄ and
the mean of max_a' Q(o', m', a') under τ. (The paper's machines are deterministic and need no averages.)

The plan is the greedy policy, and so are ``run.plan_values`` and ``run.final_policy``; the regret is that of the paths
taken, random actions included. Equal best actions are sampled anew whenever an entry of their row is updated.

The settings of two papers, both with d = .9 and ε = .1: Toro Icarte et al. (2022) have α = .5 and a table that starts
at 2; so do Trapasso, Iocchi and Patrizi (2026), with α = .1 for stochastic moves and α = 1 for deterministic ones.
"""

from __future__ import annotations

from dataclasses import field
from itertools import accumulate

import numpy as np

from praemia.kernels.q_learning import QMemory, learn
from praemia.kernels.records import padded_width
from praemia.learners.base import parameter
from praemia.learners.experience import Experience
from praemia.learners.replanning import STEP
from praemia.learners.stepwise import StepwiseLearner
from praemia.tasks.spec import TaskSpec


class QLearning(StepwiseLearner):
    """Q-learning on the cross product, ε-greedy.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.QLearning(), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret), run.is_pathwise
    ('q-learning', 100, True)
    """

    summary = "tabular Q-learning on the product, ε-greedy, model-free"
    reference = "Watkins and Dayan 1992, Q-learning"
    replan_rules = (STEP,)
    kernel = staticmethod(learn)
    for_all_states = False

    learning_rate: float = parameter(0.1, "how far an update moves towards its target", 0.0, 1.0)
    discount: float = parameter(0.9, "the discount of the next step's value", 0.0, 1.0)
    epsilon: float = parameter(0.1, "the probability of a random action", 0.0, 1.0)
    initial_value: float = parameter(1.0, "where the table starts; high values explore", 0.0)
    replan: str = field(default=STEP, metadata={"help": "when to learn: after every step is the only rule here"})

    @property
    def random_share(self) -> float:
        return self.epsilon

    def new_memory(self, experience: Experience) -> QMemory:
        spec = experience.spec
        width, num_pairs = padded_width(spec.num_machine_states), spec.num_observations * spec.num_actions
        return QMemory(
            table=np.zeros((num_pairs, spec.num_machine_states)),
            values=np.zeros((spec.num_observations, width)),
            layers=spec.table.layers(width),
            ends=np.array(self._ends(spec)),
            is_done=np.pad(spec.is_done.astype(np.float64), (0, width - spec.num_machine_states)),
            rate=float(self.learning_rate),
            discount=float(self.discount),
            initial=float(self.initial_value),
            for_all_states=self.for_all_states,
        )

    def updated(self, memory: QMemory, experience: Experience) -> QMemory:
        return memory._replace(layers=experience.spec.table.layers(memory.values.shape[1]))

    def _ends(self, spec: TaskSpec) -> tuple[float, ...]:
        """Return the value of an end at each step, that of the steps left out: 0, but in the unit range."""
        idle = spec.machine.idle_reward.mean
        sums = accumulate((self.discount**step for step in range(spec.horizon - 1)), initial=0.0)
        return tuple(idle * total for total in sums)[::-1]


class CRM(QLearning):
    """Q-learning with counterfactual updates for every machine state.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.CRM(), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret), run.is_pathwise
    ('crm', 100, True)
    """

    summary = "Q-learning that updates every machine state from each step"
    reference = "Toro Icarte, Klassen, Valenzano and McIlraith 2022, Reward Machines"
    for_all_states = True
