"""The formula syntaxes that are read: this package's, and those of Spot and LTLf2DFA."""

from __future__ import annotations

from praemia.machines.syntax import Infix, Language

_PUNCTUATION = r"<->|<=>|->|=>|&&|\|\||\[\]|<>|X\[!\]|[&|!~()]"
_PREFIX = {"!": "!", "~": "!", "X[!]": "X", "[]": "G", "<>": "F", "F": "F", "G": "G"}
_PAST = {"Y": "Y", "O": "O", "H": "H", "X": "X", "WX": "WX"}
_INFIX = {
    **dict.fromkeys(("<->", "<=>"), Infix("<->", 1, "left")),
    **dict.fromkeys(("->", "=>"), Infix("->", 2, "right")),
    **dict.fromkeys(("|", "||"), Infix("|", 4)),
    **dict.fromkeys(("&", "&&"), Infix("&", 5)),
    **{word: Infix(word, 6, "right") for word in ("U", "R", "W", "S")},
}
_SPOT = {
    **dict.fromkeys(("->", "=>", "-->"), Infix("->", 1, "right")),
    **dict.fromkeys(("<->", "<=>", "<-->"), Infix("<->", 1, "right")),
    **dict.fromkeys(("xor", "^"), Infix("xor", 3, "left")),
    "/\\": Infix("&", 5),
    "\\/": Infix("|", 4),
    "M": Infix("M", 6, "right"),
    "V": Infix("R", 6, "right"),
}
_CONSTANTS = ("true", "True", "TRUE", "false", "False", "FALSE")
DIALECTS = {
    "praemia": Language(
        "formula",
        _INFIX,
        ("true", "false", "last"),
        "a name, true, false, last, a unary operator (! X WX F G Y O H) or '('",
        "an operator (& | -> <-> U R W S) or ')' or the end",
        _PREFIX | _PAST | {"N": "WX"},
        _PUNCTUATION,
    ),
    "spot": Language(
        "formula",
        {word: infix for word, infix in (_INFIX | _SPOT).items() if word != "S"},
        (*_CONSTANTS, "1", "0"),
        "a name, 1, 0, a unary operator (! X X[!] F G) or '('",
        "an operator (& | -> <-> xor U R W M) or ')' or the end",
        _PREFIX | {"X": "WX"},
        rf"<-->|-->|/\\|\\/|{_PUNCTUATION}|\^|[01](?!\w)|[FGX](?!\d)",
        name=r"[^\W\d][\w.]*",
    ),
    "ltlf2dfa": Language(
        "formula",
        _INFIX | dict.fromkeys(("->", "=>"), Infix("->", 2, "left")),
        (*_CONSTANTS, "tt", "ff", "last", "Last", "LAST"),
        "a name in lower case, true, false, last, a unary operator (! X WX F G Y O H) or '('",
        "an operator (& | -> <-> U R W S) or ')' or the end",
        _PREFIX | _PAST,
        rf"{_PUNCTUATION}|[Tt]rue\b|TRUE\b|[Ff]alse\b|FALSE\b|[Ll]ast\b|LAST\b|(?:WX|[XFGYOHURWS])(?![a-z])",
        name=r"[a-z_][a-z0-9_]*",
    ),
}
