"""Ready-made tasks in words: each is a formula or a regular expression, with the way of paying that suits it.

>>> visit_in_order("coffee", "office").text
'F(coffee & X F office)'
>>> visit_in_order("coffee", "office").machine(reward=0.5).num_states
3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from praemia.errors import ParameterError
from praemia.formulas.syntax import quoted
from praemia.models.machine import RewardMachine

MAX_STEPS = 40  # one within the other; formulas are read to a limited depth


@dataclass(frozen=True)
class Pattern:
    """A formula (``kind`` "ltlf") or a regular expression ("regex"), and when it pays."""

    text: str
    kind: Literal["ltlf", "regex"] = "ltlf"
    pay: str = "first"

    def machine(self, reward: float = 1.0, pay: str | None = None) -> RewardMachine:
        """Return the machine that pays a reward, at the pattern's own time unless another is given."""
        make = RewardMachine.from_ltlf if self.kind == "ltlf" else RewardMachine.from_regex
        return make(self.text, reward, self.pay if pay is None else pay)


def visit_in_order(*events: str) -> Pattern:
    """Pay once, when some events have happened one after the other, with anything in between."""
    _require_at_most("events", len(events))
    return Pattern(_in_order(_names(events)))


def visit_all(*events: str) -> Pattern:
    """Pay once, when each of some events has happened, in any order."""
    return Pattern(" & ".join(f"F {name}" for name in _names(events)))


def patrol(*events: str) -> Pattern:
    """Pay every round: each time some events have happened one after the other, and then again from the first."""
    return Pattern("(" + " ".join(f"(!{name})* {name}" for name in _names(events)) + ")+", "regex", "each")


def avoid_while(event: str, condition: str) -> Pattern:
    """Pay at each step, until an event happens for the first time while a condition holds."""
    event, condition = _names((event, condition))
    return Pattern(f"G({condition} -> !{event})", pay="each")


def respond_within(request: str, response: str, steps: int) -> Pattern:
    """Pay at each step at which every request so far was answered, until one was not answered within some steps."""
    request, response = _names((request, response))
    _require_count("steps", steps)
    _require_at_most("steps", steps)
    text = response
    for _ in range(steps):
        text = f"({response} | X {text})"
    return Pattern(f"G({request} -> {text})", pay="each")


def at_most(event: str, times: int) -> Pattern:
    """Pay at each step, until an event happens more often than allowed."""
    _require_count("times", times)
    _require_at_most("times", times)
    return Pattern(f"!{_in_order(_names((event,)) * (times + 1))}", pay="each")


def _in_order(names: list[str]) -> str:
    *first, last = names
    text = f"F {last}"
    for name in reversed(first):
        text = f"F({name} & X {text})"
    return text


def _names(events: tuple[str, ...]) -> list[str]:
    if not events:
        raise ParameterError("no event is given; expected at least one name")
    return [quoted(event) for event in events]


def _require_count(name: str, value: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(f"{name}={value!r}; expected a whole number, at least 0")


def _require_at_most(what: str, count: int) -> None:
    if count > MAX_STEPS:
        raise ParameterError(
            f"{count} {what}; a pattern has at most {MAX_STEPS}, because its formula is nested that deep: "
            "build a longer machine with MachineBuilder"
        )
