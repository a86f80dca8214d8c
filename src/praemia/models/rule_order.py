"""Rules that are tried in an order, as guards that exclude each other.

With ``first_match`` a guard gives up the labels that an earlier one of its state takes. ``else`` takes what all
others leave.
"""

from __future__ import annotations

from collections.abc import Sequence

from praemia.errors import ModelError
from praemia.models.guards import Constant, Else, Guard, overlap


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
    """Take from a guard what earlier ones hold on, if the first match counts; note it as one of them."""
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
