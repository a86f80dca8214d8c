"""Read guards, formulas, regular expressions and predicates: languages with one boolean core, read by one parser.

A name that has other characters than letters, digits, ``_`` and ``-``, or is a word of its language, stands in double
quotes. A text becomes a list of tokens in postfix order, which is never evaluated; no depth of nesting is too much.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeVar

from praemia.errors import ModelError
from praemia.machines.formula import (
    ELSE,
    FALSE,
    LAST,
    PLAIN_NAME,
    TRUE,
    Formula,
    binary,
    conjunction,
    disjunction,
    proposition,
    read_name,
    unary,
)

SHOWN = 20
SHOWN_BEFORE = 100  # characters of a long line, before and after a mistake
SEQUENCE = "sequence"

Built = TypeVar("Built")


class Infix(NamedTuple):
    """A binary operator: what it is called, how tightly it binds, and how a chain of it is grouped.

    ``groups`` is "left", "right", or "all" for one operator with all operands of the chain.
    """

    name: str
    tightness: int
    groups: str = "all"


class Token(NamedTuple):
    """A name, a constant, or an operator with as many operands as ``arity``."""

    kind: str  # "name", "quoted", "constant" or an operator
    text: str
    place: int
    arity: int = 0
    tightness: int = 0


@dataclass(frozen=True)
class Language:
    """What may be written: operators by how they are spelled, and for messages what is expected where.

    ``symbols`` is a pattern of what is read before names are. Prefix operators bind tightest, except ``loose_prefix``.
    """

    kind: str
    infix: Mapping[str, Infix]
    constants: tuple[str, ...]
    operand: str
    operator: str
    prefix: Mapping[str, str]
    symbols: str = r"[&|!()]"
    name: str = PLAIN_NAME
    postfix: str = ""
    postfix_tightness: int = 0
    sequence: Infix | None = None
    loose_prefix: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def token(self) -> re.Pattern[str]:
        quoted = r'"(?:[^"\\\n]|\\["\\])+"'
        return re.compile(rf"\s*(?:(?P<symbol>{self.symbols})|(?P<name>{self.name})|(?P<quoted>{quoted}))")

    @cached_property
    def prefix_tightness(self) -> int:
        infix = (*self.infix.values(), *([self.sequence] if self.sequence else []))
        return max(self.postfix_tightness, *(operator.tightness for operator in infix)) + 1


BOOLEAN = {"|": Infix("|", 1), "&": Infix("&", 4)}
GUARD = Language("guard", BOOLEAN, ("true", "false", "else"), "", "", {"!": "!"})
CONSTANTS = {
    **dict.fromkeys(("true", "True", "TRUE", "tt", "1", ".", "t"), TRUE),
    **dict.fromkeys(("false", "False", "FALSE", "ff", "0", "f"), FALSE),
    **dict.fromkeys(("last", "Last", "LAST"), LAST),
    "else": ELSE,
}
REGEX = Language(
    "regex",
    BOOLEAN,
    (".", "true", "false"),
    "a name, '.', '!' or '('",
    "'*', '+', '?', '&', '|', another letter or ')' or the end",
    {"!": "!"},
    symbols=r"[&|!().*+?]",
    postfix="*+?",
    postfix_tightness=3,
    sequence=Infix(SEQUENCE, 2),
)

_STEP = re.compile(r'"(?:[^"\\]|\\.)+"|[^\s,;"]+|[;"]')


def parse(language: Language, text: str, kind: str | None = None) -> list[Token]:
    """Return a text in postfix order, or raise a ModelError that says where it is wrong; ``kind`` names it there."""
    return _Parser(language, text, kind or language.kind).run()


def build(tokens: Iterable[Token], make: Callable[[Token, list[Built]], Built]) -> Built:
    """Return what a text in postfix order means; ``make`` says it of a token, given what its operands mean."""
    operands: list[Built] = []
    for token in tokens:
        first = len(operands) - token.arity
        operands[first:] = [make(token, operands[first:])]
    return operands[0]


def formula_of(
    token: Token,
    parts: list[Formula],
    negate: Callable[[Formula], Formula] = operator.invert,
    name: Callable[[str], Formula] = proposition,
) -> Formula:
    """Return the formula of a token and its operands; ``name`` gives that of a name."""
    match token.kind:
        case "name" | "quoted":
            return name(read_name(token.text))
        case "constant":
            return CONSTANTS[token.text]
        case "!":
            return negate(parts[0])
        case "&" | "|":
            return conjunction(parts) if token.kind == "&" else disjunction(parts)
        case "->":
            return disjunction((negate(parts[0]), parts[1]))
        case "<->" | "xor":
            first, other = parts if token.kind == "<->" else (parts[0], negate(parts[1]))
            return disjunction((conjunction((first, other)), conjunction((negate(first), negate(other)))))
        case "M":  # the strong release: the left side must come
            return binary("U", parts[1], conjunction(parts))
        case _:
            return unary(token.kind, parts[0]) if token.arity == 1 else binary(token.kind, *parts)


def parse_guard(text: str) -> Formula:
    """Parse a guard such as ``item & !(delivery | busy)``."""
    tokens = parse(GUARD, text)
    if len(tokens) > 1 and any(token.text == "else" for token in tokens):
        raise ModelError(f"guard {text!r}: 'else' stands alone; a proposition of that name is \"else\", in quotes")
    return build(tokens, formula_of)


class _Parser:
    def __init__(self, language: Language, text: str, kind: str) -> None:
        self._language, self._text, self._kind = language, text, kind
        self._output: list[Token] = []
        self._waiting: list[Token] = []  # operators and open brackets whose operands are not complete
        self._num_open = 0
        self._wants_operand = True

    def run(self) -> list[Token]:
        for kind, text, place in self._tokens():
            if not (self._read_operand if self._wants_operand else self._read_operator)(kind, text, place):
                raise self._refusal(place)
        if self._wants_operand or self._num_open:
            raise self._refusal(len(self._text))
        return self._output + self._waiting[::-1]

    def _tokens(self) -> Iterator[tuple[str, str, int]]:
        text, place = self._text, 0
        end = len(text.rstrip())
        while place < end:
            match = self._language.token.match(text, place)
            if match is None:
                raise self._refusal(len(text) - len(text[place:].lstrip()))
            kind = str(match.lastgroup)
            yield kind, match[kind], match.start(kind)
            place = match.end()

    def _read_operand(self, kind: str, text: str, place: int) -> bool:
        """Take a token where an operand is expected; return whether it can stand there."""
        language = self._language
        if text in language.prefix:
            name = language.prefix[text]
            tightness = language.loose_prefix.get(name, language.prefix_tightness)
            self._waiting.append(Token(name, text, place, 1, tightness))
        elif text == "(":
            self._waiting.append(Token("(", text, place))
            self._num_open += 1
        elif text in language.constants:
            self._add_operand(Token("constant", text, place))
        elif kind != "symbol" and text not in language.infix:
            self._add_operand(Token(kind, text, place))
        else:
            return False
        return True

    def _add_operand(self, token: Token) -> None:
        self._output.append(token)
        self._wants_operand = False

    def _read_operator(self, kind: str, text: str, place: int) -> bool:
        """Take a token where an operator is expected; return whether it can stand there."""
        language = self._language
        if text in language.infix:
            self._add_infix(language.infix[text], text, place)
        elif text == ")":
            if not self._num_open:
                return False
            self._complete(0)
            self._waiting.pop()
            self._num_open -= 1
        elif kind == "symbol" and text in language.postfix:
            self._complete(language.postfix_tightness)
            self._output.append(Token(text, text, place, 1))
        elif language.sequence is not None:
            self._add_infix(language.sequence, text, place)
            return self._read_operand(kind, text, place)
        else:
            return False
        return True

    def _add_infix(self, operator: Infix, text: str, place: int) -> None:
        name, tightness, groups = operator
        self._complete(tightness if groups != "left" else tightness - 1)
        if groups == "all" and self._waiting and self._waiting[-1].kind == name:
            last = self._waiting[-1]
            self._waiting[-1] = last._replace(arity=last.arity + 1, text=f"{last.text} {text}")
        else:
            self._waiting.append(Token(name, text, place, 2, tightness))
        self._wants_operand = True

    def _complete(self, tightness: int) -> None:
        """Put out the operators that bind tighter than what follows."""
        while self._waiting and self._waiting[-1].tightness > tightness:
            self._output.append(self._waiting.pop())

    def _refusal(self, place: int) -> ModelError:
        """Return what to raise: of a guard in one line, of others with a caret under the place."""
        language, text = self._language, self._text
        at_end = place >= len(text.rstrip())
        place = len(text) if at_end else place
        rest = text[place : place + SHOWN]
        end = "unexpected end of expression"
        if not language.operand:
            stop = end if at_end else f"stopped at {rest!r}"
            return ModelError(f"{language.kind} {text!r}: {stop}; expected propositions joined by & | ! and brackets")
        stop, expected = end if at_end else f"found {rest.split(maxsplit=1)[0]!r}", language.operand
        if not self._wants_operand:
            stop += ": functions cannot be called" if rest.startswith("(") else ""
            expected = language.operator.removesuffix(" or the end") if at_end else language.operator
        return mistake(self._kind, text, place, f"{stop}; expected {expected}")


def mistake(kind: str, text: str, place: int, message: str) -> ModelError:
    """Return the error for a mistake at a place of a text, with a caret under it."""
    line = text.count("\n", 0, place)
    column = place - (text.rfind("\n", 0, place) + 1)
    whole = (text.split("\n")[line] if text else "").replace("\t", " ")
    where = f"line {line + 1}, column {column + 1}" if "\n" in text else f"column {column + 1}"
    begin = max(0, column - SHOWN_BEFORE)
    part = whole[begin : column + SHOWN_BEFORE]
    return ModelError(f"{kind}, {where}: {message}\n    {part}\n    {' ' * (column - begin)}^")


def parse_trace(text: str) -> list[frozenset[str]]:
    """Read a trace such as ``item; ; delivery, home``: steps are separated by ``;``, names by ``,`` or blanks."""
    labels: list[set[str]] = [set()]
    for match in _STEP.finditer(text):
        if match[0] == ";":
            labels.append(set())
        elif match[0] == '"':
            raise mistake(
                "trace", text, match.start(), "expected names, with ';' between steps; are all quotes closed?"
            )
        else:
            labels[-1].add(read_name(match[0]))
    return [frozenset(label) for label in labels]
