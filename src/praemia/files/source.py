"""Read a YAML or JSON file into plain data, and remember where each part of it stands.

The parser's events are turned into dicts, lists and scalars by a loop of our own, so that a file can do
nothing but be data: no object is ever constructed, no tag is followed, and nesting costs no recursion.
Scalars follow YAML 1.2 (``1e-3`` is a number, ``no`` is text); keys are text, whatever they look like, as in
JSON. Aliases are refused altogether: a task has no use for them, and a few lines of them can stand for
billions of nodes.
"""

from __future__ import annotations

import io
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from praemia.errors import FileError, PraemiaError

MAX_BYTES = 16 << 20
MAX_DEPTH = 64
MAX_DIGITS = 300

DataPath: TypeAlias = tuple[str | int, ...]

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass
class Source:
    """The data of a file, and the line and column of each part by its path, such as ``("mdp", "start")``.

    ``places`` says where values stand, ``key_places`` where the keys of mappings do.
    """

    name: str
    data: Any = None
    places: dict[DataPath, tuple[int, int]] = field(default_factory=dict)
    key_places: dict[DataPath, tuple[int, int]] = field(default_factory=dict)

    def line(self, path: DataPath) -> str:
        """Return ``file:line`` of a part, or of the nearest part around it that exists."""
        while path and path not in self.places:
            path = path[:-1]
        return f"{self.name}:{self.places[path][0]}"

    def spot(self, path: DataPath, *, key: bool = False) -> str:
        """Return ``file:line:column`` of a part that exists, or of its key."""
        line, column = (self.key_places if key else self.places)[path]
        return f"{self.name}:{line}:{column}"

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Put the place of a part before the message of any error that is raised within."""
        try:
            yield
        except PraemiaError as error:
            raise type(error)(f"{self.line(path)}: {error}") from None


def read_source(path: str | Path) -> Source:
    """Read a file, or raise a FileError that says what is wrong and where."""
    return parse_source(_read_text(Path(path)), str(path))


def parse_source(text: str, name: str) -> Source:
    """Turn text into data; ``name`` stands for it in messages."""
    source = Source(name)
    events = YAML(typ="safe", pure=True).parse(io.StringIO(text))
    try:
        _build(source, events)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        raise FileError(f"{where}: not valid YAML: {error.problem or error.context}") from None
    except (YAMLError, ValueError, OverflowError) as error:
        raise FileError(f"{name}: not valid YAML: {str(error).splitlines()[0]}") from None
    if not source.places:
        raise FileError(f"{name}: the file is empty")
    return source


def _read_text(path: Path) -> str:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(f"{path}: this is a folder; expected a YAML or JSON file")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{path}: this is not a regular file")
        if status.st_size > MAX_BYTES:
            raise FileError(
                f"{path}: {status.st_size:,} bytes; at most {MAX_BYTES:,} are read; build larger tasks in Python"
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: this is not UTF-8 text (byte {error.start}); expected YAML or JSON") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{path}: cannot be read: {reason}") from None


@dataclass
class _Open:
    """A list or mapping that has begun and not yet ended."""

    path: DataPath
    items: list[Any] | dict[str, Any]
    key: str | None = None

    def next_path(self) -> DataPath:
        """Return the path of the value that comes next."""
        return (*self.path, len(self.items) if self.key is None else self.key)

    def add(self, value: Any) -> None:
        if isinstance(self.items, list):
            self.items.append(value)
        elif self.key is not None:
            self.items[self.key] = value
            self.key = None


def _build(source: Source, events: Iterator[Event]) -> None:
    """Fill a source from a stream of events."""
    stack: list[_Open] = []
    for event in events:
        if isinstance(event, DocumentStartEvent) and source.places:
            raise _mistake(source, event, "a second document begins here; expected one in a file")
        if isinstance(event, NodeEvent):
            _require_plain(source, event, len(stack))
            if stack and isinstance(stack[-1].items, dict) and stack[-1].key is None:
                stack[-1].key = _read_key(source, event, stack[-1])
                continue
            path = stack[-1].next_path() if stack else ()
            source.places[path] = _place(event)
            value = _begin(source, event)
            if stack:
                stack[-1].add(value)
            else:
                source.data = value
            if isinstance(value, list | dict):
                stack.append(_Open(path, value))
        elif type(event).__name__ in ("SequenceEndEvent", "MappingEndEvent"):
            stack.pop()


def _require_plain(source: Source, event: Any, depth: int) -> None:
    if isinstance(event, AliasEvent):
        raise _mistake(source, event, "an alias (*name); write the value out, aliases are not read")
    if event.tag is not None:
        raise _mistake(source, event, f"the tag {event.tag}; tags are not read, write the plain value")
    if depth >= MAX_DEPTH:
        raise _mistake(source, event, f"nested more than {MAX_DEPTH} deep")


def _read_key(source: Source, event: Event, within: _Open) -> str:
    if not isinstance(event, ScalarEvent):
        raise _mistake(source, event, "a list or mapping as a key; expected a name")
    key = str(event.value)
    if key in within.items:
        raise _mistake(source, event, f"the key {key!r} is given twice")
    source.key_places[(*within.path, key)] = _place(event)
    return key


def _begin(source: Source, event: Any) -> Any:
    """Return the value of a scalar, or a new list or dict to be filled."""
    if isinstance(event, SequenceStartEvent):
        return []
    if isinstance(event, MappingStartEvent):
        return {}
    text = str(event.value)
    if _INTEGER.fullmatch(text) and len(text) > MAX_DIGITS:
        raise _mistake(source, event, f"a number of {len(text)} digits; at most {MAX_DIGITS} are read")
    return text if event.style else parse_scalar(text)


def parse_scalar(text: str) -> Any:
    """Give an unquoted scalar its type by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _SPECIAL_FLOAT.fullmatch(text) else text


def _place(event: Event) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _mistake(source: Source, event: Event, message: str) -> FileError:
    line, column = _place(event)
    return FileError(f"{source.name}:{line}:{column}: {message}")
