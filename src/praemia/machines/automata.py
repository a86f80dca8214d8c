"""Automata: what formulas and regular expressions become before they are machines with rewards.

An automaton outputs a number at every step. One that *accepts* outputs 1 where the trace so far satisfies its text,
else 0; ``paid`` makes of it one that outputs rewards: at ``each`` such step, at the ``first``, or at the ``end``,
as the change in satisfaction, so that the sum at the end is 1 if the whole trace satisfies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias

from praemia.errors import ParameterError
from praemia.machines.diagrams import Diagrams, Growth
from praemia.machines.state_diagrams import State, StateDiagrams, smallest

PAY_SCHEMES = ("first", "each", "end")
MAX_COMPARED = 100  # texts, of which the shortest says what a state means
SATISFIED = " (satisfied)"
PAID = "done: reward already paid"

Earning: TypeAlias = tuple[int | None, bool]  # a state, or None after the last reward; whether the last step satisfied


class Move(NamedTuple):
    """Where a label leads, and what is put out there."""

    target: int
    output: int


@dataclass(frozen=True, eq=False)
class Automaton(Generic[State]):
    """The smallest automaton with some output; it starts in state 0.

    Attributes
    ----------
    diagrams : for each state, a diagram from a label to a ``Move``.
    members : for each state, the states of the construction that it was made of; ``text`` writes one of them.
    """

    diagrams: StateDiagrams
    members: list[list[State]]
    text: Callable[[State], str]

    @property
    def num_states(self) -> int:
        return self.diagrams.num_states

    @property
    def propositions(self) -> tuple[str, ...]:
        return self.diagrams.variables

    def constant_output(self, state: int) -> int | None:
        """Return what a state puts out at every step from now on, if it never moves and always puts out the same."""
        store, root = self.diagrams.store, self.diagrams.roots[state]
        step: Move | None = store.value(root) if store.is_leaf(root) else None
        return step.output if step is not None and step.target == state else None

    def meaning(self, state: int) -> str:
        """Return the shortest text for a state. To write one can take longer than to build the automaton."""
        return min(map(self.text, self.members[state][:MAX_COMPARED]), key=len)

    def residual(self, state: int) -> str:
        """Return what is left to satisfy in a state of an automaton that accepts: true or false, if it is decided."""
        output = self.constant_output(state)
        return self.meaning(state) if output is None else "true" if output else "false"


def smallest_automaton(
    names: Iterable[str],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    text: Callable[[State], str],
    growth: Growth,
) -> Automaton[State]:
    """Return the smallest automaton; ``moves`` gives a state's diagram from a label to (next state, output)."""
    diagrams, members = smallest(
        names,
        store,
        start,
        moves,
        lambda value: (value[0],),
        lambda value, number: Move(number(value[0]), int(value[1])),
        growth,
    )
    return Automaton(diagrams, members, text)


def require_pay(pay: str) -> None:
    """Refuse an unknown payment scheme."""
    if pay not in PAY_SCHEMES:
        raise ParameterError(f"pay={pay!r}; expected 'first', 'each' or 'end'")


def paid(accepting: Automaton[Any], pay: str, growth: Growth) -> Automaton[Earning]:
    """Return the smallest automaton whose output is the reward, in units of it, from one that accepts."""
    store, source = Diagrams(growth), accepting.diagrams
    memos: dict[bool, dict[int, int]] = {False: {}, True: {}}

    def moves(state: Earning) -> int:
        number, before = state

        def change(step: Move) -> tuple[Earning, int]:
            if pay == "end":
                return (step.target, bool(step.output)), step.output - before
            return (None if step.output else step.target, False), step.output

        if number is None:
            return store.leaf((state, 0))
        return source.store.map(source.roots[number], change, memos[before], store)

    def text(state: Earning) -> str:
        number, satisfied = state
        return PAID if number is None else accepting.residual(number) + (SATISFIED if satisfied else "")

    if pay == "each":  # nothing has to be remembered
        return Automaton(source, [[(number, False)] for number in range(accepting.num_states)], text)
    return smallest_automaton(accepting.propositions, store, (0, False), moves, text, growth)
