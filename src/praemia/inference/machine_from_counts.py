"""Write inferred states and counts as a machine: equivalent states merged, short guards, rewards as laws.

In each state, labels that do the same share a rule: they lead to the same states for the same rewards, and the test of
``praemia.inference.evidence`` does not tell their rewards apart. A guard reads only the propositions that are needed to
tell the labels seen in that state apart; a label that was never seen there then does what those propositions say, or
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from praemia.inference.evidence import p_value
from praemia.inference.merging import Core
from praemia.inference.support import filled
from praemia.inference.traces import Floats, Ints, Traces
from praemia.machines.formula import disjunction
from praemia.machines.guards import Guard, exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule

INTERVAL_LEVEL = 0.95  # for all intervals of a machine together


@dataclass(frozen=True)
class Edge:
    """What the data says about one way out of a state, on one label.

    Attributes
    ----------
    label : what came in the state; reward : what was paid.
    count : how often this happened, ``of`` so many times that the label came in this state.
    probability : count/of; interval : where the true one lies, by an exact test. All intervals of a machine hold
        together w.p. 0.95, if its states are the right ones.
    """

    source: str
    label: Label
    reward: float
    target: str
    count: int
    of: int
    interval: tuple[float, float]

    @property
    def probability(self) -> float:
        return self.count / self.of


@dataclass(frozen=True)
class LabelGroup:
    """Labels that do the same in a state: next state [R] for each reward (−1: never paid), and counts [R]."""

    labels: tuple[int, ...]
    targets: Ints
    counts: Floats


def merge_equivalent(traces: Traces, core: Core) -> Core:
    """Merge states that no sequence of labels tells apart, and number states by when they are first reached."""
    blocks = _blocks(traces, core)
    moves = filled(core.delta)
    order, queue = {int(blocks[0]): 0}, [0]
    for state in queue:
        for symbol in np.flatnonzero(core.counts[state] > 0):
            target = int(moves[state, symbol])
            if int(blocks[target]) not in order:
                order[int(blocks[target])] = len(order)
                queue.append(target)
    number = np.array([order.get(int(block), -1) for block in blocks])
    delta = np.full((len(order), traces.num_symbols), -1, dtype=np.int64)
    counts = np.zeros((len(order), traces.num_symbols))
    for state in np.flatnonzero(number >= 0).tolist():
        seen = core.counts[state] > 0
        delta[number[state], seen] = number[moves[state, seen]]
        counts[number[state]] += core.counts[state]
    return Core(delta, counts, core.exit_state, core.exit_pos)


def _blocks(traces: Traces, core: Core) -> Ints:
    """Refine the states until those of one block pay alike and move alike; a label never seen stays and pays 0."""
    moves, table = filled(core.delta), traces.cells(core.counts).reshape(core.num_states, -1, len(traces.rewards))
    totals = table.sum(axis=2, keepdims=True)
    idle = (np.array(traces.rewards) == 0.0)[None, None, :]
    law = np.where(totals > 0, table / np.maximum(totals, 1.0), idle).round(12)[:, traces.label_of, traces.reward_of]
    blocks = np.zeros(core.num_states, dtype=np.int64)
    while True:
        key = np.hstack((blocks[:, None], law, np.where(law > 0, blocks[moves], -1)))
        _, refined = np.unique(key, axis=0, return_inverse=True)
        refined = refined.ravel()
        if refined.max() == blocks.max():
            return refined
        blocks = refined


def label_groups(traces: Traces, core: Core, level: float) -> list[list[LabelGroup]]:
    """Return for each state the labels seen there, grouped by what they do."""
    shape = (core.num_states, len(traces.labels), len(traces.rewards))
    table = traces.cells(core.counts).reshape(shape)
    targets = np.full(shape, -1)
    targets[:, traces.label_of, traces.reward_of] = core.delta
    targets = np.where(table > 0, targets, -1)
    return [_grouped(table[state], targets[state], level) for state in range(core.num_states)]


def _grouped(table: Floats, targets: Ints, level: float) -> list[LabelGroup]:
    groups: list[LabelGroup] = []
    for label in np.flatnonzero(table.sum(axis=1) > 0).tolist():
        for number, group in enumerate(groups):
            same = np.array_equal(targets[label], group.targets)  # so the same rewards, too
            if same and p_value(table[label][None], group.counts[None], level) > level:
                groups[number] = LabelGroup((*group.labels, label), group.targets, group.counts + table[label])
                break
        else:
            groups.append(LabelGroup((label,), targets[label], table[label]))
    return groups


def build_machine(traces: Traces, core: Core, level: float) -> tuple[RewardMachine, tuple[Edge, ...]]:
    """Return the machine, and what the data says about each of its edges."""
    names = tuple(f"q{i}" for i in range(core.num_states))
    grouped = label_groups(traces, core, level)
    rules = []
    for name, groups in zip(names, grouped, strict=True):
        relevant = _relevant(traces, groups)
        for group in groups:
            outcomes = _outcomes(traces, group, names)
            if outcomes != (Outcome(name),):
                labels = [traces.labels[number] for number in group.labels]
                rules.append(Rule(name, _guard(labels, relevant), outcomes))
    return RewardMachine(names, names[0], traces.propositions, tuple(rules)), _edges(traces, core, names)


def _outcomes(traces: Traces, group: LabelGroup, names: tuple[str, ...]) -> tuple[Outcome, ...]:
    total, found = group.counts.sum(), []
    for target in sorted({int(group.targets[r]) for r in np.flatnonzero(group.counts > 0)}):
        paid = np.flatnonzero((group.counts > 0) & (group.targets == target))
        count = group.counts[paid].sum()
        law = Reward(tuple(traces.rewards[r] for r in paid), tuple((group.counts[paid] / count).tolist()))
        found.append(Outcome(names[target], float(count / total), law))
    return tuple(found)


def _edges(traces: Traces, core: Core, names: tuple[str, ...]) -> tuple[Edge, ...]:
    seen = np.argwhere(core.counts > 0).tolist()
    totals = np.zeros((core.num_states, len(traces.labels)))
    np.add.at(totals.T, traces.label_of, core.counts.T)
    found = []
    for state, symbol in seen:
        label, count = int(traces.label_of[symbol]), int(core.counts[state, symbol])
        total = int(totals[state, label])
        interval = clopper_pearson(count, total, (1.0 - INTERVAL_LEVEL) / len(seen))
        reward, target = traces.rewards[traces.reward_of[symbol]], names[int(core.delta[state, symbol])]
        found.append(Edge(names[state], traces.labels[label], reward, target, count, total, interval))
    return tuple(found)


def clopper_pearson(count: int, total: int, failure_prob: float) -> tuple[float, float]:
    """Return the exact interval for a probability, from how often something happened in a number of trials."""
    half = failure_prob / 2.0
    low = 0.0 if count == 0 else float(beta.ppf(half, count, total - count + 1))
    high = 1.0 if count == total else float(beta.ppf(1.0 - half, count + 1, total - count))
    return low, high


def _relevant(traces: Traces, groups: list[LabelGroup]) -> tuple[str, ...]:
    """Return propositions that tell the labels of different groups apart: none of them can be left out."""
    kept = list(traces.propositions)
    for name in reversed(traces.propositions):
        fewer = [other for other in kept if other != name]
        owners: dict[frozenset[str], int] = {}
        if all(
            owners.setdefault(traces.labels[label].intersection(fewer), number) == number
            for number, group in enumerate(groups)
            for label in group.labels
        ):
            kept = fewer
    return tuple(kept)


def _guard(labels: list[Label], relevant: tuple[str, ...]) -> Guard:
    """Return the guard that holds on labels which agree with one of some on the relevant propositions."""
    agreeing = sorted({label.intersection(relevant) for label in labels}, key=sorted)
    return disjunction(exactly(label, relevant) for label in agreeing)
