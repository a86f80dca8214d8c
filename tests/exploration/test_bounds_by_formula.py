"""The compiled bounds of a certificate, and the uncertainty explorer, against their formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles import label_of

from praemia.envs import random_task
from praemia.exploration import explore
from praemia.exploration.certificate import machine_bounds
from praemia.exploration.confidence import confidence
from praemia.exploration.estimate import Estimate
from praemia.kernels.certify import largest_mean
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.machines.builder import MachineBuilder
from praemia.planning.exact import solve
from praemia.simulation.loop import run_loop
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

Table = dict[tuple[str, int], float]


def continuation(task: Task, table: Table, m: str, o: int, a: int, z: int, *, pay: bool) -> float:
    outcomes = task.machine.outcomes(m, label_of(task.mdp.labelling.rules, o, a, z))
    return sum(out.probability * ((out.reward.mean if pay else 0.0) + table[out.target, z]) for out in outcomes)


@pytest.mark.parametrize(
    ("seed", "episodes", "discount"), [(0, 3, 1.0), (1, 40, 1.0), (2, 400, 1.0), (3, 40_000, 1.0), (2, 400, 0.7)]
)
def test_the_bounds_of_a_machine_follow_their_formulas(seed: int, episodes: int, discount: float) -> None:
    task = random_task(4, 2, 3, horizon=4, seed=seed)
    dataset = explore(task, num_episodes=episodes, seed=seed)
    machine, sure = task.machine, confidence(dataset, 0.05)
    estimate = Estimate.of(dataset, machine, discount=discount)
    policy = solve(estimate.model).policy
    p_hat = np.zeros((8, 4))
    p_hat[dataset.pairs, dataset.successors] = dataset.probs
    keys = [(m, o) for m in machine.states for o in range(4)]
    upper, lower, loss = (dict.fromkeys(keys, 0.0) for _ in range(3))

    def mean(table: Table, m: str, o: int, a: int, *, sign: float = 1.0, pay: bool = True) -> float:
        after = {key: discount * value for key, value in table.items()}
        worth = np.array([sign * continuation(task, after, m, o, a, z, pay=pay) for z in range(4)])
        seen = p_hat[2 * o + a] > 0
        radius, top = float(sure.kl[o, a]), float(worth.max())
        if radius == math.inf:
            return sign * top
        return sign * largest_mean(p_hat[2 * o + a][seen], worth[seen], int(seen.sum()), radius, top)

    for h in reversed(range(task.horizon)):
        found = {}
        for m, o in keys:
            most, chosen = estimate.most[h, machine.index[m]], int(policy[h, machine.index[m], o])
            ups = [min(most, mean(upper, m, o, a)) for a in range(2)]
            low = max(0.0, mean(lower, m, o, chosen, sign=-1.0))
            lost = [up - low for up in ups]
            lost[chosen] = min(lost[chosen], mean(loss, m, o, chosen, pay=False))
            found[m, o] = max(ups), low, min(most, max(0.0, *lost))
        upper, lower, loss = ({key: found[key][i] for key in keys} for i in range(3))
    bounds = machine_bounds(estimate, sure.kl, policy)
    for values, table in zip(bounds, (upper, lower, loss), strict=True):
        np.testing.assert_allclose(values, [table[machine.initial, o] for o in range(4)], atol=2e-5)


def test_the_uncertainty_follows_its_formula_and_its_policy_is_greedy() -> None:
    task = random_task(5, 3, 1, horizon=6, seed=4)
    task = task.with_machine(MachineBuilder("still").build())  # without rewards, as exploration plays
    world = TaskWorld(task, UncertaintyExplorer(scale=0.02), 60, (1,), valued=False)
    run_loop(world, 60)
    world.replan()
    experience = world.experience()
    visits, probs = experience.visits, experience.estimated_probs
    assert visits.sum() == 60 * 6
    width = 0.02 * 36 * math.log(5 * 3 * 60 * 6 / 0.05)
    values = np.zeros(5)
    for h in reversed(range(6)):
        table = np.full((5, 3), 6.0)
        for o, a in np.argwhere(visits > 0):
            table[o, a] = min(6.0, width / visits[o, a] + (1 + 1 / 6) * float(probs[o, a] @ values))
        values = table.max(axis=1)
        chosen = world.policy[h, :, 0]  # type: ignore[index]
        for o in np.flatnonzero(visits.sum(axis=1)):
            assert table[o, chosen[o]] == pytest.approx(values[o], abs=1e-9)
    np.testing.assert_allclose(world.plan.values[0], values, atol=1e-9)  # type: ignore[union-attr, index]
