"""What ``praemia.infer`` answers: the machine, written from states and counts, and how far the traces support it.

In each state, labels that do the same share a rule: they lead to the same states for the same rewards, and the test of
``praemia.inference.evidence`` does not tell their rewards apart. A guard reads only the propositions that are needed to
tell the labels seen in that state apart; a label that was never seen there then does what those propositions say, or
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from praemia.displayed import Displayed
from praemia.inference.evidence import p_value
from praemia.inference.state_table import StateTable
from praemia.inference.traces import Floats, Ints, Traces
from praemia.machines.formula import Formula, disjunction
from praemia.machines.guards import exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.text_tables import plural

INTERVAL_LEVEL = 0.95  # for all intervals of a machine together


@dataclass(frozen=True)
class Edge:
    """What the data says about one way out of a state, on one label.

    Attributes
    ----------
    label : what came in the state; reward : what was paid.
    count : how often this happened, ``of`` so many times that the label came in this state; if the machine is fitted,
        how often this is expected to have happened.
    probability : count/of; interval : where the true one lies, by an exact test, or approximately if the machine is
        fitted. All intervals of a machine hold together w.p. 0.95, if its states are the right ones.
    """

    source: str
    label: Label
    reward: float
    target: str
    count: float
    of: float
    interval: tuple[float, float]

    @property
    def probability(self) -> float:
        return self.count / self.of


@dataclass(frozen=True)
class HeldOut:
    """How a machine inferred from the other episodes predicts held-out ones.

    Attributes
    ----------
    log_likelihood : nats per step of their rewards, given the labels; base_rate : the same if only labels are used.
    explained : the share of these episodes all of whose rewards the machine can pay.
    same_states : whether the machine inferred without them has as many states.
    """

    episodes: int
    log_likelihood: float
    base_rate: float
    explained: float
    same_states: bool


@dataclass(frozen=True)
class Inference(Displayed):
    """A machine inferred from traces, with what supports it.

    Attributes
    ----------
    machine : it explains every episode, and no two of its states are equivalent.
    is_fitted : whether some of its moves are hidden, so that its probabilities are fitted rather than counted.
    edges : each way out of a state, with how often it was seen, and an interval for its probability.
    why_probabilistic : why the machine is, though no two episodes contradict a deterministic one; else None.
    is_smallest : whether the traces prove that no deterministic machine with fewer states explains them.
    not_identifiable : what the traces cannot tell, with the states in question.
    close_calls : what they barely tell: a machine at most 20 times less likely has this edge lead elsewhere.
    outside_class : why the machine lies outside the class in which label and reward fix the next state, and is fitted;
        None if nothing says so.
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
    is_fitted: bool
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
        """How many steps were taken in each state, or are expected to have been."""
        return {
            state: round(sum(edge.count for edge in self.edges if edge.source == state))
            for state in self.machine.states
        }

    @property
    def is_deterministic(self) -> bool:
        """Whether every label that was seen in a state always led to one state and one reward."""
        return all(edge.count == edge.of for edge in self.edges)

    def __repr__(self) -> str:
        return f"Inference({self.lines()[0]})"

    def lines(self) -> list[str]:
        """Describe the machine and what supports it, line by line."""
        kind = "fitted" if self.is_fitted else "deterministic" if self.is_deterministic else "probabilistic"
        size = plural(self.machine.num_states, "state")
        size += " and hidden moves" if self.is_fitted else ""
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
            "fitted": self.is_fitted,
            "smallest": self.is_smallest,
            "episodes": self.num_episodes,
            "steps": self.num_steps,
            "visits": self.visits,
            "edges": [
                {
                    "from": edge.source,
                    "label": sorted(edge.label),
                    "reward": edge.reward,
                    "to": edge.target,
                    "count": edge.count,
                    "of": edge.of,
                    "probability": edge.probability,
                    "interval": list(edge.interval),
                }
                for edge in self.edges
            ],
            "not_identifiable": list(self.not_identifiable),
            "close_calls": list(self.close_calls),
            "why_probabilistic": self.why_probabilistic,
            "outside_class": self.outside_class,
            "held_out": None if self.held_out is None else vars(self.held_out),
        }


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
    taken, totals = np.nonzero(table.counts), traces.label_totals(table.counts)
    intervals = np.zeros((*table.flow.shape, 2))
    level = (1.0 - INTERVAL_LEVEL) / len(taken[0])
    intervals[*taken, table.moves[taken]] = clopper_pearson(table.counts[taken], totals[taken], level)
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


def clopper_pearson(counts: Floats, totals: Floats, failure_prob: float) -> Floats:
    """Return exact intervals [N, 2] for probabilities, from how often things happened in numbers of trials."""
    low = betaincinv(counts, totals - counts + 1.0, 0.5 * failure_prob)
    high = betaincinv(counts + 1.0, totals - counts, 1.0 - 0.5 * failure_prob)
    return np.stack((np.where(counts > 0.0, low, 0.0), np.where(counts < totals, high, 1.0)), axis=-1)


def _relevant(traces: Traces, groups: list[LabelGroup]) -> tuple[str, ...]:
    """Return propositions that tell the labels of different groups apart: none of them can be left out."""
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
