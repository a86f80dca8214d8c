"""From a formula about the future to an automaton, by progression.

After a label σ, a formula leaves a residual that the rest of the trace must satisfy, and a bit: whether the trace may
end here. With d(f) the diagram from σ to (residual, bit), and & and | of such pairs taken part by part,

    d(name) = (true, 1) or (false, 0)        d(X f) = (f, 0)        d(F f) = d(f) | (F f, 0)
    d(f U g) = d(g) | (d(f) & (f U g, 0))    d(!f) = !d(f)

G, R, W, WX and last are negations of these. A residual is a boolean function of names and of formulas that begin with
X, F or U, kept as a decision diagram over these *elements*: residuals that are equal as boolean functions are one
state. Implications between elements (``entailment``) remove further elements. Minimising does the rest.
"""

from __future__ import annotations

from praemia.errors import ModelError, SizeError
from praemia.machines.automaton import Automaton, explore
from praemia.machines.booleans import Booleans
from praemia.machines.diagrams import Diagrams, Growth, Memo
from praemia.machines.entailment import Answers, entails
from praemia.machines.formula import FUTURE, PAST, Formula, conjunction, disjunction, negation, write
from praemia.machines.past import remember
from praemia.machines.paying import smallest_accepting
from praemia.machines.syntax import parse_formula

Forbidden = tuple[int, bool, int, bool]  # elements i and j are never i = p and j = q


def accept_formula(text: str, growth: Growth) -> Automaton:
    """Return the smallest automaton that pays 1 at every step at which what was seen so far satisfies a formula.

    A formula without past operators is judged at the first step of the trace so far, one with past operators alone at
    its last step. An empty trace satisfies nothing.
    """
    formula, words = parse_formula(text)
    if words & FUTURE and words & PAST:
        raise ModelError(
            f"the formula {text!r} mixes operators about the future ({', '.join(sorted(words & FUTURE))}) and about "
            f"the past ({', '.join(sorted(words & PAST))}); write it with one kind"
        )
    try:
        return smallest_accepting((remember if words & PAST else progress)(formula, growth))
    except RecursionError:
        raise SizeError(f"the formula {text[:40]!r}… is too deeply nested, or reads too many propositions") from None


def progress(formula: Formula, growth: Growth) -> Automaton:
    """Return the automaton that pays 1 whenever what was seen so far satisfies a formula at its first step."""
    work = _Progression(formula, growth)
    return explore(work.names, work.moves, work.residual(formula), work.moves_of, work.text, growth)


class _Progression:
    def __init__(self, formula: Formula, growth: Growth) -> None:
        self.names = {name: number for number, name in enumerate(formula.propositions())}
        self.moves = Diagrams(growth)
        self._functions = Booleans(growth)
        self._elements: list[Formula] = []
        self._opposites: list[Formula] = []  # the negation of each element
        self._numbers: dict[Formula, int] = {}
        self._forbidden: list[list[Forbidden]] = []  # for each element, with those before it
        self._entailed: Answers = {}
        self._never = self.moves.leaf((self._functions.false, False))
        self._always = self.moves.leaf((self._functions.true, True))
        self._joined: dict[str, Memo] = {"&": {}, "|": {}}
        self._negated: dict[int, int] = {}
        self._moves_of: dict[int, int] = {self._functions.false: self._never, self._functions.true: self._always}
        self._moves_of_element: dict[int, int] = {}
        self._simple: dict[int, int] = {}

    def residual(self, formula: Formula) -> int:
        """Return a formula as a boolean function of elements."""
        functions, parts = self._functions, formula.parts
        match formula.operator:
            case "true" | "false":
                return functions.true if formula.operator == "true" else functions.false
            case "&":
                return functions.all(map(self.residual, parts))
            case "|":
                return functions.any(map(self.residual, parts))
            case "name" | "X" | "F" | "U":
                return functions.literal(self._element(formula))
            case _:
                return functions.negate(self.residual(negation(formula)))

    def _element(self, formula: Formula) -> int:
        if formula not in self._numbers:
            number = self._numbers[formula] = len(self._elements)
            self._elements.append(formula)
            self._opposites.append(negation(formula))
            self._forbidden.append([pair for other in range(number) for pair in self._impossible(other, number)])
        return self._numbers[formula]

    def _impossible(self, i: int, j: int) -> list[Forbidden]:
        """Return the pairs of truth values that two elements cannot have together."""
        if self._elements[i].operator == self._elements[j].operator == "name":
            return []
        values = [(p, q) for p in (False, True) for q in (False, True)]
        return [
            (i, p, j, q)
            for p, q in values
            if entails(self._literal(i, p), self._literal(j, not q), self._entailed)
            or entails(self._literal(j, q), self._literal(i, not p), self._entailed)
        ]

    def _literal(self, element: int, value: bool) -> Formula:
        return (self._elements if value else self._opposites)[element]

    def _simplify(self, function: int) -> int:
        """Remove elements from a residual whose value does not matter, given which ones can be true together."""
        if function in self._simple:
            return self._simple[function]
        functions, simple = self._functions, function
        while True:
            support = functions.support([simple])
            pairs = (pair for j in support for pair in self._forbidden[j] if pair[0] in support)
            better = next((f for pair in pairs if (f := self._without(simple, *pair)) is not None), None)
            if better is None:
                break
            simple = better
        self._simple[function] = simple
        return simple

    def _without(self, function: int, i: int, p: bool, j: int, q: bool) -> int | None:
        """Return a function without i or without j that is equal unless i = p and j = q, if there is one."""
        restrict = self._functions.restrict
        without_i, without_j = restrict(function, i, not p), restrict(function, j, not q)
        if restrict(restrict(function, i, p), j, not q) == restrict(without_i, j, not q):
            return without_i
        if restrict(without_i, j, q) == restrict(without_j, i, not p):
            return without_j
        return None

    def _join(self, operator: str, f: int, g: int) -> int:
        functions = self._functions
        both = operator == "&"
        join = functions.both if both else functions.either

        def pairs(first: tuple[int, bool], second: tuple[int, bool]) -> tuple[int, bool]:
            end = first[1] and second[1] if both else first[1] or second[1]
            return self._simplify(join(first[0], second[0])), end

        zero, unit = (self._never, self._always) if both else (self._always, self._never)
        f, g = (f, g) if f < g else (g, f)
        return self.moves.combine(f, g, pairs, self._joined[operator], zero, unit)

    def _negate(self, f: int) -> int:
        return self.moves.map(f, lambda pair: (self._functions.negate(pair[0]), not pair[1]), self._negated)

    def _after(self, formula: Formula) -> int:
        """Return d of a formula."""
        return self.moves_of(self.residual(formula))

    def _element_moves(self, element: int) -> int:
        if element not in self._moves_of_element:
            self._moves_of_element[element] = self._progress_element(self._elements[element])
        return self._moves_of_element[element]

    def _progress_element(self, formula: Formula) -> int:
        parts = formula.parts
        match formula.operator:
            case "name":
                return self.moves.node(self.names[formula.name], self._never, self._always)
            case "X":
                return self.moves.leaf((self._simplify(self.residual(parts[0])), False))
            case "F":
                return self._join("|", self._after(parts[0]), self._stay(formula))
            case _:
                return self._join(
                    "|", self._after(parts[1]), self._join("&", self._after(parts[0]), self._stay(formula))
                )

    def _stay(self, formula: Formula) -> int:
        return self.moves.leaf((self.residual(formula), False))

    def moves_of(self, function: int) -> int:
        """Return d of a residual: from a label to the pair of what is left and whether the trace may end."""
        if function not in self._moves_of:
            functions = self._functions
            here = self._element_moves(functions.variable[function])
            low, high = functions.low[function], functions.high[function]
            yes = self._join("&", here, self.moves_of(high))
            self._moves_of[function] = self._join("|", yes, self._join("&", self._negate(here), self.moves_of(low)))
        return self._moves_of[function]

    def text(self, function: int) -> str:
        """Write a residual as a formula."""
        terms = self._functions.terms(function)
        literals = ((self._literal(element, value) for element, value in sorted(term.items())) for term in terms)
        return write(disjunction(map(conjunction, literals)))
