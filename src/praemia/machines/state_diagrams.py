"""A diagram for each state, from a label to what happens there: what automata and machines consist of.

``smallest`` builds the diagrams of all states that can be reached from one, and merges the states that no sequence of
labels can tell apart, by partition refinement: with every target replaced by its class, two states are alike if their
diagrams are the same. When a class is split, its largest part keeps the number; then only diagrams above a leaf that
names a moved state are looked at again. So the cost of a round is proportional to what it changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeAlias, TypeVar

from praemia.machines.diagrams import LEAF, Diagrams, Growth, deep_recursion

Folded = TypeVar("Folded")
State = TypeVar("State", bound=Hashable)
Targets = Callable[[Any], Iterable[int]]
Image = Callable[[Any, Sequence[int]], Hashable]  # of a value, given the class of every state
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

    def values(self) -> list[Any]:
        """Return the values that some state has on some label, each once."""
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

    def map_values(self, change: Callable[[Any], Hashable], store: Diagrams | None = None) -> StateDiagrams:
        """Return the same diagrams, in a store of their own or the one given, with every value changed."""
        target = Diagrams() if store is None else store
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

    @deep_recursion
    def is_same_as(self, other: StateDiagrams) -> bool:
        """Tell whether two have the same values in every state on every label, whatever their order of variables."""
        names, store = dict.fromkeys((*self.variables, *other.variables)), Diagrams()
        return self.reordered(names, store).roots == other.reordered(names, store).roots

    def example_labels(self) -> list[frozenset[str]]:
        """Return labels on which every state has all values that it has on any label."""

        def either(variable: int, low: Examples, high: Examples) -> Examples:
            return {leaf: label | {self.variables[variable]} for leaf, label in high.items()} | low

        examples = self.fold(lambda leaf: {leaf: frozenset[str]()}, either)
        return list(dict.fromkeys(label for own in examples for label in own.values()))


def smallest(
    variables: Iterable[str],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    targets: Callable[[Any], Iterable[State]],
    image: Callable[[Any, Callable[[State], int]], Hashable],
    growth: Growth,
) -> tuple[StateDiagrams, list[list[State]]]:
    """Return the fewest states that do, from a start on, what moves say; and those that became one.

    ``moves`` gives the diagram of a state, and ``targets`` the states that a value of it names; ``image`` is the value
    with numbers in their place, given the number of a state. The start is number 0.
    """
    diagrams, numbers = _unfold(tuple(variables), store, start, moves, targets, growth)

    def image_of(value: Any, classes: Sequence[int]) -> Hashable:
        return image(value, lambda state: classes[numbers[state]])

    rough = _Refinement(diagrams, lambda value: [numbers[target] for target in targets(value)], image_of).run()
    members: dict[int, list[State]] = defaultdict(list)  # classes come in the order of their first states
    for state, part in zip(numbers, rough, strict=True):
        members[part].append(state)
    order = {part: number for number, part in enumerate(members)}
    firsts = tuple(diagrams.roots[numbers[states[0]]] for states in members.values())
    classes = [order[part] for part in rough]
    small = replace(diagrams, roots=firsts).map_values(lambda value: image_of(value, classes))
    return small, list(members.values())


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
        for value in store.values(roots[-1:], seen):
            for target in targets(value):
                if target not in numbers:
                    numbers[target] = len(states)
                    states.append(target)
        growth.num_states = len(states)
        growth.check(len(store), store.num_leaves)
    return StateDiagrams(variables, store, tuple(roots)), numbers


class _Refinement:
    def __init__(self, diagrams: StateDiagrams, targets: Targets, image: Image) -> None:
        store = self._store = diagrams.store
        self._roots, self._image = diagrams.roots, image
        self._parents: dict[int, list[int]] = defaultdict(list)
        self._leaves_to: dict[int, list[int]] = defaultdict(list)  # state -> the leaves that name it
        self._states_at: dict[int, list[int]] = defaultdict(list)  # diagram -> the states whose root it is
        self._classes = [0] * diagrams.num_states
        self._members: dict[int, set[int]] = {0: set(range(diagrams.num_states))}
        self._class_images: dict[int, int] = {}  # class -> the image that all its states' diagrams have
        for state, root in enumerate(self._roots):
            self._states_at[root].append(state)
        self._below = diagrams.upwards
        self._images: dict[Hashable, int] = {}  # the image of a diagram is a number, too
        self._image_of = dict.fromkeys(self._below, -1)
        variable, low, high = store.variable, store.low, store.high
        for diagram in self._below:
            if variable[diagram] == LEAF:
                for target in set(targets(store.value(diagram))):
                    self._leaves_to[target].append(diagram)
            else:
                self._parents[low[diagram]].append(diagram)
                self._parents[high[diagram]].append(diagram)

    def run(self) -> list[int]:
        """Return a class for each state; alike states have the same."""
        stale = self._below
        while stale:
            with_new_image = self._recompute(stale)
            states_of_class: dict[int, list[int]] = defaultdict(list)
            for diagram in with_new_image:
                for state in self._states_at.get(diagram, ()):
                    states_of_class[self._classes[state]].append(state)
            moved = (self._split(number, states) for number, states in states_of_class.items())
            stale = self._above(leaf for state in chain.from_iterable(moved) for leaf in self._leaves_to[state])
        return self._classes

    def _recompute(self, stale: list[int]) -> list[int]:
        """Find the images of diagrams, children before their parents; return those whose image is another now."""
        store, images, image_of, classes = self._store, self._images, self._image_of, self._classes
        variable, low, high = store.variable, store.low, store.high
        with_new_image = []
        for diagram in stale:
            if variable[diagram] == LEAF:
                image = images.setdefault(self._image(store.value(diagram), classes), len(images))
            else:
                first, second = image_of[low[diagram]], image_of[high[diagram]]
                image = first
                if first != second:
                    image = images.setdefault((variable[diagram], first, second), len(images))
            if image_of[diagram] != image:
                image_of[diagram] = image
                with_new_image.append(diagram)
        return with_new_image

    def _split(self, number: int, states: list[int]) -> list[int]:
        """Split a class by its diagrams' images, some of which are new; return the states that got a new number."""
        rest = self._members[number]
        rest.difference_update(states)
        parts: dict[int, set[int]] = defaultdict(set)
        if rest:
            parts[self._class_images[number]] = rest
        for state in states:
            parts[self._image_of[self._roots[state]]].add(state)
        (image, largest), *others = sorted(parts.items(), key=lambda part: len(part[1]), reverse=True)
        self._members[number], self._class_images[number] = largest, image
        for image, part in others:
            new = len(self._members)
            self._members[new], self._class_images[new] = part, image
            for state in part:
                self._classes[state] = new
        return [state for _, part in others for state in part]

    def _above(self, leaves: Iterable[int]) -> list[int]:
        """Return the diagrams above leaves, children before their parents."""
        above, waiting = set[int](), list(leaves)
        while waiting:
            diagram = waiting.pop()
            if diagram not in above:
                above.add(diagram)
                waiting += self._parents[diagram]
        return sorted(above)
