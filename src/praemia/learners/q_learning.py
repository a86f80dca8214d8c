"""Q-learning on the cross product, and CRM: the methods that users of reward machines know.

Both keep one table Q(o, m, a) and act ε-greedily in it. From a step (o, a, o') in which the machine goes from m to m',
with learning rate α and discount d,

    Q(o, m, a) ← Q(o, m, a) + α·(reward + d·max_a' Q(o', m', a') − Q(o, m, a)).

Q-learning updates the machine state it was in, with the reward it got. CRM (counterfactual experiences for reward
machines) updates every machine state from each step, drawing each one's successor from τ and paying its mean reward ν̄.
The table is updated at the end of each episode, in the order of its steps, so that an episode is played by one policy
and its value is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from praemia.kernels.q_learning import learn_episode, learn_episode_for_all_states
from praemia.kernels.references import by_reference
from praemia.learners.base import Experience, Learner, LearnerPlan, parameter, require_every_episode
from praemia.tasks.task import TaskSpec


@dataclass(frozen=True, kw_only=True)
class QLearning(Learner):
    """Q-learning on the cross product, ε-greedy.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.QLearning(), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret)
    ('q-learning', 100)
    """

    name: ClassVar[str] = "q-learning"
    summary: ClassVar[str] = "tabular Q-learning on the cross product, ε-greedy, model-free"
    reference: ClassVar[str] = "Watkins and Dayan 1992, Q-learning"
    uses_recent: ClassVar[bool] = True

    learning_rate: float = parameter(0.1, "how far an update moves towards its target", 0.0, 1.0)
    discount: float = parameter(0.9, "the discount of the next step's value", 0.0, 1.0)
    epsilon: float = parameter(0.1, "the probability of a random action", 0.0, 1.0)
    initial_value: float = parameter(1.0, "where the table starts; high values explore", 0.0)
    replan: str = field(default="episode", metadata={"help": "when to plan again: episode is the only rule here"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require_every_episode(self)

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        shape = (spec.num_observations, spec.num_machine_states, spec.num_actions)
        table = np.full(shape, float(self.initial_value)) if previous is None else previous.memory.copy()
        if experience.recent is not None:
            self.update(table, experience, rng)
        return LearnerPlan(_epsilon_greedy(table, self.epsilon, spec.horizon), memory=table)

    def update(self, table: NDArray[np.float64], experience: Experience, rng: np.random.Generator) -> None:
        """Learn from the last episode."""
        recent = experience.recent
        assert recent is not None
        spec, rates = experience.spec, (self.learning_rate, self.discount)
        learn_episode(table, recent.steps, recent.rewards, spec.is_done, *rates, self.ends_worth(spec))

    def ends_worth(self, spec: TaskSpec) -> NDArray[np.float64]:
        """Return what an end at each step is worth, [H], in the steps that it leaves out: 0, but in the unit range."""
        idle, worth = spec.machine.idle_reward.mean, np.zeros(spec.horizon)
        if idle:
            sums = accumulate((self.discount**step for step in range(spec.horizon - 1)), initial=0.0)
            worth[::-1] = [idle * total for total in sums]
        return worth


@dataclass(frozen=True, kw_only=True)
class CRM(QLearning):
    """Q-learning with counterfactual updates for every machine state.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.make("warehouse-3")
    >>> run = praemia.simulate(task, praemia.CRM(), num_episodes=100, seed=0)
    >>> run.learner, len(run.regret)
    ('crm', 100)
    """

    name: ClassVar[str] = "crm"
    summary: ClassVar[str] = "Q-learning that updates every machine state from each step"
    reference: ClassVar[str] = "Toro Icarte, Klassen, Valenzano and McIlraith 2022, Reward Machines"

    def update(self, table: NDArray[np.float64], experience: Experience, rng: np.random.Generator) -> None:
        recent, machine = experience.recent, experience.spec.table
        assert recent is not None
        uniforms = rng.random((len(recent.steps), machine.num_states))
        learn_episode_for_all_states(
            table,
            recent.steps,
            by_reference(machine.arrays),
            machine.sums,
            uniforms,
            experience.spec.is_done,
            self.learning_rate,
            self.discount,
            self.ends_worth(experience.spec),
        )


def _epsilon_greedy(table: NDArray[np.float64], epsilon: float, horizon: int) -> NDArray[np.float64]:
    """Return the action probabilities [H, M, O, A]: ε spread over all actions, the rest over the best ones."""
    best = table == table.max(axis=-1, keepdims=True)
    probs = epsilon / table.shape[-1] + (1.0 - epsilon) * best / best.sum(axis=-1, keepdims=True)
    return np.repeat(probs[np.newaxis], horizon, axis=0).swapaxes(1, 2)
