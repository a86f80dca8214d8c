"""From a formula to the automaton that accepts it: about the future by progression, about the past by memory.

After a label σ, a formula leaves a residual that the rest of the trace must satisfy, and a bit: whether the trace may
end here. With d(f) the diagram from σ to (residual, bit), and & and | of such pairs taken part by part,

    d(name) = (true, 1) or (false, 0)        d(X f) = (f, 0)        d(F f) = d(f) | (F f, 0)
    d(f U g) = d(g) | (d(f) & (f U g, 0))    d(!f) = !d(f)

G, R, W, WX and last are negations of these. A residual is a boolean function of names and of formulas that begin with
X, F or U, kept as a decision diagram over these *atoms*: residuals that are equal as boolean functions are one
state. Implications between atoms (``entailment``) remove further atoms. Minimising does the rest.

A formula about the past remembers what its operators said at the step before:

    Y f = f held at the step before          f S g = g | (f & Y(f S g))          O f = true S f

A state is the truth of every f under a Y and of every f S g at the step before, all false before the first step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import count, product
from typing import Any

from praemia.errors import ModelError, SizeError
from praemia.machines.automata import Automaton, join, smallest_automaton
from praemia.machines.diagrams import Diagrams, Growth, Memo, deep_recursion
from praemia.machines.dialects import parse_formula
from praemia.machines.entailment import Answers, entails
from praemia.machines.formula import (
    FALSE,
    FUTURE,
    PAST,
    TRUE,
    Formula,
    conjunction,
    disjunction,
    fold,
    unary,
    write,
)
from praemia.machines.guards import Booleans

MOST_AT_ONCE, MOST_NODES_AT_ONCE = 50, 5_000  # states and nodes of a conjunction that is not taken apart
MOST_COMPARED = 250  # atoms: to look for implications between more takes longer than it saves
MOST_WRITTEN = 100
DISTRIBUTIVE = {("G", "&"), ("F", "|"), ("X", "&"), ("X", "|"), ("WX", "&"), ("WX", "|")}

Forbidden = tuple[int, bool, int, bool]  # atoms i and j are never i = p and j = q


@deep_recursion
def formula_automaton(text: str, growth: Growth, syntax: str = "praemia") -> Automaton[Any]:
    """Return the smallest automaton that accepts at every step at which what was seen so far satisfies a formula.

    A formula without past operators is judged at the first step of the trace so far, one with past operators alone at
    its last step. An empty trace satisfies nothing.
    """
    formula, words, _ = parse_formula(text, syntax)
    if words & FUTURE and words & PAST:
        raise ModelError(
            f"the formula {text!r} mixes operators about the future ({', '.join(sorted(words & FUTURE))}) and about "
            f"the past ({', '.join(sorted(words & PAST))}); write it with one kind"
        )
    if words & PAST:
        memory = _Memory(formula, growth)
        return smallest_automaton(formula.propositions(), memory.moves, 0, memory.moves_of, memory.text, growth)
    return _Construction(formula.propositions(), growth).accept(formula)


class _Construction:
    """Build the automata of a formula and its parts, all over its propositions."""

    def __init__(self, names: tuple[str, ...], growth: Growth) -> None:
        self._names, self._growth = names, growth
        self._variables = {name: number for number, name in enumerate(names)}
        self._automata: dict[Formula, Automaton[Any]] = {}

    def accept(self, formula: Formula) -> Automaton[Any]:
        """Return the automaton that accepts a formula: by progression, or if that grows large, joined of its parts."""
        if formula not in self._automata:
            operator, parts = _split(formula)
            at_once = replace(self._growth, max_states=MOST_AT_ONCE, max_nodes=MOST_NODES_AT_ONCE, fewest_values=0)
            try:
                automaton = self._progress(formula, at_once if len(parts) > 1 else self._growth)
            except SizeError:
                if len(parts) < 2:
                    raise
                automaton = self._join(operator, [self.accept(part) for part in parts])
            self._automata[formula] = automaton
        return self._automata[formula]

    def _progress(self, formula: Formula, growth: Growth) -> Automaton[Any]:
        work = _Progression(self._variables, growth)
        return smallest_automaton(self._names, work.moves, work.residual(formula), work.moves_of, work.text, growth)

    def _join(self, operator: str, parts: Iterable[Automaton[Any]]) -> Automaton[Any]:
        """Join automata in pairs, the smallest first."""
        order = count()  # of automata of one size, the first comes first
        automata = [(part.num_states, next(order), part) for part in parts]
        heapify(automata)
        while len(automata) > 1:
            (_, _, first), (_, _, second) = heappop(automata), heappop(automata)
            joint = join(operator, first, second, self._growth)
            heappush(automata, (joint.num_states, next(order), joint))
        return automata[0][2]


def _split(formula: Formula) -> tuple[str, Sequence[Formula]]:
    """Return formulas of which a formula is the conjunction or the disjunction; itself where it is neither."""
    if formula.operator in ("&", "|"):
        literals = [part for part in formula.parts if part.operator in ("name", "!")]
        others = [part for part in formula.parts if part.operator not in ("name", "!")]
        together = conjunction(literals) if formula.operator == "&" else disjunction(literals)
        return formula.operator, [*([together] if literals else []), *others] if others else [formula]
    inner = formula.parts[0] if formula.parts else formula
    if (formula.operator, inner.operator) in DISTRIBUTIVE:
        return inner.operator, [unary(formula.operator, part) for part in inner.parts]
    return "&", [formula]


class _Progression:
    def __init__(self, variables: Mapping[str, int], growth: Growth) -> None:
        self._variables = variables
        self.moves = Diagrams(growth)
        self._functions = Booleans(growth=growth)
        self._impossible_of: dict[tuple[int, int], list[Forbidden]] = {}
        self._forbidden_of: dict[int, tuple[Forbidden, ...]] = {0: ()}
        self._entailed: Answers = {}
        self._never = self.moves.leaf((self._functions.false, False))
        self._always = self.moves.leaf((self._functions.true, True))
        self._joined: dict[str, Memo] = {"&": {}, "|": {}}
        self._negated: dict[int, int] = {}
        self._moves_of: dict[int, int] = {self._functions.false: self._never, self._functions.true: self._always}
        self._moves_of_atom: dict[int, int] = {}
        self._simple: dict[int, int] = {}
        self._texts: dict[Formula, tuple[str, int]] = {}

    def residual(self, formula: Formula) -> int:
        """Return a formula as a boolean function of atoms."""
        return self._functions.function(formula)

    def _impossible(self, i: int, j: int) -> list[Forbidden]:
        """Return the pairs of truth values that two atoms cannot have together."""
        if (i, j) not in self._impossible_of:
            atom = self._functions.atom
            is_free = atom(i, True).operator == atom(j, True).operator == "name"
            self._impossible_of[i, j] = [
                (i, p, j, q)
                for p, q in (() if is_free else product((False, True), repeat=2))
                if entails(atom(i, p), atom(j, not q), self._entailed)
                or entails(atom(j, q), atom(i, not p), self._entailed)
            ]
        return self._impossible_of[i, j]

    def _forbidden(self, support: int) -> tuple[Forbidden, ...]:
        """Return all that is impossible of some atoms, which are the bits of a number."""
        if support not in self._forbidden_of:
            last = support.bit_length() - 1
            others = support ^ (1 << last)
            pairs = list(self._forbidden(others))
            while others:
                first = others & -others
                others ^= first
                pairs += self._impossible(first.bit_length() - 1, last)
            self._forbidden_of[support] = tuple(pairs)
        return self._forbidden_of[support]

    def _simplify(self, function: int) -> int:
        """Remove atoms from a residual whose value does not matter, given which ones can be true together."""
        simple = self._simple.get(function)
        if simple is None and len(self._functions.atoms) > MOST_COMPARED:
            return function
        if simple is None:
            pairs = self._forbidden(self._functions.support_bits(function))
            better = next((f for pair in pairs if (f := self._without(function, *pair)) is not None), None)
            simple = self._simple[function] = function if better is None else self._simplify(better)
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

    def _atom_moves(self, atom: int) -> int:
        if atom not in self._moves_of_atom:
            self._moves_of_atom[atom] = self._progress(self._functions.atoms[atom])
        return self._moves_of_atom[atom]

    def _progress(self, formula: Formula) -> int:
        parts = formula.parts
        match formula.operator:
            case "name":
                return self.moves.node(self._variables[formula.name], self._never, self._always)
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
            here = self._atom_moves(functions.variable[function])
            low, high = functions.low[function], functions.high[function]
            yes = self._join("&", here, self.moves_of(high))
            self._moves_of[function] = self._join("|", yes, self._join("&", self._negate(here), self.moves_of(low)))
        return self._moves_of[function]

    def text(self, function: int) -> str:
        """Write a residual as a formula, if it is not too large for anybody to read."""
        size = self._functions.support_bits(function).bit_count()
        if size > MOST_WRITTEN:
            return f"a combination of {size} formulas"
        return write(self._functions.formula(function), texts=self._texts)


Past = int  # a bit for each formula that is remembered


class _Memory:
    def __init__(self, formula: Formula, growth: Growth) -> None:
        self.moves = Diagrams(growth)
        self.bits: dict[Formula, int] = {}  # what must be remembered, and as which bit
        self._formula = formula
        self._functions = Booleans(formula.propositions(), growth)
        self._collect(formula)

    def _collect(self, formula: Formula) -> None:
        for part in formula.parts:
            self._collect(part)
        if formula.operator in ("Y", "S", "O"):
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
            case "O":
                return TRUE if past >> self.bits[formula] & 1 else parts[0]
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
