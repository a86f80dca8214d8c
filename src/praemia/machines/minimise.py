"""Merge the states that no sequence of labels can tell apart by what it pays.

Partition refinement on diagrams: with every target replaced by its class, two states are alike if their diagrams are
the same number. When a class is split, its largest part keeps the number; then only diagrams above a leaf that names
a moved state are looked at again. So the cost of a round is proportional to what it changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from praemia.machines.diagrams import Diagrams, copy

Targets = Callable[[Any], Iterable[int]]
Image = Callable[[Any, Sequence[int]], Hashable]


class Minimal(NamedTuple):
    """The result of minimising; ``class_of`` is -1 for states that cannot be reached, and 0 for state 0."""

    class_of: list[int]
    diagrams: Diagrams
    roots: list[int]


def minimise(diagrams: Diagrams, roots: Sequence[int], targets: Targets, image: Image) -> Minimal:
    """Merge states that pay the same on every sequence of labels.

    ``targets`` gives the states that a value names; ``image(value, classes)`` is the value with classes in their place.
    Classes are numbered in the order in which they are reached from state 0.
    """
    reached = reachable(diagrams, roots, targets)
    rough = _Refinement(diagrams, roots, reached, targets, image).run()
    numbers: dict[int, int] = {}
    class_of = [-1] * len(roots)
    chosen: list[int] = []
    for state in reached:
        if rough[state] not in numbers:
            numbers[rough[state]] = len(chosen)
            chosen.append(state)
        class_of[state] = numbers[rough[state]]
    store = Diagrams()
    memo: dict[int, int] = {}
    new = [copy(diagrams, roots[state], store, lambda value: image(value, class_of), memo) for state in chosen]
    return Minimal(class_of, store, new)


def reachable(diagrams: Diagrams, roots: Sequence[int], targets: Targets, start: int = 0) -> list[int]:
    """Return the states that can be reached from a state, nearest first."""
    found, seen = {start: None}, set[int]()
    states = [start]
    for state in states:
        waiting = [roots[state]]
        while waiting:
            diagram = waiting.pop()
            if diagram in seen:
                continue
            seen.add(diagram)
            if not diagrams.is_leaf(diagram):
                waiting += (diagrams.high[diagram], diagrams.low[diagram])
                continue
            new = [target for target in targets(diagrams.value(diagram)) if target not in found]
            found.update(dict.fromkeys(new))
            states += dict.fromkeys(new)
    return states


class _Refinement:
    def __init__(
        self, diagrams: Diagrams, roots: Sequence[int], states: list[int], targets: Targets, image: Image
    ) -> None:
        self._diagrams, self._image = diagrams, image
        self._images = Diagrams()
        self._image_of: dict[int, int] = {}
        self._parents: dict[int, list[int]] = defaultdict(list)
        self._leaves_to: dict[int, list[int]] = defaultdict(list)  # state -> the leaves that name it
        self._states_at: dict[int, list[int]] = defaultdict(list)  # diagram -> the states whose root it is
        self._classes = [0] * len(roots)
        self._members: dict[int, set[int]] = {0: set(states)}
        self._roots = roots
        for state in states:
            self._states_at[roots[state]].append(state)
        for diagram in diagrams.below(self._states_at):
            if diagrams.is_leaf(diagram):
                for target in set(targets(diagrams.value(diagram))):
                    self._leaves_to[target].append(diagram)
            else:
                self._parents[diagrams.low[diagram]].append(diagram)
                self._parents[diagrams.high[diagram]].append(diagram)

    def run(self) -> list[int]:
        """Return a class for each state; alike states have the same."""
        touched = set(self._diagrams.below(self._states_at))
        while touched:
            self._recompute(touched)
            looked_at: dict[int, list[int]] = defaultdict(list)
            for diagram in sorted(touched & self._states_at.keys()):
                for state in self._states_at[diagram]:
                    looked_at[self._classes[state]].append(state)
            moved = [state for number, states in looked_at.items() for state in self._split(number, states)]
            touched = self._above(leaf for state in moved for leaf in self._leaves_to[state])
        return self._classes

    def _recompute(self, touched: set[int]) -> None:
        diagrams, images = self._diagrams, self._images
        for diagram in sorted(touched):  # children have smaller numbers than their parents
            if diagrams.is_leaf(diagram):
                image = images.leaf(self._image(diagrams.value(diagram), self._classes))
            else:
                low, high = self._image_of[diagrams.low[diagram]], self._image_of[diagrams.high[diagram]]
                image = images.node(diagrams.variable[diagram], low, high)
            self._image_of[diagram] = image

    def _split(self, number: int, states: list[int]) -> list[int]:
        """Split a class by its diagrams' images, some of which are new; return the states that got a new number."""
        rest = self._members[number].difference(states)
        parts: dict[int, set[int]] = defaultdict(set)
        if rest:
            parts[self._image_of[self._roots[next(iter(rest))]]] = rest
        for state in states:
            parts[self._image_of[self._roots[state]]].add(state)
        largest, *others = sorted(parts.values(), key=len, reverse=True)
        self._members[number] = largest
        for part in others:
            new = len(self._members)
            self._members[new] = part
            for state in part:
                self._classes[state] = new
        return [state for part in others for state in part]

    def _above(self, leaves: Iterable[int]) -> set[int]:
        found, waiting = set[int](), list(leaves)
        while waiting:
            diagram = waiting.pop()
            if diagram not in found:
                found.add(diagram)
                waiting += self._parents[diagram]
        return found
