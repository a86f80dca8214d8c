"""From a regular expression over labels to an automaton, by partial derivatives (Antimirov, 1996).

A letter is a guard, which one label must satisfy: ``!`` and ``&`` build letters and bind tightest, ``.`` is any label.
Then come ``*``, ``+`` and ``?``, then sequence, then ``|``. An alternative of letters is a letter too: ``!(a | b)`` is
one. A state is a set of expressions, one of which the rest of the trace must match; the trace may end where one of them
matches nothing at all.

Expressions are trees, as formulas are: a letter is a guard, and the other operators are sequence (of two), either, *, +
and empty.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from praemia.errors import SizeError
from praemia.machines.automata import Automaton, smallest_automaton
from praemia.machines.diagrams import Diagrams, Growth, Memo
from praemia.machines.formula import Formula, read_name, write
from praemia.machines.guards import Booleans
from praemia.machines.syntax import REGEX, Token, build, formula_of, mistake, parse

Derived: TypeAlias = frozenset[Formula]
Placed: TypeAlias = tuple[Formula, int]  # with the place where it begins

MAX_LENGTH = 10_000
EMPTY = Formula("empty")
LETTERS = frozenset({"name", "!", "&", "|", "true", "false"})


def regex_automaton(text: str, growth: Growth) -> Automaton[Any]:
    """Return the smallest automaton that accepts at every step at which all that was seen so far matches."""
    try:
        work = _Derivation(text, growth)
        start: Derived = frozenset({work.expression})
        return smallest_automaton(work.names, work.moves, start, work.moves_of, work.text, growth)
    except RecursionError:
        raise SizeError(f"the expression {text[:40]!r}… is too deeply nested, or reads too many propositions") from None


def _is_letter(expression: Formula) -> bool:
    return expression.operator in LETTERS


def _is_nullable(expression: Formula) -> bool:
    """Tell whether the empty word matches."""
    match expression.operator:
        case "empty" | "*":
            return True
        case "sequence":
            return all(map(_is_nullable, expression.parts))
        case "either":
            return any(map(_is_nullable, expression.parts))
        case "+":
            return _is_nullable(expression.parts[0])
        case _:
            return False


def _sequence(first: Formula, second: Formula) -> Formula:
    """Join two expressions, grouped to the right so that equal ones look alike."""
    if first == EMPTY or second == EMPTY:
        return second if first == EMPTY else first
    if first.operator == "sequence":
        return _sequence(first.parts[0], _sequence(first.parts[1], second))
    return Formula("sequence", (first, second))


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
        self._derivatives: dict[Formula, int] = {}
        self._texts: dict[Formula, str] = {}
        self.expression = build(tokens, self._placed)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The propositions that are read, in the order in which they are written."""
        return self._letters.names

    def _placed(self, token: Token, parts: list[Placed]) -> Placed:
        return self._expression(token, parts), min([token.place, *(place for _, place in parts)])

    def _expression(self, token: Token, parts: list[Placed]) -> Formula:
        expressions = [expression for expression, _ in parts]
        match token.kind:
            case "|" if not all(map(_is_letter, expressions)):
                return Formula("either", tuple(dict.fromkeys(expressions)))
            case "sequence":
                result = EMPTY
                for expression in reversed(expressions):
                    result = _sequence(expression, result)
                return result
            case "*" | "+" | "?":
                return self._repeated(expressions[0], token.kind)
            case "!" | "&":
                self._require_guards(token, parts)
        return formula_of(token, expressions)

    def _require_guards(self, token: Token, parts: list[Placed]) -> None:
        """Point at an operand that is longer than a letter."""
        for expression, place in parts:
            if not _is_letter(expression):
                raise mistake("regex", self._text, place, f"{token.text!r} takes guards, and this is not one")

    def _repeated(self, expression: Formula, mark: str) -> Formula:
        if mark == "?":
            return Formula("either", (expression, EMPTY))
        if expression.operator == "*" or expression.operator == mark:
            return expression
        # e+ is not written e e*: expressions would double with every +.
        return Formula(mark, expression.parts if expression.operator == "+" else (expression,))

    def moves_of(self, state: Derived) -> int:
        """Return the diagram from a label to (what is left to match, whether the trace may end here)."""
        result = self.moves.leaf(frozenset())
        for expression in sorted(state, key=self._text_of):  # nested tuples with equal beginnings compare slowly
            result = self._union(result, self._derive(expression))
        return self.moves.map(result, lambda left: (left, any(map(_is_nullable, left))))

    def _union(self, f: int, g: int) -> int:
        return self.moves.combine(f, g, lambda a, b: a | b, self._memo)

    def _derive(self, expression: Formula) -> int:
        if expression not in self._derivatives:
            self._derivatives[expression] = self._derivative(expression)
        return self._derivatives[expression]

    def _derivative(self, expression: Formula) -> int:
        """Return the diagram from a label to the set of what may be left of an expression."""
        moves, parts = self.moves, expression.parts
        match expression.operator:
            case "empty":
                return moves.leaf(frozenset())
            case "either":
                result = moves.leaf(frozenset())
                for part in parts:
                    result = self._union(result, self._derive(part))
                return result
            case "*" | "+":
                return self._followed(parts[0], Formula("*", parts))
            case "sequence":
                result = self._followed(*parts)
                return self._union(result, self._derive(parts[1])) if _is_nullable(parts[0]) else result
            case _:
                letter = self._letters.function(expression)
                return self._letters.map(letter, lambda yes: frozenset({EMPTY} if yes else ()), target=moves)

    def _followed(self, first: Formula, second: Formula) -> int:
        return self.moves.map(self._derive(first), lambda left: frozenset(_sequence(item, second) for item in left))

    def text(self, state: Derived) -> str:
        """Write what is left to match."""
        return " | ".join(sorted(map(self._text_of, state))) or "false"

    def _text_of(self, expression: Formula) -> str:
        if expression not in self._texts:
            self._texts[expression] = self._write(expression)
        return self._texts[expression]

    def _write(self, expression: Formula, tight: bool = False) -> str:
        parts = expression.parts
        match expression.operator:
            case "empty":
                return "()"
            case "*" | "+":
                inner = self._write(parts[0], tight=True)
                is_tight = inner.startswith("(") or inner.isidentifier() or inner == "."
                return (inner if is_tight else f"({inner})") + expression.operator
            case "either":
                text = f"({' | '.join(self._write(part) for part in parts if part != EMPTY)})"
                return f"{text}?" if EMPTY in parts else text
            case "sequence":
                text = " ".join(self._write(part) for part in parts)
                return f"({text})" if tight else text
            case _:
                text = write(self._letters.formula(self._letters.function(expression)))
                return "." if text == "true" else f"({text})" if "|" in text else text
