"""From a formula to the automaton that accepts it: the future by progression, the past by memory.

After a label σ a formula leaves a residual, a boolean function of names and of formulas that begin with X or U, and a
bit: whether the trace may end here. d(f) is the diagram from σ to both, and !, & and | of such pairs act part by part:

    d(name) = (true, 1) or (false, 0)    d(X f) = (f, 0)    d(f U g) = d(g) | (d(f) & (f U g, 0))

A state of a formula about the past is the truth of every f under a Y and of every f S g at the step before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

from praemia.errors import ModelError, ParameterError, did_you_mean
from praemia.machines.automata import Automaton, smallest_automaton
from praemia.machines.diagrams import Diagrams, Growth, Memo
from praemia.machines.dialects import DIALECTS
from praemia.machines.entailment import Answers, entails
from praemia.machines.formula import FALSE, FUTURE, PAST, TRUE, Formula, conjunction, disjunction, fold, negation, write
from praemia.machines.guards import Booleans
from praemia.machines.syntax import build, formula_of, parse

MAX_COMPARED, MAX_ANSWERS = 250, 100_000  # atoms, and pairs of their parts: more comparisons take longer than they save
MOST_WRITTEN = 100

Past: TypeAlias = int  # a bit for each formula that is remembered


def parse_formula(text: str, syntax: str = "praemia") -> tuple[Formula, set[str]]:
    """Parse a formula such as ``F(item & X F delivery)``; return it simplified, and its operators as written."""
    if syntax not in DIALECTS:
        raise ParameterError(f"syntax={syntax!r}{did_you_mean(syntax, DIALECTS)}")
    tokens = parse(DIALECTS[syntax], text)
    opposites: dict[Formula, Formula] = {}
    formula = build(tokens, partial(formula_of, negate=lambda part: negation(part, opposites)))
    return formula, {token.text.lower() if token.kind == "constant" else token.kind for token in tokens}


def formula_automaton(text: str, growth: Growth, syntax: str = "praemia") -> Automaton[Any]:
    """Return the smallest automaton that accepts at every step at which what was seen so far satisfies a formula.

    A formula about the past is judged at the last step of the trace, any other at its first.
    """
    formula, words = parse_formula(text, syntax)
    if words & FUTURE and words & PAST:
        raise ModelError(
            f"the formula {text!r} mixes operators about the future ({', '.join(sorted(words & FUTURE))}) and about "
            f"the past ({', '.join(sorted(words & PAST))}); write it with one kind"
        )
    names = formula.propositions()
    if words & PAST:
        memory = _Memory(formula, growth)
        return smallest_automaton(names, memory.moves, 0, memory.moves_of, memory.text, growth)
    work = _Progression(names, growth)
    return smallest_automaton(names, work.moves, work.residual(formula), work.moves_of, work.text, growth)


class _Progression:
    def __init__(self, names: Sequence[str], growth: Growth) -> None:
        self._variables = {name: number for number, name in enumerate(names)}
        self.moves = Diagrams(growth)
        self._functions = Booleans(growth=growth)
        self._never = self.moves.leaf((self._functions.false, False))
        self._always = self.moves.leaf((self._functions.true, True))
        self._joined: dict[str, Memo] = {"&": {}, "|": {}}
        self._negated: dict[int, int] = {}
        self._moves_of: dict[int, int] = {self._functions.false: self._never, self._functions.true: self._always}
        self._simple: dict[int, int] = {}
        self._implied: list[tuple[int, int]] = []
        self._num_compared = 0
        self._answers: Answers = {}
        self._texts: dict[Formula, tuple[str, int]] = {}

    def residual(self, formula: Formula) -> int:
        """Return a formula as a boolean function of atoms."""
        return self._functions.function(formula)

    def moves_of(self, function: int) -> int:
        """Return d of a residual: from a label to the pair of what is left and whether the trace may end."""
        return fold(function, self._progress, self._moves_of, self._needed)

    def _needed(self, function: int) -> list[int]:
        """Return the residuals whose d is needed for that of a residual, of which one node is taken off."""
        functions = self._functions
        atom = functions.atoms[functions.variable[function]]
        present = map(self.residual, atom.parts if atom.operator == "U" else ())
        return [functions.low[function], functions.high[function], *present]

    def _progress(self, function: int, needed: list[int]) -> int:
        atom = self._functions.atoms[self._functions.variable[function]]
        low, high, *present = needed
        if atom.operator == "name":
            variable = self._variables[atom.name]
            if variable < min(self.moves.variable[low], self.moves.variable[high]):
                return self.moves.node(variable, low, high)
            here = self.moves.node(variable, self._never, self._always)
        else:
            later = self.residual(atom.parts[0] if atom.operator == "X" else atom)
            here = self.moves.leaf((self._simplify(later), False))
        if atom.operator == "U":
            here = self._join("|", present[1], self._join("&", present[0], here))
        negate = self._functions.negate
        elsewhere = self.moves.map(here, lambda pair: (negate(pair[0]), not pair[1]), self._negated)
        return self._join("|", self._join("&", here, high), self._join("&", elsewhere, low))

    def _join(self, operator: str, f: int, g: int) -> int:
        both = operator == "&"
        join = self._functions.both if both else self._functions.either

        def pairs(first: tuple[int, bool], second: tuple[int, bool]) -> tuple[int, bool]:
            end = first[1] and second[1] if both else first[1] or second[1]
            return self._simplify(join(first[0], second[0])), end

        zero, unit = (self._never, self._always) if both else (self._always, self._never)
        f, g = (f, g) if f < g else (g, f)
        return self.moves.combine(f, g, pairs, self._joined[operator], zero, unit)

    def _simplify(self, function: int) -> int:
        """Remove atoms from a residual whose value does not matter, given which ones imply which."""
        simple = self._simple.get(function)
        if simple is None:
            support = self._functions.support_bits(function)
            pairs = ((i, j) for i, j in self._implications() if support >> i & support >> j & 1)
            better = next((f for i, j in pairs if (f := self._without(function, i, j)) is not None), None)
            simple = self._simple[function] = function if better is None else self._simplify(better)
        return simple

    def _implications(self) -> list[tuple[int, int]]:
        """Return which atom implies which; new atoms are compared with all before them."""
        atoms = self._functions.atoms
        for new in range(self._num_compared, min(len(atoms), MAX_COMPARED)):
            if len(self._answers) > MAX_ANSWERS:
                break
            pairs = [pair for old in range(new) for pair in ((old, new), (new, old))]
            self._implied += [(i, j) for i, j in pairs if entails(atoms[i], atoms[j], self._answers)]
            self._num_compared = new + 1
        return self._implied

    def _without(self, function: int, i: int, j: int) -> int | None:
        """Return a function without i or without j that is equal unless i is true and j false, if there is one."""
        functions = self._functions
        not_i, yes_j = functions.restrict(function, i, False), functions.restrict(function, j, True)
        if not functions.support_bits(yes_j) >> i & 1:  # i matters only where j is false, and there it is false
            return not_i
        return None if functions.support_bits(not_i) >> j & 1 else yes_j

    def text(self, function: int) -> str:
        """Write a residual as a formula, if it is not too large for anybody to read."""
        size = self._functions.support_bits(function).bit_count()
        if size > MOST_WRITTEN:
            return f"a combination of {size} formulas"
        return write(self._functions.formula(function), texts=self._texts)


class _Memory:
    def __init__(self, formula: Formula, growth: Growth) -> None:
        self.moves = Diagrams(growth)
        self.bits: dict[Formula, int] = {}  # what must be remembered, and as which bit
        self._formula = formula
        self._functions = Booleans(formula.propositions(), growth)
        fold(formula, self._collect)

    def _collect(self, formula: Formula, _: list[None]) -> None:
        if formula.operator in ("Y", "S"):
            self.bits.setdefault(formula.parts[0] if formula.operator == "Y" else formula, len(self.bits))

    def moves_of(self, past: Past) -> int:
        """Return the diagram from a label to (what is remembered next, whether the formula holds)."""
        moves = self.moves
        result = moves.leaf(0)
        guards: dict[Formula, Formula] = {}
        for bit, formula in enumerate((*self.bits, self._formula)):
            guard = fold(formula, lambda part, parts: self._guard(part, parts, past), guards)
            function = self._functions.function(guard)
            held = self._functions.map(function, (1 << bit).__mul__, target=moves)
            result = moves.combine(result, held, int.__or__, {})
        last = len(self.bits)
        return moves.map(result, lambda bits: (bits & ~(1 << last), bits >> last))

    def _guard(self, formula: Formula, parts: list[Formula], past: Past) -> Formula:
        """Return the guard that holds on a label if a formula holds at its step, from those of its parts."""
        match formula.operator:
            case "Y":
                return TRUE if past >> self.bits[formula.parts[0]] & 1 else FALSE
            case "S":
                return parts[1] | parts[0] if past >> self.bits[formula] & 1 else parts[1]
            case "!":
                return ~parts[0]
            case "&" | "|":
                return conjunction(parts) if formula.operator == "&" else disjunction(parts)
            case _:
                return formula

    def text(self, past: Past) -> str:
        """Write what is remembered: the formulas that held at the step before."""
        held = [write(formula) for formula, bit in self.bits.items() if past >> bit & 1]
        return "held: " + ", ".join(held) if held else "nothing held"
