"""What the readers of other tools' text formats share: mistakes with their line, and parsing by a grammar."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from praemia.errors import FileError, PraemiaError

SHOWN = 20


@contextmanager
def at_line(name: str, line: int) -> Iterator[None]:
    """Put a file's name and a line before the message of any error that is raised within."""
    try:
        yield
    except PraemiaError as error:
        raise type(error)(f"{name}:{line}: {error}") from None


def parsed(parser: Any, text: str, name: str, expected: str, *, first_line: int = 1, **options: Any) -> Any:
    """Return the tree of a text by a Lark parser, or raise a FileError at the place where it stopped."""
    from lark.exceptions import UnexpectedInput

    try:
        return parser.parse(text, **options)
    except UnexpectedInput as error:
        at_end = getattr(getattr(error, "token", None), "type", None) == "$END"
        rest = text[error.pos_in_stream or 0 :].split("\n", maxsplit=1)[0][:SHOWN]
        line, column = first_line + max(error.line, 1) - 1, max(error.column, 1)
        if at_end:
            line, column = first_line + text.count("\n"), len(text) - text.rfind("\n")
        found = "it ends too early" if at_end else f"stopped at {rest!r}"
        raise FileError(f"{name}:{line}:{column}: {found}; expected {expected}") from None


def number(text: str, what: str) -> float:
    """Read a finite number, or say what it should have been."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise FileError(f"{what} is {text.strip()!r}; expected a number")
    return value


def write_number(value: float) -> str:
    """Write a number with all its digits, a whole one without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))
