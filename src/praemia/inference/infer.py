"""Infer a machine from traces, and say how far the traces support it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from praemia._support.activity import OnProgress
from praemia._support.text_tables import plural
from praemia.errors import ModelError, ParameterError, SizeError, require_fraction
from praemia.inference.answer import HeldOut, Inference, inferred_machine, list_edges
from praemia.inference.doubts import SAME, alternatives, contradiction, doubts, hidden_moves, is_smallest
from praemia.inference.evidence import idle_symbols
from praemia.inference.merging import MergeByTests, fold_states
from praemia.inference.reading import as_traces
from praemia.inference.state_table import MAX_STATES, UNDECIDED, StateTable, description_length, walk_from_start
from praemia.inference.traces import Ints, Steps, Traces

HELD_OUT = 0.1  # of the episodes are held out, to score a machine inferred from the others
MAX_REPAIRS = 50
EXPLODES = 2.0  # times the description of the traces by one state: a longer one explains nothing


def infer(
    traces: Traces | Iterable[Steps],
    *,
    deterministic: bool | None = None,
    failure_prob: float = 0.01,
    on_progress: OnProgress | None = None,
) -> Inference:
    """Infer a machine that explains episodes of (label, reward).

    Parameters
    ----------
    traces : episodes, each a list of steps (label, reward), where a label is a set of propositions; or what
        ``praemia.inference.load_traces`` returned.
    deterministic : whether the machine is deterministic; by default, if no two episodes contradict it and the machine
        is not too large for the traces.
    failure_prob : ρ, an upper bound on the probability that any correct merge of a probabilistic machine is rejected.
    on_progress : called with the number of episodes that the machine explains so far, and the total.

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
    if not (deterministic is None or isinstance(deterministic, bool | np.bool_)):
        raise ParameterError(f"deterministic={deterministic!r}; expected True, False or None")
    require_fraction("failure_prob", failure_prob)
    data = as_traces(traces)
    merged = _merge(data, None if deterministic is None else bool(deterministic), failure_prob, on_progress)
    table = merged.table
    unknown, close = doubts(data, table, deterministic=merged.is_deterministic)
    return Inference(
        machine=inferred_machine(data, table, failure_prob),
        edges=list_edges(data, table),
        is_smallest=merged.is_deterministic and is_smallest(data, table),
        why_probabilistic=merged.why_probabilistic,
        not_identifiable=unknown,
        close_calls=close,
        outside_class=None if merged.is_deterministic else hidden_moves(data, table, merged.idle),
        held_out=_held_out(data, merged, failure_prob),
        num_episodes=data.num_episodes,
        num_steps=data.num_steps,
    )


class _Merged(NamedTuple):
    """States and edges, the symbols that never matter, and whether the machine is deterministic."""

    table: StateTable
    idle: Ints
    is_deterministic: bool
    why_probabilistic: str | None = None


def _merge(
    data: Traces, deterministic: bool | None, failure_prob: float, on_progress: OnProgress | None = None
) -> _Merged:
    """Return states and edges of the requested kind, or else deterministic ones where they explain the traces well."""
    against = contradiction(data)
    if deterministic and against is not None:
        raise ModelError(against)
    if deterministic is False or against is not None:
        return _merge_as(False, data, failure_prob, on_progress)
    try:
        merged = _merge_as(True, data, failure_prob, on_progress)
        one_state = StateTable.of(data, np.zeros((1, data.num_symbols), dtype=np.int64))
        if deterministic or description_length(data, merged.table) <= EXPLODES * description_length(data, one_state):
            return merged
        size = plural(merged.table.num_states, "state")
    except SizeError:
        if deterministic:
            raise
        size = f"more than {MAX_STATES:,} states"
    why = f"a deterministic machine explains the traces, but only with {size}: more than these traces support"
    return _merge_as(False, data, failure_prob, on_progress)._replace(why_probabilistic=why)


def _merge_as(deterministic: bool, data: Traces, failure_prob: float, on_progress: OnProgress | None = None) -> _Merged:
    """Merge states; then lead edges elsewhere, as long as that makes the traces likelier."""
    idle = idle_symbols(data, deterministic=deterministic, failure_prob=failure_prob)
    events = data.without(idle)
    merge = partial(fold_states, events) if deterministic else MergeByTests(events, failure_prob).run
    table = StateTable.of(events, merge(on_progress)).minimised(events)
    for _ in range(0 if deterministic else MAX_REPAIRS):
        best = min(alternatives(events, table, deterministic=False), key=lambda other: other.cost, default=None)
        if best is None or best.cost >= -SAME:
            break
        table = table.redirected(events, best.state, best.symbol, best.target)
    return _Merged(StateTable.of(data, table.moves), idle, deterministic)


def _held_out(data: Traces, merged: _Merged, failure_prob: float) -> HeldOut | None:
    """Infer a machine from the training episodes, and score it on the others."""
    training, test = data.split(HELD_OUT, np.random.default_rng(0))
    if data.num_episodes < 1.0 / HELD_OUT or not len(test.lengths):
        return None
    table = _merge_as(merged.is_deterministic, training, failure_prob).table
    counts = walk_from_start(test, table.moves).counts
    base = training.base_rates[training.label_of, training.reward_of]
    unseen = (table.counts == 0) & (training.label_totals(table.counts) > 0)  # a reward impossible in the machine
    unexplained = walk_from_start(test, np.where(unseen, UNDECIDED, table.moves)).exit_state >= 0
    return HeldOut(
        test.num_episodes,
        float((counts * np.log(training.probabilities(table.counts))).sum() / counts.sum()),
        float((counts * np.log(base)).sum() / counts.sum()),
        float(1.0 - test.weights[unexplained].sum() / test.num_episodes),
        table.num_states == merged.table.num_states,
    )
