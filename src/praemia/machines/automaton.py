"""Automata on finite traces whose steps pay: a diagram for each state, from a label to (next state, payment).

An accepting automaton pays 1 at every step at which the trace so far is accepted. ``paying`` derives the other ways to
pay from it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Set
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from praemia.machines.diagrams import Diagrams, Growth
from praemia.machines.state_diagrams import StateDiagrams

State = TypeVar("State", bound=Hashable)


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
    meanings : for each state, the formula or expression that is left to be satisfied, as text.
    """

    diagrams: StateDiagrams
    meanings: tuple[str, ...]

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


def judge(automaton: Automaton, word: Iterable[Set[str]]) -> Verdict:
    """Return what an automaton that accepts, and is minimal, says of a word."""
    state, satisfied = 0, []
    decided = 0 if automaton.constant_payment(0) is not None else None
    for number, label in enumerate(word, start=1):
        state, payment = automaton.step(state, label)
        satisfied.append(payment > 0)
        if decided is None and automaton.constant_payment(state) == payment:
            decided = number
    return Verdict(satisfied, decided)


def explore(
    names: Iterable[str],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    meaning: Callable[[State], str],
    growth: Growth,
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
    built = StateDiagrams(tuple(names), store, tuple(roots))
    return Automaton(built.changed(lambda v: Step(numbers[v[0]], int(v[1]))), tuple(map(meaning, states)))
