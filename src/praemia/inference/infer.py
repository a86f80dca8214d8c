"""Infer a machine from traces, and say how far the traces support it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from praemia.errors import ModelError, ParameterError
from praemia.inference.hidden_moves import find_hidden_moves
from praemia.inference.idle_labels import idle_symbols
from praemia.inference.machine_from_counts import Edge, build_machine, merge_equivalent
from praemia.inference.merging import Core, base_rates, merge_states, walk
from praemia.inference.support import SAME, Alternative, alternatives, contradiction, filled, is_smallest
from praemia.inference.traces import Episode, Traces, as_traces, label_text
from praemia.models.machine import RewardMachine

HELD_OUT = 10  # every tenth episode is held out to score a machine inferred from the others
MAX_REPAIRS = 50

Progress = Callable[[int, int], None]


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
class Inference:
    """A machine inferred from traces, with what supports it.

    Attributes
    ----------
    machine : it explains every episode, and no two of its states are equivalent.
    edges : each way out of a state, with how often it was seen, and an interval for its probability.
    visits : how many steps were taken in each state.
    is_smallest : whether the traces prove that no deterministic machine with fewer states explains them.
    not_identifiable : what the traces cannot tell, with the states in question.
    close_calls : what they barely tell: a machine at most 20 times less likely has this edge lead elsewhere.
    outside_class : why label and reward do not seem to fix the next state in the true machine; None if they do.
    held_out : how well held-out episodes are predicted; None if there are too few.

    Examples
    --------
    >>> import praemia
    >>> found = praemia.infer([[({"item"}, 0.0), ({"door"}, 1.0)], [({"door"}, 0.0), ({"item"}, 0.0), ({"door"}, 1.0)]])
    >>> found.machine.num_states, found.is_smallest, found.num_steps
    (2, True, 5)
    """

    machine: RewardMachine
    edges: tuple[Edge, ...]
    visits: dict[str, int]
    is_smallest: bool
    not_identifiable: tuple[str, ...]
    close_calls: tuple[str, ...]
    outside_class: str | None
    held_out: HeldOut | None
    num_episodes: int
    num_steps: int

    @property
    def is_deterministic(self) -> bool:
        """Whether every label that was seen in a state always led to one state and one reward."""
        return all(edge.count == edge.of for edge in self.edges)

    def lines(self) -> list[str]:
        """Describe the machine and what supports it, line by line."""
        kind = "deterministic" if self.is_deterministic else "probabilistic"
        size = f"{self.machine.num_states} state" + ("s" if self.machine.num_states != 1 else "")
        smallest = ", proved smallest" if self.is_smallest else ""
        found = [f"a {kind} machine with {size}{smallest}, from {self.num_episodes:,} episodes"]
        if self.held_out is not None:
            held = self.held_out
            found.append(
                f"held out: {held.explained:.1%} of {held.episodes:,} episodes explained; "
                f"{held.log_likelihood:.4f} nats per step (labels alone: {held.base_rate:.4f})"
            )
        found += [f"outside the class: {self.outside_class}"] if self.outside_class else []
        found += [f"not identifiable: {text}" for text in self.not_identifiable]
        return found + [f"close call: {text}" for text in self.close_calls]

    def to_json(self) -> dict[str, Any]:
        """Return everything but the machine as plain data."""
        return {
            "states": self.machine.num_states,
            "deterministic": self.is_deterministic,
            "smallest": self.is_smallest,
            "episodes": self.num_episodes,
            "steps": self.num_steps,
            "visits": self.visits,
            "edges": [
                {
                    "from": edge.source,
                    "labels": [sorted(label) for label in edge.labels],
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
            "outside_class": self.outside_class,
            "held_out": None if self.held_out is None else vars(self.held_out),
        }


def infer(
    traces: Traces | Iterable[Episode],
    *,
    deterministic: bool | None = None,
    failure_prob: float = 0.01,
    on_progress: Progress | None = None,
) -> Inference:
    """Infer a machine that explains episodes of (label, reward).

    Parameters
    ----------
    traces : episodes, each a list of steps (label, reward), where a label is a set of propositions; or what
        ``praemia.inference.load_traces`` returned.
    deterministic : whether the machine is; by default it is if no two episodes contradict that.
    failure_prob : ρ, the probability with which any right merge of a probabilistic machine may be rejected, in all.
    on_progress : called with the number of episodes that the machine explains so far, and of all.

    Raises
    ------
    PraemiaError
        If a step is malformed, or two episodes contradict a deterministic machine.

    Examples
    --------
    >>> import praemia
    >>> first = [({"item"}, 0.0), ({"door"}, 1.0), ({"door"}, 0.0)]
    >>> second = [({"door"}, 0.0), ({"item"}, 0.0), ({"item"}, 0.0), ({"door"}, 1.0)]
    >>> machine = praemia.infer([first, second]).machine
    >>> machine.expected_rewards([{"item"}, {"door"}])
    array([0., 1.])
    """
    if deterministic not in (None, True, False):
        raise ParameterError(f"deterministic={deterministic!r}; expected True, False or None")
    if not 0.0 < failure_prob < 1.0:
        raise ParameterError(f"failure_prob={failure_prob!r}; expected a number between 0 and 1")
    data = as_traces(traces)
    found = contradiction(data)
    if deterministic and found is not None:
        raise ModelError(_contradicts(data, *found))
    exact = found is None if deterministic is None else deterministic
    core, others = _states(data, exact, failure_prob, on_progress)
    machine, edges = build_machine(data, core, failure_prob)
    unknown, close = _doubts(data, core, others)
    num_hidden = None if exact else find_hidden_moves(data, core)
    return Inference(
        machine=machine,
        edges=edges,
        visits={name: int(n) for name, n in zip(machine.states, core.counts.sum(axis=1), strict=True)},
        is_smallest=exact and is_smallest(data, core),
        not_identifiable=unknown,
        close_calls=close,
        outside_class=None if num_hidden is None else _outside(num_hidden, core.num_states),
        held_out=_held_out(data, exact, failure_prob, core.num_states),
        num_episodes=data.num_episodes,
        num_steps=data.num_steps,
    )


def infer_machine(data: Traces, failure_prob: float = 0.01) -> RewardMachine:
    """Infer a machine without asking how far the traces support it."""
    core, _ = _states(data, contradiction(data) is None, failure_prob)
    return build_machine(data, core, failure_prob)[0]


def _states(
    data: Traces, exact: bool, failure_prob: float, on_progress: Progress | None = None
) -> tuple[Core, list[Alternative]]:
    """Return states and edges, and where edges could lead instead; edges that are likelier elsewhere are moved."""
    idle = idle_symbols(data, deterministic=exact, failure_prob=failure_prob)
    core = merge_states(data.without(idle), deterministic=exact, failure_prob=failure_prob, on_progress=on_progress)
    core = merge_equivalent(data, recounted(data, filled(core.delta)))
    for _ in range(MAX_REPAIRS):
        others = alternatives(data, core, deterministic=exact)
        best = min(others, key=lambda other: other.cost, default=None)
        if best is None or best.cost >= -SAME:
            break
        delta = core.delta.copy()
        delta[best.state, best.symbol] = best.target
        core = merge_equivalent(data, recounted(data, filled(delta)))
    return core, others


def recounted(data: Traces, moves: np.ndarray) -> Core:
    """Return the states and edges of a complete δ, with the counts of traces; edges that never occur are undecided."""
    start = np.zeros(len(data.lengths), dtype=np.int64)
    found = walk(data, moves, np.arange(len(start)), start, start)
    return Core(np.where(found.counts > 0, moves, -1), found.counts, found.exit_state, found.exit_pos)


def _contradicts(data: Traces, first: int, second: int, step: int) -> str:
    one, two = (data.symbols[row, step] for row in (first, second))
    paid = [f"{data.rewards[data.reward_of[symbol]]:g}" for symbol in (one, two)]
    return (
        f"no deterministic machine explains {data.where(first)} and {data.where(second)}: they are equal up to the "
        f"label of step {step + 1}, {label_text(data.labels[data.label_of[one]])}, on which one pays {paid[0]} and the "
        f"other {paid[1]}; infer a probabilistic machine instead"
    )


def _outside(num_hidden: int, num_states: int) -> str:
    return (
        f"a machine of {num_hidden} states in which label and reward do not fix the next state describes the traces "
        f"better than this one, of {num_states} states, which only follows what can be seen; or there is too little "
        "data to tell its states apart"
    )


def _doubts(data: Traces, core: Core, others: list[Alternative]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what the traces cannot tell, and what they barely tell."""
    unknown: dict[tuple[int, int], list[Alternative]] = {}
    close: dict[tuple[int, int], list[Alternative]] = {}
    for other in others:
        (unknown if other.cost < SAME else close).setdefault((other.state, other.symbol), []).append(other)
    lines = [f"{_where(data, core, *edge)}, or {_named(found)}" for edge, found in unknown.items()]
    barely = [
        f"{_where(data, core, *edge)} rather than {_named(found)} ({min(item.cost for item in found):.1f} nats)"
        for edge, found in close.items()
    ]
    seen = np.zeros((core.num_states, len(data.labels)), dtype=bool)
    states, symbols = np.nonzero(core.counts)
    seen[states, data.label_of[symbols]] = True
    for state in np.flatnonzero(~seen.all(axis=1)):
        missing = [label_text(label) for label, known in zip(data.labels, seen[state], strict=True) if not known]
        lines.append(f"what q{state} does on {', '.join(missing)}, never seen there")
    return tuple(lines), tuple(barely)


def _where(data: Traces, core: Core, state: int, symbol: int) -> str:
    label, reward = data.labels[data.label_of[symbol]], data.rewards[data.reward_of[symbol]]
    return f"q{state} on {label_text(label)} paying {reward:g} leads to q{core.delta[state, symbol]}"


def _named(found: list[Alternative]) -> str:
    return " or ".join(f"q{item.target}" for item in found)


def _held_out(data: Traces, exact: bool, failure_prob: float, num_states: int) -> HeldOut | None:
    """Infer a machine from most episodes, and score it on the others."""
    kept, out = data.split(HELD_OUT)
    if not len(out.lengths):
        return None
    core, _ = _states(kept, exact and contradiction(kept) is None, failure_prob)
    base = base_rates(kept)[data.label_of, data.reward_of]
    there = np.zeros((core.num_states, len(data.labels)))
    np.add.at(there.T, data.label_of, core.counts.T)
    predicted = (core.counts + base) / (there[:, data.label_of] + 1.0)
    start = np.zeros(len(out.lengths), dtype=np.int64)
    counts = walk(out, filled(core.delta), np.arange(len(start)), start, start).counts
    unseen = (core.counts == 0) & (there[:, data.label_of] > 0)
    possible = np.where(unseen, -1, filled(core.delta))
    left = walk(out, possible, np.arange(len(start)), start, start).exit_state >= 0
    total = counts.sum()
    return HeldOut(
        out.num_episodes,
        float((counts * np.log(predicted)).sum() / total),
        float((counts * np.log(base)).sum() / total),
        float(1.0 - out.weights[left].sum() / out.num_episodes),
        core.num_states == num_states,
    )
