"""Decision diagrams: functions of a label, shared and reduced (Bryant, 1986).

A diagram is a number: of a leaf, which holds any hashable value, or of a node (variable, low, high). Variables increase
on every path. Two diagrams of one store are equal exactly when their functions are; children come before parents.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from praemia.errors import SizeError, require_whole

LEAF = 1 << 60  # the variable of a leaf: after all others
CHECK_EVERY = 256  # nodes
MAX_STATES = 100_000
MAX_NODES = 2_000_000  # of a store; to build so many takes some seconds
CANDIDATES_PER_STATE, FEWEST_CANDIDATES = 2, 10_000
TELL_SECONDS = 2.0

Memo = dict[tuple[int, int], int]
Folded = TypeVar("Folded")


@dataclass
class Growth:
    """The limits of a construction. ``tell`` is called about every two seconds with the size so far, as text."""

    max_states: int = MAX_STATES
    max_nodes: int = MAX_NODES
    tell: Callable[[str], None] | None = None
    num_states: int = 1
    _last: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        require_whole("max_states", self.max_states)

    @property
    def max_values(self) -> int:
        """The maximal number of leaves: some become states, others are intermediate."""
        return max(FEWEST_CANDIDATES, CANDIDATES_PER_STATE * self.max_states)

    def check(self, num_nodes: int, num_values: int) -> None:
        """Raise a SizeError when a limit is exceeded."""
        size = f"{self.num_states:,} states, {num_nodes:,} diagram nodes and {num_values:,} different leaves so far"
        if self.num_states > self.max_states:
            raise SizeError(f"the machine outgrew its limit of {self.max_states:,} states ({size}); raise max_states")
        if num_values > self.max_values:
            raise SizeError(
                f"the diagrams outgrew their limit of {self.max_values:,} different leaves ({size}); "
                "it grows with max_states, so raise that"
            )
        if num_nodes > self.max_nodes:
            raise SizeError(
                f"the guards outgrew their limit of {self.max_nodes:,} diagram nodes ({size}); "
                "use fewer propositions, or split the formula into a sum of machines"
            )
        if self.tell is not None and time.monotonic() - self._last > TELL_SECONDS:
            self._last = time.monotonic()
            self.tell(size)


class Diagrams:
    """A store of diagrams that share their nodes; it refuses to grow beyond its limits."""

    def __init__(self, growth: Growth | None = None) -> None:
        self.variable: list[int] = []
        self.low: list[int] = []
        self.high: list[int] = []
        self._growth = growth
        self._max_values = 0 if growth is None else growth.max_values
        self._values: dict[int, Any] = {}
        self._leaves: dict[Hashable, int] = {}
        self._nodes: dict[tuple[int, int, int], int] = {}

    def __len__(self) -> int:
        return len(self.variable)

    @property
    def num_leaves(self) -> int:
        return len(self._leaves)

    def leaf(self, value: Hashable) -> int:
        """Return the diagram that is one value everywhere."""
        leaf = self._leaves.get(value)
        if leaf is None:
            leaf = self._leaves[value] = self._add(LEAF, -1, -1)
            self._values[leaf] = value
            if self._growth is not None and len(self._leaves) > self._max_values:
                self._growth.check(len(self), self.num_leaves)
        return leaf

    def node(self, variable: int, low: int, high: int) -> int:
        """Return the diagram that decides a variable; it must come before those of both children."""
        if low == high:
            return low
        key = (variable, low, high)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = self._add(variable, low, high)
        return node

    def _add(self, variable: int, low: int, high: int) -> int:
        number = len(self.variable)
        if number % CHECK_EVERY == 0 and self._growth is not None:
            self._growth.check(number, self.num_leaves)
        self.variable.append(variable)
        self.low.append(low)
        self.high.append(high)
        return number

    def is_leaf(self, diagram: int) -> bool:
        return self.variable[diagram] == LEAF

    def value(self, leaf: int) -> Any:
        """Return what a leaf holds."""
        return self._values[leaf]

    def below(self, roots: Iterable[int], known: Container[int] = ()) -> list[int]:
        """Return the leaves and nodes of diagrams, each once, without those in ``known`` and below them."""
        variable, low, high = self.variable, self.low, self.high
        found, waiting = dict[int, None](), list(roots)[::-1]
        while waiting:
            diagram = waiting.pop()
            if diagram not in found and diagram not in known:
                found[diagram] = None
                if variable[diagram] != LEAF:
                    waiting += (high[diagram], low[diagram])
        return list(found)

    def values(self, roots: Iterable[int]) -> list[Any]:
        """Return the values that diagrams can take, each once."""
        return [self._values[diagram] for diagram in self.below(roots) if diagram in self._values]

    def support(self, roots: Iterable[int]) -> set[int]:
        """Return the variables that diagrams depend on."""
        return {self.variable[diagram] for diagram in self.below(roots)} - {LEAF}

    def combine(
        self, f: int, g: int, join: Callable[[Any, Any], Hashable], memo: Memo, zero: int = -1, unit: int = -1
    ) -> int:
        """Join two diagrams value by value; ``zero`` and ``unit`` are leaves that swallow or leave alone the other."""
        variable, low, high = self.variable, self.low, self.high

        def known(f: int, g: int) -> int | None:
            if f == zero or g == zero:
                return zero
            return g if f == unit else f if g == unit else memo.get((f, g))

        result = known(f, g)
        waiting = [(f, g)] if result is None else []  # a stack of our own: diagrams may be deeper than Python recurses
        while waiting:
            f, g = pair = waiting[-1]
            first, second = variable[f], variable[g]
            top = first if first < second else second
            if top == LEAF:
                result = self.leaf(join(self._values[f], self._values[g]))
            else:
                f0, f1 = (low[f], high[f]) if first == top else (f, f)
                g0, g1 = (low[g], high[g]) if second == top else (g, g)
                if_false, if_true = known(f0, g0), known(f1, g1)
                if if_false is None or if_true is None:
                    waiting += [(f1, g1)] if if_true is None else []
                    waiting += [(f0, g0)] if if_false is None else []
                    continue
                result = self.node(top, if_false, if_true)
            memo[pair] = result
            waiting.pop()
        assert result is not None
        return result

    def fold(
        self,
        roots: Iterable[int],
        at_leaf: Callable[[int], Folded],
        at_node: Callable[[int, Folded, Folded], Folded],
        results: dict[int, Folded] | None = None,
    ) -> list[Folded]:
        """Return what diagrams come to, computed once for each diagram below them, from the leaves upwards.

        ``at_leaf`` takes a leaf; ``at_node`` a variable, and what the diagrams come to where it is false and true.
        ``results`` keeps what was computed, for the next time.
        """
        results = {} if results is None else results
        variable, low, high = self.variable, self.low, self.high
        for diagram in sorted(self.below(roots, results)):  # children come before their parents
            if variable[diagram] == LEAF:
                results[diagram] = at_leaf(diagram)
            else:
                results[diagram] = at_node(variable[diagram], results[low[diagram]], results[high[diagram]])
        return [results[root] for root in roots]

    def map(
        self,
        f: int,
        change: Callable[[Any], Hashable],
        memo: dict[int, int] | None = None,
        target: Diagrams | None = None,
    ) -> int:
        """Change every value of a diagram, here or in another store with the same variables."""
        store = self if target is None else target
        return self.fold([f], lambda leaf: store.leaf(change(self._values[leaf])), store.node, memo)[0]

    def choose(self, variable: int, low: int, high: int) -> int:
        """Return the diagram that decides a variable, wherever it stands in the order."""
        if variable <= min(self.variable[low], self.variable[high]):
            return self.node(variable, self.cofactor(low, variable, False), self.cofactor(high, variable, True))
        which, memo = self.node(variable, self.leaf(False), self.leaf(True)), Memo()
        pairs = self.combine(low, high, lambda if_false, if_true: (if_false, if_true), memo)
        return self.combine(which, pairs, lambda holds, pair: pair[holds], {})

    def cofactor(self, diagram: int, variable: int, value: bool) -> int:
        """Return a diagram where a variable that comes first, if it occurs at all, has a value."""
        if self.variable[diagram] != variable:
            return diagram
        return self.high[diagram] if value else self.low[diagram]
