"""A diagram for each state, from a label to what happens there: what automata and machines consist of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

from praemia.machines.diagrams import LEAF, Diagrams, Growth, deep_recursion

Folded = TypeVar("Folded")
Examples: TypeAlias = dict[int, frozenset[str]]  # leaf -> a label that leads there


@dataclass(frozen=True, eq=False)
class StateDiagrams:
    """The diagrams of some states, numbered from 0.

    Attributes
    ----------
    variables : the propositions that may be read; number v is variable v of the diagrams.
    store : where the diagrams are; roots : the diagram of each state.
    """

    variables: tuple[str, ...]
    store: Diagrams
    roots: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of nodes, leaves included."""
        return len(self.store)

    @property
    def num_states(self) -> int:
        return len(self.roots)

    def at(self, state: int, label: Set[str]) -> Any:
        """Return the value of a state on a label."""
        store, names, diagram = self.store, self.variables, self.roots[state]
        while store.variable[diagram] != LEAF:
            diagram = (store.high if names[store.variable[diagram]] in label else store.low)[diagram]
        return store.value(diagram)

    def values(self) -> Iterator[Any]:
        """Yield the values that some state has on some label, each once."""
        return self.store.values(self.roots)

    def reads(self) -> frozenset[str]:
        """Return the propositions that some state depends on."""
        return frozenset(self.variables[variable] for variable in self.store.support(self.roots))

    @cached_property
    def upwards(self) -> list[int]:
        """All diagrams, children before their parents."""
        return sorted(self.store.below(self.roots))

    def fold(self, at_leaf: Callable[[int], Folded], at_node: Callable[[int, Folded, Folded], Folded]) -> list[Folded]:
        """Return for each state what its diagram comes to, computed once for each diagram, from the leaves upwards.

        ``at_leaf`` takes a leaf; ``at_node`` a variable, and what the diagrams come to where it is false and true.
        """
        store, results = self.store, dict[int, Folded]()
        variable, low, high = store.variable, store.low, store.high
        for diagram in self.upwards:
            if variable[diagram] == LEAF:
                results[diagram] = at_leaf(diagram)
            else:
                results[diagram] = at_node(variable[diagram], results[low[diagram]], results[high[diagram]])
        return [results[root] for root in self.roots]

    def highest(self, worth: Callable[[Any], float]) -> list[float]:
        """Return for each state the highest worth of its values."""
        return self.fold(lambda leaf: worth(self.store.value(leaf)), lambda _, low, high: max(low, high))

    def changed(self, change: Callable[[Any], Hashable], growth: Growth | None = None) -> StateDiagrams:
        """Return the same diagrams, in a store of their own, with every value changed."""
        target = Diagrams(growth)
        roots = self.fold(lambda leaf: target.leaf(change(self.store.value(leaf))), target.node)
        return StateDiagrams(self.variables, target, tuple(roots))

    def over(self, variables: Iterable[str], store: Diagrams | None = None) -> StateDiagrams:
        """Return the same functions over other variables, which hold those that are read, in any order."""
        target, names = Diagrams() if store is None else store, tuple(variables)
        new = {old: names.index(self.variables[old]) for old in self.store.support(self.roots)}
        roots = self.fold(
            lambda leaf: target.leaf(self.store.value(leaf)),
            lambda variable, low, high: target.choose(new[variable], low, high),
        )
        return StateDiagrams(names, target, tuple(roots))

    @deep_recursion
    def is_same_as(self, other: StateDiagrams) -> bool:
        """Tell whether two have the same values in every state on every label, whatever their order of variables."""
        names, store = dict.fromkeys((*self.variables, *other.variables)), Diagrams()
        return self.over(names, store).roots == other.over(names, store).roots

    def reachable(self, targets: Callable[[Any], Iterable[int]], start: int = 0) -> list[int]:
        """Return the states that can be reached from a state, nearest first; ``targets`` are those a value names."""
        met, seen = {start: None}, set[int]()
        states = [start]
        for state in states:
            for value in self.store.new_values(self.roots[state], seen):
                new = dict.fromkeys(target for target in targets(value) if target not in met)
                met |= new
                states += new
        return states

    def example_labels(self) -> list[frozenset[str]]:
        """Return labels on which every state has all values that it has on any label."""

        def either(variable: int, low: Examples, high: Examples) -> Examples:
            return {leaf: label | {self.variables[variable]} for leaf, label in high.items()} | low

        examples = self.fold(lambda leaf: {leaf: frozenset[str]()}, either)
        return list(dict.fromkeys(label for own in examples for label in own.values()))


class Meanings(Mapping[str, str]):
    """What states mean, by their names; of thousands of states nobody may ever ask."""

    def __init__(self, states: Sequence[str], meaning: Callable[[int], str]) -> None:
        self._numbers = {state: number for number, state in enumerate(states)}
        self._meaning = meaning

    @deep_recursion
    def __getitem__(self, state: str) -> str:
        return self._meaning(self._numbers[state])

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
