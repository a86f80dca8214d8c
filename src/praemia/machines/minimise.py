"""Merge the states that no sequence of labels can tell apart by what it pays.

Partition refinement on diagrams: with every target replaced by its class, two states are alike if their diagrams are
the same. When a class is split, its largest part keeps the number; then only diagrams above a leaf that names a moved
state are looked at again. So the cost of a round is proportional to what it changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from praemia.machines.diagrams import LEAF
from praemia.machines.state_diagrams import StateDiagrams

Targets = Callable[[Any], Iterable[int]]
Image = Callable[[Any, Sequence[int]], Hashable]


def minimise(diagrams: StateDiagrams, targets: Targets, image: Image) -> tuple[StateDiagrams, list[list[int]]]:
    """Merge the states that pay the same on every sequence of labels, without those that cannot be reached.

    ``targets`` gives the states that a value names; ``image(value, classes)`` is the value with classes in their place.
    Classes are numbered in the order in which they are reached from state 0; their states are returned too.
    """
    reached = diagrams.reachable(targets)
    rough = _Refinement(diagrams, reached, targets, image).run()
    numbers: dict[int, int] = {}
    class_of = [-1] * diagrams.num_states
    members: list[list[int]] = []
    roots: list[int] = []
    for state in reached:
        number = numbers.setdefault(rough[state], len(roots))
        if number == len(roots):
            roots.append(diagrams.roots[state])
            members.append([])
        class_of[state] = number
        members[number].append(state)
    small = replace(diagrams, roots=tuple(roots)).changed(lambda value: image(value, class_of))
    return small, [sorted(states) for states in members]


class _Refinement:
    def __init__(self, diagrams: StateDiagrams, states: list[int], targets: Targets, image: Image) -> None:
        store = self._store = diagrams.store
        self._roots, self._image = diagrams.roots, image
        self._parents: dict[int, list[int]] = defaultdict(list)
        self._leaves_to: dict[int, list[int]] = defaultdict(list)  # state -> the leaves that name it
        self._states_at: dict[int, list[int]] = defaultdict(list)  # diagram -> the states whose root it is
        self._classes = [0] * diagrams.num_states
        self._members: dict[int, set[int]] = {0: set(states)}
        self._class_images: dict[int, int] = {}  # class -> the image that all its states' diagrams have
        for state in states:
            self._states_at[self._roots[state]].append(state)
        self._below = sorted(store.below(self._states_at))
        self._images: dict[Hashable, int] = {}  # the image of a diagram is a number, too
        self._image_of = dict.fromkeys(self._below, -1)
        for diagram in self._below:
            if store.is_leaf(diagram):
                for target in set(targets(store.value(diagram))):
                    self._leaves_to[target].append(diagram)
            else:
                self._parents[store.low[diagram]].append(diagram)
                self._parents[store.high[diagram]].append(diagram)

    def run(self) -> list[int]:
        """Return a class for each state; alike states have the same."""
        touched = self._below
        while touched:
            changed = self._recompute(touched)
            looked_at: dict[int, list[int]] = defaultdict(list)
            for diagram in changed:
                for state in self._states_at.get(diagram, ()):
                    looked_at[self._classes[state]].append(state)
            moved = [state for number, states in looked_at.items() for state in self._split(number, states)]
            touched = self._above(leaf for state in moved for leaf in self._leaves_to[state])
        return self._classes

    def _recompute(self, touched: list[int]) -> list[int]:
        """Find the images of diagrams, children before their parents; return those whose image is another now."""
        store, images, image_of, classes = self._store, self._images, self._image_of, self._classes
        variable, low, high = store.variable, store.low, store.high
        changed = []
        for diagram in touched:
            if variable[diagram] == LEAF:
                image = images.setdefault(self._image(store.value(diagram), classes), len(images))
            else:
                first, second = image_of[low[diagram]], image_of[high[diagram]]
                image = first
                if first != second:
                    image = images.setdefault((variable[diagram], first, second), len(images))
            if image_of[diagram] != image:
                image_of[diagram] = image
                changed.append(diagram)
        return changed

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
