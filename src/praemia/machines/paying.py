"""When an automaton pays: at the first step at which the trace so far satisfies, at each such step, or at the end.

each    1 at every step at which the trace so far satisfies
first   1 at the first such step, and nothing after it
end     the change in satisfaction (1 or 0; 0 before the first step): 1 where it begins, −1 where it is lost; so a trace
        has earned 1 when it ends if the whole of it satisfies, and 0 if not
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from praemia.errors import ParameterError
from praemia.machines.automaton import Automaton, Step, explore, shortest, smallest
from praemia.machines.diagrams import Diagrams, Growth, copy

WAYS = ("first", "each", "end")
MAX_NAME = 24
MOST_NAMED = 1_000  # states of an automaton; those of a larger one are numbered
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
    """Return the smallest automaton that pays in some way, from one that pays at each step."""
    if pay == "each":
        return automaton
    return (_at_first if pay == "first" else _at_the_end)(automaton, growth)


def _at_first(automaton: Automaton, growth: Growth) -> Automaton:
    done = automaton.num_states

    def once(step: Step) -> Step:
        payment, _, is_over = settle("first", step.payment > 0, satisfied_before=False)
        return Step(done if is_over else step.target, payment)

    def meaning(state: int) -> str:
        return PAID if state == done else automaton.meaning(state)

    store = automaton.diagrams.store
    roots = (*automaton.diagrams.roots, store.leaf(Step(done, 0)))
    return smallest(replace(automaton.diagrams, roots=roots), once, meaning, _best)


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
        return automaton.meaning(state[0]) + (SATISFIED if state[1] else "")

    return explore(automaton.names, store, (0, False), moves, meaning, growth, _best)


def _best(meanings: Iterable[str]) -> str:
    """Return the shortest meaning; that nothing more is paid, where a state is the end of success and of failure."""
    texts = list(meanings)
    return shortest(texts) if len({text in FINISHED for text in texts}) == 1 else OVER


def state_names(automaton: Automaton) -> tuple[str, ...]:
    """Return short names: start, done, failed, over, satisfied, or what is left to do; a number where that is long."""
    chosen: dict[str, None] = {}
    for number in range(automaton.num_states):
        name = _name(automaton, number)
        chosen[name if name not in chosen else f"s{number}"] = None
    return tuple(chosen)


def _name(automaton: Automaton, number: int) -> str:
    payment = automaton.constant_payment(number)
    if number == 0:
        return "start"
    if payment is None and automaton.num_states > MOST_NAMED:
        return f"s{number}"
    meaning = automaton.meaning(number)
    if payment == 0:
        return "done" if meaning in FINISHED else "over" if meaning == OVER else "failed"
    if payment is not None:
        return "satisfied"
    return meaning if len(meaning) <= MAX_NAME else f"s{number}"
