"""Automata on finite traces whose steps pay: a diagram for each state, from a label to (next state, payment).

All automata here are the smallest that pay what they pay. One that accepts pays 1 at every step at which the trace so
far is accepted; the other ways to pay are derived from it:

each    1 at every step at which the trace so far satisfies
first   1 at the first such step, and nothing after it
end     the change in satisfaction (1 or 0; 0 before the first step): 1 where it begins, −1 where it is lost; so a trace
        has earned 1 when it ends if the whole of it satisfies, and 0 if not
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from praemia.errors import ParameterError
from praemia.machines.diagrams import Diagrams, Growth, Memo, copy, deep_recursion
from praemia.machines.state_diagrams import State, StateDiagrams, minimise, unfold

Meaning = Callable[[int], str]

PAY_SCHEMES = ("first", "each", "end")
MAX_NAME = 24
MOST_NAMED = 1_000  # states of an automaton; those of a larger one are numbered
PAID = "nothing: it has paid"
SATISFIED = " (satisfied)"
FINISHED = (PAID, "true" + SATISFIED)
OVER = "nothing more is paid"


class Transition(NamedTuple):
    """Where a label leads, and what is paid for it."""

    target: int
    payment: int


class Verdict(NamedTuple):
    """Whether a trace satisfies after each step, and when that is final (0: from the start on; None: not yet)."""

    satisfied: list[bool]
    decided_at: int | None


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton; its first state is the initial one.

    Attributes
    ----------
    diagrams : those of its states, from a label to a ``Transition``.
    meaning : from a state to the formula or expression that is left to be satisfied, as text. To write it can take
        longer than to build the automaton, so it waits until it is asked for.
    """

    diagrams: StateDiagrams
    meaning: Meaning

    @property
    def names(self) -> tuple[str, ...]:
        """The propositions that may be read."""
        return self.diagrams.variables

    @property
    def num_states(self) -> int:
        return self.diagrams.num_states

    def step(self, state: int, label: Set[str]) -> Transition:
        """Return what happens in a state on a label."""
        step: Transition = self.diagrams.at(state, label)
        return step

    def constant_payment(self, state: int) -> int | None:
        """Return what a state pays at every step from now on, if it never moves and always pays the same."""
        store, root = self.diagrams.store, self.diagrams.roots[state]
        step = store.value(root) if store.is_leaf(root) else None
        return step.payment if step is not None and step.target == state else None

    def decided_state(self, payment: int) -> int:
        """Return the state that pays the same at every step from now on; -1 if there is none."""
        return next((state for state in range(self.num_states) if self.constant_payment(state) == payment), -1)


def judge(automaton: Automaton, word: Iterable[Set[str]]) -> Verdict:
    """Return what an automaton that accepts says of a word."""
    state, satisfied = 0, []
    decided = 0 if automaton.constant_payment(0) is not None else None
    for number, label in enumerate(word, start=1):
        state, payment = automaton.step(state, label)
        satisfied.append(payment > 0)
        if decided is None and automaton.constant_payment(state) == payment:
            decided = number
    return Verdict(satisfied, decided)


def shortest(meanings: Iterable[str]) -> str:
    return min(meanings, key=len)


def build_automaton(
    names: Iterable[str],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    meaning: Callable[[State], str],
    growth: Growth,
    best: Callable[[Iterable[str]], str] = shortest,
    step_of: Callable[[Any], tuple[State, int]] = tuple,
) -> Automaton:
    """Return the smallest automaton that pays what moves pay from a start on; a state keeps the ``best`` meaning.

    ``moves`` gives the diagram of a state; ``step_of`` the pair (next state, payment) that a value stands for.
    """
    diagrams, numbers = unfold(names, store, start, moves, lambda value: step_of(value)[:1], growth)

    def image(value: Any, classes: Sequence[int]) -> Transition:
        target, payment = step_of(value)
        return Transition(classes[numbers[target]], int(payment))

    small, members = minimise(diagrams, lambda value: (numbers[step_of(value)[0]],), image)
    states, texts = list(numbers), dict[int, str]()

    def best_meaning(state: int) -> str:
        if state not in texts:
            texts[state] = best([meaning(states[member]) for member in members[state]])
        return texts[state]

    return Automaton(small, best_meaning)


def with_verdicts(automaton: Automaton) -> Automaton:
    """Return an automaton that accepts with the meaning true or false for states in which that is decided."""

    def meaning(state: int) -> str:
        payment = automaton.constant_payment(state)
        return automaton.meaning(state) if payment is None else "true" if payment else "false"

    return replace(automaton, meaning=meaning)


def join(operator: str, first: Automaton, second: Automaton, growth: Growth) -> Automaton:
    """Return the automaton that accepts what two both accept (operator "&"), or what one of them does ("|").

    Both read the same propositions.
    """
    both = operator == "&"
    decisive = 0 if both else 1
    ends = first.decided_state(decisive), second.decided_state(decisive)
    if 0 in ends:
        return first if ends[0] == 0 else second
    store, memo = Diagrams(growth), Memo()
    left, right = (part.diagrams.map_values(lambda step: step, store).roots for part in (first, second))

    def step(one: Transition, other: Transition) -> tuple[tuple[int, int], int]:
        # All pairs with a state that decides the matter are one.
        pair = ends if one.target == ends[0] or other.target == ends[1] else (one.target, other.target)
        return pair, one.payment & other.payment if both else one.payment | other.payment

    def moves(pair: tuple[int, int]) -> int:
        if pair == ends:
            return store.leaf((ends, decisive))
        return store.combine(left[pair[0]], right[pair[1]], step, memo)

    def meaning(pair: tuple[int, int]) -> str:
        neutral, absorbing = ("true", "false") if both else ("false", "true")
        texts = dict.fromkeys((first.meaning(pair[0]), second.meaning(pair[1])))
        if absorbing in texts:
            return absorbing
        parts = [f"({text})" if both and " | " in text else text for text in texts if text != neutral]
        return f" {operator} ".join(parts) or neutral

    return build_automaton(first.names, store, (0, 0), moves, meaning, growth)


def require_pay(pay: str) -> None:
    """Refuse an unknown way to pay."""
    if pay not in PAY_SCHEMES:
        raise ParameterError(f"pay={pay!r}; expected 'first', 'each' or 'end'")


class StepPayment(NamedTuple):
    """What a step pays, whether satisfaction has to be remembered, and whether nothing is paid after it."""

    payment: int
    satisfied: bool
    is_over: bool


def step_payment(pay: str, satisfied: bool, satisfied_before: bool) -> StepPayment:
    """Return what a step pays, given whether the trace up to it, and up to the step before, satisfies."""
    if pay == "end":
        return StepPayment(int(satisfied) - int(satisfied_before), satisfied, is_over=False)
    return StepPayment(int(satisfied), satisfied=False, is_over=satisfied and pay == "first")


def paid(automaton: Automaton, pay: str, growth: Growth) -> Automaton:
    """Return the smallest automaton that pays in some way, from one that pays at each step."""
    if pay == "each":
        return automaton
    return (_at_first if pay == "first" else _at_the_end)(automaton, growth)


def _at_first(automaton: Automaton, growth: Growth) -> Automaton:
    done = automaton.num_states

    def once(step: Transition) -> Transition:
        payment, _, is_over = step_payment("first", step.payment > 0, satisfied_before=False)
        return Transition(done if is_over else step.target, payment)

    def meaning(state: int) -> str:
        return PAID if state == done else automaton.meaning(state)

    store = automaton.diagrams.store
    roots = (*automaton.diagrams.roots, store.leaf(Transition(done, 0)))
    return build_automaton(automaton.names, store, 0, roots.__getitem__, meaning, growth, _best, once)


def _at_the_end(automaton: Automaton, growth: Growth) -> Automaton:
    store = Diagrams(growth)
    memos: dict[bool, dict[int, int]] = {False: {}, True: {}}

    def moves(state: tuple[int, bool]) -> int:
        number, before = state

        def change(step: Transition) -> tuple[tuple[int, bool], int]:
            payment, satisfied, _ = step_payment("end", step.payment > 0, before)
            return (step.target, satisfied), payment

        return copy(automaton.diagrams.store, automaton.diagrams.roots[number], store, change, memos[before])

    def meaning(state: tuple[int, bool]) -> str:
        return automaton.meaning(state[0]) + (SATISFIED if state[1] else "")

    return build_automaton(automaton.names, store, (0, False), moves, meaning, growth, _best)


def _best(meanings: Iterable[str]) -> str:
    """Return the shortest meaning; that nothing more is paid, where a state is the end of success and of failure."""
    texts = list(meanings)
    return shortest(texts) if len({text in FINISHED for text in texts}) == 1 else OVER


@deep_recursion
def state_names(automaton: Automaton) -> tuple[str, ...]:
    """Return short names: start, done, failed, over, satisfied, or what is left to do; a number where that is long."""
    names: dict[str, None] = {}
    for number in range(automaton.num_states):
        name = _name(automaton, number)
        names[name if name not in names else f"s{number}"] = None
    return tuple(names)


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
