"""Read predicates over what an environment shows, such as ``position < -1.0 and velocity > 0``; they are data.

A name is that of a number of a Box, ``observation[i]``, the key of a Dict, ``key[i, j]``, or ``action``; it means what
is observed after the step, and ``before.NAME`` the same before it.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from praemia.errors import ModelError, did_you_mean
from praemia.machines.syntax import Infix, Language, Token, build, mistake, parse

MAX_TOKENS = 400  # names, numbers and operators
OBSERVATION, ACTION, BEFORE = "observation", "action", "before"
WORDS = ("or", "and", "not")

# What a part of a predicate is of a step (o, a, o'); in a batch, arrays whose last axis runs over its steps.
Meaning: TypeAlias = Callable[[Any, Any, Any], Any]

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_REFERENCE = re.compile(r'(?:(before)\s*\.\s*)?([^\W\d]\w*|"[^"\n]+")(?:\s*\[([^\]\n]*)\])?')
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_MINUS = {"-": "-", "−": "-"}
_LANGUAGE = Language(
    "predicate",
    {
        **dict.fromkeys(("or", "|"), Infix("|", 1)),
        **dict.fromkeys(("and", "&"), Infix("&", 2)),
        **dict.fromkeys(_COMPARISONS, Infix("<", 4)),
        **{sign: Infix(name, 5, "left") for sign, name in (_MINUS | {"+": "+"}).items()},
        **{sign: Infix(name, 6, "left") for sign, name in (("*", "*"), ("×", "*"), ("/", "/"), ("÷", "/"))},
    },
    (),
    "a name, a number or '('",
    "an operator (and or < <= > >= == != + - * /) or ')' or the end",
    {"not": "!", "!": "!", **_MINUS},
    r"<=|>=|==|!=|[-+*/<>()&|!−×÷]",
    name=f"{_NUMBER}|{_REFERENCE.pattern}",
    loose_prefix={"!": 3},
)


class Reference(NamedTuple):
    """A name in a predicate: where it stands, and what of which observation it means."""

    text: str
    place: int
    is_before: bool
    key: str | None  # of a Dict; None: the observation itself
    indices: tuple[int, ...]
    is_action: bool = False


class _Part(NamedTuple):
    """A part of a predicate: its value, whether that is true or false or else a number, and where it begins."""

    means: Meaning
    is_truth: bool
    place: int


class PredicateParser:
    """Read the predicate of a proposition; ``references`` are the names in it."""

    def __init__(self, name: str, text: str, names: tuple[str, ...] | None) -> None:
        if not isinstance(text, str):
            raise ModelError(f"predicate {name!r} is {text!r}; expected a text such as 'position < -1'")
        self.references: list[Reference] = []
        self._kind, self._text, self._names = f"predicate {name!r}", text, names

    def run(self) -> Meaning:
        """Return the value of the predicate as a function of a step."""
        tokens = parse(_LANGUAGE, self._text, self._kind)
        if len(tokens) > MAX_TOKENS:
            place = sorted(token.place for token in tokens)[MAX_TOKENS]
            raise self._mistake(f"more than {MAX_TOKENS} names, numbers and operators", place)
        return self._check([build(tokens, self._part)], True)[0]

    def _mistake(self, message: str, place: int) -> ModelError:
        return mistake(self._kind, self._text, place, message)

    def _check(self, parts: Sequence[_Part], is_truth: bool) -> list[Meaning]:
        """Return the values of parts, all of which must be truths, or numbers."""
        for part in parts:
            if part.is_truth != is_truth:
                found = "true or false, not a number" if is_truth is False else "a number; compare it with another"
                raise self._mistake(f"this is {found}{', such as x > 0' if is_truth else ''}", part.place)
        return [part.means for part in parts]

    def _part(self, token: Token, parts: list[_Part]) -> _Part:
        if not parts:
            return self._operand(token)
        is_truth, place = token.kind in ("|", "&", "!", "<"), min(token.place, parts[0].place)
        values = self._check(parts, token.kind in ("|", "&", "!"))
        if token.arity == 1:
            (means,) = values
            change = partial(operator.xor, True) if is_truth else operator.neg
            return _Part(lambda o, a, z: change(means(o, a, z)), is_truth, place)
        if token.kind == "<":
            signs = token.text.split()
            values = list(map(_both, map(_COMPARISONS.__getitem__, signs), values[:-1], values[1:]))
        combine = _COMBINED.get(token.kind, operator.and_)
        return _Part(reduce(partial(_both, combine), values), is_truth, place)

    def _operand(self, token: Token) -> _Part:
        match = _REFERENCE.fullmatch(token.text)
        if match is None:
            number = float(token.text)
            return _Part(lambda o, a, z: number, False, token.place)
        is_before, word, listed = match[1] is not None, match[2], match[3]
        if word == BEFORE or (is_before and word == ACTION):
            expected = "the name of a number of the observation before the step, as in before.observation"
            raise self._mistake(f"found {word!r}; expected {expected}", token.place + match.start(2))
        index = self._index(listed, token.place + match.start(3))
        key = None if word in (OBSERVATION, ACTION) else word.strip('"')
        if self._names is not None and key in self._names:
            key, index = None, (self._names.index(key), *index)
        elif self._names is not None and key is not None:
            known = [*self._names, OBSERVATION, ACTION]
            raise self._mistake(f"unknown name {key!r}{did_you_mean(key, known)}", token.place)
        self.references.append(Reference(token.text, token.place, is_before, key, index, word == ACTION))
        pick = partial(_value, key, index)
        if word == ACTION:
            return _Part(lambda o, a, z: pick(a), False, token.place)
        return _Part((lambda o, a, z: pick(o)) if is_before else (lambda o, a, z: pick(z)), False, token.place)

    def _index(self, text: str | None, place: int) -> tuple[int, ...]:
        """Read the ``i, j`` of ``[i, j]``, if it stands there."""
        parts = [] if text is None else [part.strip() for part in text.split(",")]
        for part in parts:
            if not (part.isascii() and part.isdigit()):
                raise self._mistake(f"found {part!r}; expected an index, an integer from 0", place)
        return tuple(map(int, parts))


def _value(key: str | None, index: tuple[int, ...], element: Any) -> Any:
    """Return a number of an observation or an action. Integers are exact; others keep the environment's precision."""
    if key is not None:
        element = element[key]
    while index and isinstance(element, tuple):
        element, index = element[index[0]], index[1:]
    if index:
        element = element[index if len(index) > 1 else index[0]]
    kind = getattr(element, "dtype", None)
    if kind is None or kind.kind == "f":
        return element
    return element.astype(np.int64) if element.ndim else int(element)


def _divided(left: Any, right: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(left, right)


def _both(combine: Callable[[Any, Any], Any], left: Meaning, right: Meaning) -> Meaning:
    return lambda o, a, z: combine(left(o, a, z), right(o, a, z))


_COMBINED = {"|": operator.or_, "+": operator.add, "-": operator.sub, "*": operator.mul, "/": _divided}
