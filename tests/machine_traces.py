"""Random machines that can be inferred, traces of them, and a check of isomorphism of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard
from praemia.tasks.task import Task

Label = frozenset[str]
LABELS: tuple[Label, ...] = (frozenset(), frozenset("a"), frozenset("b"))
_GUARDS = ("!a & !b", "a & !b", "!a & b")
Law = dict[float, tuple[float, int]]  # reward -> its probability and the next state
Table = list[list[Law]]  # [state][label]


def machine_of(table: Table) -> RewardMachine:
    names = tuple(f"s{i}" for i in range(len(table)))
    rules = [
        Rule(names[q], parse_guard(guard), tuple(Outcome(names[t], p, Reward((r,))) for r, (p, t) in law.items()))
        for q, laws in enumerate(table)
        for guard, law in zip(_GUARDS, laws, strict=True)
    ]
    return RewardMachine(names, names[0], ("a", "b"), tuple(rules))


def random_table(rng: np.random.Generator, num_states: int, most_rewards: int) -> Table:
    """Draw a machine in which label and reward fix the next state; at most so many rewards for a state and label."""
    while True:
        table = []
        for _ in range(num_states):
            laws = []
            for _ in LABELS:
                rewards = rng.choice([0.0, 1.0, 2.0], size=int(rng.integers(1, most_rewards + 1)), replace=False)
                probs = rng.dirichlet(np.full(len(rewards), 3.0))
                laws.append({r: (p, int(rng.integers(num_states))) for r, p in zip(rewards, probs, strict=True)})
            table.append(laws)
        if is_minimal(table):
            return table


def is_minimal(table: Table) -> bool:
    """Tell whether all states can be reached, and any two differ in the rewards that some sequence of labels allows."""
    reached, queue = {0}, [0]
    for q in queue:
        for law in table[q]:
            for _, target in law.values():
                if target not in reached:
                    reached.add(target)
                    queue.append(target)
    pairs = [(p, q) for p in range(len(table)) for q in range(p)]
    return len(reached) == len(table) and all(telling_word(table, p, q) is not None for p, q in pairs)


def telling_word(table: Table, p: int, q: int) -> list[tuple[int, float]] | None:
    """Return the shortest sequence of (label, reward) whose last label has other rewards from q than from p."""
    seen, queue = {(p, q)}, [((p, q), [])]
    for (one, two), word in queue:
        for i in range(len(LABELS)):
            laws = table[one][i], table[two][i]
            if laws[0].keys() != laws[1].keys():
                return [*word, (i, next(iter(laws[0])))]
            for reward in laws[0]:
                after = laws[0][reward][1], laws[1][reward][1]
                if after[0] != after[1] and after not in seen:
                    seen.add(after)
                    queue.append((after, [*word, (i, reward)]))
    return None


def play(table: Table, word: Sequence[int]) -> list[tuple[Label, float]]:
    """Return the trace of a deterministic machine on a sequence of label numbers."""
    state, trace = 0, []
    for i in word:
        ((reward, (_, state)),) = table[state][i].items()
        trace.append((LABELS[i], reward))
    return trace


def characteristic_sample(table: Table) -> list[list[tuple[Label, float]]]:
    """Return traces that determine a deterministic machine for RPNI (Oncina and García 1992)."""
    access: dict[int, tuple[int, ...]] = {0: ()}
    queue = [0]
    for q in queue:
        for i in range(len(LABELS)):
            ((_, (_, target)),) = table[q][i].items()
            if target not in access:
                access[target] = (*access[q], i)
                queue.append(target)
    words = {(*word, i) for word, i in product(access.values(), range(len(LABELS)))}
    for (q, first), (p, second) in product(access.items(), repeat=2):
        for i in range(len(LABELS)):
            ((_, (_, target)),) = table[p][i].items()
            if target != q:
                rest = tuple(j for j, _ in telling_word(table, q, target) or ())
                words |= {(*first, *rest), (*second, i, *rest)}
    return [play(table, word) for word in sorted(words)]


def random_traces(table: Table, rng: np.random.Generator, num_traces: int, length: int) -> list[Any]:
    """Draw traces on uniformly random labels."""
    traces = []
    for _ in range(num_traces):
        state, trace = 0, []
        for i in rng.integers(len(LABELS), size=length):
            law = table[state][i]
            reward = float(rng.choice(list(law), p=[p for p, _ in law.values()]))
            state = law[reward][1]
            trace.append((LABELS[i], reward))
        traces.append(trace)
    return traces


def isomorphism(machine: RewardMachine, table: Table) -> dict[str, int] | None:
    """Return which state of a machine is which of the table, if the two are the same up to names and probabilities."""
    found, queue = {machine.initial: 0}, [machine.initial]
    for state in queue:
        for i, label in enumerate(LABELS):
            law = table[found[state]][i]
            outs = {r: out.target for out in machine.outcomes(state, label) for r in out.reward.values}
            if outs.keys() != law.keys():
                return None
            for reward, target in outs.items():
                if target not in found:
                    found[target] = law[reward][1]
                    queue.append(target)
                if found[target] != law[reward][1]:
                    return None
    return found if len(found) == machine.num_states == len(table) == len(set(found.values())) else None


def played_traces(task: Task, num_episodes: int, seed: int = 0) -> list[list[tuple[Label, float]]]:
    """Play uniformly at random; return the episodes as lists of (label, reward)."""
    mdp, rng, traces = task.mdp, random.Random(seed), []
    edges = list(zip(mdp.successors.tolist(), mdp.labels.tolist(), mdp.ends.tolist(), strict=True))
    rows = [slice(first, last) for first, last in zip(mdp.indptr, mdp.indptr[1:], strict=False)]
    ways = [(edges[row], mdp.probs[row].tolist()) for row in rows]
    moves = {
        (state, number): list(zip(*_moves(task.machine, state, label), strict=True))
        for state in task.machine.states
        for number, label in enumerate(mdp.label_sets)
    }
    for _ in range(num_episodes):
        (o,), state, has_ended, trace = (
            rng.choices(range(mdp.num_observations), mdp.start_probs),
            task.machine.initial,
            False,
            [],
        )
        while not has_ended and len(trace) < task.max_steps:
            ((o, label, has_ended),) = rng.choices(*ways[o * task.num_actions + rng.randrange(task.num_actions)])
            ((state, reward),) = rng.choices(*moves[state, label])
            trace.append((mdp.label_sets[label], reward))
        traces.append(trace)
    return traces


def _moves(machine: RewardMachine, state: str, label: Label) -> list[tuple[tuple[str, float], float]]:
    """Return the states and rewards that can follow, with their probabilities."""
    return [
        ((out.target, value), out.probability * probability)
        for out in machine.outcomes(state, label)
        for value, probability in zip(out.reward.values, out.reward.probabilities, strict=True)
    ]
