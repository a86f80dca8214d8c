"""Automata on finite traces whose steps pay: a diagram for each state, from a label to (next state, payment).

An accepting automaton pays 1 at every step at which the trace so far is accepted. ``paying`` derives the other ways to
pay from it. All automata here are the smallest that pay what they pay.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

from praemia.machines.diagrams import Crossing, Diagrams, Growth
from praemia.machines.minimise import minimise
from praemia.machines.state_diagrams import StateDiagrams

State = TypeVar("State", bound=Hashable)
Meaning = Callable[[int], str]


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
    return Automaton(small, cache(lambda state: best(map(meaning, members[state]))))


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
        parts = [automaton.meaning(state) for automaton, state in zip((first, second), pairs[number], strict=True)]
        if ("false" if both else "true") in parts:
            return "false" if both else "true"
        texts = dict.fromkeys(part for part in parts if part != ("true" if both else "false"))
        return f" {operator} ".join(f"({text})" if both and " | " in text else text for text in texts)

    return smallest(StateDiagrams(first.names, store, tuple(roots)), lambda step: step, meaning)
