"""From a formula about the past to an automaton: remember what its operators said at the step before.

    Y f = f held at the step before          f S g = g | (f & Y(f S g))
    O f = true S f                           H f = !O !f

A state is the truth of every f under a Y and of every f S g at the step before, all false before the first step.
"""

from __future__ import annotations

from functools import partial

from praemia.machines.automaton import Automaton, explore
from praemia.machines.diagrams import Diagrams, Growth, copy
from praemia.machines.formula import FALSE, TRUE, Formula, conjunction, disjunction, negation, write
from praemia.machines.guards import Guard, GuardFunctions

Memory = int  # a bit for each formula that is remembered


def remember(formula: Formula, growth: Growth) -> Automaton:
    """Return the automaton that pays 1 at every step at which a formula about the past holds."""
    work = _Remembering(formula, growth)
    return explore(formula.propositions(), work.moves, 0, work.moves_of, work.text, growth)


class _Remembering:
    def __init__(self, formula: Formula, growth: Growth) -> None:
        self.moves = Diagrams(growth)
        self.places: dict[Formula, int] = {}  # what must be remembered, and as which bit
        self._formula = formula
        self._functions = GuardFunctions(formula.propositions(), growth)
        self._collect(formula)

    def _collect(self, formula: Formula) -> None:
        for part in formula.parts:
            self._collect(part)
        match formula.operator:
            case "Y":
                self.places.setdefault(formula.parts[0], len(self.places))
            case "S" | "O":
                self.places.setdefault(formula, len(self.places))
            case "H":
                self.places.setdefault(_never_not(formula).parts[0], len(self.places))

    def moves_of(self, memory: Memory) -> int:
        """Return the diagram from a label to (what is remembered next, whether the formula holds)."""
        moves = self.moves
        result = moves.leaf(0)
        guards: dict[Formula, Guard] = {}
        for place, formula in enumerate((*self.places, self._formula)):
            function = self._functions.function(self._now(formula, memory, guards))
            bit = copy(self._functions, function, moves, partial(_bit, place), {})
            result = moves.combine(result, bit, int.__or__, {})
        last = len(self.places)
        return moves.map(result, lambda bits: (bits & ~(1 << last), bits >> last), {})

    def _now(self, formula: Formula, memory: Memory, guards: dict[Formula, Guard]) -> Guard:
        """Return the guard that holds on a label if a formula holds at its step; ``guards`` keeps the answers."""
        if formula not in guards:
            parts = (_never_not(formula),) if formula.operator == "H" else formula.parts
            guards[formula] = self._guard(formula, [self._now(part, memory, guards) for part in parts], memory)
        return guards[formula]

    def _guard(self, formula: Formula, parts: list[Guard], memory: Memory) -> Guard:
        match formula.operator:
            case "Y":
                return TRUE if memory >> self.places[formula.parts[0]] & 1 else FALSE
            case "S":
                return parts[1] | parts[0] if memory >> self.places[formula] & 1 else parts[1]
            case "O":
                return TRUE if memory >> self.places[formula] & 1 else parts[0]
            case "H":
                return parts[0]
            case "!":
                return ~parts[0]
            case "&" | "|":
                return conjunction(parts) if formula.operator == "&" else disjunction(parts)
            case _:
                return formula

    def text(self, memory: Memory) -> str:
        """Write what is remembered: the formulas that held at the step before."""
        held = [write(formula) for formula, place in self.places.items() if memory >> place & 1]
        return "held: " + ", ".join(held) if held else "nothing held"


def _bit(place: int, value: bool) -> int:
    return int(value) << place


def _never_not(formula: Formula) -> Formula:
    """Return H f as !O !f."""
    return Formula("!", (Formula("O", (negation(formula.parts[0]),)),))
