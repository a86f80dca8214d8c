"""From a formula about the past to an automaton: remember what its operators said at the step before.

    Y f = f held at the step before          f S g = g | (f & Y(f S g))
    O f = true S f                           H f = !O !f

A state is the truth of every f under a Y and of every f S g at the step before, all false before the first step.
"""

from __future__ import annotations

from praemia.machines.automaton import Automaton, explore
from praemia.machines.booleans import Booleans
from praemia.machines.diagrams import Diagrams, Growth, Memo, copy
from praemia.machines.formula import TRUE, Formula, negation, write

Memory = tuple[bool, ...]


def remember(formula: Formula, growth: Growth) -> Automaton:
    """Return the automaton that pays 1 at every step at which a formula about the past holds."""
    work = _Remembering(formula, growth)
    start = (False,) * len(work.kept)
    return explore(work.names, work.moves, start, work.moves_of, work.text, growth)


class _Remembering:
    def __init__(self, formula: Formula, growth: Growth) -> None:
        self.names = {name: number for number, name in enumerate(formula.propositions())}
        self.moves = Diagrams(growth)
        self.kept: dict[Formula, int] = {}
        self._formula = formula
        self._functions = Booleans(growth)
        self._collect(formula)

    def _collect(self, formula: Formula) -> None:
        """Number what must be remembered."""
        for part in formula.parts:
            self._collect(part)
        since = _since(formula)
        if since is not None:
            self.kept.setdefault(since, len(self.kept))
        elif formula.operator == "Y":
            self.kept.setdefault(formula.parts[0], len(self.kept))

    def moves_of(self, memory: Memory) -> int:
        """Return the diagram from a label to (what is remembered next, whether the formula holds)."""
        moves = self.moves
        result = moves.leaf(())
        known: dict[Formula, int] = {}
        for formula in (*self.kept, self._formula):
            memo: Memo = {}
            bit = copy(self._functions, self._now(formula, memory, known), moves, bool, {})
            result = moves.combine(result, bit, lambda values, value: (*values, value), memo)
        return moves.map(result, lambda values: (values[:-1], values[-1]), {})

    def _now(self, formula: Formula, memory: Memory, known: dict[Formula, int]) -> int:
        """Return the function of a label that tells whether a formula holds now."""
        if formula not in known:
            known[formula] = self._hold(formula, memory, known)
        return known[formula]

    def _hold(self, formula: Formula, memory: Memory, known: dict[Formula, int]) -> int:
        functions, parts = self._functions, formula.parts
        match formula.operator:
            case "true" | "false":
                return functions.true if formula.operator == "true" else functions.false
            case "name":
                return functions.literal(self.names[formula.name])
            case "!":
                return functions.negate(self._now(parts[0], memory, known))
            case "&":
                return functions.all(self._now(part, memory, known) for part in parts)
            case "|":
                return functions.any(self._now(part, memory, known) for part in parts)
            case "Y":
                return functions.true if memory[self.kept[parts[0]]] else functions.false
            case "H":
                return functions.negate(self._now(_once(negation(parts[0])), memory, known))
            case _:
                return self._since_now(formula, memory, known)

    def _since_now(self, formula: Formula, memory: Memory, known: dict[Formula, int]) -> int:
        functions = self._functions
        left, right = formula.parts if formula.operator == "S" else (TRUE, formula.parts[0])
        now = self._now(right, memory, known)
        return functions.either(now, self._now(left, memory, known)) if memory[self.kept[formula]] else now

    def text(self, memory: Memory) -> str:
        """Write what is remembered: the formulas that held at the step before."""
        held = [write(formula) for formula, number in self.kept.items() if memory[number]]
        return "held: " + ", ".join(held) if held else "nothing held"


def _once(formula: Formula) -> Formula:
    return Formula("O", (formula,))


def _since(formula: Formula) -> Formula | None:
    """Return what must be remembered of S, O and H."""
    match formula.operator:
        case "S" | "O":
            return formula
        case "H":
            return _once(negation(formula.parts[0]))
        case _:
            return None
