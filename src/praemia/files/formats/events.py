"""What other tools' formats share, and the machines of multiagent-rl-rm: JSON (or YAML) with states and events.

One event happens at each step, or none. It is a whole label: ``item`` is {item}; one of several propositions, or of
none, is written in braces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, partial
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from praemia.errors import FileError, located, unknown_name
from praemia.files.schema import Part
from praemia.files.source import Place, Source, machine_of_rules, validate
from praemia.machines.guards import exactly
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule

MULTIAGENT_KEYS = frozenset({"initial_state", "terminal_states", "event_vocabulary"})
SHOWN = 20  # characters of a text where parsing stopped


@cache
def _parser(grammar: str) -> Any:
    from lark import Lark

    return Lark(grammar, parser="lalr", propagate_positions=True)


def parsed(grammar: str, text: str, name: str, expected: str) -> Any:
    """Return the tree of a text by a grammar, or raise a FileError at the place where it stopped."""
    from lark.exceptions import UnexpectedInput

    try:
        return _parser(grammar).parse(text)
    except UnexpectedInput as error:
        if getattr(getattr(error, "token", None), "type", None) == "$END":
            line, column, problem = 1 + text.count("\n"), len(text) - text.rfind("\n"), "it ends too early"
        else:
            rest = text[error.pos_in_stream or 0 :].split("\n", maxsplit=1)[0][:SHOWN]
            line, column, problem = error.line, error.column, f"stopped at {rest!r}"
        raise FileError(f"{name}:{line}:{column}: {problem}; expected {expected}") from None


class Transition(NamedTuple):
    """What happens in a state on an event; ``where`` names its place."""

    where: Place
    source: str
    event: str
    target: str
    chance: float
    reward: Reward


def _label_of(event: str) -> Label:
    if event.startswith("{") and event.endswith("}"):
        return frozenset(name.strip() for name in event[1:-1].split(",") if name.strip())
    return frozenset({event})


def event_machine(
    where: Place, states: Sequence[str], initial: str, events: Iterable[str], transitions: Iterable[Transition]
) -> RewardMachine:
    """Return the machine of some transitions; without one for an event, a state stays and the reward is 0."""
    names = tuple(dict.fromkeys(name for event in events for name in sorted(_label_of(event))))
    groups: dict[tuple[str, Label], list[Transition]] = {}
    for item in transitions:
        groups.setdefault((item.source, _label_of(item.event)), []).append(item)
    rules: list[tuple[Place, Rule]] = []
    for (source, label), group in groups.items():
        with located(group[0].where):
            outcomes = (Outcome(t.target, t.chance, t.reward) for t in group)
            rules.append((group[0].where, Rule(source, exactly(label, names), tuple(outcomes))))
    moves = [(place, rule) for place, rule in rules if rule.outcomes != (Outcome(rule.source),)]
    return machine_of_rules(where, states, initial, names, moves)


class TransitionPart(Part):
    """A transition in a file of multiagent-rl-rm."""

    from_state: str
    event: str
    to_state: str
    reward: float = 0.0


class SpecPart(Part):
    """A whole file; what only describes it is not read."""

    states: Annotated[list[str], Field(min_length=1)]
    initial_state: str
    terminal_states: list[str] = Field(default_factory=list)
    event_vocabulary: list[str]
    transitions: list[TransitionPart]
    name: Any = None
    env_id: Any = None
    version: Any = None
    notes: Any = None


def build_multiagent(source: Source) -> RewardMachine:
    """Return the machine of a file's data."""
    part = validate(source, SpecPart)
    transitions = []
    for i, item in enumerate(part.transitions):
        if item.event not in part.event_vocabulary:
            with source.at("transitions", i):
                raise unknown_name("event", item.event, part.event_vocabulary)
        if item.from_state not in part.terminal_states:
            place = partial(source.spot, ("transitions", i), column=False)
            reward = Reward.of(item.reward)
            transitions.append(Transition(place, item.from_state, item.event, item.to_state, 1.0, reward))
    for state in part.terminal_states:
        if state not in part.states:
            with source.at("terminal_states"):
                raise unknown_name("machine state", state, part.states)
    where = partial(
        source.spot, ("initial_state" if part.initial_state not in part.states else "states",), column=False
    )
    return event_machine(where, part.states, part.initial_state, part.event_vocabulary, transitions)
