"""Read formulas; a mistake is shown with a caret under its place.

From tightest to loosest: the unary operators (``! X WX N F G Y O H``), the binary ones in time (``U R W S``, which
group to the right), ``&``, ``|``, ``->`` (to the right), ``<->``. ``N`` is another word for ``WX``. A name that is an
operator or holds other characters is written in double quotes: ``"F"``, ``"at(A)"``. Text is parsed by a grammar and
never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from praemia.errors import ModelError
from praemia.machines.booleans import Term
from praemia.machines.formula import (
    FALSE,
    LAST,
    TRUE,
    Formula,
    binary,
    conjunction,
    disjunction,
    negation,
    proposition,
    unary,
)

MAX_LENGTH = 10_000
MAX_DEPTH = 150

NAMES = r"""
    NAME: /[^\W\d](?:\w|-(?!>))*/
    QUOTED: /"(?:[^"\\\n]|\\["\\])+"/
    %ignore /\s+/
"""
_GRAMMAR = (
    r"""
    ?start: same
    ?same: implied ("<->" implied)*
    ?implied: either ["->" implied]
    ?either: both ("|" both)*
    ?both: timed ("&" timed)*
    ?timed: unary [BINARY timed]
    ?unary: (NOT | UNARY) unary         -> unary
          | "(" same ")"
          | CONSTANT                    -> constant
          | NAME                        -> name
          | QUOTED                      -> name
    NOT: "!"
    UNARY.2: /(X|WX|N|F|G|Y|O|H)(?!\w|-(?!>))/
    BINARY.2: /(U|R|W|S)(?!\w|-(?!>))/
    CONSTANT.2: /(true|false|last)(?!\w|-(?!>))/
"""
    + NAMES
)
_TIMED = ("UNARY", "BINARY", "CONSTANT")
_OPERAND = "a name, true, false, last, a unary operator (! X WX F G Y O H) or '('"
_OPERATOR = "an operator (& | -> <-> U R W S) or ')' or the end"
RESERVED = frozenset({"true", "false", "last", "else", "X", "WX", "N", "F", "G", "U", "R", "W", "Y", "O", "H", "S"})
PLAIN = re.compile(r"[^\W\d](?:\w|-(?!>))*")

_TIGHTNESS = {"|": 1, "&": 2, "U": 3, "R": 3, "W": 3, "S": 3}
_UNARY = 4
_TOKEN = re.compile(r'\s*(?:(?P<end>;)|,|(?P<name>[^\s,;"]+|"(?:[^"\\]|\\.)+"))')


def parse_formula(text: str) -> tuple[Formula, set[str]]:
    """Parse a formula such as ``F(item & X F delivery)``; return it with the words for time that were written.

    The formula is simplified, so that not all of them need be left in it.
    """
    tree = parse(_parser(), text, "formula", _OPERAND, _OPERATOR)
    return _build(tree), {str(token) for token in tree.scan_values(lambda token: token.type in _TIMED)}


@cache
def _parser() -> Any:
    return make_parser(_GRAMMAR)


def make_parser(grammar: str) -> Any:
    from lark import Lark

    return Lark(grammar, parser="lalr", maybe_placeholders=False, propagate_positions=True)


def parse(parser: Any, text: str, kind: str, operand: str, operator: str) -> Any:
    """Return the tree of a text, or raise a ModelError that points at the place and says what may stand there."""
    from lark.exceptions import UnexpectedInput

    if len(text) > MAX_LENGTH:
        raise ModelError(f"a {kind} of {len(text):,} characters; at most {MAX_LENGTH:,} are read")
    try:
        tree = parser.parse(text)
    except UnexpectedInput as error:
        token = getattr(error, "token", None)
        at_end = token is not None and token.type == "$END"
        place = len(text) if at_end else error.pos_in_stream or 0
        wanted = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", ())
        operator = operator.removesuffix(" or the end") if at_end else operator
        found = "it ends too early" if at_end else f"found {text[place : place + 20].split(maxsplit=1)[0]!r}"
        expected = operand if "NAME" in (wanted or ()) else operator
        raise mistake(kind, text, place, f"{found}; expected {expected}") from None
    if _depth(tree) > MAX_DEPTH:
        raise ModelError(f"a {kind} nested more than {MAX_DEPTH} deep")
    return tree


def mistake(kind: str, text: str, place: int, message: str) -> ModelError:
    """Return the error for a mistake at a place of a text, with a caret under it."""
    line = text.count("\n", 0, place)
    column = place - (text.rfind("\n", 0, place) + 1)
    shown = (text.split("\n")[line] if text else "").replace("\t", " ")
    where = f"line {line + 1}, column {column + 1}" if "\n" in text else f"column {column + 1}"
    return ModelError(f"{kind}, {where}: {message}\n    {shown}\n    {' ' * column}^")


def _depth(tree: Any) -> int:
    """Return the depth of a tree, without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in getattr(node, "children", ())]
    return deepest


def read_name(token: str) -> str:
    """Return the name that a NAME or QUOTED token means."""
    if not token.startswith('"'):
        return str(token)
    return unquoted(token)


def _build(node: Any) -> Formula:
    children = node.children
    match node.data:
        case "name":
            return proposition(read_name(children[0]))
        case "constant":
            return {"true": TRUE, "false": FALSE, "last": LAST}[str(children[0])]
        case "unary":
            return unary("WX" if children[0] == "N" else str(children[0]), _build(children[1]))
        case "timed":
            return binary(str(children[1]), _build(children[0]), _build(children[2]))
        case "both":
            return conjunction(map(_build, children))
        case "either":
            return disjunction(map(_build, children))
        case "implied":
            left, right = map(_build, children)
            return disjunction((negation(left), right))
        case _:
            first, *rest = map(_build, children)
            for other in rest:
                first = disjunction((conjunction((first, other)), conjunction((negation(first), negation(other)))))
            return first


def parse_trace(text: str) -> list[frozenset[str]]:
    """Read a trace such as ``item; ; delivery, home``: steps are separated by ``;``, names by ``,`` or blanks."""
    labels: list[set[str]] = [set()]
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place)
        if found is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            raise mistake("trace", text, start, "expected names, with ';' between steps; are all quotes closed?")
        if found["end"]:
            labels.append(set())
        elif found["name"]:
            labels[-1].add(read_name(found["name"]))
        place = found.end()
    return [frozenset(label) for label in labels]


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
