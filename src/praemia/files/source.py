"""Read a YAML or JSON file into plain data, and find the line and column of each part.

The events of PyYAML's parser, which is written in C, are turned into dicts, lists and scalars here, so a file can only
ever be data: no object is constructed and no tag is followed. Scalars follow YAML 1.2 (``1e-3`` is a number, ``no`` is
text); keys are always text, as in JSON. Aliases are refused: a task has no use for them, and a few lines of them can
expand to billions of nodes.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from praemia.errors import FileError, located

MAX_BYTES = 16 << 20
# A pair of JSON's escapes for one character, after an even number of backslashes.
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
MAX_DEPTH = 64
MAX_DIGITS = 300

DataPath: TypeAlias = tuple[str | int, ...]
Mark: TypeAlias = Any  # PyYAML's: line and column, from 0

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the parser in C is missing from a PyYAML built without it
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


@dataclass(frozen=True)
class Source:
    """The data of a file, and on demand the place of each part, by its path, such as ``("mdp", "start")``.

    Only mistakes are shown with their place, so places are found by going through the text once more: the nodes of
    the data, counted in the order of the text, are those of the parser's events.
    """

    name: str
    text: str
    data: Any

    def has(self, path: DataPath) -> bool:
        """Tell whether the file has a part of this path."""
        data = self.data
        for part in path:
            if part not in _names(data):
                return False
            data = data[part]
        return True

    def has_any(self, keys: Iterable[str]) -> bool:
        """Tell whether the file has one of some keys."""
        return any(self.has((key,)) for key in keys)

    def line(self, path: DataPath) -> str:
        """Return ``file:line`` of a part, or of the nearest part around it that exists."""
        while not self.has(path):
            path = path[:-1]
        return self.spot(path).rpartition(":")[0]

    def spot(self, path: DataPath, *, key: bool = False) -> str:
        """Return ``file:line:column`` of a part that exists, or of its key."""
        return _spot(self.name, self._marks[self._number(path) - key])

    def _number(self, path: DataPath) -> int:
        """Return how many nodes of the text come before a part; a key is a node too."""
        data, number = self.data, 0
        for part in path:
            keys = isinstance(data, dict)
            number += 1 + keys
            for name in _names(data):
                if name == part:
                    break
                number += keys + _num_nodes(data[name])
            data = data[part]
        return number

    @cached_property
    def _marks(self) -> list[Mark]:
        return [event.start_mark for event in yaml.parse(self.text, Loader=_LOADER) if isinstance(event, NodeEvent)]

    def at(self, *path: str | int) -> AbstractContextManager[None]:
        """Put the place of a part before the message of any error that is raised within."""
        return located(lambda: self.line(path))


def read_source(path: str | Path) -> Source:
    """Read a file, or raise a FileError that says what is wrong and where."""
    return parse_source(read_text(Path(path)), str(path))


def parse_source(text: str, name: str) -> Source:
    """Turn text into data; ``name`` stands for it in messages."""
    text = _SURROGATES.sub(_join_surrogates, text)
    try:
        documents = list(_documents(name, yaml.parse(text, Loader=_LOADER)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = _spot(name, mark) if mark else name
        raise FileError(f"{where}: not valid YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise FileError(f"{name}: not valid YAML: {str(error).splitlines()[0]}") from None
    if not documents:
        raise FileError(f"{name}: the file is empty")
    return Source(name, text, documents[0])


def _join_surrogates(escapes: re.Match[str]) -> str:
    """Return the character that JSON writes as two escapes, which YAML does not know."""
    before, high, low = escapes.groups()
    return before + chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)


def read_text(path: Path) -> str:
    """Return the text of a file, or raise a FileError that says why it is not read."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(f"{path}: this is a folder; expected a file")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{path}: this is not a regular file")
        if status.st_size > MAX_BYTES:
            raise FileError(
                f"{path}: {status.st_size:,} bytes; at most {MAX_BYTES:,} are read; build larger tasks in Python"
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: this is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{path}: cannot be read: {reason}") from None


def _documents(name: str, events: Iterator[Any]) -> Iterator[Any]:
    """Yield what a stream of events says; a second document is refused."""
    num_documents = 0
    for event in events:
        if type(event) is DocumentStartEvent and num_documents:
            raise _mistake(name, event, "a second document begins here; expected one in a file")
        if isinstance(event, NodeEvent):
            num_documents += 1
            yield _value(name, event, events, depth=1)


def _value(name: str, event: Any, events: Iterator[Any], depth: int) -> Any:
    """Return the value that begins with an event."""
    _require_plain(name, event, depth)
    if type(event) is ScalarEvent:
        try:
            return event.value if event.style else parse_scalar(event.value)
        except FileError as error:
            raise _mistake(name, event, str(error)) from None
    if type(event) is SequenceStartEvent:
        return [_value(name, item, events, depth + 1) for item in takewhile(_is_no_end, events)]
    mapping: dict[str, Any] = {}
    for key in takewhile(_is_no_end, events):
        _require_plain(name, key, depth + 1)
        if type(key) is not ScalarEvent:
            raise _mistake(name, key, "a list or mapping as a key; expected a name")
        if key.value in mapping:
            raise _mistake(name, key, f"the key {key.value!r} is given twice")
        mapping[key.value] = _value(name, next(events), events, depth + 1)
    return mapping


def _is_no_end(event: Any) -> bool:
    return not isinstance(event, CollectionEndEvent)


def _require_plain(name: str, event: Any, depth: int) -> None:
    if type(event) is AliasEvent:
        raise _mistake(name, event, "an alias (*name); write the value out, aliases are not read")
    if event.tag is not None:
        raise _mistake(name, event, f"the tag {event.tag}; tags are not read, write the plain value")
    if depth > MAX_DEPTH:
        raise _mistake(name, event, f"nested more than {MAX_DEPTH} deep")


def parse_scalar(text: str) -> Any:
    """Give an unquoted scalar its type by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return whole_number(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _SPECIAL_FLOAT.fullmatch(text) else text


def whole_number(text: str) -> int:
    """Read a whole number of digits, with or without a sign; Python's own limit would be a ValueError."""
    if len(text) > MAX_DIGITS:
        raise FileError(f"a number of {len(text.lstrip('+-')):,} digits; at most {MAX_DIGITS} are read")
    return int(text)


def _names(data: Any) -> Iterable[str | int]:
    """Return the keys of a mapping or the numbers of a list; a scalar has no parts."""
    return data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()


def _num_nodes(data: Any) -> int:
    keys = isinstance(data, dict)
    return 1 + sum(keys + _num_nodes(data[name]) for name in _names(data))


def _spot(name: str, mark: Mark) -> str:
    return f"{name}:{mark.line + 1}:{mark.column + 1}"


def _mistake(name: str, event: Any, message: str) -> FileError:
    return FileError(f"{_spot(name, event.start_mark)}: {message}")
