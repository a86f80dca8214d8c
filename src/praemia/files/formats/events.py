"""What other tools' formats share: a text is parsed by a grammar, and one event happens at each step.

An event is a whole label: ``item`` is the label {item}, on which nothing else is true. A label of several propositions,
or of none, is written in braces: ``{delivery, item}``, ``{}``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from praemia.errors import FileError, PraemiaError, located
from praemia.machines.guards import exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule

SHOWN = 20  # characters of a text where parsing stopped
Place: TypeAlias = str | Callable[[], str]


@cache
def _parser(grammar: str, start: str) -> Any:
    from lark import Lark

    return Lark(grammar, parser="lalr", propagate_positions=True, start=start)


def parsed(grammar: str, text: str, name: str, expected: str, *, first_line: int = 1, start: str = "start") -> Any:
    """Return the tree of a text by a grammar, or raise a FileError at the place where it stopped."""
    from lark.exceptions import UnexpectedInput

    try:
        return _parser(grammar, start).parse(text)
    except UnexpectedInput as error:
        at_end = getattr(getattr(error, "token", None), "type", None) == "$END"
        rest = text[error.pos_in_stream or 0 :].split("\n", maxsplit=1)[0][:SHOWN]
        line, column = first_line + max(error.line, 1) - 1, max(error.column, 1)
        if at_end:
            line, column = first_line + text.count("\n"), len(text) - text.rfind("\n")
        problem = "it ends too early" if at_end else f"stopped at {rest!r}"
        raise FileError(f"{name}:{line}:{column}: {problem}; expected {expected}") from None


def machine_of_rules(
    where: Place,
    states: Sequence[str],
    initial: str,
    propositions: Sequence[str],
    rules: Sequence[tuple[Place, Rule]],
    first_match: bool = False,
) -> RewardMachine:
    """Return the machine of rules, each with its place in a file; errors name that of a rule, or else ``where``."""
    try:
        return RewardMachine(states, initial, propositions, [rule for _, rule in rules], first_match)
    except PraemiaError as error:
        culprit = getattr(error, "rule", None)
        with located(next((place for place, rule in rules if rule is culprit), where)):
            raise


class Transition(NamedTuple):
    """What happens in a state on an event; ``chance`` is None where it happens for sure, ``where`` names its place."""

    where: Place
    source: str
    event: str
    target: str
    chance: float | None
    reward: Reward


def label_of(event: str) -> Label:
    """Return the label that an event stands for."""
    event = event.strip()
    if event.startswith("{") and event.endswith("}"):
        return frozenset(name.strip() for name in event[1:-1].split(",") if name.strip())
    return frozenset({event})


def event_machine(
    states: Sequence[str], initial: str, events: Iterable[str], transitions: Iterable[Transition]
) -> RewardMachine:
    """Return the machine of some transitions; without one for an event, a state stays and the reward is 0."""
    names = tuple(dict.fromkeys(name for event in events for name in sorted(label_of(event))))
    groups: dict[tuple[str, Label], list[Transition]] = {}
    for item in transitions:
        group = groups.setdefault((item.source, label_of(item.event)), [])
        group.append(item)
        if len(group) > 1 and None in (group[0].chance, item.chance):
            with located(item.where):
                raise FileError(f"a second transition from {item.source!r} on {item.event!r}; give it one")
    rules = []
    for (source, label), group in groups.items():
        with located(group[0].where):
            outcomes = (Outcome(t.target, 1.0 if t.chance is None else t.chance, t.reward) for t in group)
            rules.append(Rule(source, exactly(label, names), tuple(outcomes)))
    moves = [rule for rule in rules if rule.outcomes != (Outcome(rule.source),)]
    return RewardMachine(tuple(states), initial, names, moves)
