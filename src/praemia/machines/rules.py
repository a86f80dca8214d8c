"""Rules: what a machine does in a state when a guard holds; and how an order of rules becomes guards without overlap.

With ``first_match`` a guard excludes the labels that an earlier guard of its state takes. ``else`` takes whatever the
others leave.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from praemia.errors import ModelError
from praemia.machines.guards import Constant, Else, Guard, overlap
from praemia.machines.rewards import TOLERANCE, Reward

NOTHING = Reward((0.0,))


@dataclass(frozen=True)
class Outcome:
    """Where a rule may lead: a machine state, with which probability, paying what."""

    target: str
    probability: float = 1.0
    reward: Reward = NOTHING


@dataclass(frozen=True)
class Rule:
    """What happens in a machine state when a guard holds. Outcomes with one target are mixed into one.

    ``written`` is the guard as the user wrote it, for messages, where ``first_match`` has changed it.
    """

    source: str
    guard: Guard
    outcomes: tuple[Outcome, ...]
    written: Guard | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.outcomes:
            raise ModelError(f"{self.where}: it leads nowhere; give at least one outcome")
        for outcome in self.outcomes:
            if not 0.0 <= outcome.probability <= 1.0:
                raise ModelError(
                    f"{self.where}: probability {outcome.probability:g} of {outcome.target!r}; it must lie in [0, 1]"
                )
        total = math.fsum(outcome.probability for outcome in self.outcomes)
        if not abs(total - 1.0) <= TOLERANCE:
            raise ModelError(f"{self.where}: probabilities sum to {total:.12g}; they must sum to 1")
        object.__setattr__(self, "outcomes", _merge(self.outcomes))

    @property
    def where(self) -> str:
        """Name the rule in a message."""
        return f"state {self.source!r} on {str(self.written or self.guard)!r}"


def _merge(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Mix the outcomes that share a target; the joint law of (q', reward) stays the same."""
    by_target: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.probability > 0.0:
            by_target.setdefault(outcome.target, []).append(outcome)
    return tuple(
        group[0]
        if len(group) == 1
        else Outcome(
            target,
            math.fsum(outcome.probability for outcome in group),
            Reward.mixture((outcome.probability, outcome.reward) for outcome in group),
        )
        for target, group in by_target.items()
    )


def exclusive(rules: Sequence[tuple[str, Guard]], first_match: bool) -> list[Guard]:
    """Return the guards of rules (state, guard), with their order and every ``else`` worked into them.

    Without ``first_match`` guards other than ``else`` are returned as they are, whether or not they exclude each other.
    """
    earlier: dict[str, list[Guard]] = {state: [] for state, _ in rules}
    guards = [
        guard if isinstance(guard, Else) else _after(guard, earlier[state], first_match) for state, guard in rules
    ]
    found: set[str] = set()
    for number, (state, guard) in enumerate(rules):
        if isinstance(guard, Else):
            if state in found:
                raise ModelError(f"state {state!r}: a second rule on 'else'; a state has at most one")
            found.add(state)
            guards[number] = Else(~_union(earlier[state]))
    return guards


def _after(guard: Guard, earlier: list[Guard], first_match: bool) -> Guard:
    """Exclude the labels of earlier guards from a guard, if the first match counts; then add it to them."""
    left = guard
    for other in earlier if first_match else ():
        if overlap(guard, other) is not None:
            true, false = left.literals  # what is known already need not be said again
            left = left & ~other.given(dict.fromkeys(true, True) | dict.fromkeys(false, False))
    earlier.append(guard)
    return left


def _union(guards: Sequence[Guard]) -> Guard:
    union: Guard = Constant(False)
    for guard in guards:
        union = union | guard
    return union
