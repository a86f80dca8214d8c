"""Read the reward machines of multiagent-rl-rm: JSON (or YAML) with states, events and transitions.

One event happens at each step, or none; transitions that leave a terminal state are never taken.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from pydantic import Field

from praemia.errors import unknown_name
from praemia.files.formats.events import Transition, event_machine
from praemia.files.schema import Part
from praemia.files.source import Source, validate
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward

KEYS = frozenset({"initial_state", "terminal_states", "event_vocabulary"})


class TransitionPart(Part):
    """What happens in a state on an event."""

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
            transitions.append(Transition(place, item.from_state, item.event, item.to_state, None, reward))
    for state in part.terminal_states:
        if state not in part.states:
            with source.at("terminal_states"):
                raise unknown_name("machine state", state, part.states)
    where = partial(
        source.spot, ("initial_state" if part.initial_state not in part.states else "states",), column=False
    )
    return event_machine(where, part.states, part.initial_state, part.event_vocabulary, transitions)
