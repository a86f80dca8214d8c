"""Q-learning and CRM against their update rule, written out step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from learner_oracles import Watched

from praemia import envs, learners, simulate
from praemia.learners.base import Recent

RATE, DISCOUNT = 0.3, 0.8


class Diarist(Watched):
    """A watched learner that also keeps the steps of every episode."""

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self.episodes: list[Recent] = []

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> Any:
        made = super().plan(experience, previous, rng)
        if (recent := experience.recent) is not None:
            self.episodes.append(Recent(recent.steps.copy(), recent.rewards.copy()))
        return made


@pytest.mark.parametrize("name", ["q-learning", "crm"])
def test_the_table_is_that_of_the_update_rule(name: str) -> None:
    """RiverSwim's machine is sure of its moves, so that CRM's updates are too."""
    task = envs.make("riverswim-4", horizon=9)
    player = Diarist(learners.make(name, learning_rate=RATE, discount=DISCOUNT, initial_value=0.5))
    simulate(task, player, 60, 5)
    machine, labels = task.machine, task.mdp.label_sets
    table = dict.fromkeys(np.ndindex(4, 2, 2), 0.5)
    for episode in player.episodes:
        for o, a, z, label, m, _ in episode.steps.tolist():
            for state in range(2) if name == "crm" else [m]:
                (out,) = machine.outcomes(machine.states[state], labels[label])
                after = machine.states.index(out.target)
                target = out.reward.mean + DISCOUNT * max(table[z, after, 0], table[z, after, 1])
                table[o, state, a] += RATE * (target - table[o, state, a])
    made = player.plans[-1].memory
    assert len(player.episodes) == 59
    assert {place: made[place] for place in table} == pytest.approx(table, abs=1e-12)


def test_actions_are_greedy_but_for_epsilon() -> None:
    task = envs.make("riverswim-4", horizon=9)
    player = Watched(learners.make("q-learning", epsilon=0.2))
    simulate(task, player, 30, 1)
    for plan in player.plans:
        assert plan.policy.sum(axis=-1) == pytest.approx(1.0)
        for o, m in np.ndindex(4, 2):
            row = plan.memory[o, m]
            equal = row[0] == row[1]
            expected = [0.5, 0.5] if equal else [0.9, 0.1] if row[0] > row[1] else [0.1, 0.9]
            assert plan.policy[0, m, o] == pytest.approx(expected)


def test_crm_draws_each_machine_states_successor_from_its_law() -> None:
    """With rate 1 an entry is its last target: mean ν̄ + V(z, m') over 4,000 draws, within 4 standard errors."""
    task = envs.make("warehouse-2", horizon=1)
    label = task.mdp.label_sets.index(frozenset({"delivery"}))
    crm = learners.make("crm", learning_rate=1.0, discount=1.0, initial_value=0.0)
    steps = np.array([[1, 0, 3, label, 0, 0]])
    targets = []
    rng = np.random.default_rng(3)
    for _ in range(4_000):
        table = np.zeros((4, 3, 5))
        table[3, 1] = 5.0  # staying loaded is worth 5, being done nothing
        experience = type("Shown", (), {"recent": Recent(steps, np.zeros(1)), "spec": task.spec})()
        crm.update(table, experience, rng)
        targets.append(table[1, 1, 0])
        assert table[1, 0, 0] == table[1, 2, 0] == 0.0
    # Delivering works w.p. 0.9 and pays 1; else the machine stays loaded, unpaid.
    assert set(targets) == {1.0, 5.0}
    assert abs(np.mean(targets) - (0.9 * 1.0 + 0.1 * 5.0)) <= 4 * np.std(targets) / np.sqrt(4_000)
