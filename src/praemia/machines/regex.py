"""From a regular expression over labels to a machine, by partial derivatives (Antimirov, 1996).

A letter is a guard, which one label must satisfy: ``!`` and ``&`` build letters and bind tightest, ``.`` is any label.
Then come ``*``, ``+`` and ``?``, then sequence, then ``|``. An alternative of letters is a letter too: ``!(a | b)`` is
one. A state is a set of expressions, one of which the rest of the trace must match; the trace may end where one of them
matches nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from praemia.errors import SizeError
from praemia.machines.algebra import smallest_machine
from praemia.machines.diagrams import Diagrams, Growth, Memo, copy
from praemia.machines.formula import proposition, write
from praemia.machines.guards import GuardFunctions
from praemia.machines.machine import RewardMachine
from praemia.machines.syntax import REGEX, Node, build, mistake, parse, read_name


class Expression(NamedTuple):
    """An expression: a letter, a sequence of two, an alternative, a repetition, or the empty word.

    Their kinds are letter, sequence, either, star or plus, nothing.
    """

    kind: str
    parts: tuple[Expression, ...] = ()
    letter: int = -1


Derived: TypeAlias = frozenset[Expression]
Placed: TypeAlias = tuple[Expression, int]  # with the place where it begins

MAX_LENGTH = 10_000
EMPTY = Expression("nothing")


def regex_machine(text: str, growth: Growth) -> RewardMachine:
    """Return the smallest machine that pays 1 at every step at which all that was seen so far matches."""
    try:
        work = _Derivation(text, growth)
        start: Derived = frozenset({work.expression})
        return smallest_machine(work.names, work.moves, start, work.moves_of, work.text, growth)
    except RecursionError:
        raise SizeError(f"the expression {text[:40]!r}… is too deeply nested, or reads too many propositions") from None


def _matches_nothing(expression: Expression) -> bool:
    """Tell whether the empty word matches."""
    match expression.kind:
        case "letter":
            return False
        case "sequence":
            return all(map(_matches_nothing, expression.parts))
        case "either":
            return any(map(_matches_nothing, expression.parts))
        case "plus":
            return _matches_nothing(expression.parts[0])
        case _:
            return True


def _sequence(first: Expression, second: Expression) -> Expression:
    """Join two expressions, grouped to the right so that equal ones look alike."""
    if first == EMPTY or second == EMPTY:
        return second if first == EMPTY else first
    if first.kind == "sequence":
        return _sequence(first.parts[0], _sequence(first.parts[1], second))
    return Expression("sequence", (first, second))


class _Derivation:
    def __init__(self, text: str, growth: Growth) -> None:
        self.moves = Diagrams(growth)
        self._letters = GuardFunctions(growth=growth)
        self._text = text
        self._memo: Memo = {}
        self._texts = {self._letters.true: "."}
        self._derivatives: dict[Expression, int] = {}
        self._expression_texts: dict[Expression, str] = {}
        self.expression = self._build()

    @property
    def names(self) -> Iterable[str]:
        """The propositions that are read, in the order in which they are written."""
        return self._letters.variables

    def _build(self) -> Expression:
        if len(self._text) > MAX_LENGTH:
            raise SizeError(f"a regex of {len(self._text):,} characters; at most {MAX_LENGTH:,} are read")
        return build(parse(REGEX, self._text), self._placed)[0]

    def _placed(self, node: Node, parts: list[Placed]) -> Placed:
        return self._expression(node, parts), min([node.place, *(place for _, place in parts)])

    def _expression(self, node: Node, parts: list[Placed]) -> Expression:
        expressions = [expression for expression, _ in parts]
        match node.kind:
            case "name" | "quoted":
                return self._letter(self._letters.function(proposition(read_name(node.text))))
            case "constant":
                return self._letter(self._letters.false if node.text == "false" else self._letters.true)
            case "!":
                return self._letter(self._letters.negate(self._guards(node, parts)[0]))
            case "&":
                return self._letter(self._letters.all(self._guards(node, parts)))
            case "|":
                return self._either(expressions)
            case "sequence":
                result = EMPTY
                for expression in reversed(expressions):
                    result = _sequence(expression, result)
                return result
            case mark:
                return self._repeated(expressions[0], mark)

    def _letter(self, letter: int) -> Expression:
        return Expression("letter", (), letter)

    def _guards(self, node: Node, parts: list[Placed]) -> list[int]:
        """Return the letters that parts are, or point at one that is something longer."""
        for expression, place in parts:
            if expression.kind != "letter":
                raise mistake("regex", self._text, place, f"{node.text!r} takes guards, and this is not one")
        return [expression.letter for expression, _ in parts]

    def _either(self, parts: list[Expression]) -> Expression:
        if all(part.kind == "letter" for part in parts):
            return self._letter(self._letters.any(part.letter for part in parts))
        return Expression("either", tuple(dict.fromkeys(parts)))

    def _repeated(self, expression: Expression, mark: str) -> Expression:
        if mark == "?":
            return Expression("either", (expression, EMPTY))
        if expression.kind == "star" or (expression.kind == "plus" and mark == "+"):
            return expression
        # e+ is not written e e*: expressions would double with every +.
        parts = expression.parts if expression.kind == "plus" else (expression,)
        return Expression("star" if mark == "*" else "plus", parts)

    def moves_of(self, state: Derived) -> int:
        """Return the diagram from a label to (what is left to match, whether the trace may end here)."""
        result = self.moves.leaf(frozenset())
        for expression in sorted(state, key=self._text_of):  # nested tuples with equal beginnings compare slowly
            result = self._union(result, self._derive(expression))
        return self.moves.map(result, lambda left: (left, any(map(_matches_nothing, left))), {})

    def _union(self, f: int, g: int) -> int:
        return self.moves.combine(f, g, lambda a, b: a | b, self._memo)

    def _derive(self, expression: Expression) -> int:
        if expression not in self._derivatives:
            self._derivatives[expression] = self._derivative(expression)
        return self._derivatives[expression]

    def _derivative(self, expression: Expression) -> int:
        """Return the diagram from a label to the set of what may be left of an expression."""
        moves, parts = self.moves, expression.parts
        match expression.kind:
            case "nothing":
                return moves.leaf(frozenset())
            case "letter":
                return copy(self._letters, expression.letter, moves, lambda yes: frozenset({EMPTY} if yes else ()), {})
            case "either":
                result = moves.leaf(frozenset())
                for part in parts:
                    result = self._union(result, self._derive(part))
                return result
            case "star":
                return self._followed(parts[0], expression)
            case "plus":
                return self._followed(parts[0], Expression("star", parts))
            case _:
                result = self._followed(*parts)
                return self._union(result, self._derive(parts[1])) if _matches_nothing(parts[0]) else result

    def _followed(self, first: Expression, second: Expression) -> int:
        return self.moves.map(self._derive(first), lambda left: frozenset(_sequence(item, second) for item in left), {})

    def _write_letter(self, letter: int) -> str:
        if letter not in self._texts:
            text = write(self._letters.guard(letter))
            self._texts[letter] = f"({text})" if "|" in text else text
        return self._texts[letter]

    def text(self, state: Derived) -> str:
        """Write what is left to match."""
        return " | ".join(sorted(map(self._text_of, state))) or "false"

    def _text_of(self, expression: Expression) -> str:
        if expression not in self._expression_texts:
            self._expression_texts[expression] = self._write(expression)
        return self._expression_texts[expression]

    def _write(self, expression: Expression, tight: bool = False) -> str:
        parts = expression.parts
        match expression.kind:
            case "nothing":
                return "()"
            case "letter":
                return self._write_letter(expression.letter)
            case "star" | "plus":
                inner, mark = self._write(parts[0], tight=True), "*" if expression.kind == "star" else "+"
                is_tight = inner.startswith("(") or inner.isidentifier() or inner == "."
                return f"{inner}{mark}" if is_tight else f"({inner}){mark}"
            case "either":
                text = f"({' | '.join(self._write(part) for part in parts if part != EMPTY)})"
                return f"{text}?" if EMPTY in parts else text
            case _:
                text = " ".join(self._write(part) for part in parts)
                return f"({text})" if tight else text
