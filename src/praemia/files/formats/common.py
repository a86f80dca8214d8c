"""What other tools' formats share: lines of text, events as whole labels, deterministic machines.

An event is a whole label: ``item`` is the label {item}, on which nothing else is true. A label of several propositions,
or of none, is written in braces: ``{delivery, item}``, ``{}``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from reprlib import repr as brief
from typing import Any

from praemia.errors import FileError, ModelError, SizeError
from praemia.machines.labels import Label, format_label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule

SHOWN = 20


def parsed(parser: Any, text: str, name: str, expected: str, *, first_line: int = 1, **options: Any) -> Any:
    """Return the tree of a text by a Lark parser, or raise a FileError at the place where it stopped."""
    from lark.exceptions import UnexpectedInput

    try:
        return parser.parse(text, **options)
    except UnexpectedInput as error:
        at_end = getattr(getattr(error, "token", None), "type", None) == "$END"
        rest = text[error.pos_in_stream or 0 :].split("\n", maxsplit=1)[0][:SHOWN]
        line, column = first_line + max(error.line, 1) - 1, max(error.column, 1)
        if at_end:
            line, column = first_line + text.count("\n"), len(text) - text.rfind("\n")
        problem = "it ends too early" if at_end else f"stopped at {rest!r}"
        raise FileError(f"{name}:{line}:{column}: {problem}; expected {expected}") from None


def number(text: str, what: str) -> float:
    """Read a finite number, or say what it should have been."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise FileError(f"{what} is {brief(text.strip())}; expected a number")
    return value


def write_number(value: float) -> str:
    """Write a number with all its digits, a whole one without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


MAX_EDGES = 100_000


def label_of(event: str) -> Label:
    """Return the label that an event stands for."""
    event = event.strip()
    if event.startswith("{") and event.endswith("}"):
        return frozenset(name.strip() for name in event[1:-1].split(",") if name.strip())
    return frozenset({event})


def event_of(label: Label) -> str:
    """Write a label as an event, or raise a ModelError if it would not be read back."""
    event = next(iter(label)) if len(label) == 1 else format_label(label)
    if label_of(event) != label:
        raise ModelError(f"the label {format_label(label)} does not read back as an event; rename its propositions")
    return event


def all_labels(machine: RewardMachine) -> Iterator[Label]:
    """Yield every label, the smaller ones first; refuse a machine with too many of them."""
    names: Sequence[str] = machine.propositions
    if machine.num_states << len(names) > MAX_EDGES:
        raise SizeError(
            f"{machine.num_states} states on 2^{len(names)} labels; this format needs a line for each, "
            f"and at most {MAX_EDGES:,} are written"
        )
    for size in range(len(names) + 1):
        yield from map(frozenset, combinations(names, size))


def is_over(machine: RewardMachine, state: str) -> bool:
    """Tell whether a machine never leaves a state and is never paid in it: for other tools, the episode has ended."""
    return all(outcomes == (Outcome(state),) for outcomes in machine.possible_outcomes(state))


def without_stays(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Drop the rules that stay and pay nothing: so does a machine without a rule."""
    return tuple(rule for rule in rules if rule.outcomes != (Outcome(rule.source),))


def sure_target(rule: Rule) -> tuple[str, Reward]:
    """Return the one target of a rule with what is paid, or say that chance cannot be carried over."""
    if len(rule.outcomes) > 1:
        raise ModelError(f"{rule.where}: it leads to several states by chance; this format has no probabilities")
    return rule.outcomes[0].target, rule.outcomes[0].reward


def sure_outcome(rule: Rule) -> tuple[str, float]:
    """Return the one target and the one reward of a rule, or say that chance cannot be carried over."""
    target, reward = sure_target(rule)
    if not reward.is_constant:
        raise ModelError(f"{rule.where}: it pays {reward}; this format has no random rewards")
    return target, reward.values[0]
