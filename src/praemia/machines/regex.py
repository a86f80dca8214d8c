"""From a regular expression over labels to an automaton, by partial derivatives (Antimirov, 1996).

A letter is a guard, which one label must satisfy. A state is a set of expressions, one of which the rest of the trace
must match. Expressions are trees, as formulas are: letters, sequence (of two), either, *, + and empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, TypeAlias

from praemia.errors import SizeError
from praemia.machines.automata import Automaton, smallest_automaton
from praemia.machines.diagrams import Diagrams, Growth, Memo
from praemia.machines.formula import Formula, fold, read_name, write
from praemia.machines.guards import Booleans
from praemia.machines.syntax import REGEX, Token, build, formula_of, mistake, parse

Derived: TypeAlias = frozenset[Formula]

MAX_LENGTH = 10_000
EMPTY = Formula("empty")
LETTERS = frozenset({"name", "!", "&", "|", "true", "false"})


def regex_automaton(text: str, growth: Growth) -> Automaton[Any]:
    """Return the smallest automaton that accepts at every step at which all that was seen so far matches."""
    work = _Derivation(text, growth)
    start: Derived = frozenset({work.expression})
    return smallest_automaton(work.names, work.moves, start, work.moves_of, work.text, growth)


def _is_letter(expression: Formula) -> bool:
    return expression.operator in LETTERS


def _parts(expression: Formula) -> Sequence[Formula]:
    """Return the parts of an expression; a letter has none."""
    return () if _is_letter(expression) else expression.parts


def _is_nullable(expression: Formula, parts: list[bool]) -> bool:
    """Return whether the empty word matches, given whether it matches the parts."""
    match expression.operator:
        case "empty" | "*":
            return True
        case "sequence" | "+":
            return all(parts)
        case _:
            return any(parts)


def _sequence(first: Formula, second: Formula) -> Formula:
    """Join two expressions, grouped to the right so that equal ones look alike."""
    if first == EMPTY or second == EMPTY:
        return second if first == EMPTY else first
    items = []
    while first.operator == "sequence":
        item, first = first.parts
        items.append(item)
    for item in (first, *reversed(items)):
        second = Formula("sequence", (item, second))
    return second


class _Derivation:
    def __init__(self, text: str, growth: Growth) -> None:
        if len(text) > MAX_LENGTH:
            raise SizeError(f"a regex of {len(text):,} characters; at most {MAX_LENGTH:,} are read")
        tokens = parse(REGEX, text)
        names = dict.fromkeys(read_name(token.text) for token in tokens if token.kind in ("name", "quoted"))
        self.moves = Diagrams(growth)
        self._letters = Booleans(names, growth)
        self._text = text
        self._memo: Memo = {}
        self._nullable: dict[Formula, bool] = {}
        self._derivatives: dict[Formula, int] = {}
        self._texts: dict[Formula, str] = {}
        self.expression = build(tokens, self._expression)

    @property
    def names(self) -> tuple[str, ...]:
        """The propositions that are read, in the order in which they are written."""
        return self._letters.names

    def _expression(self, token: Token, parts: list[Formula]) -> Formula:
        match token.kind:
            case "|" if not all(map(_is_letter, parts)):
                return Formula("either", tuple(dict.fromkeys(parts)))
            case "sequence":
                result = EMPTY
                for expression in reversed(parts):
                    result = _sequence(expression, result)
                return result
            case "*" | "+" | "?":
                return self._repeated(parts[0], token.kind)
            case "!" | "&" if not all(map(_is_letter, parts)):
                raise mistake(
                    "regex", self._text, token.place, f"{token.kind!r} takes guards, not sequences or repetitions"
                )
        return formula_of(token, parts)

    def _repeated(self, expression: Formula, mark: str) -> Formula:
        if mark == "?":
            return Formula("either", (expression, EMPTY))
        if expression.operator == "*" or expression.operator == mark:
            return expression
        # e+ is not written e e*: expressions would double with every +.
        return Formula(mark, expression.parts if expression.operator == "+" else (expression,))

    def _may_end(self, expression: Formula) -> bool:
        return fold(expression, _is_nullable, self._nullable, _parts)

    def moves_of(self, state: Derived) -> int:
        """Return the diagram from a label to (what is left to match, whether the trace may end here)."""
        result = self.moves.leaf(frozenset())
        for expression in sorted(state, key=self._text_of):  # nested tuples with equal beginnings compare slowly
            result = self._union(result, fold(expression, self._derivative, self._derivatives, _parts))
        return self.moves.map(result, lambda left: (left, any(map(self._may_end, left))))

    def _union(self, f: int, g: int) -> int:
        return self.moves.combine(f, g, lambda a, b: a | b, self._memo)

    def _derivative(self, expression: Formula, parts: list[int]) -> int:
        """Return the diagram from a label to the set of what may be left of an expression, from those of its parts."""
        match expression.operator:
            case "empty" | "either":
                return reduce(self._union, parts, self.moves.leaf(frozenset()))
            case "*" | "+":
                return self._followed(parts[0], Formula("*", expression.parts))
            case "sequence":
                first, second = expression.parts
                followed = self._followed(parts[0], second)
                return self._union(followed, parts[1]) if self._may_end(first) else followed
            case _:
                letter = self._letters.function(expression)
                return self._letters.map(letter, lambda yes: frozenset({EMPTY} if yes else ()), target=self.moves)

    def _followed(self, derivative: int, second: Formula) -> int:
        return self.moves.map(derivative, lambda left: frozenset(_sequence(item, second) for item in left))

    def text(self, state: Derived) -> str:
        """Write what is left to match."""
        return " | ".join(sorted(map(self._text_of, state))) or "false"

    def _text_of(self, expression: Formula) -> str:
        return fold(expression, self._write, self._texts, _parts)

    def _write(self, expression: Formula, parts: list[str]) -> str:
        match expression.operator:
            case "empty":
                return "()"
            case "*" | "+":
                (inner,), (part,) = parts, expression.parts
                is_tight = inner.isidentifier() or inner == "." or (inner[0] == "(" and part.operator != "sequence")
                return (inner if is_tight else f"({inner})") + expression.operator
            case "either":
                text = f"({' | '.join(text for text in parts if text != '()')})"
                return f"{text}?" if EMPTY in expression.parts else text
            case "sequence":
                return " ".join(parts)
            case _:
                text = write(self._letters.formula(self._letters.function(expression)))
                return "." if text == "true" else f"({text})" if "|" in text else text
