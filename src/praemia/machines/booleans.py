"""Boolean functions as decision diagrams with the leaves False and True, and how to write them as few terms."""

from __future__ import annotations

import math
from collections.abc import Iterable

from praemia.errors import SizeError
from praemia.machines.diagrams import Diagrams, Growth, Memo

Term = dict[int, bool]  # variable -> whether it must be true


class Booleans(Diagrams):
    """A store of boolean functions."""

    def __init__(self, growth: Growth | None = None) -> None:
        super().__init__(growth)
        self.false, self.true = self.leaf(False), self.leaf(True)
        self._both: Memo = {}
        self._either: Memo = {}
        self._support_bits: list[int] = []
        self._not: dict[int, int] = {self.false: self.true, self.true: self.false}

    def literal(self, variable: int) -> int:
        """Return the function that is true where a variable is."""
        return self.node(variable, self.false, self.true)

    def both(self, f: int, g: int) -> int:
        f, g = (f, g) if f < g else (g, f)
        return f if f == g else self.combine(f, g, lambda a, b: a and b, self._both, self.false, self.true)

    def either(self, f: int, g: int) -> int:
        f, g = (f, g) if f < g else (g, f)
        return f if f == g else self.combine(f, g, lambda a, b: a or b, self._either, self.true, self.false)

    def negate(self, f: int) -> int:
        return self.map(f, lambda value: not value, self._not)

    def all(self, parts: Iterable[int]) -> int:
        result = self.true
        for part in self._last_first(parts):
            result = self.both(part, result)
        return result

    def any(self, parts: Iterable[int]) -> int:
        result = self.false
        for part in self._last_first(parts):
            result = self.either(part, result)
        return result

    def _last_first(self, parts: Iterable[int]) -> list[int]:
        """Sort functions by their first variable, so that each is joined above what was joined before."""
        return sorted(parts, key=self.variable.__getitem__, reverse=True)

    def support_bits(self, f: int) -> int:
        """Return the variables that a function depends on, as the bits of a number."""
        bits = self._support_bits
        for diagram in range(len(bits), f + 1):  # children come before their parents
            if self.is_leaf(diagram):
                bits.append(0)
            else:
                bits.append(1 << self.variable[diagram] | bits[self.low[diagram]] | bits[self.high[diagram]])
        return bits[f]

    def restrict(self, f: int, variable: int, value: bool) -> int:
        """Return a function where a variable has a value."""
        return self._restrict(f, variable, value, {})

    def _restrict(self, f: int, variable: int, value: bool, memo: dict[int, int]) -> int:
        own = self.variable[f]
        if own >= variable:
            return self.part(f, variable, value)
        if f not in memo:
            low = self._restrict(self.low[f], variable, value, memo)
            memo[f] = self.node(own, low, self._restrict(self.high[f], variable, value, memo))
        return memo[f]

    def terms(self, f: int, most: float = math.inf) -> list[Term]:
        """Return an irredundant sum of products: f is true where all of some term holds (Minato and Morreale).

        There can be exponentially many: more than ``most`` are refused.
        """
        single = self._single_term(f)
        return self._terms(f, f, most, {})[0] if single is None else [single]

    def _single_term(self, f: int) -> Term | None:
        """Return the one term that a function is, if it is one: most guards are, and this is fast."""
        term: Term = {}
        while not self.is_leaf(f):
            low, high = self.low[f], self.high[f]
            if self.false not in (low, high):
                return None
            term[self.variable[f]] = low == self.false
            f = high if low == self.false else low
        return term if f == self.true else None

    def _terms(
        self, lower: int, upper: int, most: float, memo: dict[tuple[int, int], tuple[list[Term], int]]
    ) -> tuple[list[Term], int]:
        """Return terms of some function between two, and that function."""
        if lower == self.false:
            return [], self.false
        if upper == self.true:
            return [{}], self.true
        if (lower, upper) in memo:
            return memo[lower, upper]
        top = min(self.variable[lower], self.variable[upper])
        low0, low1 = (self.part(lower, top, value) for value in (False, True))
        up0, up1 = (self.part(upper, top, value) for value in (False, True))
        only0, made0 = self._terms(self.both(low0, self.negate(up1)), up0, most, memo)
        only1, made1 = self._terms(self.both(low1, self.negate(up0)), up1, most, memo)
        rest = self.either(self.both(low0, self.negate(made0)), self.both(low1, self.negate(made1)))
        shared, made = self._terms(rest, self.both(up0, up1), most, memo)
        terms = [*({top: True} | term for term in only1), *({top: False} | term for term in only0), *shared]
        if len(terms) > most:
            raise SizeError(f"a guard of more than {most:,} products; it is too long to be written out")
        whole = self.either(made, self.node(top, made0, made1))
        memo[lower, upper] = terms, whole
        return terms, whole
