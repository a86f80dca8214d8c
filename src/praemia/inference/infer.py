"""Infer a machine from traces, and say how far the traces support it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from praemia.errors import ModelError, ParameterError, SizeError
from praemia.inference.answer import HeldOut, Inference
from praemia.inference.hidden_moves import fewest_hidden
from praemia.inference.idle_labels import idle_symbols
from praemia.inference.machine_from_counts import Edge, build_machine, merge_equivalent
from praemia.inference.merging import MAX_STATES, Core, merge_states
from praemia.inference.reading import as_traces
from praemia.inference.states_needed import states_needed
from praemia.inference.support import (
    SAME,
    Alternative,
    alternatives,
    contradiction,
    description_length,
    filled,
    is_smallest,
)
from praemia.inference.traces import Episode, Ints, Traces, label_text
from praemia.inference.walking import base_rates, walk
from praemia.machines.machine import RewardMachine

HELD_OUT = 0.1  # of the episodes are held out, to score a machine inferred from the others
MAX_REPAIRS = 50
EXPLODES = 2.0  # times the description of the traces by one state: a longer one explains nothing

Progress = Callable[[int, int], None]


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
    states = _states(data, deterministic, failure_prob, on_progress)
    core = states.core
    machine, edges = build_machine(data, core, failure_prob)
    unknown, close = _doubts(data, core, alternatives(data, core, deterministic=states.exact))
    outside = None
    if not states.exact:
        needed = states_needed(data.without(states.idle), filled(core.delta), failure_prob)
        if needed > core.num_states:
            unknown = (f"which states there are: at least {needed} are needed (at level {failure_prob:g})", *unknown)
        hidden = fewest_hidden(data, core, states.idle, needed, failure_prob)
        outside = None if hidden is None else _outside(hidden, needed, failure_prob)
    return Inference(
        machine=machine,
        edges=edges,
        visits={name: int(n) for name, n in zip(machine.states, core.counts.sum(axis=1), strict=True)},
        is_smallest=states.exact and is_smallest(data, core),
        why_probabilistic=states.why_probabilistic,
        not_identifiable=unknown,
        close_calls=close,
        outside_class=outside,
        held_out=_held_out(data, states, failure_prob),
        num_episodes=data.num_episodes,
        num_steps=data.num_steps,
    )


def infer_machine(data: Traces, failure_prob: float = 0.01) -> tuple[RewardMachine, tuple[Edge, ...]]:
    """Infer a machine without asking what else the traces could mean."""
    return build_machine(data, _states(data, None, failure_prob).core, failure_prob)


@dataclass(frozen=True)
class _States:
    """States and edges, the symbols that never matter, and whether the machine is deterministic."""

    core: Core
    idle: Ints
    exact: bool
    why_probabilistic: str | None = None


def _states(
    data: Traces, deterministic: bool | None, failure_prob: float, on_progress: Progress | None = None
) -> _States:
    """Return states and edges of the kind asked for, or else deterministic ones where they explain the traces well."""
    found = contradiction(data)
    if deterministic and found is not None:
        raise ModelError(_contradicts(data, *found))
    if deterministic is False or found is not None:
        return _merged(data, False, failure_prob, on_progress)
    try:
        states = _merged(data, True, failure_prob, on_progress)
        most = EXPLODES * description_length(data, recounted(data, np.zeros((1, data.num_symbols), dtype=np.int64)))
        if deterministic or description_length(data, states.core) <= most:
            return states
        size = f"{states.core.num_states:,} states"
    except SizeError:
        if deterministic:
            raise
        size = f"more than {MAX_STATES:,} states"
    why = f"a deterministic machine explains the traces, but only with {size}: more than these traces support"
    return replace(_merged(data, False, failure_prob, on_progress), why_probabilistic=why)


def _merged(data: Traces, exact: bool, failure_prob: float, on_progress: Progress | None) -> _States:
    """Merge states; then lead edges elsewhere, as long as that makes the traces likelier."""
    idle = idle_symbols(data, deterministic=exact, failure_prob=failure_prob)
    events = data.without(idle)
    core = merge_states(events, deterministic=exact, failure_prob=failure_prob, on_progress=on_progress)
    core = merge_equivalent(events, recounted(events, filled(core.delta)))
    for _ in range(0 if exact else MAX_REPAIRS):
        best = min(alternatives(events, core, deterministic=exact), key=lambda other: other.cost, default=None)
        if best is None or best.cost >= -SAME:
            break
        delta = core.delta.copy()
        delta[best.state, best.symbol] = best.target
        core = merge_equivalent(events, recounted(events, filled(delta)))
    return _States(recounted(data, filled(core.delta)), idle, exact)


def recounted(data: Traces, moves: Ints) -> Core:
    """Return the states and edges of a complete δ, with the counts of traces; edges that never occur are undecided."""
    start = np.zeros(len(data.lengths), dtype=np.int64)
    found = walk(data, moves, np.arange(len(start)), start, start)
    return Core(np.where(found.counts > 0, moves, -1), found.counts, found.exit_state, found.exit_pos)


def _contradicts(data: Traces, first: int, second: int, step: int) -> str:
    one, two = (data.symbols[row, step] for row in (first, second))
    paid = [f"{data.rewards[data.reward_of[symbol]]:.12g}" for symbol in (one, two)]
    return (
        f"no deterministic machine explains {data.where(first)} and {data.where(second)}: they are equal up to the "
        f"label of step {step + 1}, {label_text(data.labels[data.label_of[one]])}, on which one pays {paid[0]} and the "
        f"other {paid[1]}; infer a probabilistic machine instead"
    )


def _outside(hidden: int, needed: int, failure_prob: float) -> str:
    return (
        f"if label and reward fixed the next state, at least {needed} states would be needed (at level "
        f"{failure_prob:g}), but {hidden} states explain the traces as well if some moves are hidden"
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


def _held_out(data: Traces, states: _States, failure_prob: float) -> HeldOut | None:
    """Infer a machine from most episodes, and score it on the others."""
    kept, out = data.split(HELD_OUT, np.random.default_rng(0))
    if data.num_episodes < 1.0 / HELD_OUT or not len(out.lengths):
        return None
    core = _merged(kept, states.exact, failure_prob, None).core
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
        core.num_states == states.core.num_states,
    )
