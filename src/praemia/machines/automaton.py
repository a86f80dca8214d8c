"""Automata on finite traces whose steps pay: a diagram for each state, from a label to (next state, payment).

All automata here are the smallest that pay what they pay. One that accepts pays 1 at every step at which the trace so
far is accepted; the other ways to pay are derived from it:

each    1 at every step at which the trace so far satisfies
first   1 at the first such step, and nothing after it
end     the change in satisfaction (1 or 0; 0 before the first step): 1 where it begins, −1 where it is lost; so a trace
        has earned 1 when it ends if the whole of it satisfies, and 0 if not
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from praemia.errors import ParameterError
from praemia.machines.diagrams import Crossing, Diagrams, Growth, copy, deep_recursion
from praemia.machines.minimise import minimise
from praemia.machines.state_diagrams import StateDiagrams

State = TypeVar("State", bound=Hashable)
Meaning = Callable[[int], str]

WAYS = ("first", "each", "end")
MAX_NAME = 24
MOST_NAMED = 1_000  # states of an automaton; those of a larger one are numbered
PAID = "nothing: it has paid"
SATISFIED = " (satisfied)"
FINISHED = (PAID, "true" + SATISFIED)
OVER = "nothing more is paid"


class Step(NamedTuple):
    """Where a label leads, and what is paid for it."""

    target: int
    payment: int


class Verdict(NamedTuple):
    """Whether a trace satisfies, step by step, and from which step on that cannot change any more (0: never could)."""

    satisfied: list[bool]
    decided_at: int | None


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton; its first state is the initial one.

    Attributes
    ----------
    diagrams : those of its states, whose values are ``Step``.
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

    def step(self, state: int, label: Set[str]) -> Step:
        """Return what happens in a state on a label."""
        step: Step = self.diagrams.at(state, label)
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


def smallest(
    diagrams: StateDiagrams,
    step_of: Callable[[Any], Step],
    meaning: Meaning,
    best: Callable[[Iterable[str]], str] = shortest,
) -> Automaton:
    """Return the smallest automaton that pays the same on every trace; a state keeps the ``best`` of its meanings.

    ``step_of`` gives the step that a value of the diagrams stands for.
    """

    def image(value: Any, classes: Sequence[int]) -> Step:
        target, payment = step_of(value)
        return Step(classes[target], payment)

    small, members = minimise(diagrams, lambda value: (step_of(value).target,), image)
    texts: dict[int, str] = {}

    def best_meaning(state: int) -> str:
        if state not in texts:
            texts[state] = best([meaning(member) for member in members[state]])
        return texts[state]

    return Automaton(small, best_meaning)


def explore(
    names: Iterable[str],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    meaning: Callable[[State], str],
    growth: Growth,
    best: Callable[[Iterable[str]], str] = shortest,
) -> Automaton:
    """Build the automaton of all that can be reached from a start.

    ``moves`` gives the diagram of a state; its values are pairs (next state, payment).
    """
    numbers: dict[State, int] = {start: 0}
    roots: list[int] = []
    seen: set[int] = set()
    states = [start]
    for state in states:
        roots.append(moves(state))
        for target, _ in store.new_values(roots[-1], seen):
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
        growth.num_states = len(states)
        growth.check(len(store), store.num_leaves)

    def step_of(value: tuple[State, int]) -> Step:
        return Step(numbers[value[0]], int(value[1]))

    built = StateDiagrams(tuple(names), store, tuple(roots))
    return smallest(built, step_of, lambda number: meaning(states[number]), best)


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
    ends = first.decided_state(0 if both else 1), second.decided_state(0 if both else 1)
    if 0 in ends:
        return first if ends[0] == 0 else second
    store = Diagrams(growth)
    numbers, pairs = {(0, 0): 0}, [(0, 0)]

    def step(left: Step, right: Step) -> Step:
        # All pairs with a state that decides the matter are one.
        pair = ends if left.target == ends[0] or right.target == ends[1] else (left.target, right.target)
        number = numbers.get(pair)
        if number is None:
            number = numbers[pair] = len(pairs)
            pairs.append(pair)
            growth.num_states = len(pairs)
        return Step(number, left.payment & right.payment if both else left.payment | right.payment)

    crossing = Crossing(first.diagrams.store, second.diagrams.store, store, step)
    roots: list[int] = []
    for number, pair in enumerate(pairs):
        one, other = first.diagrams.roots[pair[0]], second.diagrams.roots[pair[1]]
        end = pair[0] == ends[0] or pair[1] == ends[1]
        roots.append(store.leaf(Step(number, 0 if both else 1)) if end else crossing.run(one, other))
        growth.check(len(store), store.num_leaves)

    def meaning(number: int) -> str:
        left, right = pairs[number]
        parts = [first.meaning(left), second.meaning(right)]
        if ("false" if both else "true") in parts:
            return "false" if both else "true"
        texts = dict.fromkeys(part for part in parts if part != ("true" if both else "false"))
        joined = f" {operator} ".join(f"({text})" if both and " | " in text else text for text in texts)
        return joined or ("true" if both else "false")

    return smallest(StateDiagrams(first.names, store, tuple(roots)), lambda step: step, meaning)


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


@deep_recursion
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
