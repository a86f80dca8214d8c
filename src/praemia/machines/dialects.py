"""Formulas as this package writes them, and as other tools do.

The symbols ``&& || ~ => <=> [] <>`` and ``X[!]`` (there is a next step, and …) are read in every dialect. Words that
could be names, and what tools read differently, belong to one:

praemia     as in ``syntax``: ``X`` is strong, ``WX`` and ``N`` are weak, a -> b -> c is a -> (b -> c)
spot        ``X`` is weak; F, G and X need no blank (``GFa``); ``M V xor ^ 1 0``; nothing about the past; ``->`` and
            ``<->`` bind alike and group to the right
ltlf2dfa    ``X`` is strong; names are in lower case; ``tt ff TRUE``; a -> b -> c is (a -> b) -> c

A name that this package's own dialect reads as one proposition, though another tool's would not, is suspicious.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from praemia.errors import ParameterError, did_you_mean
from praemia.machines.formula import FALSE, TRUE, Formula, negation
from praemia.machines.syntax import CONSTANTS, Infix, Language, build, formula_of, parse

_PUNCTUATION = r"<->|<=>|->|=>|&&|\|\||\[\]|<>|X\[!\]|[&|!~()]"
_PREFIX = {"!": "!", "~": "!", "X[!]": "X", "[]": "G", "<>": "F", "F": "F", "G": "G"}
_INFIX = {
    **dict.fromkeys(("<->", "<=>"), Infix("<->", 1, "left")),
    **dict.fromkeys(("->", "=>"), Infix("->", 2, "right")),
    **dict.fromkeys(("|", "||"), Infix("|", 4)),
    **dict.fromkeys(("&", "&&"), Infix("&", 5)),
    **{word: Infix(word, 6, "right") for word in ("U", "R", "W")},
}
_PAST = {word: word for word in "YOH"}
_SINCE = {"S": Infix("S", 6, "right")}
DIALECTS = {
    "praemia": Language(
        "formula",
        _INFIX | _SINCE,
        ("true", "false", "last"),
        "a name, true, false, last, a unary operator (! X WX F G Y O H) or '('",
        "an operator (& | -> <-> U R W S) or ')' or the end",
        _PREFIX | _PAST | {"X": "X", "WX": "WX", "N": "WX"},
        symbols=_PUNCTUATION,
    ),
    "spot": Language(
        "formula",
        _INFIX
        | dict.fromkeys(("->", "=>", "-->"), Infix("->", 1, "right"))
        | dict.fromkeys(("<->", "<=>", "<-->"), Infix("<->", 1, "right"))
        | dict.fromkeys(("xor", "^"), Infix("xor", 3, "left"))
        | {"/\\": Infix("&", 5), "\\/": Infix("|", 4), "M": Infix("M", 6, "right"), "V": Infix("R", 6, "right")},
        ("true", "True", "TRUE", "1", "false", "False", "FALSE", "0"),
        "a name, 1, 0, a unary operator (! X X[!] F G) or '('",
        "an operator (& | -> <-> xor U R W M) or ')' or the end",
        _PREFIX | {"X": "WX"},
        symbols=rf"<-->|-->|/\\|\\/|{_PUNCTUATION}|\^|[01](?!\w)|[FGX](?!\d)",
        name=r"[^\W\d][\w.]*",
    ),
    "ltlf2dfa": Language(
        "formula",
        _INFIX | _SINCE | dict.fromkeys(("->", "=>"), Infix("->", 2, "left")),
        ("true", "True", "TRUE", "tt", "false", "False", "FALSE", "ff", "last", "Last", "LAST"),
        "a name in lower case, true, false, last, a unary operator (! X WX F G Y O H) or '('",
        "an operator (& | -> <-> U R W S) or ')' or the end",
        _PREFIX | _PAST | {"X": "X", "WX": "WX"},
        symbols=rf"{_PUNCTUATION}|[Tt]rue\b|TRUE\b|[Ff]alse\b|FALSE\b|[Ll]ast\b|LAST\b|(?:WX|[XFGYOHURWS])(?![a-z])",
        name=r"[a-z_][a-z0-9_]*",
    ),
}

_IN_TIME = frozenset({"X", "WX", "F", "G", "U", "R", "W", "M", "Y", "O", "H", "S", "last"})


class ParsedFormula(NamedTuple):
    """A formula, which is simplified; the words for time that were written; and the unquoted names."""

    formula: Formula
    words: set[str]
    bare_names: list[str]


def parse_formula(text: str, syntax: str = "praemia") -> ParsedFormula:
    """Parse a formula such as ``F(item & X F delivery)``, as some tool writes it."""
    if syntax not in DIALECTS:
        raise ParameterError(f"syntax={syntax!r}{did_you_mean(syntax, DIALECTS)}")
    tokens = parse(DIALECTS[syntax], text)
    opposites: dict[Formula, Formula] = {}
    formula = build(tokens, partial(formula_of, negate=lambda part: negation(part, opposites)))
    words = {"last" if token.text.lower() == "last" else token.kind for token in tokens if token.kind != "name"}
    bare = dict.fromkeys(token.text for token in tokens if token.kind == "name")
    return ParsedFormula(formula, words & _IN_TIME, list(bare))


def likely_meanings(names: Iterable[str], names_in_use: Collection[str] = ()) -> Mapping[str, str]:
    """Return for suspicious names of a formula what was probably meant.

    ``G`` before another name of the formula, or one that is ``names_in_use``, or before a single letter, is probably an
    operator; so are two operators before a small letter.
    """
    bare_names = list(names)
    meanings = ((name, _likely_meaning(name, {*bare_names, *names_in_use})) for name in bare_names)
    return {name: meaning for name, meaning in meanings if meaning is not None}


def _likely_meaning(name: str, names_in_use: Collection[str]) -> str | None:
    if any(name in language.constants for language in DIALECTS.values()):
        return "true" if CONSTANTS[name] is TRUE else "false" if CONSTANTS[name] is FALSE else "last"
    for length in range(1, len(name)):
        operators, rest = name[:length], name[length:]
        if not set(operators) <= set("FGX"):
            return None
        if rest in names_in_use or len(rest) == 1 or (length > 1 and rest[0].islower()):
            return " ".join((*operators, rest))
    return None
