"""Write inferred states and counts as a machine: equivalent states merged, short guards, rewards as laws.

In each state, labels that do the same share a rule: they lead to the same states for the same rewards, and the test of
``praemia.inference.evidence`` does not tell their rewards apart. A guard reads only the propositions that are needed to
tell the labels seen in that state apart; a label that was never seen there then does what those propositions say, or
nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest

from praemia.inference.answer import INTERVAL_LEVEL, Edge
from praemia.inference.evidence import p_value
from praemia.inference.state_table import StateTable
from praemia.inference.traces import Floats, Ints, Traces
from praemia.machines.formula import disjunction
from praemia.machines.guards import Guard, exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule


class LabelGroup(NamedTuple):
    """Labels that do the same in a state, and how often each reward led to each state on them."""

    labels: tuple[int, ...]
    flow: Floats  # [R, M]


def build_machine(traces: Traces, flow: Floats, level: float) -> RewardMachine:
    """Write a machine from how often each symbol led from each state to each other: float64[M, S, M]."""
    names = state_names(len(flow))
    by_label = np.zeros((len(flow), len(traces.labels), len(traces.rewards), len(flow)))
    by_label[:, traces.label_of, traces.reward_of] = flow
    rules = []
    for name, of_state in zip(names, by_label, strict=True):
        groups = _label_groups(of_state, level)
        relevant = _relevant(traces, groups)
        for group in groups:
            outcomes = _outcomes(traces, group, names)
            if outcomes != (Outcome(name),):
                labels = [traces.labels[number] for number in group.labels]
                rules.append(Rule(name, _guard(labels, relevant), outcomes))
    return RewardMachine(names, names[0], traces.propositions, tuple(rules))


def state_names(number: int) -> tuple[str, ...]:
    return tuple(f"q{i}" for i in range(number))


def _label_groups(flow: Floats, level: float) -> list[LabelGroup]:
    """Group the labels that came in a state by what they do: flow float64[labels, R, M]."""
    groups: list[LabelGroup] = []
    for label in np.flatnonzero(flow.any(axis=(1, 2))).tolist():
        for number, group in enumerate(groups):
            same = np.array_equal(flow[label] > 0, group.flow > 0)  # the same rewards, leading to the same states
            if same and p_value(flow[label].reshape(1, -1), group.flow.reshape(1, -1), level) > level:
                groups[number] = LabelGroup((*group.labels, label), group.flow + flow[label])
                break
        else:
            groups.append(LabelGroup((label,), flow[label]))
    return groups


def _outcomes(traces: Traces, group: LabelGroup, names: tuple[str, ...]) -> tuple[Outcome, ...]:
    outcomes = []
    for target in np.flatnonzero(group.flow.any(axis=0)).tolist():
        paid = np.flatnonzero(group.flow[:, target])
        counts = group.flow[paid, target]
        law = Reward(tuple(traces.rewards[r] for r in paid), tuple((counts / counts.sum()).tolist()))
        outcomes.append(Outcome(names[target], float(counts.sum() / group.flow.sum()), law))
    return tuple(outcomes)


def counted_intervals(traces: Traces, table: StateTable) -> Floats:
    """Return exact intervals [M, S, M, 2] for the probability of each edge that was taken."""
    taken, totals = np.argwhere(table.counts > 0).tolist(), traces.label_totals(table.counts)
    intervals = np.zeros((*table.flow.shape, 2))
    for state, symbol in taken:
        count, total = int(table.counts[state, symbol]), int(totals[state, symbol])
        interval = clopper_pearson(count, total, (1.0 - INTERVAL_LEVEL) / len(taken))
        intervals[state, symbol, table.delta[state, symbol]] = interval
    return intervals


def list_edges(traces: Traces, flow: Floats | Ints, intervals: Floats) -> tuple[Edge, ...]:
    """List the edges that were taken, from the flow [M, S, M] and the intervals [M, S, M, 2]."""
    names, totals = state_names(len(flow)), traces.label_totals(flow.sum(axis=2)).astype(flow.dtype)
    return tuple(
        Edge(
            names[state],
            traces.labels[traces.label_of[symbol]],
            traces.rewards[traces.reward_of[symbol]],
            names[target],
            flow[state, symbol, target].item(),
            totals[state, symbol].item(),
            (float(intervals[state, symbol, target, 0]), float(intervals[state, symbol, target, 1])),
        )
        for state, symbol, target in np.argwhere(flow > 0).tolist()
    )


def clopper_pearson(count: int, total: int, failure_prob: float) -> tuple[float, float]:
    """Return the exact interval for a probability, from how often something happened in a number of trials."""
    interval = binomtest(count, total).proportion_ci(1.0 - failure_prob, method="exact")
    return float(interval.low), float(interval.high)


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
