"""Guards: boolean formulas over propositions, compared as decision diagrams."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from typing import TypeAlias

from praemia.errors import SizeError
from praemia.machines.diagrams import Diagrams, Growth, Memo
from praemia.machines.formula import FALSE, TRUE, Formula, conjunction, fold, negation, proposition
from praemia.machines.labels import Label
from praemia.machines.state_diagrams import StateDiagrams

Term: TypeAlias = dict[int, bool]  # variable -> whether it must be true

MAX_GUARD_NODES = 1_000_000  # of the diagrams of one state's guards; this takes seconds


def exactly(label: Set[str], propositions: Iterable[str]) -> Formula:
    """Return the guard that holds on one label alone: its propositions are true, all others are not.

    Rules of one machine state must exclude each other also on labels that never occur.
    """
    names = sorted(propositions, key=lambda name: name not in label)  # those that are true come first
    return conjunction(proposition(name) if name in label else ~proposition(name) for name in names)


class Booleans(Diagrams):
    """Boolean functions of atoms: of propositions, or of formulas in time, in the order in which they are first met."""

    def __init__(self, names: Iterable[str] = (), growth: Growth | None = None) -> None:
        super().__init__(growth or Growth(max_nodes=MAX_GUARD_NODES))
        self.atoms: list[Formula] = []
        self.false, self.true = self.leaf(False), self.leaf(True)
        self._both: Memo = {}
        self._either: Memo = {}
        self._not: dict[int, int] = {self.false: self.true, self.true: self.false}
        self._support_bits: list[int] = []
        self._functions: dict[Formula, int] = {TRUE: self.true, FALSE: self.false}
        self._opposites: dict[Formula, Formula] = {}
        for name in names:
            self.function(proposition(name))

    @property
    def names(self) -> tuple[str, ...]:
        """The propositions, which are all the atoms of guards."""
        return tuple(atom.name for atom in self.atoms)

    def function(self, formula: Formula) -> int:
        """Return the function that is true where a formula holds."""
        return fold(formula, self._function, self._functions, _boolean_parts)

    def _function(self, formula: Formula, parts: list[int]) -> int:
        match formula.operator:
            case "!":
                return self.negate(parts[0])
            case "&" | "|":
                return self.join(formula.operator, parts)
            case "else":
                return parts[0]
            case "WX" | "R":
                return self.negate(self.function(negation(formula, self._opposites)))
            case _:
                self.atoms.append(formula)
                return self.literal(len(self.atoms) - 1)

    def atom(self, variable: int, value: bool) -> Formula:
        """Return the formula that says of an atom that it is true, or that it is false."""
        atom = self.atoms[variable]
        return atom if value else self._opposites.get(atom) or negation(atom, self._opposites)

    def formula(self, function: int, most: float = math.inf) -> Formula:
        """Write a function as a formula: few products, each of few atoms; more products than ``most`` are refused."""
        products = [
            _joined("&", [self.atom(*literal) for literal in sorted(term.items())], TRUE)
            for term in self.terms(function, most)
        ]
        return _joined("|", products, FALSE)

    def example(self, function: int) -> Label:
        """Return a label on which a function, which is not false everywhere, is true."""
        (labels,) = StateDiagrams(self.names, self, (function,)).examples()
        return labels[self.true]

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

    def join(self, operator: str, parts: Iterable[int]) -> int:
        """Return the function that is true where all parts are (operator "&"), or where one is ("|")."""
        pair, result = (self.both, self.true) if operator == "&" else (self.either, self.false)
        # Last variables first: each part is joined above what was joined before.
        for part in sorted(parts, key=self.variable.__getitem__, reverse=True):
            result = pair(part, result)
        return result

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

        def node(own: int, low: int, high: int) -> int:
            return (high if value else low) if own == variable else self.node(own, low, high)

        return self.fold([f], lambda leaf: leaf, node)[0]

    def terms(self, f: int, most: float = math.inf) -> list[Term]:
        """Return an irredundant sum of products: f is true where all of some term holds (Minato and Morreale).

        There can be exponentially many: more than ``most`` are refused.
        """
        single = self._single_term(f)
        try:
            return self._terms(f, f, most, {})[0] if single is None else [single]
        except RecursionError:
            raise SizeError("a guard that reads too many propositions; it is too long to be written out") from None

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
        low0, low1 = (self.cofactor(lower, top, value) for value in (False, True))
        up0, up1 = (self.cofactor(upper, top, value) for value in (False, True))
        only0, cover0 = self._terms(self.both(low0, self.negate(up1)), up0, most, memo)
        only1, cover1 = self._terms(self.both(low1, self.negate(up0)), up1, most, memo)
        rest = self.either(self.both(low0, self.negate(cover0)), self.both(low1, self.negate(cover1)))
        shared, cover = self._terms(rest, self.both(up0, up1), most, memo)
        terms = [*({top: True} | term for term in only1), *({top: False} | term for term in only0), *shared]
        if len(terms) > most:
            raise SizeError(f"a guard of more than {most:,} products; it is too long to be written out")
        whole = self.either(cover, self.node(top, cover0, cover1))
        memo[lower, upper] = terms, whole
        return terms, whole


def _boolean_parts(formula: Formula) -> Sequence[Formula]:
    return formula.parts if formula.operator in ("!", "&", "|", "else") else ()


def _joined(operator: str, parts: list[Formula], neutral: Formula) -> Formula:
    """Join parts that need no simplifying."""
    return Formula(operator, tuple(parts)) if len(parts) > 1 else parts[0] if parts else neutral


def example_label(guard: Formula) -> Label | None:
    """Return a label on which a guard holds, or None where it never does."""
    functions = Booleans()
    function = functions.function(guard)
    return None if function == functions.false else functions.example(function)
