"""What ``praemia.infer`` answers: the machine, written from states and counts, and how far the traces support it.

Labels that do the same in a state share a rule, whose guard reads only the propositions needed to distinguish the
labels seen there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from praemia._support.text_tables import plural
from praemia.inference.evidence import p_value
from praemia.inference.state_table import StateTable
from praemia.inference.traces import Floats, Ints, Traces
from praemia.machines.formula import Formula, disjunction
from praemia.machines.guards import exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule

INTERVAL_LEVEL = 0.95  # for all intervals of a machine together


@dataclass(frozen=True)
class Edge:
    """An edge out of a state on one label, with its counts.

    Attributes
    ----------
    count : of the ``of`` times that the label came in this state, those with this reward and target.
    probability : count/of; interval : of the true probability, by an exact test. All intervals of a machine hold
        together with probability 0.95, if its states are the right ones.
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

    def to_json(self) -> dict[str, Any]:
        """Return the edge as plain data."""
        data = vars(self) | {"label": sorted(self.label), "interval": list(self.interval)}
        ends = {"from": data.pop("source"), "to": data.pop("target"), "probability": self.probability}
        return ends | data


@dataclass(frozen=True)
class HeldOut:
    """How a machine inferred from the other episodes predicts held-out ones.

    Attributes
    ----------
    log_likelihood : nats per step of their rewards, given the labels; base_rate : the same if only labels are used.
    explained : the share of these episodes whose rewards are all possible in the machine.
    same_states : whether the machine inferred without them has as many states.
    """

    episodes: int
    log_likelihood: float
    base_rate: float
    explained: float
    same_states: bool


@dataclass(frozen=True)
class Inference:
    """A machine inferred from traces, with its evidence.

    Attributes
    ----------
    machine : the machine; it explains every episode, and no two of its states are equivalent.
    edges : its transitions, each with its count and an interval for its probability.
    why_probabilistic : why the machine is probabilistic although no two episodes contradict a deterministic one; else
        None.
    is_smallest : whether the traces prove that no deterministic machine with fewer states explains them.
    not_identifiable : the transitions that the traces do not determine, as text.
    close_calls : the transitions that they barely determine: a machine at most 20 times less likely has the edge lead
        elsewhere.
    outside_class : evidence of hidden moves, or None. With hidden moves, label and reward do not determine the next
        state, and the machine is only one of those that explain the traces.
    held_out : how well held-out episodes are predicted; None if there are too few.

    Examples
    --------
    >>> import praemia
    >>> first, second = [({"item"}, 0.0), ({"door"}, 1.0)], [({"door"}, 0.0), ({"item"}, 0.0), ({"door"}, 1.0)]
    >>> inference = praemia.infer([first, second])
    >>> inference.machine.num_states, inference.is_smallest, inference.num_steps
    (2, True, 5)
    """

    machine: RewardMachine
    edges: tuple[Edge, ...]
    is_smallest: bool
    why_probabilistic: str | None
    not_identifiable: tuple[str, ...]
    close_calls: tuple[str, ...]
    outside_class: str | None
    held_out: HeldOut | None
    num_episodes: int
    num_steps: int

    @property
    def visits(self) -> dict[str, int]:
        """The number of steps taken in each state."""
        return {q: sum(edge.count for edge in self.edges if edge.source == q) for q in self.machine.states}

    @property
    def is_deterministic(self) -> bool:
        """Whether every label that was seen in a state always led to one state and one reward."""
        return all(edge.count == edge.of for edge in self.edges)

    def __repr__(self) -> str:
        return f"Inference({self.lines()[0]})"

    def lines(self) -> list[str]:
        """Describe the machine and its evidence, line by line."""
        kind = "deterministic" if self.is_deterministic else "probabilistic"
        size = plural(self.machine.num_states, "state")
        smallest = ", proved smallest" if self.is_smallest else ""
        lines = [f"a {kind} machine with {size}{smallest}, from {plural(self.num_episodes, 'episode')}"]
        if self.held_out is not None:
            score = self.held_out
            lines.append(
                f"held out: {score.explained:.1%} of {plural(score.episodes, 'episode')} explained; "
                f"{score.log_likelihood:.4f} nats per step (labels alone: {score.base_rate:.4f})"
            )
        lines += [f"taken as probabilistic: {self.why_probabilistic}"] if self.why_probabilistic else []
        lines += [f"outside the class: {self.outside_class}"] if self.outside_class else []
        lines += [f"not identifiable: {text}" for text in self.not_identifiable]
        return lines + [f"close call: {text}" for text in self.close_calls]

    def to_json(self) -> dict[str, Any]:
        """Return everything but the machine as plain data."""
        return {
            "states": self.machine.num_states,
            "deterministic": self.is_deterministic,
            "smallest": self.is_smallest,
            "episodes": self.num_episodes,
            "steps": self.num_steps,
            "visits": self.visits,
            "edges": [edge.to_json() for edge in self.edges],
            "not_identifiable": list(self.not_identifiable),
            "close_calls": list(self.close_calls),
            "why_probabilistic": self.why_probabilistic,
            "outside_class": self.outside_class,
            "held_out": None if self.held_out is None else vars(self.held_out),
        }


def list_edges(traces: Traces, table: StateTable) -> tuple[Edge, ...]:
    """Return the edges that were taken, each with an exact interval for its probability."""
    names, taken = inferred_states(table.num_states), np.nonzero(table.counts)
    counts, totals = table.counts[taken], traces.label_totals(table.counts)[taken]
    error = 0.5 * (1.0 - INTERVAL_LEVEL) / len(counts)  # at either end (Clopper and Pearson 1934)
    lows = np.where(counts > 0.0, betaincinv(counts, totals - counts + 1.0, error), 0.0)
    highs = np.where(counts < totals, betaincinv(counts + 1.0, totals - counts, 1.0 - error), 1.0)
    return tuple(
        Edge(
            names[state],
            traces.labels[traces.label_of[symbol]],
            traces.rewards[traces.reward_of[symbol]],
            names[table.moves[state, symbol]],
            int(count),
            int(total),
            (float(low), float(high)),
        )
        for state, symbol, count, total, low, high in zip(*taken, counts, totals, lows, highs, strict=True)
    )


class LabelGroup(NamedTuple):
    """Labels that do the same in a state: where each reward leads on them, −1 if nowhere, and how often it came."""

    labels: tuple[int, ...]
    targets: Ints  # [R]
    counts: Floats  # [R]


def inferred_machine(traces: Traces, table: StateTable, level: float) -> RewardMachine:
    """Write a machine from states, edges and how often each was taken."""
    names, rules = inferred_states(table.num_states), []
    for state, name in enumerate(names):
        groups = _label_groups(traces, table.moves[state], table.counts[state], level)
        relevant = _relevant(traces, groups)
        for group in groups:
            outcomes = _outcomes(traces, group, names)
            if outcomes != (Outcome(name),):
                labels = [traces.labels[number] for number in group.labels]
                rules.append(Rule(name, _guard(labels, relevant), outcomes))
    return RewardMachine(names, names[0], traces.propositions, tuple(rules))


def inferred_states(number: int) -> tuple[str, ...]:
    return tuple(f"q{i}" for i in range(number))


def _label_groups(traces: Traces, moves: Ints, counts: Floats, level: float) -> list[LabelGroup]:
    """Group the labels that came in a state by what they do: moves int64[S], counts float64[S]."""
    groups: list[LabelGroup] = []
    paid, leads = traces.cells(counts[None]), traces.cells(np.where(counts > 0, moves + 1, 0)[None]).astype(int) - 1
    for label in np.flatnonzero(paid.any(axis=1)).tolist():
        for number, group in enumerate(groups):
            same = np.array_equal(leads[label], group.targets)  # the same rewards, leading to the same states
            if same and p_value(paid[label : label + 1], group.counts[None], level) > level:
                groups[number] = LabelGroup((*group.labels, label), group.targets, group.counts + paid[label])
                break
        else:
            groups.append(LabelGroup((label,), leads[label], paid[label]))
    return groups


def _outcomes(traces: Traces, group: LabelGroup, names: tuple[str, ...]) -> tuple[Outcome, ...]:
    outcomes = []
    for target in np.unique(group.targets[group.targets >= 0]).tolist():
        paid = np.flatnonzero(group.targets == target)
        counts = group.counts[paid]
        reward = Reward(tuple(traces.rewards[r] for r in paid), tuple((counts / counts.sum()).tolist()))
        outcomes.append(Outcome(names[target], float(counts.sum() / group.counts.sum()), reward))
    return tuple(outcomes)


def _relevant(traces: Traces, groups: list[LabelGroup]) -> tuple[str, ...]:
    """Return propositions that distinguish the labels of different groups: none of them can be left out."""
    names = list(traces.propositions)
    for name in reversed(traces.propositions):
        fewer = [other for other in names if other != name]
        owners: dict[frozenset[str], int] = {}
        if all(
            owners.setdefault(traces.labels[label].intersection(fewer), number) == number
            for number, group in enumerate(groups)
            for label in group.labels
        ):
            names = fewer
    return tuple(names)


def _guard(labels: list[Label], relevant: tuple[str, ...]) -> Formula:
    """Return the guard that holds on labels which agree with one of some on the relevant propositions."""
    agreeing = sorted({label.intersection(relevant) for label in labels}, key=sorted)
    return disjunction(exactly(label, relevant) for label in agreeing)
