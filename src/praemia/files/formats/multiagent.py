"""Read and write the reward machines of multiagent-rl-rm: JSON (or YAML) with states, events and transitions.

    {"states": ["q0", "q1"], "initial_state": "q0", "terminal_states": ["q1"], "event_vocabulary": ["at(A)"],
     "transitions": [{"from_state": "q0", "event": "at(A)", "to_state": "q1", "reward": 1}]}

At each step one event happens, or none. Where a state has no transition on an event it stays and pays 0. The episode
ends in a terminal state, so that transitions that leave one are never taken.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field

from praemia.errors import ModelError, require_distinct, unknown_name
from praemia.files.formats.common import all_labels, event_of, is_over, label_of, sure_outcome, without_stays
from praemia.files.schema import Part
from praemia.files.source import Source, parse_source, validate
from praemia.machines.guards import exactly
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule

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


def read_multiagent(text: str, name: str) -> RewardMachine:
    """Return the machine of a text; ``name`` stands for it in messages."""
    return build_multiagent(parse_source(text, name))


def build_multiagent(source: Source) -> RewardMachine:
    """Return the machine of a file's data."""
    part = validate(source, SpecPart)
    propositions = tuple(dict.fromkeys(name for event in part.event_vocabulary for name in sorted(label_of(event))))
    with source.at("states"):
        require_distinct("state", part.states)
    for i, state in enumerate(part.terminal_states):
        with source.at("terminal_states", i):
            _require(state, "machine state", part.states)
    rules: dict[tuple[str, str], Rule] = {}
    for i, item in enumerate(part.transitions):
        with source.at("transitions", i):
            _require(item.from_state, "machine state", part.states)
            _require(item.to_state, "machine state", part.states)
            _require(item.event, "event", part.event_vocabulary)
            if (item.from_state, item.event) in rules:
                raise ModelError(f"state {item.from_state!r} has a second transition on {item.event!r}; give it one")
            guard = exactly(label_of(item.event), propositions)
            outcome = Outcome(item.to_state, 1.0, Reward.of(item.reward))
            rules[item.from_state, item.event] = Rule(item.from_state, guard, (outcome,))
    live_rules = without_stays(rule for rule in rules.values() if rule.source not in part.terminal_states)
    with source.at("initial_state"):
        return RewardMachine(tuple(part.states), part.initial_state, propositions, live_rules)


def _require(name: str, kind: str, names: list[str]) -> None:
    if name not in names:
        raise unknown_name(kind, name, names)


def write_multiagent(machine: RewardMachine) -> str:
    """Return a machine as JSON text, or raise an error that names what the format cannot say."""
    transitions = []
    events = dict.fromkeys(map(event_of, map(frozenset, zip(machine.propositions))))
    for label in all_labels(machine):
        for state in machine.states:
            outcomes = machine.outcomes(state, label)
            if outcomes != (Outcome(state),):
                target, reward = sure_outcome(Rule(state, exactly(label, machine.propositions), outcomes))
                event = event_of(label)
                events[event] = None
                transitions.append({"from_state": state, "event": event, "to_state": target, "reward": reward})
    record = {
        "name": "machine",
        "env_id": "any",
        "version": "1.0",
        "states": machine.states,
        "initial_state": machine.initial,
        "terminal_states": [state for state in machine.states if is_over(machine, state)],
        "event_vocabulary": list(events),
        "transitions": transitions,
    }
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
