"""Formulas of LTL over finite traces, as trees.

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

from collections.abc import Iterable
from weakref import WeakValueDictionary

FUTURE = frozenset({"X", "WX", "N", "F", "G", "U", "R", "W", "last"})
PAST = frozenset({"Y", "O", "H", "S"})
DUALS = {"&": "|", "|": "&", "X": "WX", "WX": "X", "F": "G", "G": "F", "U": "R", "R": "U"}


class Formula:
    """An operator with its parts; ``name`` is that of a proposition (operator "name"). Equal formulas are identical."""

    __slots__ = ("__weakref__", "name", "operator", "parts")
    __match_args__ = ("operator", "parts", "name")

    operator: str
    parts: tuple[Formula, ...]
    name: str

    def __new__(cls, operator: str, parts: tuple[Formula, ...] = (), name: str = "") -> Formula:
        key = (operator, parts, name)
        found = _KNOWN.get(key)
        if found is None:
            found = super().__new__(cls)
            found.operator, found.parts, found.name = key
            _KNOWN[key] = found
        return found


_KNOWN: WeakValueDictionary[tuple[str, tuple[Formula, ...], str], Formula] = WeakValueDictionary()
TRUE, FALSE = Formula("true"), Formula("false")
LAST = Formula("WX", (FALSE,))


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
            if item == absorbing:
                return absorbing
            if item != neutral:
                kept[item] = None
    if not kept:
        return neutral
    return next(iter(kept)) if len(kept) == 1 else Formula(operator, tuple(kept))


def unary(operator: str, part: Formula) -> Formula:
    """Apply one of ! X WX F G Y O H."""
    if operator == "!":
        return negation(part)
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
        case "true" | "false":
            return FALSE if operator == "true" else TRUE
        case "!":
            return parts[0]
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
            return Formula("!", (formula,))


def names(formula: Formula) -> dict[str, None]:
    """Return the names that occur, in the order in which they are first met."""
    found = {formula.name: None} if formula.operator == "name" else {}
    for part in formula.parts:
        found |= names(part)
    return found
