"""Read formulas; a mistake is shown with a caret under its place.

From tightest to loosest: the unary operators (``! X WX N F G Y O H``), the binary ones in time (``U R W S``, which
group to the right), ``&``, ``|``, ``->`` (to the right), ``<->``. ``N`` is another word for ``WX``. A name that is an
operator or holds other characters is written in double quotes: ``"F"``, ``"at(A)"``. Text is parsed by a grammar and
never evaluated.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from praemia.errors import ModelError
from praemia.formulas.formula import (
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
from praemia.formulas.text import unquoted

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
