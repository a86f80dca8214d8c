"""When an automaton pays: at the first step at which the trace so far satisfies, at each such step, or at the end.

each    1 at every step at which the trace so far satisfies
first   1 at the first such step, and nothing after it
end     the change in satisfaction (1 or 0; 0 before the first step): 1 where it begins, −1 where it is lost; so a trace
        has earned 1 when it ends if the whole of it satisfies, and 0 if not
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from praemia.errors import ParameterError
from praemia.machines.automaton import Automaton, Step, explore
from praemia.machines.diagrams import Diagrams, Growth, copy
from praemia.machines.minimise import minimise, shorter

WAYS = ("first", "each", "end")
MAX_NAME = 24
PAID = "nothing: it has paid"
SATISFIED = " (satisfied)"
FINISHED = (PAID, "true" + SATISFIED)
OVER = "nothing more is paid"


def require_way(pay: str) -> None:
    """Refuse an unknown way to pay."""
    if pay not in WAYS:
        raise ParameterError(f"pay={pay!r}; expected 'first', 'each' or 'end'")


class Settled(NamedTuple):
    """What a step pays, whether satisfaction must be remembered, and whether nothing will ever be paid again."""

    payment: int
    satisfied: bool
    is_over: bool


def settle(pay: str, satisfied: bool, satisfied_before: bool) -> Settled:
    """Return what a step pays, given whether the trace up to it, and up to the step before, satisfies."""
    if pay == "end":
        return Settled(int(satisfied) - int(satisfied_before), satisfied, is_over=False)
    return Settled(int(satisfied), satisfied=False, is_over=satisfied and pay == "first")


def paid(automaton: Automaton, pay: str, growth: Growth) -> Automaton:
    """Return the smallest automaton that pays in some way, from a minimal one that pays at each step."""
    if pay == "each":
        return automaton
    return minimal((_at_first if pay == "first" else _at_the_end)(automaton, growth))


def _at_first(automaton: Automaton, growth: Growth) -> Automaton:
    done = automaton.num_states

    def once(step: Step) -> Step:
        payment, _, is_over = settle("first", step.payment > 0, satisfied_before=False)
        return Step(done if is_over else step.target, payment)

    diagrams = automaton.diagrams.changed(once, growth)
    roots = (*diagrams.roots, diagrams.store.leaf(Step(done, 0)))
    return Automaton(replace(diagrams, roots=roots), (*automaton.meanings, PAID))


def _at_the_end(automaton: Automaton, growth: Growth) -> Automaton:
    store = Diagrams(growth)
    memos: dict[bool, dict[int, int]] = {False: {}, True: {}}

    def moves(state: tuple[int, bool]) -> int:
        number, before = state

        def change(step: Step) -> tuple[tuple[int, bool], int]:
            payment, satisfied, _ = settle("end", step.payment > 0, before)
            return (step.target, satisfied), payment

        return copy(automaton.diagrams.store, automaton.diagrams.roots[number], store, change, memos[before])

    def meaning(state: tuple[int, bool]) -> str:
        return automaton.meanings[state[0]] + (SATISFIED if state[1] else "")

    return explore(automaton.names, store, (0, False), moves, meaning, growth)


def minimal(automaton: Automaton) -> Automaton:
    """Return the smallest automaton that pays the same on every trace; a state keeps the shortest of its meanings."""

    def image(step: Step, classes: Sequence[int]) -> Step:
        return Step(classes[step.target], step.payment)

    return Automaton(
        *minimise(automaton.diagrams, automaton.meanings, lambda step: (step.target,), image, better=_better)
    )


def _better(first: str, second: str) -> str:
    return shorter(first, second) if (first in FINISHED) == (second in FINISHED) else OVER


def smallest_accepting(automaton: Automaton) -> Automaton:
    """Return the smallest automaton that accepts the same; decided states are given the meaning true or false."""
    small = minimal(automaton)
    meanings = list(small.meanings)
    for state in range(small.num_states):
        payment = small.constant_payment(state)
        if payment is not None:
            meanings[state] = "true" if payment else "false"
    return replace(small, meanings=tuple(meanings))


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """Return short names: start, done, failed, over, satisfied, or what is left to do; a number where that is long."""
    chosen: dict[str, None] = {}
    for number, meaning in enumerate(automaton.meanings):
        name = _name(automaton, number, meaning)
        chosen[name if name not in chosen else f"s{number}"] = None
    return tuple(chosen)


def _name(automaton: Automaton, number: int, meaning: str) -> str:
    payment = automaton.constant_payment(number)
    if number == 0:
        return "start"
    if payment == 0:
        return "done" if meaning in FINISHED else "over" if meaning == OVER else "failed"
    if payment is not None:
        return "satisfied"
    return meaning if len(meaning) <= MAX_NAME else f"s{number}"
