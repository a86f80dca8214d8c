"""A diagram for each state, from a label to what happens there: what automata and machines consist of."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from praemia.machines.diagrams import LEAF, Diagrams, Growth, deep_recursion


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

    def highest(self, worth: Callable[[Any], float]) -> list[float]:
        """Return for each state the highest worth of its values."""
        store = self.store
        highest: dict[int, float] = {}
        for diagram in self.upwards:
            if store.is_leaf(diagram):
                highest[diagram] = worth(store.value(diagram))
            else:
                highest[diagram] = max(highest[store.low[diagram]], highest[store.high[diagram]])
        return [highest[root] for root in self.roots]

    def changed(self, change: Callable[[Any], Hashable], growth: Growth | None = None) -> StateDiagrams:
        """Return the same diagrams, in a store of their own, with every value changed."""
        source, target = self.store, Diagrams(growth)
        variable, low, high = source.variable, source.low, source.high
        copied: dict[int, int] = {}
        for diagram in self.upwards:
            if variable[diagram] == LEAF:
                copied[diagram] = target.leaf(change(source.value(diagram)))
            else:
                copied[diagram] = target.node(variable[diagram], copied[low[diagram]], copied[high[diagram]])
        return StateDiagrams(self.variables, target, tuple(copied[root] for root in self.roots))

    def over(self, variables: Iterable[str], store: Diagrams | None = None) -> StateDiagrams:
        """Return the same functions over other variables, which hold those that are read, in any order."""
        source, target, names = self.store, Diagrams() if store is None else store, tuple(variables)
        numbers = {name: variable for variable, name in enumerate(names)}
        copied: dict[int, int] = {}
        for diagram in self.upwards:
            if source.is_leaf(diagram):
                copied[diagram] = target.leaf(source.value(diagram))
            else:
                low, high = copied[source.low[diagram]], copied[source.high[diagram]]
                copied[diagram] = target.choose(numbers[self.variables[source.variable[diagram]]], low, high)
        return StateDiagrams(names, target, tuple(copied[root] for root in self.roots))

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
        store = self.store
        examples: dict[int, dict[int, frozenset[str]]] = {}  # diagram -> leaf below it -> a label that leads there
        for diagram in self.upwards:
            if store.is_leaf(diagram):
                examples[diagram] = {diagram: frozenset()}
            else:
                low, high = examples[store.low[diagram]], examples[store.high[diagram]]
                own = self.variables[store.variable[diagram]]
                examples[diagram] = {leaf: label | {own} for leaf, label in high.items()} | low
        return list(dict.fromkeys(label for root in self.roots for label in examples[root].values()))


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
