"""The kernels of exploration against their formulas, written out with dictionaries."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from oracles import label_of

from praemia.envs import random_task
from praemia.exploration import Dataset, explore
from praemia.exploration.bounds import machine_bounds
from praemia.exploration.confidence import confidence, function_radii
from praemia.exploration.estimate import Estimate
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.machines.builder import MachineBuilder
from praemia.planning.exact import solve
from praemia.simulation.loop import run_loop
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task


def make(seed: int, episodes: int) -> tuple[Task, Dataset]:
    task = random_task(4, 2, 3, horizon=4, seed=seed)
    return task, explore(task, episodes=episodes, method="uncertainty", seed=seed)


Outcomes = list[tuple[float, float, str, int]]  # probability, mean reward, next machine state, next observation


def successors(task: Task, dataset: Dataset, m: str, o: int, a: int) -> list[tuple[int, float, Outcomes]]:
    """Return the place in the data, p̂ and what the machine may do, for every successor seen."""
    found = []
    for i in np.flatnonzero(dataset.pairs == o * task.num_actions + a).tolist():
        z = int(dataset.successors[i])
        outcomes = task.machine.outcomes(m, label_of(task.mdp.labelling.rules, o, a, z))
        moves = [(out.probability, out.reward.mean, out.target, z) for out in outcomes]
        found.append((i, float(dataset.probs[i]), moves))
    return found


def continuation(outcomes: Outcomes, table: dict[tuple[str, int], float], pay: bool) -> float:
    return sum(p * ((reward if pay else 0.0) + table[target, z]) for p, reward, target, z in outcomes)


def largest_mean(p_hat: np.ndarray, worth: np.ndarray, radius: float, distance: float) -> float:
    """Return the lesser of the largest means over a KL ball and within a distance; all successors are given."""
    top = worth.max()
    if radius == np.inf:
        return float(top)
    seen = p_hat > 0
    spread = top - worth[seen].min()
    # In the ball: minimise the convex dual ν − exp(Σ p̂ ln(ν − f) − r) on a grid that is refined around its minimum.
    by_kl, low, high = top, -14.0, 14.0
    for _ in range(4):
        powers = np.linspace(low, high, 401)
        nu = top + spread * np.exp(powers)
        with np.errstate(divide="ignore"):
            dual = nu - np.exp((p_hat[seen] * np.log(nu[:, None] - worth[seen])).sum(axis=1) - radius)
        best, step = int(dual.argmin()), (high - low) / 400
        by_kl, low, high = min(by_kl, dual[best]), powers[best] - step, powers[best] + step
    # Within the distance: mass moves from the worst to the best.
    left, by_distance = distance, float(p_hat @ worth)
    for z in np.argsort(worth):
        moved = min(left, p_hat[z])
        by_distance += moved * (top - worth[z])
        left -= moved
    return float(min(by_kl, by_distance))


@pytest.mark.parametrize("shares", [0, 1], ids=["any machine", "fixed"])
@pytest.mark.parametrize(
    ("seed", "episodes", "discount"), [(0, 3, 1.0), (1, 40, 1.0), (2, 400, 1.0), (3, 40_000, 1.0), (2, 400, 0.7)]
)
def test_the_bounds_of_a_machine_follow_their_formulas(seed: int, episodes: int, discount: float, shares: int) -> None:
    task, dataset = make(seed, episodes)
    machine, horizon = task.machine, task.horizon
    sure = confidence(dataset, 0.05, shares)
    fixed = function_radii(dataset.visits, sure, horizon, 3) if shares else np.full((4, 2), np.inf)
    estimate = Estimate.of(dataset, machine, discount=discount)
    most, policy = estimate.most, solve(estimate.model).policy
    p_hat = np.zeros((8, 4))
    p_hat[dataset.pairs, dataset.successors] = dataset.probs
    keys = [(m, o) for m in machine.states for o in range(4)]
    upper, lower, own, loss = (dict.fromkeys(keys, 0.0) for _ in range(4))
    for h in reversed(range(horizon)):
        found: dict[tuple[str, int], tuple[float, ...]] = {}
        after = [{key: discount * worth for key, worth in table.items()} for table in (upper, lower, own, loss)]
        for m, o in keys:
            limit, chosen = most[h, machine.index[m]], int(policy[h, machine.index[m], o])

            def mean(table: dict[tuple[str, int], float], a: int, radius: float, sign: float = 1.0, pay: bool = True):
                worth = np.zeros(4)
                for z in range(4):
                    outcomes = machine.outcomes(m, label_of(task.mdp.labelling.rules, o, a, z))  # noqa: B023
                    moves = [(out.probability, out.reward.mean, out.target, z) for out in outcomes]
                    worth[z] = sign * continuation(moves, table, pay)
                return sign * largest_mean(p_hat[2 * o + a], worth, radius, sure.tv[o, a])  # noqa: B023

            small = np.minimum(sure.kl[o], fixed[o])
            ups = [min(limit, mean(after[0], a, small[a])) for a in range(2)]
            low = max(0.0, mean(after[1], chosen, small[chosen], -1.0)) if shares else 0.0
            more = mean(after[3], chosen, sure.kl[o, chosen], pay=False)
            mine = max(0.0, mean(after[2], chosen, sure.kl[o, chosen], -1.0), low - more)
            lost = max(max(0.0, min(ups[a] - mine, more if a == chosen else ups[a] - low + more)) for a in range(2))
            found[m, o] = max(ups), low, mine, min(limit, lost)
        upper, lower, own, loss = ({key: found[key][i] for key in keys} for i in range(4))
    bounds = machine_bounds(estimate, sure, policy.transpose(0, 2, 1))
    for values, table in ((bounds.upper, upper), (bounds.lower, own), (bounds.loss, loss)):
        np.testing.assert_allclose(values, [table[machine.initial, o] for o in range(4)], atol=2e-5)


@pytest.mark.parametrize(
    ("seed", "episodes", "discount"), [(0, 5, 1.0), (1, 500, 1.0), (2, 50_000, 1.0), (1, 500, 0.7)]
)
def test_distances_follow_their_formula(seed: int, episodes: int, discount: float) -> None:
    task, dataset = make(seed, episodes)
    machine = task.machine
    sure = confidence(dataset, 0.05)
    estimate = Estimate.of(dataset, machine, discount=discount)
    most, policy = estimate.most, solve(estimate.model).policy

    def distance(h: int, m: str, o: int, a: int, after: dict[tuple[str, int], float]) -> float:
        limit = most[h, machine.index[m]]
        rows = successors(task, dataset, m, o, a)
        later = discount * sum(p * continuation(outs, after, False) for _, p, outs in rows)
        return min(limit, sure.tv[o, a] * limit + later)

    own, farthest = ({(m, o): 0.0 for m in machine.states for o in range(4)} for _ in range(2))
    for h in reversed(range(task.horizon)):
        own = {(m, o): distance(h, m, o, int(policy[h, machine.index[m], o]), own) for m, o in own}
        farthest = {(m, o): max(distance(h, m, o, a, farthest) for a in range(2)) for m, o in farthest}
    found = machine_bounds(estimate, sure, policy.transpose(0, 2, 1))
    np.testing.assert_allclose(found.distance, [own[machine.initial, o] for o in range(4)], atol=1e-12)
    np.testing.assert_allclose(found.farthest, [farthest[machine.initial, o] for o in range(4)], atol=1e-12)
    # A plan that is optimal in the estimate loses no more than the simulation lemma says.
    assert np.all(found.loss <= found.farthest + found.distance + 1e-12)


def test_the_uncertainty_follows_its_formula_and_its_policy_is_greedy() -> None:
    task = random_task(5, 3, 1, horizon=6, seed=4)
    # Without rewards, as exploration plays.
    task = task.with_machine(MachineBuilder("still").build())
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
        chosen = world.policy[h, :, 0]
        for o in np.flatnonzero(visits.sum(axis=1)):
            assert table[o, chosen[o]] == pytest.approx(values[o], abs=1e-9)
    np.testing.assert_allclose(world.workspace().values[0], values, atol=1e-9)


def test_the_example_in_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "concepts" / "exploration.md").read_text(encoding="utf-8")
    code = "".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    exec(compile(code, "docs/concepts/exploration.md", "exec"), {})
    assert "pairs visited: 80 of 80" in capsys.readouterr().out
