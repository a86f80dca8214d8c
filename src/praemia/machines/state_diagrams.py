"""A diagram for each state, from a label to what happens there: what automata and machines consist of.

``smallest`` builds the diagrams of all states that can be reached from one, and merges equivalent states: at first all
are one class; a round splits each class by its states' diagrams, with every target replaced by its class.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from praemia.machines.diagrams import LEAF, Diagrams, Folded, Growth

State = TypeVar("State", bound=Hashable)
Image = Callable[[int, Sequence[int]], Hashable]  # of a leaf, given the class of every state
Examples: TypeAlias = dict[int, frozenset[str]]  # leaf -> a label that leads there


@dataclass(frozen=True, eq=False)
class StateDiagrams:
    """The diagrams of some states, in a ``store``, by its root; variable v is the proposition ``variables[v]``."""

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

    def values(self) -> list[Any]:
        """Return the values that some state has on some label, each once."""
        return self.store.values(self.roots)

    def reads(self) -> frozenset[str]:
        """Return the propositions that some state depends on."""
        return frozenset(self.variables[variable] for variable in self.store.support(self.roots))

    def fold(self, at_leaf: Callable[[int], Folded], at_node: Callable[[int, Folded, Folded], Folded]) -> list[Folded]:
        """Return for each state what its diagram comes to; see ``Diagrams.fold``."""
        return self.store.fold(self.roots, at_leaf, at_node)

    def highest(self, measure: Callable[[Any], float]) -> list[float]:
        """Return for each state the maximum of a measure of its values."""
        return self.fold(lambda leaf: measure(self.store.value(leaf)), lambda _, low, high: max(low, high))

    def map_values(self, change: Callable[[Any], Hashable]) -> StateDiagrams:
        """Return diagrams with every value changed, in a new store."""
        target = Diagrams()
        roots = self.fold(lambda leaf: target.leaf(change(self.store.value(leaf))), target.node)
        return StateDiagrams(self.variables, target, tuple(roots))

    def reordered(self, variables: Iterable[str], store: Diagrams | None = None) -> StateDiagrams:
        """Return the same functions over other variables, which hold those that are read, in any order."""
        target, names = Diagrams() if store is None else store, tuple(variables)
        new = {old: names.index(self.variables[old]) for old in self.store.support(self.roots)}
        roots = self.fold(
            lambda leaf: target.leaf(self.store.value(leaf)),
            lambda variable, low, high: target.choose(new[variable], low, high),
        )
        return StateDiagrams(names, target, tuple(roots))

    def is_same_as(self, other: StateDiagrams) -> bool:
        """Return whether two have the same values in every state on every label, whatever the order of variables."""
        names, store = dict.fromkeys((*self.variables, *other.variables)), Diagrams()
        return self.reordered(names, store).roots == other.reordered(names, store).roots

    def leaves(self) -> list[int]:
        """Return the leaves of ``values``, in their order."""
        return [diagram for diagram in self.store.below(self.roots) if self.store.is_leaf(diagram)]

    def examples(self) -> list[Examples]:
        """Return for each state a label that leads to each of its leaves."""

        def either(variable: int, low: Examples, high: Examples) -> Examples:
            return {leaf: label | {self.variables[variable]} for leaf, label in high.items()} | low

        return self.fold(lambda leaf: {leaf: frozenset[str]()}, either)

    def example_labels(self) -> list[frozenset[str]]:
        """Return labels on which every state has all values that it has on any label."""
        return list(dict.fromkeys(label for own in self.examples() for label in own.values()))


def smallest(
    variables: Iterable[str],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    targets: Callable[[Any], Iterable[State]],
    image: Callable[[Any, Callable[[State], int]], Hashable],
    growth: Growth,
) -> tuple[StateDiagrams, list[list[State]]]:
    """Return the fewest states that do, from a start on, what moves say, the start first; and those that became one.

    ``moves`` gives the diagram of a state, ``targets`` the states that a value of it names, and ``image`` the value
    with indices in their place.
    """
    diagrams, numbers = _unfold(tuple(variables), store, start, moves, targets, growth)

    def image_of(leaf: int, classes: Sequence[int]) -> Hashable:
        return image(store.value(leaf), lambda state: classes[numbers[state]])

    leads_to = {leaf: [numbers[state] for state in targets(store.value(leaf))] for leaf in diagrams.leaves()}
    classes = _classes(diagrams, leads_to, image_of)
    members: list[list[State]] = [[] for _ in range(1 + max(classes))]
    for state, number in zip(numbers, classes, strict=True):
        members[number].append(state)
    firsts = tuple(diagrams.roots[numbers[states[0]]] for states in members)
    target = Diagrams()
    roots = replace(diagrams, roots=firsts).fold(lambda leaf: target.leaf(image_of(leaf, classes)), target.node)
    return StateDiagrams(diagrams.variables, target, tuple(roots)), members


def _classes(diagrams: StateDiagrams, leads_to: Mapping[int, Iterable[int]], image_of: Image) -> list[int]:
    """Return the class of each state; classes are numbered in the order of their first states.

    A round compares only states that lead, as ``leads_to`` says of leaves, to a state whose class has a new number.
    """
    store = diagrams.store
    upwards = sorted(store.below(diagrams.roots))
    parents: dict[int, list[int]] = {diagram: [] for diagram in upwards}
    states_of: dict[int, list[int]] = {diagram: [] for diagram in upwards}
    for diagram in upwards:
        for child in () if store.is_leaf(diagram) else (store.low[diagram], store.high[diagram]):
            parents[child].append(diagram)
    for state, root in enumerate(diagrams.roots):
        states_of[root].append(state)
    leaves_to: list[list[int]] = [[] for _ in diagrams.roots]
    for leaf, states in leads_to.items():
        for state in states:
            leaves_to[state].append(leaf)
    classes, members = [0] * len(diagrams.roots), [set(range(len(diagrams.roots)))]
    images: dict[Hashable, int] = {}
    keys: dict[int, int] = {}  # of diagrams: equal where they lead to the same classes
    changed: Iterable[int] = upwards
    while changed:
        for diagram in changed:
            low, high = keys.get(store.low[diagram]), keys.get(store.high[diagram])
            is_leaf = store.is_leaf(diagram)
            key = image_of(diagram, classes) if is_leaf else (store.variable[diagram], low, high)
            keys[diagram] = low if low is not None and low == high else images.setdefault(key, len(images))
        parts: dict[tuple[int, int], list[int]] = {}
        for state in sorted(state for diagram in changed for state in states_of[diagram]):
            parts.setdefault((classes[state], keys[diagrams.roots[state]]), []).append(state)
        moved: list[int] = []
        for (number, _), part in sorted(parts.items(), key=lambda item: len(item[1])):
            if len(part) < len(members[number]):
                members[number].difference_update(part)
                for state in part:
                    classes[state] = len(members)
                members.append(set(part))
                moved += part
        changed = _above((leaf for state in moved for leaf in leaves_to[state]), parents)
    order: dict[int, int] = {}
    return [order.setdefault(number, len(order)) for number in classes]


def _above(leaves: Iterable[int], parents: Mapping[int, Iterable[int]]) -> list[int]:
    """Return some leaves and all diagrams above them, children before their parents."""
    found = set(leaves)
    waiting = list(found)
    while waiting:
        new = [parent for parent in parents[waiting.pop()] if parent not in found]
        found.update(new)
        waiting += new
    return sorted(found)


def _unfold(
    variables: tuple[str, ...],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    targets: Callable[[Any], Iterable[State]],
    growth: Growth,
) -> tuple[StateDiagrams, dict[State, int]]:
    """Build the diagrams of all states that can be reached from a start; number these in the order they are met."""
    numbers: dict[State, int] = {start: 0}
    states, roots, seen = [start], list[int](), set[int]()
    for state in states:
        roots.append(moves(state))
        new = store.below(roots[-1:], seen)
        seen.update(new)
        for value in map(store.value, filter(store.is_leaf, new)):
            for target in targets(value):
                if target not in numbers:
                    numbers[target] = len(states)
                    states.append(target)
        growth.num_states = len(states)
        growth.check(len(store), store.num_leaves)
    return StateDiagrams(variables, store, tuple(roots)), numbers
