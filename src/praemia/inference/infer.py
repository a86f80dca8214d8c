"""Infer a machine from traces, and say how far the traces support it, as data and in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from praemia.errors import ModelError, ParameterError, SizeError
from praemia.inference.hidden_moves import fewest_hidden
from praemia.inference.idle_labels import idle_symbols
from praemia.inference.machine_from_counts import Edge, build_machine, counted_edges
from praemia.inference.merging import MAX_STATES, Progress, merge_states
from praemia.inference.reading import as_traces
from praemia.inference.state_table import UNDECIDED, StateTable, description_length, walk_from_start
from praemia.inference.states_needed import states_needed
from praemia.inference.support import SAME, alternatives, contradiction, doubts, is_smallest
from praemia.inference.traces import Episode, Ints, Traces
from praemia.machines.machine import RewardMachine

HELD_OUT = 0.1  # of the episodes are held out, to score a machine inferred from the others
MAX_REPAIRS = 50
EXPLODES = 2.0  # times the description of the traces by one state: a longer one explains nothing


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
    why_probabilistic : why the machine is, though no two episodes contradict a deterministic one; else None.
    is_smallest : whether the traces prove that no deterministic machine with fewer states explains them.
    not_identifiable : what the traces cannot tell, with the states in question.
    close_calls : what they barely tell: a machine at most 20 times less likely has this edge lead elsewhere.
    outside_class : why the true machine may lie outside the class: one with fewer states and hidden moves explains the
        traces as well; None if nothing says so.
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
    why_probabilistic: str | None
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
        lines = [f"a {kind} machine with {size}{smallest}, from {self.num_episodes:,} episodes"]
        if self.held_out is not None:
            held = self.held_out
            lines.append(
                f"held out: {held.explained:.1%} of {held.episodes:,} episodes explained; "
                f"{held.log_likelihood:.4f} nats per step (labels alone: {held.base_rate:.4f})"
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
    deterministic : whether the machine is; by default it is if no two episodes contradict that, unless it would be too
        large for so few traces.
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
    merged = _merge(data, deterministic, failure_prob, on_progress)
    table, exact = merged.table, merged.is_deterministic
    unknown, close = doubts(data, table, deterministic=exact)
    outside = None
    if not exact:
        needed = states_needed(data.without(merged.idle), table.moves, failure_prob)
        if needed > table.num_states:
            unknown = (f"which states there are: at least {needed} are needed (at level {failure_prob:g})", *unknown)
        hidden = fewest_hidden(data, table, merged.idle, needed, failure_prob)
        outside = None if hidden is None else _outside(hidden, needed, failure_prob)
    machine = build_machine(data, table.flow, failure_prob)
    return Inference(
        machine=machine,
        edges=counted_edges(data, table),
        visits={name: int(n) for name, n in zip(machine.states, table.counts.sum(axis=1), strict=True)},
        is_smallest=exact and is_smallest(data, table),
        why_probabilistic=merged.why_probabilistic,
        not_identifiable=unknown,
        close_calls=close,
        outside_class=outside,
        held_out=_held_out(data, merged, failure_prob),
        num_episodes=data.num_episodes,
        num_steps=data.num_steps,
    )


def infer_machine(data: Traces, failure_prob: float = 0.01) -> tuple[RewardMachine, tuple[Edge, ...]]:
    """Infer a machine without asking what else the traces could mean."""
    table = _merge(data, None, failure_prob).table
    return build_machine(data, table.flow, failure_prob), counted_edges(data, table)


class _Merged(NamedTuple):
    """States and edges, the symbols that never matter, and whether the machine is deterministic."""

    table: StateTable
    idle: Ints
    is_deterministic: bool
    why_probabilistic: str | None = None


def _merge(
    data: Traces, deterministic: bool | None, failure_prob: float, on_progress: Progress | None = None
) -> _Merged:
    """Return states and edges of the kind asked for, or else deterministic ones where they explain the traces well."""
    against = contradiction(data)
    if deterministic and against is not None:
        raise ModelError(against)
    if deterministic is False or against is not None:
        return _merge_as(False, data, failure_prob, on_progress)
    try:
        merged = _merge_as(True, data, failure_prob, on_progress)
        most = EXPLODES * description_length(data, StateTable.single(data))
        if deterministic or description_length(data, merged.table) <= most:
            return merged
        size = f"{merged.table.num_states:,} states"
    except SizeError:
        if deterministic:
            raise
        size = f"more than {MAX_STATES:,} states"
    why = f"a deterministic machine explains the traces, but only with {size}: more than these traces support"
    return _merge_as(False, data, failure_prob, on_progress)._replace(why_probabilistic=why)


def _merge_as(deterministic: bool, data: Traces, failure_prob: float, on_progress: Progress | None = None) -> _Merged:
    """Merge states; then lead edges elsewhere, as long as that makes the traces likelier."""
    idle = idle_symbols(data, deterministic=deterministic, failure_prob=failure_prob)
    events = data.without(idle)
    table = merge_states(events, deterministic=deterministic, failure_prob=failure_prob, on_progress=on_progress)
    table = StateTable.from_moves(events, table.moves).minimised(events)
    for _ in range(0 if deterministic else MAX_REPAIRS):
        best = min(alternatives(events, table, deterministic=False), key=lambda other: other.cost, default=None)
        if best is None or best.cost >= -SAME:
            break
        table = table.redirected(events, best.state, best.symbol, best.target)
    return _Merged(StateTable.from_moves(data, table.moves), idle, deterministic)


def _outside(hidden: int, needed: int, failure_prob: float) -> str:
    return (
        f"if label and reward fixed the next state, at least {needed} states would be needed (at level "
        f"{failure_prob:g}), but {hidden} states explain the traces as well if some moves are hidden"
    )


def _held_out(data: Traces, merged: _Merged, failure_prob: float) -> HeldOut | None:
    """Infer a machine from most episodes, and score it on the others."""
    kept, out = data.split(HELD_OUT, np.random.default_rng(0))
    if data.num_episodes < 1.0 / HELD_OUT or not len(out.lengths):
        return None
    table = _merge_as(merged.is_deterministic, kept, failure_prob).table
    counts = walk_from_start(out, table.moves).counts
    base = kept.base_rates[kept.label_of, kept.reward_of]
    unseen = (table.counts == 0) & (kept.label_totals(table.counts) > 0)  # a reward that the machine cannot pay
    unexplained = walk_from_start(out, np.where(unseen, UNDECIDED, table.moves)).exit_state >= 0
    return HeldOut(
        out.num_episodes,
        float((counts * np.log(kept.probabilities(table.counts))).sum() / counts.sum()),
        float((counts * np.log(base)).sum() / counts.sum()),
        float(1.0 - out.weights[unexplained].sum() / out.num_episodes),
        table.num_states == merged.table.num_states,
    )
