"""Headroom's Q-values, one step backwards, by the formulas of its docstring: plain Python, one number at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from learner_oracles import label_of

from praemia.learners import Headroom
from praemia.tasks.task import Task

Label = frozenset[str]
Labels = dict[tuple[int, int, int], Label]
Follows = Callable[[int, Label, int], float]  # Y of a machine state, a label and a next observation


def all_labels(task: Task) -> Labels:
    """Return the label of every (o, a, o')."""
    shape = (task.num_observations, task.num_actions, task.num_observations)
    return {key: label_of(task.mdp.labelling.rules, *key) for key in np.ndindex(shape)}


def tops(task: Task, labels: Labels, follows: Follows, m: int) -> dict[tuple[int, int], float]:
    """The best that can follow each pair: over its labels, and over every o' that comes with each of them."""
    by_label: dict[Label, float] = {}
    for (_, _, z), label in labels.items():
        by_label[label] = max(by_label.get(label, 0.0), follows(m, label, z))
    result: dict[tuple[int, int], float] = {}
    for (o, a, _), label in labels.items():
        result[o, a] = max(result.get((o, a), 0.0), by_label[label])
    return result


class Spread:
    """How far outcomes differ, from the steps looked at so far."""

    def __init__(self, task: Task) -> None:
        weight = 0.2 * sum(task.spec.value_caps)
        self.differences, self.room, self.local_room = 0.1 * weight, weight, weight

    @property
    def shares(self) -> tuple[float, float]:
        return self.differences / self.room, self.differences / self.local_room

    def add(self, n: int, variance: float, headroom: float, local_headroom: float) -> None:
        if n > 1:
            self.differences += math.sqrt(variance * n / (n - 1))
            self.room += headroom
            self.local_room += local_headroom


def choices(
    task: Task,
    learner: Headroom,
    seen: Mapping[tuple[int, int, int], int],
    episodes: float,
    labels: Labels,
    follows: Follows,
    m: int,
    shares: tuple[float, float],
    spread: Spread,
    log_term: float = 0.0,
    cap: float = math.inf,
) -> np.ndarray:
    """Return Q[o, a] from the transitions seen, which are counted; ``cap`` limits the tops."""
    top, found = tops(task, labels, follows, m), np.zeros((task.num_observations, task.num_actions))
    local_tops = np.zeros(task.num_observations)
    for (o, a, z), count in seen.items():
        if count:
            local_tops[o] = max(local_tops[o], follows(m, labels[o, a, z], z))
    for o, a in np.ndindex(found.shape):
        row = {z: seen[o, a, z] for z in range(task.num_observations)}
        n, best = sum(row.values()), min(top[o, a], cap)
        total = sum(count for (source, _, _), count in seen.items() if source == o)
        if n == 0:
            found[o, a] = best
            continue
        values = {z: follows(m, labels[o, a, z], z) for z in row if row[z]}
        mean = sum(row[z] / n * y for z, y in values.items())
        variance = sum(row[z] / n * (y - mean) ** 2 for z, y in values.items())
        spread.add(n, variance, best - mean, local_tops[o] - mean)
        if learner.constants == "theory":
            bonus = max(math.sqrt(8 * log_term * variance / n), 8 * log_term * best / n)
        else:
            neglect = 1 + math.log(total / n) / 2
            deviation = learner.deviation_scale * math.sqrt(neglect * variance / n)
            forgotten = max(neglect, math.sqrt(learner.forgotten_scale * math.log(1 + episodes) / n))
            headroom = max(shares[0] * (best - mean), shares[1] * (local_tops[o] - mean))
            bonus = deviation + learner.headroom_scale * forgotten * headroom / n
        found[o, a] = min(best, mean + bonus)
    return found
