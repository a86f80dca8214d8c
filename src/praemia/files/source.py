"""Read a YAML or JSON file into plain data, and check its form; every mistake is reported with its line and column.

The events of PyYAML's parser, which is written in C, are turned into dicts, lists and scalars here, so a file can only
ever be data: no object is constructed and no tag is followed. Scalars follow YAML 1.2 (``1e-3`` is a number, ``no`` is
text); keys are always text, as in JSON. Aliases are refused: a task has no use for them, and a few lines of them can
expand to billions of nodes. The form of the data is a pydantic model (``schema``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args

import yaml
from pydantic import BaseModel, ValidationError
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from praemia.errors import FileError, did_you_mean, located
from praemia.files.atomic_io import read_bytes

MAX_BYTES = 16 << 20
# A pair of JSON's escapes for one character, after an even number of backslashes.
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})", re.IGNORECASE)
MAX_DEPTH = 64
MAX_DIGITS = 300
MAX_MISTAKES = 20
MAX_VALUE_LENGTH = 60

DataPath: TypeAlias = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the parser in C is missing from a PyYAML built without it
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_ROW = "a row is [observation, action, {observation: probability}]"

# In place of pydantic's messages that speak of Python rather than of the file.
_MESSAGES = {
    "tuple_type": _ROW,
    "too_long": _ROW,
    "too_short": "it should not be empty",
    "string_type": "it should be text",
    "dict_type": "it should be keys with values",
    "model_type": "it should be keys with values",
    "list_type": "it should be a list",
}


@dataclass(frozen=True)
class Source:
    """The data of a file, and on demand the place of each part, by its path, such as ``("mdp", "start")``.

    Only mistakes are shown with their place, so places are found by going through the text once more.
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
        """Tell whether the file has any of these keys."""
        return any(self.has((key,)) for key in keys)

    def line(self, path: DataPath) -> str:
        """Return ``file:line`` of a part, or of the nearest part around it that exists."""
        while not self.has(path):
            path = path[:-1]
        return self.spot(path).rpartition(":")[0]

    def spot(self, path: DataPath, *, key: bool = False) -> str:
        """Return ``file:line:column`` of a part that exists, or of its key."""
        node = key_node = self._root
        for part in path:
            if isinstance(part, int):
                node = node.value[part]
            else:
                key_node, node = next(pair for pair in node.value if pair[0].value == part)
        return _spot(self.name, key_node if key else node)

    @cached_property
    def _root(self) -> Any:
        return yaml.compose(self.text, Loader=_LOADER)

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
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
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
    data = read_bytes(path, budget=MAX_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: this is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


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
        return [_value(name, item, events, depth + 1) for item in takewhile(_is_item, events)]
    mapping: dict[str, Any] = {}
    for key in takewhile(_is_item, events):
        _require_plain(name, key, depth + 1)
        if type(key) is not ScalarEvent:
            raise _mistake(name, key, "a list or mapping as a key; expected a name")
        if key.value in mapping:
            raise _mistake(name, key, f"the key {key.value!r} is given twice")
        mapping[key.value] = _value(name, next(events), events, depth + 1)
    return mapping


def _is_item(event: Any) -> bool:
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


def _spot(name: str, part: Any) -> str:
    """Return the place of a node or an event of PyYAML."""
    return f"{name}:{part.start_mark.line + 1}:{part.start_mark.column + 1}"


def _mistake(name: str, event: Any, message: str) -> FileError:
    return FileError(f"{_spot(name, event)}: {message}")


def validate(source: Source, model: type[Model]) -> Model:
    """Return a source's data as a pydantic model, or raise one FileError with a line for each mistake."""
    if not isinstance(source.data, dict):
        raise FileError(f"{source.spot(())}: expected keys with values, found {_describe(source.data)}")
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False)
        lines = [_message(source, model, mistake) for mistake in mistakes[:MAX_MISTAKES]]
        if len(mistakes) > MAX_MISTAKES:
            lines.append(f"{source.name}: and {len(mistakes) - MAX_MISTAKES} more mistakes")
        raise FileError("\n".join(lines)) from None


def _message(source: Source, root: type[BaseModel], mistake: Any) -> str:
    """Write one of pydantic's errors as ``file:line:column: path: message``."""
    path, last = _data_path(source, mistake["loc"])
    if mistake["type"] == "extra_forbidden":
        return f"{source.spot(path, key=True)}: {_unknown_key(source, path, root)}"
    if mistake["type"] == "missing":
        message = _ROW if isinstance(last, int) else f"the key {last!r} is missing"
    elif mistake["type"] == "value_error":
        message = mistake["msg"].removeprefix("Value error, ")
    else:
        words = _MESSAGES.get(mistake["type"], mistake["msg"].replace("Input should", "it should"))
        message = f"{words}; found {_describe(mistake['input'])}"
    return f"{source.spot(path)}: {_format_path(path)}{message}"


def _data_path(source: Source, location: tuple[str | int, ...]) -> tuple[DataPath, str | int]:
    """Drop from pydantic's location what is not in the file; return the path, and the last part of it."""
    path: DataPath = ()
    for part in location:
        if source.has((*path, part)):
            path = (*path, part)
    return path, location[-1] if location else ""


def _unknown_key(source: Source, path: DataPath, model: type[BaseModel]) -> str:
    data = source.data
    for part in path[:-1]:
        data, model = data[part], _model_at(model, part, data[part])
    keys = [field.alias or name for name, field in model.model_fields.items()]
    return f"{_format_path(path[:-1])}unknown key {path[-1]!r}{did_you_mean(path[-1], keys)}"


def _model_at(model: type[BaseModel], key: str | int, data: Any) -> type[BaseModel]:
    """Return the model of what stands at a key; of several, the one that has most of the keys that stand there."""
    field = model.model_fields.get(str(key))
    choices = list(_models_in(field.annotation)) if field is not None else []
    return max(choices, key=lambda choice: len(choice.model_fields.keys() & set(_names(data))), default=model)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _format_path(path: DataPath) -> str:
    """Write a path as ``machine.transitions[0].to: ``."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in path]
    return "".join(parts).removeprefix(".") + ": " if parts else ""


def _describe(value: Any) -> str:
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    if value is None:
        return "nothing"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else text[:MAX_VALUE_LENGTH] + "…"
