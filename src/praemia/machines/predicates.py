"""Read predicates over what an environment shows, such as ``position < -1.0 and velocity > 0``; they are data.

From the loosest operator to the tightest: ``or`` (``|``), ``and`` (``&``), ``not`` (``!``), one comparison or a chain
of them (``0 < x <= 1``), ``+ −``, ``× ÷`` (``*`` and ``/``), the sign ``−``. A name is that of a number of a Box,
``observation`` or ``observation[i]``, the key of a Dict, ``key[i, j]``, or ``action``. It means what is observed after
the step, and ``before.NAME`` the same before it. There are no functions, no attributes and no calls.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from praemia.errors import ModelError, did_you_mean
from praemia.machines.syntax import mistake

MAX_DEPTH, MAX_TOKENS = 50, 400  # of brackets, signs and negations within each other; names, numbers and operators
OBSERVATION, ACTION, BEFORE = "observation", "action", "before"

# What a part of a predicate is of a step (o, a, o'); in a batch, arrays whose last axis runs over its steps.
Meaning: TypeAlias = Callable[[Any, Any, Any], Any]

_TOKEN = re.compile(
    r'\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)|(?P<name>[^\W\d]\w*|"[^"\n]+")'
    r"|(?P<symbol><=|>=|==|!=|[-+*/<>()\[\],.&|!]))"
)
_SPELLINGS = str.maketrans("−×÷", "-*/")  # one character each, so that columns stay
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
WORDS = {"or": "|", "and": "&", "not": "!"}


class Reference(NamedTuple):
    """A name in a predicate: where it stands, and what of which observation it means."""

    text: str
    place: int
    is_before: bool
    key: str | None  # of a Dict; None: the observation itself
    indices: tuple[int, ...]
    is_action: bool = False


def _value(key: str | None, index: Any, element: Any) -> Any:
    """Return a number of an observation or an action. Integers are exact; others keep the environment's precision."""
    if key is not None:
        element = element[key]
    if index is not None:
        element = element[index]
    kind = getattr(element, "dtype", None)
    if kind is None or kind.kind == "f":
        return element
    return element.astype(np.int64) if element.ndim else int(element)


def _divided(left: Any, right: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(left, right)


class _Part(NamedTuple):
    """A part of a predicate: what it means, whether that is true or false or else a number, and where it begins."""

    means: Meaning
    is_truth: bool
    place: int


class PredicateParser:
    """Read a predicate by recursive descent; ``references`` are the names in it."""

    def __init__(self, name: str, text: str, names: tuple[str, ...] | None) -> None:
        self.references: list[Reference] = []
        self._name, self._names, self._depth = name, names, 0
        if not isinstance(text, str):
            raise ModelError(f"predicate {name!r} is {text!r}; expected a text such as 'position < -1'")
        self._text = text
        self._tokens = list(self._split(text.translate(_SPELLINGS)))
        self._at = 0

    def run(self) -> Meaning:
        """Return what the text means."""
        if len(self._tokens) > MAX_TOKENS:
            raise self._mistake(f"more than {MAX_TOKENS} names, numbers and operators", self._tokens[MAX_TOKENS][2])
        whole = self._truth(self._any_of())
        if self._kind != "end":
            raise self._mistake(f"found {self._word!r}; expected an operator, or the end")
        return whole.means

    def _split(self, text: str) -> Iterable[tuple[str, str, int]]:
        place, end = 0, len(text.rstrip())
        while place < end:
            match = _TOKEN.match(text, place)
            if match is None:
                place = len(text) - len(text[place:].lstrip())
                hint = "; write '==' to compare" if text[place] == "=" else "; expected a name, a number or an operator"
                raise mistake(f"predicate {self._name!r}", self._text, place, f"found {text[place]!r}{hint}")
            kind, word = str(match.lastgroup), match[str(match.lastgroup)]
            yield ("symbol" if word in WORDS else kind), WORDS.get(word, word), match.start(match.lastgroup or 0)
            place = match.end()
        yield "end", "the end", len(self._text)

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _word(self) -> str:
        return self._tokens[self._at][1]

    @property
    def _place(self) -> int:
        return self._tokens[self._at][2]

    def _mistake(self, message: str, place: int | None = None) -> ModelError:
        return mistake(f"predicate {self._name!r}", self._text, self._place if place is None else place, message)

    def _takes(self, *symbols: str) -> str | None:
        """Take the next token if it is one of some symbols."""
        kind, word, _ = self._tokens[self._at]
        if kind != "symbol" or word not in symbols:
            return None
        self._at += 1
        return word

    def _expect(self, symbol: str, why: str = "") -> None:
        if not self._takes(symbol):
            raise self._mistake(f"found {self._word!r}; expected {symbol!r}{why}")

    def _truth(self, part: _Part) -> _Part:
        if not part.is_truth:
            raise self._mistake("this is a number; compare it with another, such as x > 0", part.place)
        return part

    def _number(self, part: _Part) -> _Part:
        if part.is_truth:
            raise self._mistake("this is true or false, not a number", part.place)
        return part

    def _chain(self, inner: Callable[[], _Part], check: Callable[[_Part], _Part], symbols: dict[str, Any]) -> _Part:
        """Read operands joined by binary operators of one tightness, grouped to the left."""
        left = inner()
        while word := self._takes(*symbols):
            first, second = check(left).means, check(inner()).means
            left = left._replace(means=partial(_both, symbols[word], first, second))
        return left

    def _any_of(self) -> _Part:
        return self._chain(self._all_of, self._truth, {"|": operator.or_})

    def _all_of(self) -> _Part:
        return self._chain(self._negation, self._truth, {"&": operator.and_})

    def _negation(self) -> _Part:
        place = self._place
        if not self._takes("!"):
            return self._comparison()
        means = self._truth(self._deeper(self._negation)).means
        return _Part(lambda o, a, z: means(o, a, z) ^ True, True, place)

    def _comparison(self) -> _Part:
        left, holds = self._sum(), list[Meaning]()
        first = left
        while word := self._takes(*_COMPARISONS):
            right = self._number(self._sum())
            holds.append(partial(_both, _COMPARISONS[word], self._number(left).means, right.means))
            left = right
        if not holds:
            return first
        return _Part(reduce(lambda one, other: partial(_both, operator.and_, one, other), holds), True, first.place)

    def _sum(self) -> _Part:
        return self._chain(self._product, self._number, {"+": operator.add, "-": operator.sub})

    def _product(self) -> _Part:
        return self._chain(self._sign, self._number, {"*": operator.mul, "/": _divided})

    def _sign(self) -> _Part:
        place = self._place
        if not self._takes("-"):
            return self._operand()
        means = self._number(self._deeper(self._sign)).means
        return _Part(lambda o, a, z: -means(o, a, z), False, place)

    def _deeper(self, inner: Callable[[], _Part]) -> _Part:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._mistake(f"nested more than {MAX_DEPTH} deep")
        part = inner()
        self._depth -= 1
        return part

    def _operand(self) -> _Part:
        kind, word, place = self._tokens[self._at]
        if kind == "name":
            return self._reference()
        if kind == "number":
            self._at += 1
            number = float(word)
            return _Part(lambda o, a, z: number, False, place)
        if not self._takes("("):
            raise self._mistake(f"found {word!r}; expected a name, a number or '('")
        inner = self._deeper(self._any_of)
        self._expect(")")
        return inner._replace(place=place)

    def _reference(self) -> _Part:
        kind, word, place = self._tokens[self._at]
        self._at += 1
        is_before = word == BEFORE
        if is_before:
            self._expect(".", f" and a name, as in {BEFORE}.{OBSERVATION}")
            kind, word, _ = self._tokens[self._at]
            if kind != "name" or word == ACTION:
                raise self._mistake(f"found {word!r}; expected the name of a number of the observation before the step")
            self._at += 1
        index = self._index()
        if self._kind == "symbol" and self._word in "(.":
            kind = "calls" if self._word == "(" else f"attributes; only {BEFORE}.NAME has a dot"
            raise self._mistake(f"found {self._word!r} after {word!r}; predicates have no {kind}")
        key = None if word in (OBSERVATION, ACTION) else word.strip('"')
        if self._names is not None and key in self._names:
            key, index = None, (self._names.index(key), *index)
        elif self._names is not None and key is not None:
            raise self._mistake(f"unknown name {key!r}{did_you_mean(key, [*self._names, OBSERVATION, ACTION])}", place)
        text = self._text[place : self._tokens[self._at][2]].strip()
        self.references.append(Reference(text, place, is_before, key, index, word == ACTION))
        pick = partial(_value, key, (index[0] if len(index) == 1 else index) if index else None)
        if word == ACTION:
            return _Part(lambda o, a, z: pick(a), False, place)
        return _Part((lambda o, a, z: pick(o)) if is_before else (lambda o, a, z: pick(z)), False, place)

    def _index(self) -> tuple[int, ...]:
        """Read ``[i, j]``, if it stands there."""
        index: list[int] = []
        if self._takes("["):
            while not index or self._takes(","):
                if self._kind != "number" or not self._word.isdigit():
                    raise self._mistake(f"found {self._word!r}; expected an index, an integer from 0")
                index.append(int(self._word))
                self._at += 1
            self._expect("]")
        return tuple(index)


def _both(combine: Callable[[Any, Any], Any], left: Meaning, right: Meaning, o: Any, a: Any, z: Any) -> Any:
    return combine(left(o, a, z), right(o, a, z))
