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
from praemia.exploration.bounds import machine_bounds, most_to_earn
from praemia.exploration.confidence import confidence, function_widths
from praemia.exploration.estimate import estimated_task
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.models.machine import MachineBuilder
from praemia.models.task import Task
from praemia.planning.exact import solve
from praemia.simulation.loop import run_loop
from praemia.simulation.task_world import TaskWorld


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


@pytest.mark.parametrize(("seed", "episodes"), [(0, 3), (1, 40), (2, 400), (3, 4000)])
def test_the_bracket_of_a_fixed_machine_follows_its_formula(seed: int, episodes: int) -> None:
    task, dataset = make(seed, episodes)
    machine, horizon = task.machine, task.horizon
    sure = confidence(dataset, 0.05, shares=1)
    widths = function_widths(dataset, sure, horizon, 3)
    most = most_to_earn(machine, horizon)
    estimate = estimated_task(dataset, machine)
    policy = solve(estimate).policy
    keys = [(m, o) for m in machine.states for o in range(4)]
    upper, lower, own = (dict.fromkeys(keys, 0.0) for _ in range(3))
    for h in reversed(range(horizon)):
        after_upper, after_lower, after_own = upper, lower, own
        upper, lower, own = {}, {}, {}
        far = max(after_upper[key] - after_own[key] for key in keys)
        for m, o in keys:
            number = machine.index[m]
            limit = most[h, number]
            ups, lows, kept = [0.0], [0.0], 0.0
            for a in range(2):
                if dataset.visits[o, a] == 0:
                    ups.append(limit)
                    continue
                x = widths[o, a]
                rows = successors(task, dataset, m, o, a)
                high, low, mine = (
                    {i: continuation(outs, table, True) for i, _, outs in rows}
                    for table in (after_upper, after_lower, after_own)
                )
                middle = {i: 0.5 * (high[i] + low[i]) for i in high}
                mean = sum(p * middle[i] for i, p, _ in rows)
                spread = math.sqrt(sum(p * (middle[i] - mean) ** 2 for i, p, _ in rows))
                spread += 0.5 * math.sqrt(sum(p * (high[i] - low[i]) ** 2 for i, p, _ in rows))
                sigma = limit / 2
                if x < 1:
                    roots = np.roots([1 - x * x, -limit * x * (1 + x * x / 3), -(spread**2) - limit**2 * x**4 / 36])
                    sigma = min(sigma, float(max(roots.real)))
                free, by_distance = sigma * x + limit * x * x / 6, sure.tv[o, a] * limit
                bonus = min(free, by_distance)
                ups.append(min(limit, sum(p * high[i] for i, p, _ in rows) + bonus))
                lows.append(sum(p * low[i] for i, p, _ in rows) - bonus)
                if a == policy[h, number, o]:
                    error = sum((sure.upper[i] - dataset.probs[i]) * (high[i] - mine[i]) for i, _, _ in rows)
                    error = min(error + sure.miss[o, a] * far, sure.tv[o, a] * far)
                    kept = max(0.0, sum(p * mine[i] for i, p, _ in rows) - min(free + error, by_distance))
            upper[m, o], lower[m, o], own[m, o] = max(ups), max(lows), kept
    found = machine_bounds(dataset, estimate, sure, policy.transpose(0, 2, 1), most)
    np.testing.assert_allclose(found.upper, [upper[machine.initial, o] for o in range(4)], atol=1e-9)
    np.testing.assert_allclose(found.lower, [own[machine.initial, o] for o in range(4)], atol=1e-9)


@pytest.mark.parametrize(("seed", "episodes"), [(0, 3), (1, 400), (2, 40_000)])
def test_the_bracket_of_any_machine_follows_its_formula(seed: int, episodes: int) -> None:
    task, dataset = make(seed, episodes)
    machine, horizon = task.machine, task.horizon
    sure = confidence(dataset, 0.05)
    most = most_to_earn(machine, horizon)
    estimate = estimated_task(dataset, machine)
    policy = solve(estimate).policy
    upper, own = ({(m, o): 0.0 for m in machine.states for o in range(4)} for _ in range(2))
    for h in reversed(range(horizon)):
        after_upper, after_own, upper, own = upper, own, {}, {}
        for m, o in after_upper:
            limit, ups = most[h, machine.index[m]], []
            for a in range(2):
                rows = successors(task, dataset, m, o, a)
                doubt = sure.tv[o, a] * limit
                ups.append(min(limit, doubt + sum(p * continuation(outs, after_upper, True) for _, p, outs in rows)))
                if a == policy[h, machine.index[m], o]:
                    mine = sum(p * continuation(outs, after_own, True) for _, p, outs in rows)
                    own[m, o] = max(0.0, mine - doubt)
            upper[m, o] = max(ups)
    found = machine_bounds(dataset, estimate, sure, policy.transpose(0, 2, 1), most)
    np.testing.assert_allclose(found.upper, [upper[machine.initial, o] for o in range(4)], atol=1e-9)
    np.testing.assert_allclose(found.lower, [own[machine.initial, o] for o in range(4)], atol=1e-9)


@pytest.mark.parametrize(("seed", "episodes"), [(0, 5), (1, 500), (2, 50_000)])
def test_distances_follow_their_formula(seed: int, episodes: int) -> None:
    task, dataset = make(seed, episodes)
    machine = task.machine
    sure = confidence(dataset, 0.05)
    most = most_to_earn(machine, task.horizon)
    estimate = estimated_task(dataset, machine)
    policy = solve(estimate).policy

    def distance(h: int, m: str, o: int, a: int, after: dict[tuple[str, int], float]) -> float:
        limit = most[h, machine.index[m]]
        rows = successors(task, dataset, m, o, a)
        return min(limit, sure.tv[o, a] * limit + sum(p * continuation(outs, after, False) for _, p, outs in rows))

    own, farthest = ({(m, o): 0.0 for m in machine.states for o in range(4)} for _ in range(2))
    for h in reversed(range(task.horizon)):
        own = {(m, o): distance(h, m, o, int(policy[h, machine.index[m], o]), own) for m, o in own}
        farthest = {(m, o): max(distance(h, m, o, a, farthest) for a in range(2)) for m, o in farthest}
    found = machine_bounds(dataset, estimate, sure, policy.transpose(0, 2, 1), most)
    np.testing.assert_allclose(found.distance, [own[machine.initial, o] for o in range(4)], atol=1e-12)
    np.testing.assert_allclose(found.farthest, [farthest[machine.initial, o] for o in range(4)], atol=1e-12)
    # The policy that is named as the farthest has that distance.
    again = machine_bounds(dataset, estimate, sure, found.farthest_policy.transpose(0, 2, 1), most)
    np.testing.assert_allclose(again.distance, found.farthest, atol=1e-12)


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
        chosen = world.shown_policy[h, 0]
        for o in np.flatnonzero(visits.sum(axis=1)):
            assert table[o, chosen[o]] == pytest.approx(values[o], abs=1e-9)
    np.testing.assert_allclose(world.workspace().values[0], values, atol=1e-9)


def test_the_example_in_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "exploration.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "docs/exploration.md", "exec"), {})
    assert "pairs visited: 80 of 80" in capsys.readouterr().out
