"""Read guards, formulas and regular expressions: three languages with one boolean core.

In the core ``!`` binds tightest, then ``&``, then ``|``. A name starts with a letter or ``_`` and goes on with letters,
digits, ``_`` and ``-``; any other name, and one that is a word of its language, stands in double quotes: ``"at(A)"``,
``"else"``. Guards add nothing but ``else``, which stands alone. Formulas add the unary operators in time
(``X WX N F G Y O H``, which bind like ``!``; ``N`` is another word for ``WX``), the binary ones (``U R W S``, which
bind tighter than ``&`` and group to the right) and, loosest of all, ``->`` (to the right) and ``<->``. Between ``&``
and ``|`` regular expressions add ``*``, ``+`` and ``?``, then sequence.

Text is parsed by a grammar and never evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from praemia.errors import ModelError
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
    unquoted,
)

MAX_LENGTH = 10_000
MAX_DEPTH = 150
SHOWN = 20

_END_OF_WORD = r"(?!\w|-(?!>))"
_GRAMMAR = r"""
    ?start: {whole}
    ?either: {summand} ("|" {summand})*
    ?both: {conjunct} ("&" {conjunct})*
    ?factor: {prefix} factor       -> unary
           | "(" {whole} ")"
           | CONSTANT              -> constant
           | (NAME | QUOTED)       -> name
    NOT: "!"
    CONSTANT.2: /{constant}/
    NAME: /[^\W\d](?:\w|-(?!>))*/
    QUOTED: /"(?:[^"\\\n]|\\["\\])+"/
    %ignore /\s+/
"""
_IN_TIME = rf"""
    ?same: implied ("<->" implied)*
    ?implied: either ["->" implied]
    ?timed: factor [BINARY timed]
    UNARY.2: /(X|WX|N|F|G|Y|O|H){_END_OF_WORD}/
    BINARY.2: /(U|R|W|S){_END_OF_WORD}/
"""
_IN_SEQUENCE = r"""
    ?sequence: repeated+
    ?repeated: both OFTEN*         -> repeated
    OFTEN: /[*+?]/
"""


class Language(NamedTuple):
    """A grammar, and for messages what may stand where an operand is expected, and where an operator is."""

    kind: str
    grammar: str
    operand: str
    operator: str


def _grammar(whole: str, summand: str, conjunct: str, prefix: str, constant: str) -> str:
    return _GRAMMAR.format(whole=whole, summand=summand, conjunct=conjunct, prefix=prefix, constant=constant)


GUARD = Language("guard", _grammar("either", "both", "factor", "NOT", f"(true|false|else){_END_OF_WORD}"), "", "")
FORMULA = Language(
    "formula",
    _grammar("same", "both", "timed", "(NOT | UNARY)", f"(true|false|last){_END_OF_WORD}") + _IN_TIME,
    "a name, true, false, last, a unary operator (! X WX F G Y O H) or '('",
    "an operator (& | -> <-> U R W S) or ')' or the end",
)
REGEX = Language(
    "regex",
    _grammar("either", "sequence", "factor", "NOT", rf"\.|(true|false){_END_OF_WORD}") + _IN_SEQUENCE,
    "a name, '.', '!' or '('",
    "'*', '+', '?', '&', '|', another letter or ')' or the end",
)
_TIMED = ("UNARY", "BINARY", "CONSTANT")
_TOKEN = re.compile(r'\s*(?:(?P<end>;)|,|(?P<name>[^\s,;"]+|"(?:[^"\\]|\\.)+"))')


def parse_formula(text: str) -> tuple[Formula, set[str]]:
    """Parse a formula such as ``F(item & X F delivery)``; return it with the words for time that were written.

    The formula is simplified, so that not all of them need be left in it.
    """
    tree = parse(FORMULA, text)
    return build(tree, negation), {str(token) for token in tree.scan_values(lambda token: token.type in _TIMED)}


@cache
def _parser(language: Language) -> Any:
    from lark import Lark

    # Messages about the meaning of a text, not its form, need places: there are such about regular expressions.
    return Lark(language.grammar, parser="lalr", maybe_placeholders=False, propagate_positions=language is REGEX)


def parse(language: Language, text: str) -> Any:
    """Return the tree of a text, or raise a ModelError that says where it is wrong."""
    from lark.exceptions import UnexpectedInput

    if len(text) > MAX_LENGTH:
        raise ModelError(f"a {language.kind} of {len(text):,} characters; at most {MAX_LENGTH:,} are read")
    try:
        tree = _parser(language).parse(text)
    except UnexpectedInput as error:
        raise _refusal(language, text, error) from None
    if depth(tree) > MAX_DEPTH:
        raise ModelError(f"a {language.kind} nested more than {MAX_DEPTH} deep")
    return tree


def _refusal(language: Language, text: str, error: Any) -> ModelError:
    """Return what to raise: of a guard in one line, of others with a caret under the place."""
    at_end = getattr(getattr(error, "token", None), "type", None) == "$END"
    place = len(text) if at_end else error.pos_in_stream or 0
    if language is GUARD:
        stop = "it ends too early" if at_end else f"stopped at {text[place : place + SHOWN]!r}"
        return ModelError(f"guard {text!r}: {stop}; expected propositions joined by & | ! and brackets")
    wanted = getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None)
    operator = language.operator.removesuffix(" or the end") if at_end else language.operator
    stop = "it ends too early" if at_end else f"found {text[place : place + SHOWN].split(maxsplit=1)[0]!r}"
    expected = language.operand if "NAME" in (wanted or ()) else operator
    return mistake(language.kind, text, place, f"{stop}; expected {expected}")


def mistake(kind: str, text: str, place: int, message: str) -> ModelError:
    """Return the error for a mistake at a place of a text, with a caret under it."""
    line = text.count("\n", 0, place)
    column = place - (text.rfind("\n", 0, place) + 1)
    shown = (text.split("\n")[line] if text else "").replace("\t", " ")
    where = f"line {line + 1}, column {column + 1}" if "\n" in text else f"column {column + 1}"
    return ModelError(f"{kind}, {where}: {message}\n    {shown}\n    {' ' * column}^")


def depth(tree: Any) -> int:
    """Return the depth of a tree, without recursion."""
    deepest, waiting = 0, [(tree, 1)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        waiting += [(child, level + 1) for child in getattr(node, "children", ())]
    return deepest


def read_name(token: str) -> str:
    """Return the name that a NAME or QUOTED token means."""
    return unquoted(token) if token.startswith('"') else str(token)


def build(node: Any, negate: Callable[[Formula], Formula]) -> Formula:
    """Return the formula of a tree; ``negate`` is applied to what ``!`` stands before."""
    children = node.children
    if node.data == "name":
        return proposition(read_name(children[0]))
    if node.data == "constant":
        return {"true": TRUE, "false": FALSE, "last": LAST}[str(children[0])]
    parts = [build(child, negate) for child in children if hasattr(child, "data")]
    match node.data:
        case "unary":
            operator = "WX" if children[0] == "N" else str(children[0])
            return negate(parts[0]) if operator == "!" else unary(operator, parts[0])
        case "timed":
            return binary(str(children[1]), *parts)
        case "both":
            return conjunction(parts)
        case "either":
            return disjunction(parts)
        case "implied":
            return disjunction((negate(parts[0]), parts[1]))
        case _:
            first, *rest = parts
            for other in rest:
                first = disjunction((conjunction((first, other)), conjunction((negate(first), negate(other)))))
            return first


def parse_trace(text: str) -> list[frozenset[str]]:
    """Read a trace such as ``item; ; delivery, home``: steps are separated by ``;``, names by ``,`` or blanks."""
    labels: list[set[str]] = [set()]
    place, end = 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            raise mistake("trace", text, start, "expected names, with ';' between steps; are all quotes closed?")
        if match["end"]:
            labels.append(set())
        elif match["name"]:
            labels[-1].add(read_name(match["name"]))
        place = match.end()
    return [frozenset(label) for label in labels]
