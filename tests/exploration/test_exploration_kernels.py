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
from praemia.exploration.bounds import bernstein_bracket, distance_of_policy, most_to_earn
from praemia.exploration.confidence import confidence, function_widths
from praemia.exploration.estimate import estimated_task
from praemia.exploration.uncertainty import UncertaintyExplorer
from praemia.learners.base import Experience
from praemia.models.task import Task
from praemia.planning.exact import solve
from praemia.simulation.game import Game


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
def test_the_bracket_follows_its_formula(seed: int, episodes: int) -> None:
    task, dataset = make(seed, episodes)
    machine, horizon = task.machine, task.horizon
    sure = confidence(dataset, 0.05)
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
                bonus = sigma * x + limit * x * x / 6
                ups.append(min(limit, sum(p * high[i] for i, p, _ in rows) + bonus))
                lows.append(sum(p * low[i] for i, p, _ in rows) - bonus)
                if a == policy[h, number, o]:
                    error = sum((sure.upper[i] - dataset.probs[i]) * (high[i] - mine[i]) for i, _, _ in rows)
                    error = min(error + sure.miss[o, a] * far, sure.tv[o, a] * far)
                    kept = max(0.0, sum(p * mine[i] for i, p, _ in rows) - bonus - error)
            upper[m, o], lower[m, o], own[m, o] = max(ups), max(lows), kept
    found = bernstein_bracket(dataset, estimate, sure, policy.transpose(0, 2, 1).copy(), most)
    np.testing.assert_allclose(found[0], [upper[machine.initial, o] for o in range(4)], atol=1e-9)
    np.testing.assert_allclose(found[1], [own[machine.initial, o] for o in range(4)], atol=1e-9)


@pytest.mark.parametrize(("seed", "episodes"), [(0, 5), (1, 500), (2, 50_000)])
def test_the_distance_of_a_policy_follows_its_formula(seed: int, episodes: int) -> None:
    task, dataset = make(seed, episodes)
    machine = task.machine
    sure = confidence(dataset, 0.05)
    estimate = estimated_task(dataset, machine)
    policy = solve(estimate).policy
    table = {(m, o): 0.0 for m in machine.states for o in range(4)}
    for h in reversed(range(task.horizon)):
        after, table = table, {}
        for m, o in after:
            a = int(policy[h, machine.index[m], o])
            rows = successors(task, dataset, m, o, a)
            table[m, o] = min(1.0, sure.tv[o, a] + sum(p * continuation(outs, after, False) for _, p, outs in rows))
    found = distance_of_policy(estimate, sure, policy.transpose(0, 2, 1).copy())
    np.testing.assert_allclose(found, [table[machine.initial, o] for o in range(4)], atol=1e-12)


def test_the_uncertainty_follows_its_formula_and_its_policy_is_greedy() -> None:
    task = random_task(5, 3, 1, horizon=6, seed=4)
    learner = UncertaintyExplorer(scale=0.02)
    game = Game.start(task, learner, 60, (1,))
    plan = None
    while game.played < 60:
        experience: Experience = game.experience()
        plan = learner.plan(experience, plan, game.learner_rng)
        game.play(plan.policy)
    seen = game.tally.seen()
    plan = learner.plan(Experience(task.spec, 60, seen, game.tally.arrays.steps), plan, game.learner_rng)
    width = 0.02 * 36 * math.log(5 * 3 * 60 * 6 / 0.05)
    values = dict.fromkeys(range(5), 0.0)
    for h in reversed(range(6)):
        after, values = values, {}
        for o in range(5):
            table = []
            for a in range(3):
                v = seen.slots[o * 3 + a]
                if v < 0:
                    table.append(6.0)
                    continue
                entries = range(seen.indptr[v], seen.indptr[v + 1])
                total = sum(seen.counts[e] / seen.visits[v] * after[int(seen.successors[e])] for e in entries)
                table.append(min(6.0, width / seen.visits[v] + (1 + 1 / 6) * total))
            values[o] = max(table)
            if any(seen.slots[o * 3 + a] >= 0 for a in range(3)):
                assert table[int(plan.policy[h, o, 0])] == pytest.approx(values[o], abs=1e-9)
    np.testing.assert_allclose(plan.values[:, 0], list(values.values()), atol=1e-9)


def test_the_example_in_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "exploration.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "docs/exploration.md", "exec"), {})
    assert "pairs visited: 80 of 80" in capsys.readouterr().out
