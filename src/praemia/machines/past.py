"""From a formula about the past to a machine: remember what its operators said at the step before.

    Y f = f held at the step before          f S g = g | (f & Y(f S g))
    O f = true S f                           H f = !O !f

A state is the truth of every f under a Y and of every f S g at the step before, all false before the first step.
"""

from __future__ import annotations

from functools import partial

from praemia.machines.algebra import smallest_machine
from praemia.machines.diagrams import Diagrams, Growth, copy
from praemia.machines.formula import FALSE, TRUE, Formula, conjunction, disjunction, negation, write
from praemia.machines.guards import Guard, GuardFunctions
from praemia.machines.machine import RewardMachine

Past = int  # a bit for each formula that is remembered


def past_machine(formula: Formula, growth: Growth) -> RewardMachine:
    """Return the smallest machine that pays 1 at every step at which a formula about the past holds."""
    work = _Remembering(formula, growth)
    return smallest_machine(formula.propositions(), work.moves, 0, work.moves_of, work.text, growth)


class _Remembering:
    def __init__(self, formula: Formula, growth: Growth) -> None:
        self.moves = Diagrams(growth)
        self.bits: dict[Formula, int] = {}  # what must be remembered, and as which bit
        self._formula = formula
        self._functions = GuardFunctions(formula.propositions(), growth)
        self._collect(formula)

    def _collect(self, formula: Formula) -> None:
        for part in formula.parts:
            self._collect(part)
        match formula.operator:
            case "Y":
                self.bits.setdefault(formula.parts[0], len(self.bits))
            case "S" | "O":
                self.bits.setdefault(formula, len(self.bits))
            case "H":
                self.bits.setdefault(_never_not(formula).parts[0], len(self.bits))

    def moves_of(self, past: Past) -> int:
        """Return the diagram from a label to (what is remembered next, whether the formula holds)."""
        moves = self.moves
        result = moves.leaf(0)
        guards: dict[Formula, Guard] = {}
        for bit, formula in enumerate((*self.bits, self._formula)):
            function = self._functions.function(self._now(formula, past, guards))
            held = copy(self._functions, function, moves, partial(_shifted, bit), {})
            result = moves.combine(result, held, int.__or__, {})
        last = len(self.bits)
        return moves.map(result, lambda bits: (bits & ~(1 << last), bits >> last), {})

    def _now(self, formula: Formula, past: Past, guards: dict[Formula, Guard]) -> Guard:
        """Return the guard that holds on a label if a formula holds at its step; ``guards`` keeps the answers."""
        if formula not in guards:
            parts = (_never_not(formula),) if formula.operator == "H" else formula.parts
            guards[formula] = self._guard(formula, [self._now(part, past, guards) for part in parts], past)
        return guards[formula]

    def _guard(self, formula: Formula, parts: list[Guard], past: Past) -> Guard:
        match formula.operator:
            case "Y":
                return TRUE if past >> self.bits[formula.parts[0]] & 1 else FALSE
            case "S":
                return parts[1] | parts[0] if past >> self.bits[formula] & 1 else parts[1]
            case "O":
                return TRUE if past >> self.bits[formula] & 1 else parts[0]
            case "H":
                return parts[0]
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


def _shifted(bit: int, value: bool) -> int:
    return int(value) << bit


def _never_not(formula: Formula) -> Formula:
    """Return H f as !O !f."""
    return Formula("!", (Formula("O", (negation(formula.parts[0]),)),))
