"""A whole run of UCBVI-PRM in plain Python: lists, loops and the paper's own sums, as one would first write it down.

Algorithm 1: play, count N(o, a, o') and N'_h(o), plan again when some N(o, a) reaches a power of two (``doubling``) or
before every episode (``episode``, as written). Algorithm 2: the plan, with sums over *every* o', also those never seen.
Used as an oracle (a run may follow another's policies, so that ties do not tell them apart) and as what
``benchmarks/plain_python.py`` compares speed with. No kernel of the package is used.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any

import numpy as np

from praemia.tasks.task import Task


class Known:
    """What the learner is told: sizes, and τ and ν̄ for the label of every (o, a, o')."""

    def __init__(self, task: Task) -> None:
        self.O, self.A, self.Q, self.H = (
            task.num_observations,
            task.num_actions,
            task.num_machine_states,
            task.horizon,
        )
        numbers, table = task.spec.every_step.labels[0], task.spec.every_step.table
        count = table.indptr.shape[0] // self.Q
        edges = list(zip(table.targets.tolist(), table.probs.tolist(), table.rewards.tolist(), strict=True))
        starts = table.indptr.tolist()
        self.label = numbers.tolist()
        self.moves = [
            [edges[starts[n * self.Q + q] : starts[n * self.Q + q + 1]] for q in range(self.Q)] for n in range(count)
        ]
        self.initial = task.machine.index[task.machine.initial]


class World:
    """The task to be played: one uniform number for each choice among several, as ``simulate`` draws them."""

    def __init__(self, task: Task, seed: tuple[int, ...]) -> None:
        world, _ = np.random.SeedSequence(seed).spawn(2)
        self._draw = np.random.default_rng(world).random
        self.starts = [(o, p) for o, p in enumerate(task.mdp.start_probs.tolist()) if p > 0.0]
        self._task = task
        dense = task.mdp.to_dense().tolist()
        self.successors = [[[(z, p) for z, p in enumerate(row) if p > 0.0] for row in rows] for rows in dense]

    def choose(self, things: list[tuple[Any, float]]) -> Any:
        """Draw one of several things with their probabilities; a sure thing takes no random number."""
        if len(things) == 1:
            return things[0][0]
        uniform, total = self._draw(), 0.0
        for thing, p in things[:-1]:
            total += p
            if uniform < total:
                return thing
        return things[-1][0]

    def outcomes(self, q: int, label: int) -> list[tuple[Any, float]]:
        """Return ((q', its law of rewards), probability) for a label of the task."""
        machine, table = self._task.machine, self._task.mdp.label_sets
        found = machine.outcomes(machine.states[q], table[label])
        return [((machine.index[out.target], out.reward), out.probability) for out in found]


@dataclass
class PlainRun:
    """What a run did: the first episode, V_0[o][q] and Q[h][o][q][a] of each plan, and what each episode paid."""

    plan_episodes: list[int] = field(default_factory=list)
    values: list[list[list[float]]] = field(default_factory=list)
    action_values: list[Any] = field(default_factory=list)
    returns: list[float] = field(default_factory=list)


class Counts:
    """N(o, a, o'), N(o, a) and N'_h(o)."""

    def __init__(self, known: Known) -> None:
        self.transitions = [[[0] * known.O for _ in range(known.A)] for _ in range(known.O)]
        self.visits = [[0] * known.A for _ in range(known.O)]
        self.steps = [[0] * known.O for _ in range(known.H + 1)]


def plan(known: Known, counts: Counts, previous: Any, iota: float, scale: float) -> tuple[Any, Any]:
    """Return Q[h][o][q][a] and V_0[o][q] of Algorithm 2."""
    after = [[0.0] * known.Q for _ in range(known.O)]
    qval: list[Any] = [None] * known.H
    for h in reversed(range(known.H)):
        qval[h] = [
            [
                [
                    min(previous[h][o][q][a], action_value(known, counts, after, h, q, o, a, iota, scale))
                    for a in range(known.A)
                ]
                for q in range(known.Q)
            ]
            for o in range(known.O)
        ]
        after = [[max(qval[h][o][q]) for q in range(known.Q)] for o in range(known.O)]
    return qval, after


def action_value(
    known: Known, counts: Counts, after: Any, h: int, q: int, o: int, a: int, iota: float, scale: float
) -> float:
    """Return min{H, Σ p̂(φ + W) + γ·b}; H for a pair never visited."""
    n, H = counts.visits[o][a], known.H
    if n == 0:
        return float(H)
    cap = 100.0**2 * H**3 * known.O**2 * known.A * iota**2
    mean = square = backup = spread = 0.0
    for z in range(known.O):
        p = counts.transitions[o][a][z] / n
        moves = known.moves[known.label[o][a][z]][q]
        w = sum(tau * after[z][q_next] for q_next, tau, _ in moves)
        phi = sum(tau * nu for _, tau, nu in moves)
        later = counts.steps[h + 1][z]
        mean += p * w
        square += p * w * w
        backup += p * (phi + w)
        spread += p * (H**2 if later == 0 else min(cap / later, H**2))
    variance = max(0.0, square - mean * mean)
    bonus = sqrt(8 * iota * variance / n) + 14 * H * iota / (3 * n) + sqrt(2 * iota / n) + sqrt(8 * spread / n)
    return min(float(H), backup + scale * bonus)


def greedy(known: Known, qval: Any, ties: random.Random) -> Any:
    """Return policy[h][o][q], one of the best actions each."""
    policy = []
    for by_observation in qval:
        policy.append(
            [
                [ties.choice([a for a in range(known.A) if values[a] == max(values)]) for values in row]
                for row in by_observation
            ]
        )
    return policy


def play(known: Known, world: World, labels: Any, counts: Counts, policy: Any) -> tuple[float, bool]:
    """Play an episode and count it; return what it paid and whether some N(o, a) reached a power of two."""
    o, q, paid, doubled = world.choose(world.starts), known.initial, 0.0, False
    for h in range(known.H):
        a = int(policy[h][o][q])
        z = world.choose(world.successors[o][a])
        q_next, law = world.choose(world.outcomes(q, labels[o, a, z]))
        paid += world.choose(list(zip(law.values, law.probabilities, strict=True)))
        counts.transitions[o][a][z] += 1
        counts.visits[o][a] += 1
        counts.steps[h][o] += 1
        n = counts.visits[o][a]
        doubled = doubled or n & (n - 1) == 0
        o, q = z, q_next
    counts.steps[known.H][o] += 1
    return paid, doubled


def run(
    task: Task,
    num_episodes: int,
    seed: int = 0,
    *,
    scale: float = 0.001,
    rho: float = 0.05,
    replan: str = "doubling",
    length: int | None = None,
    follow: list[Any] | None = None,
) -> PlainRun:
    """Run the algorithm, or only its first ``length`` episodes; ``follow`` gives the policies [H, O, M] to play."""
    known, world, record = Known(task), World(task, (seed,)), PlainRun()
    iota = log(6 * known.Q * known.O * known.A * num_episodes * known.H / rho)
    counts, ties, due = Counts(known), random.Random(seed), True
    labels = _labels(task)
    qval: Any = [[[[float(known.H)] * known.A] * known.Q] * known.O] * known.H
    for episode in range(num_episodes if length is None else length):
        if due:
            qval, values = plan(known, counts, qval, iota, scale)
            policy = greedy(known, qval, ties) if follow is None else follow[len(record.plan_episodes)]
            record.plan_episodes.append(episode)
            record.values.append(values)
            record.action_values.append(qval)
        paid, doubled = play(known, world, labels, counts, policy)
        record.returns.append(paid)
        due = doubled or replan == "episode"
    return record


def _labels(task: Task) -> dict[tuple[int, int, int], int]:
    """Return the label of each transition that can happen."""
    mdp, found = task.mdp, {}
    for row in range(mdp.num_pairs):
        for e in range(mdp.indptr[row], mdp.indptr[row + 1]):
            found[(*divmod(row, mdp.num_actions), int(mdp.successors[e]))] = int(mdp.labels[e])
    return found
