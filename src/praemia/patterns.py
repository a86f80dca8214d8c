"""Ready-made tasks: each is a formula or a regular expression, with the payment scheme that suits it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from praemia.errors import ParameterError, require_whole
from praemia.machines.formula import write_name
from praemia.machines.machine import RewardMachine

__all__ = [
    "Pattern",
    "at_most",
    "avoid_while",
    "patrol",
    "respond_within",
    "visit_all",
    "visit_in_order",
]

MAX_LENGTH = 100_000  # of a pattern; machines have limits of their own


@dataclass(frozen=True)
class Pattern:
    """A formula or a regular expression, and when it gives a reward.

    Attributes
    ----------
    text : the formula or expression.
    kind : "ltlf" or "regex".
    pay : "first" (once, at the first step that satisfies it), "each" (at every such step) or "end" (if the
        whole episode satisfies it: each step has the change in satisfaction).

    Examples
    --------
    >>> import praemia
    >>> praemia.patterns.Pattern("F(coffee & X F office)").machine(reward=0.5).states
    ('start', 'F office', 'done')
    """

    text: str
    kind: Literal["ltlf", "regex"] = "ltlf"
    pay: str = "first"

    def __post_init__(self) -> None:
        if self.kind not in ("ltlf", "regex"):
            raise ParameterError(f"kind={self.kind!r}; expected 'ltlf' or 'regex'")

    def machine(self, reward: float = 1.0, pay: str | None = None) -> RewardMachine:
        """Return the machine with this reward; ``pay`` replaces that of the pattern."""
        make = RewardMachine.from_ltlf if self.kind == "ltlf" else RewardMachine.from_regex
        return make(self.text, reward, self.pay if pay is None else pay)


def visit_in_order(*events: str) -> Pattern:
    """Give a reward once, when the events have happened in this order; anything may happen in between.

    Examples
    --------
    >>> from praemia import patterns
    >>> patterns.visit_in_order("coffee", "office").text
    'F(coffee & X F office)'
    """
    return Pattern(_in_order(_names(events)))


def visit_all(*events: str) -> Pattern:
    """Give a reward once, when every event has happened, in any order.

    Examples
    --------
    >>> from praemia import patterns
    >>> patterns.visit_all("coffee", "mail").text
    'F coffee & F mail'
    >>> patterns.visit_all("coffee", "mail").machine().num_states
    4
    """
    return Pattern(" & ".join(f"F {name}" for name in _names(events)))


def patrol(*events: str) -> Pattern:
    """Give a reward once per round: each time the events have happened in this order, starting again from the first.

    Examples
    --------
    >>> from praemia import patterns
    >>> patterns.patrol("left", "right").text
    '((!left)* left (!right)* right)+'
    """
    return Pattern("(" + " ".join(f"(!{name})* {name}" for name in _names(events)) + ")+", "regex", "each")


def avoid_while(event: str, condition: str) -> Pattern:
    """Give a reward at each step until the event first happens while the condition holds.

    Examples
    --------
    >>> from praemia import patterns
    >>> patterns.avoid_while("water", "carrying").text
    'G(carrying -> !water)'
    """
    event, condition = _names((event, condition))
    return Pattern(f"G({condition} -> !{event})", pay="each")


def respond_within(request: str, response: str, steps: int) -> Pattern:
    """Give a reward at each step without an open request, until a request stays unanswered for too many steps.

    Examples
    --------
    >>> from praemia import patterns
    >>> patterns.respond_within("call", "answer", 2).text
    'G(call -> (answer | X (answer | X answer)))'
    """
    request, response = _names((request, response))
    require_whole("steps", steps, 0, MAX_LENGTH)
    text = response
    for _ in range(steps):
        text = f"({response} | X {text})"
    return Pattern(f"G({request} -> {text})", pay="each")


def at_most(event: str, times: int) -> Pattern:
    """Give a reward at each step until the event has happened more often than allowed.

    Examples
    --------
    >>> from praemia import patterns
    >>> patterns.at_most("spill", 1).text
    '!F(spill & X F spill)'
    """
    require_whole("times", times, 0, MAX_LENGTH)
    return Pattern(f"!{_in_order(_names((event,)) * (times + 1))}", pay="each")


def _in_order(names: list[str]) -> str:
    *first, last = names
    text = f"F {last}"
    for name in reversed(first):
        text = f"F({name} & X {text})"
    return text


def _names(events: tuple[str, ...]) -> list[str]:
    if not events or not all(isinstance(event, str) for event in events):
        raise ParameterError(f"events {events!r}; expected at least one name, each of them text")
    return [write_name(event) for event in events]
