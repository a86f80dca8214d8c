"""Write formulas and terms as text that reads back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from praemia.formulas.booleans import Term
from praemia.formulas.formula import Formula, disjunction

RESERVED = frozenset({"true", "false", "last", "else", "X", "WX", "N", "F", "G", "U", "R", "W", "Y", "O", "H", "S"})
PLAIN = re.compile(r"[^\W\d](?:\w|-(?!>))*")

_TIGHTNESS = {"|": 1, "&": 2, "U": 3, "R": 3, "W": 3, "S": 3}
_UNARY = 4


def quoted(name: str) -> str:
    """Write a proposition bare where that can be read back, else in double quotes."""
    if PLAIN.fullmatch(name) and name not in RESERVED:
        return name
    return in_quotes(name)


def in_quotes(text: str) -> str:
    """Write text in double quotes, with a backslash before quotes and backslashes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquoted(text: str) -> str:
    """Return the text that stands in double quotes."""
    return re.sub(r"\\(.)", r"\1", text[1:-1])


def write(formula: Formula, tightness: int = 0) -> str:
    """Write a formula with no more brackets than needed."""
    operator, parts = formula.operator, formula.parts
    if operator == "name":
        return quoted(formula.name)
    if not parts:
        return operator
    if operator == "WX" and parts[0].operator == "false":
        return "last"
    if len(parts) == 1:
        inner = write(parts[0], _UNARY)
        return operator + ("" if operator == "!" or inner.startswith("(") else " ") + inner
    weak = _weak_until(formula)
    if weak is not None:
        operator, parts = "W", weak
    own = _TIGHTNESS[operator]
    text = f" {operator} ".join(write(part, _UNARY if _is_timed(part, own) else own) for part in parts)
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


def write_terms(terms: Iterable[Term], names: Sequence[str]) -> str:
    """Write a sum of products over propositions."""
    written = [
        " & ".join(("" if value else "!") + quoted(names[variable]) for variable, value in sorted(term.items()))
        for term in terms
    ]
    return "false" if not written else " | ".join(written) or "true"
