"""Slow and plain: what the package computes with compiled factored kernels, again in an explicit product.

Only dictionaries, lists and loops. A policy is an array: actions [H, M, O], or probabilities [H, M, O, A].
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from praemia.machines.labels import LabelRule
from praemia.tasks.task import Task

State = tuple[int, int]  # machine state, observation


def label_of(rules: Iterable[LabelRule], o: int, a: int, z: int) -> frozenset[str]:
    """Return the union of the propositions of all rules that match a transition."""
    found: set[str] = set()
    for rule in rules:
        if rule.source in (None, o) and rule.action in (None, a) and rule.target in (None, z):
            found |= rule.propositions
    return frozenset(found)


def product(task: Task) -> dict[tuple[State, int], list[tuple[float, float, State]]]:
    """Return the edges (probability, mean reward, next state) of every product state and action."""
    dense = task.mdp.to_dense().tolist()
    machine = task.machine
    edges: dict[tuple[State, int], list[tuple[float, float, State]]] = {}
    for m, name in enumerate(machine.states):
        for o in range(task.num_observations):
            for a in range(task.num_actions):
                edges[(m, o), a] = [
                    (dense[o][a][z] * out.probability, out.reward.mean, (machine.states.index(out.target), z))
                    for z in range(task.num_observations)
                    if dense[o][a][z] > 0
                    for out in machine.outcomes(name, label_of(task.mdp.labelling.rules, o, a, z))
                ]
    return edges


def start(task: Task) -> dict[State, float]:
    """Return the distribution of the first product state."""
    first = task.machine.states.index(task.machine.initial)
    return {(first, o): p for o, p in enumerate(task.mdp.start_probs.tolist()) if p > 0}


def solve(task: Task) -> list[dict[State, float]]:
    """Return V_h for h = 0 … H by backward induction."""
    return _backward(task, lambda h, state, action_values: max(action_values))


def evaluate(task: Task, policy: Any) -> list[dict[State, float]]:
    """Return V_h of a policy for h = 0 … H."""

    def mean(h: int, state: State, action_values: list[float]) -> float:
        chosen = action_probs(policy, h, state, task.num_actions)
        return sum(p * q for p, q in zip(chosen, action_values, strict=True))

    return _backward(task, mean)


def _backward(task: Task, choose: Any) -> list[dict[State, float]]:
    edges = product(task)
    states = {state for state, _ in edges}
    values = [dict.fromkeys(states, 0.0)]
    for h in reversed(range(task.horizon)):
        after = values[0]
        values.insert(0, {})
        for state in states:
            action_values = [
                sum(p * (reward + task.discount * after[target]) for p, reward, target in edges[state, a])
                for a in range(task.num_actions)
            ]
            values[0][state] = choose(h, state, action_values)
    return values


def action_probs(policy: Any, h: int, state: State, num_actions: int) -> list[float]:
    """Return the probability of each action."""
    chosen = policy[h][state[0]][state[1]]
    if getattr(chosen, "ndim", 0) == 1:
        return chosen.tolist()
    return [float(a == chosen) for a in range(num_actions)]


def occupancy(task: Task, policy: Any) -> tuple[list[dict[State, float]], dict[tuple[int, int], float], float]:
    """Return γ^h·P(state at step h) for h = 0 … H, the visits to (o, a) so weighted, and the expected return."""
    edges = product(task)
    steps = [defaultdict(float, start(task))]
    pairs: dict[tuple[int, int], float] = defaultdict(float)
    total = 0.0
    for h in range(task.horizon):
        after: dict[State, float] = defaultdict(float)
        for state, mass in steps[h].items():
            for a, chosen in enumerate(action_probs(policy, h, state, task.num_actions)):
                pairs[state[1], a] += mass * chosen
                for p, reward, target in edges[state, a]:
                    after[target] += task.discount * mass * chosen * p
                    total += mass * chosen * p * reward
        steps.append(after)
    return steps, pairs, total
