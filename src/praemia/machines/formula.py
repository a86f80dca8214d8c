"""Formulas as trees: guards, which are boolean, and LTL over finite traces, of which guards are a part.

Operators are true false name ! & | X WX U R Y S; all others are rewritten when a formula is read, such as F f as
true U f, and written again as they were. Constructors do what is cheap: constants vanish, conjunctions are flat.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from threading import Lock
from typing import TypeVar
from weakref import WeakValueDictionary

FUTURE = frozenset({"X", "WX", "N", "F", "G", "U", "R", "W", "M", "last"})
PAST = frozenset({"Y", "O", "H", "S"})
DUALS = {"X": "WX", "WX": "X", "U": "R", "R": "U"}

GUARD_WORDS = frozenset({"true", "false", "else"})
FORMULA_WORDS = GUARD_WORDS | (FUTURE - {"M"}) | PAST

PLAIN_NAME = r"[^\W\d](?:\w|-(?!>))*"
_TIGHTNESS = {"|": 1, "&": 2, "U": 3, "R": 3, "W": 3, "S": 3}
_UNARY = 4
_READ_AS = re.compile(PLAIN_NAME)

Node = TypeVar("Node", bound=Hashable)
Result = TypeVar("Result")


class Formula:
    """An operator with its parts; ``name`` is that of a proposition (operator "name"). Equal formulas are identical.

    Its text, ``str``, is that of a guard. A guard ``else`` stands for the labels that other rules leave: its part.
    """

    __slots__ = ("__weakref__", "name", "operator", "parts")
    __match_args__ = ("operator", "parts", "name")

    operator: str
    parts: tuple[Formula, ...]
    name: str

    def __new__(cls, operator: str, parts: tuple[Formula, ...] = (), name: str = "") -> Formula:
        key = (operator, parts, name)
        formula = _FORMULAS.get(key)
        if formula is None:
            new = super().__new__(cls)
            new.operator, new.parts, new.name = key
            with _LOCK:  # of two threads that make one formula, both get the first
                formula = _FORMULAS.setdefault(key, new)
        return formula

    def __reduce__(self) -> tuple[type[Formula], tuple[str, tuple[Formula, ...], str]]:
        return Formula, (self.operator, self.parts, self.name)

    def __and__(self, other: Formula) -> Formula:
        return conjunction((self, other))

    def __or__(self, other: Formula) -> Formula:
        return disjunction((self, other))

    def __invert__(self) -> Formula:
        """Return the negation as it would be written: of a conjunction, with brackets around it."""
        match self.operator:
            case "true" | "false":
                return FALSE if self.operator == "true" else TRUE
            case "!" | "else":
                return self.parts[0] if self.operator == "!" else ~self.parts[0]
            case _:
                return Formula("!", (self,))

    def __str__(self) -> str:
        return write(self, GUARD_WORDS)

    def __repr__(self) -> str:
        return f"Formula({str(self)!r})"

    def holds(self, label: Set[str]) -> bool:
        """Return whether a guard holds on a label, the set of the propositions that are true."""

        def holds(guard: Formula, parts: list[bool]) -> bool:
            match guard.operator:
                case "name":
                    return guard.name in label
                case "!":
                    return not parts[0]
                case "&" | "else":
                    return all(parts)
                case "|":
                    return any(parts)
                case "true" | "false":
                    return guard.operator == "true"
                case _:
                    raise TypeError(f"{write(self)} is not a guard: whether it holds is not decided by one label")

        return fold(self, holds)

    def propositions(self) -> tuple[str, ...]:
        """Return the names that occur, in the order of first occurrence."""
        formulas: dict[Formula, None] = {}
        waiting = [self]
        while waiting:
            formula = waiting.pop()
            if formula not in formulas:
                formulas[formula] = None
                waiting += reversed(formula.parts)
        return tuple(formula.name for formula in formulas if formula.operator == "name")


_LOCK = Lock()
_FORMULAS: WeakValueDictionary[tuple[str, tuple[Formula, ...], str], Formula] = WeakValueDictionary()
TRUE, FALSE = Formula("true"), Formula("false")
LAST = Formula("WX", (FALSE,))
ELSE = Formula("else", (TRUE,))


def proposition(name: str) -> Formula:
    return Formula("name", (), name)


def conjunction(parts: Iterable[Formula]) -> Formula:
    return _junction("&", parts, TRUE, FALSE)


def disjunction(parts: Iterable[Formula]) -> Formula:
    return _junction("|", parts, FALSE, TRUE)


def _junction(operator: str, parts: Iterable[Formula], neutral: Formula, absorbing: Formula) -> Formula:
    operands: dict[Formula, None] = {}
    for part in parts:
        for item in part.parts if part.operator == operator else (part,):
            if item is absorbing:
                return absorbing
            if item is not neutral:
                operands[item] = None
    if not operands:
        return neutral
    return next(iter(operands)) if len(operands) == 1 else Formula(operator, tuple(operands))


def unary(operator: str, part: Formula) -> Formula:
    """Apply one of X WX F G Y O H."""
    match operator:
        case "H":
            return ~unary("O", negation(part))
        case "F" | "O":
            return binary("U" if operator == "F" else "S", TRUE, part)
        case "G":
            return binary("R", FALSE, part)
    is_decided = part is (TRUE if operator == "WX" else FALSE)
    return part if is_decided else Formula(operator, (part,))


def binary(operator: str, left: Formula, right: Formula) -> Formula:
    """Apply one of U R W S."""
    if operator == "W":
        return binary("R", right, disjunction((left, right)))
    keeps, at_once = (FALSE, TRUE) if operator == "R" else (TRUE, FALSE)
    is_same = left is keeps and right.operator == operator and right.parts[0] is keeps  # F F f
    return right if is_same or left is at_once or right in (TRUE, FALSE) else Formula(operator, (left, right))


def fold(
    whole: Node,
    step: Callable[[Node, list[Result]], Result],
    results: dict[Node, Result] | None = None,
    parts: Callable[[Node], Sequence[Node]] = operator.attrgetter("parts"),
) -> Result:
    """Compute something of a formula from what was computed of its parts: each once, and however deep it is nested.

    ``results`` keeps what was computed, for the next time. With ``parts``, anything that has parts is folded.
    """
    results = {} if results is None else results
    waiting = [whole]
    while waiting:
        top = waiting[-1]
        own = () if top in results else parts(top)
        missing = [part for part in own if part not in results]
        if missing:
            waiting += reversed(missing)
            continue
        waiting.pop()
        if top not in results:
            results[top] = step(top, [results[part] for part in own])
    return results[whole]


def negation(formula: Formula, opposites: dict[Formula, Formula] | None = None) -> Formula:
    """Return the negation, with ``!`` moved down to names and to past operators; ``opposites`` keeps those of parts."""
    return fold(formula, _negation, opposites)


def _negation(formula: Formula, opposites: list[Formula]) -> Formula:
    operator = formula.operator
    match operator:
        case "&" | "|":
            return disjunction(opposites) if operator == "&" else conjunction(opposites)
        case "X" | "WX":
            return unary(DUALS[operator], opposites[0])
        case "U" | "R":
            return binary(DUALS[operator], *opposites)
        case _:
            return ~formula


def write(
    formula: Formula, reserved: Set[str] = FORMULA_WORDS, texts: dict[Formula, tuple[str, int]] | None = None
) -> str:
    """Write a formula with no more brackets than needed; names that are reserved words stand in quotes.

    ``texts`` keeps those of parts, with how tightly each binds.
    """

    def text(formula: Formula, parts: list[tuple[str, int]]) -> tuple[str, int]:
        operator = _written(formula)[0]
        if operator == "name":
            return write_name(formula.name, reserved), _UNARY
        if not parts:
            return operator, _UNARY
        if len(parts) == 1:
            inner = _bracketed(*parts[0], _UNARY)
            return operator + ("" if operator == "!" or inner.startswith("(") else " ") + inner, _UNARY
        own = _TIGHTNESS[operator]
        # (a U b) & (c U d) is easier to read with brackets, though U binds tighter.
        inner_texts = (
            _bracketed(part, tightness, _UNARY if _TIGHTNESS["U"] in (own, tightness) else own)
            for part, tightness in parts
        )
        return f" {operator} ".join(inner_texts), own

    return fold(formula, text, texts, lambda part: _written(part)[1])[0]


def _bracketed(text: str, tightness: int, needed: int) -> str:
    return f"({text})" if tightness < needed else text


def _written(formula: Formula) -> tuple[str, tuple[Formula, ...]]:
    """Return the operator and the parts of a formula as it is written."""
    match formula.operator, formula.parts:
        case "else", _:
            return "else", ()
        case "WX", (Formula("false"),):
            return "last", ()
        case "U" | "S" | "R", (Formula("true" | "false"), part):
            return {"U": "F", "S": "O", "R": "G"}[formula.operator], (part,)
        case "R", (release, Formula("|", either)) if release in either:
            return "W", (disjunction(part for part in either if part is not release), release)
    return formula.operator, formula.parts


def write_name(name: str, reserved: Set[str] = FORMULA_WORDS) -> str:
    """Write the name of a proposition, in double quotes if it could not be read back without them."""
    return name if _READ_AS.fullmatch(name) and name not in reserved else in_quotes(name)


def in_quotes(text: str) -> str:
    """Write text in double quotes, with a backslash before quotes and backslashes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_name(text: str) -> str:
    """Return the name that a bare or a quoted text means."""
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
