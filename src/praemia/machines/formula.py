"""Formulas as trees: guards, which are boolean, and LTL over finite traces, of which guards are a part.

    true false last name                 last: there is no next step
    !f  f & g  f | g                      (-> and <-> are rewritten by the parser)
    X f   there is a next step, and f holds there          WX f   if there is a next step, f holds there
    F f   f holds now or later                             G f    f holds now and at every later step
    f U g   g holds now or later, and f until then         f R g   g holds up to and including the first f, if any
    f W g   f U g, or f holds at every step from now on
    Y f   there was a step before, and f held there        O f, H f   f held at some step, at every step up to now
    f S g   g held at some step up to now, and f ever since

Constructors do what is cheap and never wrong: constants vanish, conjunctions are flat, F F f is F f.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from weakref import WeakValueDictionary

FUTURE = frozenset({"X", "WX", "N", "F", "G", "U", "R", "W", "last"})
PAST = frozenset({"Y", "O", "H", "S"})
DUALS = {"&": "|", "|": "&", "X": "WX", "WX": "X", "F": "G", "G": "F", "U": "R", "R": "U"}

GUARD_WORDS = frozenset({"true", "false", "else"})
FORMULA_WORDS = GUARD_WORDS | FUTURE | PAST

_PLAIN_NAME = re.compile(r"[^\W\d](?:\w|-(?!>))*")
_TIGHTNESS = {"|": 1, "&": 2, "U": 3, "R": 3, "W": 3, "S": 3}
_UNARY = 4


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
            formula = super().__new__(cls)
            formula.operator, formula.parts, formula.name = key
            _FORMULAS[key] = formula
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
        """Tell whether a guard holds on a label, the set of the propositions that are true."""
        match self.operator:
            case "name":
                return self.name in label
            case "!":
                return not self.parts[0].holds(label)
            case "&":
                return all(part.holds(label) for part in self.parts)
            case "|":
                return any(part.holds(label) for part in self.parts)
            case "else":
                return self.parts[0].holds(label)
            case "true" | "false":
                return self.operator == "true"
            case _:
                raise TypeError(f"{write(self)} is not a guard: whether it holds is not decided by one label")

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
    kept: dict[Formula, None] = {}
    for part in parts:
        for item in part.parts if part.operator == operator else (part,):
            if item is absorbing:
                return absorbing
            if item is not neutral:
                kept[item] = None
    if not kept:
        return neutral
    return next(iter(kept)) if len(kept) == 1 else Formula(operator, tuple(kept))


def unary(operator: str, part: Formula) -> Formula:
    """Apply one of X WX F G Y O H."""
    if operator in ("F", "G", "O", "H") and (part in (TRUE, FALSE) or part.operator == operator):
        return part
    if (operator, part) in (("X", FALSE), ("Y", FALSE)):
        return FALSE
    return TRUE if (operator, part) == ("WX", TRUE) else Formula(operator, (part,))


def binary(operator: str, left: Formula, right: Formula) -> Formula:
    """Apply one of U R W S."""
    if right == TRUE or (right == FALSE and operator != "W"):
        return right
    match operator, left:
        case "U", Formula("true"):
            return unary("F", right)
        case "R", Formula("false"):
            return unary("G", right)
        case "S", Formula("true"):
            return unary("O", right)
        case ("U" | "W" | "S", Formula("false")) | ("R", Formula("true")):
            return right
        case "W", Formula("true"):
            return TRUE
    return unary("G", left) if right == FALSE else Formula(operator, (left, right))


def negation(formula: Formula) -> Formula:
    """Return the negation, with ``!`` moved down to names and to past operators."""
    operator, parts = formula.operator, formula.parts
    match operator:
        case "&" | "|":
            return _junction(
                DUALS[operator], map(negation, parts), *((FALSE, TRUE) if operator == "&" else (TRUE, FALSE))
            )
        case "X" | "WX" | "F" | "G":
            return unary(DUALS[operator], negation(parts[0]))
        case "U" | "R":
            return binary(DUALS[operator], negation(parts[0]), negation(parts[1]))
        case "W":
            left, right = map(negation, parts)
            return binary("U", right, conjunction((left, right)))
        case _:
            return ~formula


def write(formula: Formula, reserved: Set[str] = FORMULA_WORDS, tightness: int = 0) -> str:
    """Write a formula with no more brackets than needed; names that are reserved words stand in quotes."""
    operator, parts = formula.operator, formula.parts
    if operator == "name":
        return quoted(formula.name, reserved)
    if not parts or operator == "else":
        return operator
    if operator == "WX" and parts[0] is FALSE:
        return "last"
    if len(parts) == 1:
        inner = write(parts[0], reserved, _UNARY)
        return operator + ("" if operator == "!" or inner.startswith("(") else " ") + inner
    weak = _weak_until(formula)
    if weak is not None:
        operator, parts = "W", weak
    own = _TIGHTNESS[operator]
    text = f" {operator} ".join(write(part, reserved, _UNARY if _is_timed(part, own) else own) for part in parts)
    return f"({text})" if own < tightness else text


def _is_timed(part: Formula, tightness: int) -> bool:
    """Tell whether a part is put in brackets though it binds tighter, to be easier to read: (a U b) & (c U d)."""
    return part.operator in ("U", "R", "W", "S") or tightness == _TIGHTNESS["U"]


def _weak_until(formula: Formula) -> tuple[Formula, Formula] | None:
    """Return f and g if a formula is g R (f | g), which is f W g."""
    if formula.operator == "R" and formula.parts[1].operator == "|" and formula.parts[0] in formula.parts[1].parts:
        release, either = formula.parts
        return disjunction(part for part in either.parts if part != release), release
    return None


def quoted(name: str, reserved: Set[str] = FORMULA_WORDS) -> str:
    """Write a proposition bare where that can be read back, else in double quotes."""
    return name if _PLAIN_NAME.fullmatch(name) and name not in reserved else in_quotes(name)


def in_quotes(text: str) -> str:
    """Write text in double quotes, with a backslash before quotes and backslashes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquoted(text: str) -> str:
    """Return the text that stands in double quotes."""
    return re.sub(r"\\(.)", r"\1", text[1:-1])
