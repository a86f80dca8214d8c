"""Exact planning, exploration with its plans and certificates, and inference from traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from golden_tasks import box, more_tasks, tasks

import praemia

Record = tuple[str, Any]
DRAWS = 40


def planning(nudge: float) -> Iterator[Record]:
    """Solve tasks, evaluate a randomised policy, and find where it goes."""
    for name, task in more_tasks().items():
        plan = praemia.solve(task)
        yield f"{name}/solve", {"value": plan.value, "values": plan.values}
        policy = uneven_policy(task)
        found, where = praemia.evaluate(task, policy), praemia.occupancy(task, policy)
        yield f"{name}/evaluate", {"value": found.value, "values": found.values}
        yield f"{name}/occupancy", {"states": where.states, "pairs": where.pairs}
        whole = praemia.product(task)
        product = {"transitions": whole.transitions.data, "rewards": whole.rewards, "start": whole.start_probs}
        yield f"{name}/product", product
        yield f"{name}/rollout", steps_of(praemia.rollout(task, policy, seed=5))


def exploration(nudge: float) -> Iterator[Record]:
    """Explore by every method and plan from the data."""
    scale = 0.01 * (1.0 + nudge)
    for name in ("warehouse-3", "errands"):
        task = tasks()[name]
        ways: dict[str, dict[str, Any]] = {
            "euler": {"num_episodes": 150, "method": "euler", "scale": scale, "policy_episodes": 20},
            "uncertainty": {"num_episodes": 300, "scale": scale},
            "until": {"num_episodes": 1000, "scale": scale, "until": 0.3, "machines": [task.machine]},
        }
        for method, options in ways.items():
            data = praemia.explore(task, seed=7, **options)
            yield f"{name}/{method}/data", counts(data)
            yield from plans(f"{name}/{method}", data, task.machine)
    data = praemia.explore(box(), num_episodes=200, scale=scale, seed=7)
    yield "box/data", counts(data)
    yield from plans("box", data, box().machine)


def plans(name: str, data: praemia.Dataset, machine: praemia.RewardMachine) -> Iterator[Record]:
    """Plan for a machine and for rewards on trajectories, with certificates and likely losses."""
    plan = praemia.plan_from(data, machine)
    yield f"{name}/plan", {"value": plan.value, "certificate": certified(plan)}
    yield f"{name}/likely", plan.likely(draws=DRAWS, level=0.9, seed=2).losses
    back = praemia.TrajectoryReward(lambda seen: float(seen.last == seen.observations[0]), bound=1.0)
    home = praemia.plan_from(data, back, horizon=3)
    yield f"{name}/trajectory", {"value": home.value, "certificate": certified(home)}


def merging(nudge: float) -> Iterator[Record]:
    """Merge data of two seeds and an episode of a log."""
    task = tasks()["riverswim-prm-5"]
    first, second = (praemia.explore(task, num_episodes=60, scale=0.01 * (1.0 + nudge), seed=seed) for seed in (11, 12))
    logged = praemia.Dataset.from_episodes([[(0, 1, 1), (1, 1, 2), (2, 0, 2)]], task)
    both = first.merge(second, logged)
    yield "data", counts(both)
    yield from plans("plans", both, task.machine)


def inference(nudge: float) -> Iterator[Record]:
    """Infer machines from the traces of a random policy."""
    for name, horizon, episodes, options in (
        ("riverswim-prm-5", 25, 300, {}),
        ("warehouse-3", 9, 200, {}),
        ("flower-4", 12, 200, {"failure_prob": 0.05}),
        ("kitchen", 20, 150, {"deterministic": True}),
    ):
        answer = praemia.infer(traces(more_tasks()[name].with_horizon(horizon), episodes), **options)
        yield f"{name}/answer", answer.to_json()
        rules = [(rule.source, str(rule.guard)) for rule in answer.machine.rules]
        yield f"{name}/machine", {"states": answer.machine.states, "rules": rules}


def traces(task: praemia.Task, episodes: int) -> list[list[tuple[tuple[str, ...], float]]]:
    """Play episodes by a random policy; return the label and the reward, with three digits, of each step."""
    policy = uneven_policy(task)
    played = (praemia.rollout(task, policy, seed=seed) for seed in range(episodes))
    return [[(step.label, round(step.reward, 3)) for step in episode] for episode in played]


def uneven_policy(task: praemia.Task) -> np.ndarray[Any, Any]:
    """Return a randomised policy that prefers another action at each step, machine state and observation."""
    shape = (task.horizon, task.num_machine_states, task.num_observations, task.num_actions)
    h, m, o, a = np.indices(shape)
    weights = 1.0 + (3 * h + 5 * m + 7 * o + a) % task.num_actions
    total = task.num_actions * (task.num_actions + 1) // 2  # every action has one of the weights 1 … A
    return weights / float(total)


def steps_of(episode: Any) -> list[Any]:
    """Return an episode as plain data; how the end of one is marked is no result."""
    labels = [[name for name in step.label if not name.startswith("praemia-")] for step in episode]
    steps = zip(episode, labels, strict=True)
    return [[step.observation, step.machine_state, step.action, label, step.reward] for step, label in steps]


def counts(data: praemia.Dataset) -> dict[str, Any]:
    """Return what a data set holds."""
    o, a, z = data.transitions
    return {"observations": o, "actions": a, "successors": z, "counts": data.counts, "first": data.first_counts}


def certified(plan: Any) -> dict[str, float]:
    """Return the numbers of a plan's certificate."""
    names = ("bound", "largest", "optimistic", "pessimistic")
    return {name: getattr(plan.certificate, name) for name in names}


COMPUTED = (planning, exploration, merging, inference)
