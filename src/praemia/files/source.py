"""Read a YAML or JSON file into plain data, and check its form; every mistake is reported with its line and column.

PyYAML composes nodes, which know their place; no object is constructed, no tag followed, and aliases are refused: a few
lines of them can expand to billions of values. Scalars follow YAML 1.2, and keys are text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from praemia.errors import FileError, PraemiaError, did_you_mean, located, require_distinct
from praemia.files.atomic_io import TEXT, read_bytes
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Rule

MAX_DEPTH = 64
MAX_DIGITS = 300
MAX_MISTAKES = 20
MAX_VALUE_LENGTH = 60

DataPath: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = str | Callable[[], str]
Model = TypeVar("Model", bound=BaseModel)

_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
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
_PLAIN, _QUOTED, _COLLECTION = "plain", "quoted", "collection"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's composer; a node's tag tells whether the file has a tag there, and whether a scalar has quotes."""

    depth = 0

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:
        return _COLLECTION if kind is not yaml.ScalarNode else _PLAIN if implicit[0] else _QUOTED

    def descend_resolver(self, parent: Any, index: Any) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:  # much deeper ones would overflow the stack of the composer, which is written in C
            raise yaml.MarkedYAMLError(None, None, f"nested more than {MAX_DEPTH} deep", parent.start_mark)

    def ascend_resolver(self) -> None:
        self.depth -= 1


@dataclass(frozen=True)
class Source:
    """The data of a file, and the place of each part, by its path, such as ``("mdp", "start")``.

    ``root`` returns the node of the whole text; None where the places of its parts are unknown.
    """

    name: str
    data: Any
    root: Callable[[], yaml.Node | None]

    def has_any(self, keys: Iterable[str]) -> bool:
        return isinstance(self.data, dict) and not self.data.keys().isdisjoint(keys)

    def spot(self, path: DataPath, *, key: bool = False, column: bool = True) -> str:
        """Return ``file:line:column`` of a part, or of its key; or of the nearest part around it that exists."""
        node: Any = self.root()
        at = node
        for part in path:
            is_mapping = isinstance(node, yaml.MappingNode)
            items = node.value if isinstance(node, yaml.CollectionNode) else ()
            pairs: Any = items if is_mapping else enumerate(items)
            found = [(name, item) for name, item in pairs if (name.value if is_mapping else name) == part]
            if not found:
                break
            (name, node), *_ = found
            at = name if key and is_mapping else node
        if at is None:
            return self.name
        return _place(self.name, at.start_mark, column=column)

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Put the file and line of a part before the message of any error that is raised within, unless it has one."""
        try:
            yield
        except PraemiaError as error:
            if str(error).startswith(f"{self.name}:"):
                raise
            with located(self.spot(path, column=False)):
                raise


def _place(name: str, mark: Any, *, column: bool = True) -> str:
    return f"{name}:{mark.line + 1}:{mark.column + 1}" if column else f"{name}:{mark.line + 1}"


def read_source(path: str | Path) -> Source:
    """Read a file, or raise a FileError that says what is wrong and where."""
    return parse_source(read_text(Path(path)), str(path), is_json=str(path).endswith(".json"))


def read_text(path: Path, *, within: Path | None = None) -> str:
    """Return the text of a file, or raise a FileError that says why it is not read."""
    try:
        return read_bytes(path, within=within, budget=TEXT).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: this is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def parse_source(text: str, name: str, *, is_json: bool = False) -> Source:
    """Turn text into data; ``name`` stands for it in messages."""
    if is_json:
        return _parse_json(text, name)
    root = _compose(text, name)
    if root is None:
        raise FileError(f"{name}: the file is empty")
    return Source(name, _value(name, root, set()), lambda: root)


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=_Loader)
        return root
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = _place(name, mark) if mark else name
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise FileError(f"{where}: not valid YAML: {problem}") from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise FileError(f"{name}: not valid YAML: {str(error).splitlines()[0]}") from None


def _value(name: str, node: Any, seen: set[int]) -> Any:
    """Return the value of a node."""
    if id(node) in seen:
        raise FileError(f"{_place(name, node.start_mark)}: an alias stands for this; aliases (*name) are not read")
    seen.add(id(node))
    if node.tag == _QUOTED:
        return node.value
    if node.tag == _PLAIN:
        try:
            return parse_scalar(node.value)
        except FileError as error:
            raise FileError(f"{_place(name, node.start_mark)}: {error}") from None
    if node.tag != _COLLECTION:
        raise FileError(
            f"{_place(name, node.start_mark)}: the tag {node.tag}; tags are not read, write the plain value"
        )
    if isinstance(node, yaml.SequenceNode):
        return [_value(name, item, seen) for item in node.value]
    mapping: dict[str, Any] = {}
    for key, item in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise FileError(f"{_place(name, key.start_mark)}: a list or mapping as a key; expected a name")
        if key.value in mapping:
            raise FileError(f"{_place(name, key.start_mark)}: the key {key.value!r} is given twice")
        mapping[key.value] = _value(name, item, seen)
    return mapping


class SpelledInteger(int):
    """An integer that the file spells otherwise than Python, such as 007 or 0x1F: as a name it stays as it is."""

    spelling: str

    def __str__(self) -> str:
        return self.spelling


def parse_scalar(text: str) -> Any:
    """Give an unquoted scalar its type by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        number = parse_integer(text)
        if str(number) != text:
            number = SpelledInteger(number)
            number.spelling = text
        return number
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _SPECIAL_FLOAT.fullmatch(text) else text


def parse_integer(text: str) -> int:
    """Read an integer of at most MAX_DIGITS digits; beyond its own limit, Python raises a ValueError."""
    if len(text) > MAX_DIGITS:
        raise FileError(f"a number of {len(text.lstrip('+-')):,} digits; at most {MAX_DIGITS} are read")
    return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


def _parse_json(text: str, name: str) -> Source:
    """Read JSON; the place of a part is found on demand, in the same text as YAML, if it is YAML."""
    try:
        with located(name):
            data = json.loads(text, object_pairs_hook=_mapping, parse_int=parse_integer, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise FileError(f"{name}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise FileError(f"{name}: not valid JSON: nested too deeply") from None
    return Source(name, data, cache(lambda: _compose_json(text)))


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    require_distinct("key", [key for key, _ in pairs])
    return dict(pairs)


def _no_number(word: str) -> Any:
    raise FileError(f"not valid JSON: {word}")


def _compose_json(text: str) -> yaml.Node | None:
    # YAML has no pairs of escapes for one character; other escapes in their place leave all columns as they are.
    try:
        return _compose(re.sub(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}", r"\\u0020", text), "")
    except FileError:  # for example, a key of more than 1,024 characters
        return None


def validate(source: Source, model: type[Model]) -> Model:
    """Return a source's data as a pydantic model, or raise one FileError with a line for each mistake."""
    if not isinstance(source.data, dict):
        raise FileError(f"{source.spot(())}: expected keys with values, found {_describe(source.data)}")
    known_keys: dict[int, list[str]] = {}
    try:
        return model.model_validate(source.data, context=known_keys)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False)
        lines = [_message(source, known_keys, mistake) for mistake in mistakes[:MAX_MISTAKES]]
        if len(mistakes) > MAX_MISTAKES:
            lines.append(f"{source.name}: and {len(mistakes) - MAX_MISTAKES} more mistakes")
        raise FileError("\n".join(lines)) from None


def _message(source: Source, known_keys: dict[int, list[str]], mistake: Any) -> str:
    """Write one of pydantic's errors as ``file:line:column: path: message``."""
    location, kind = mistake["loc"], mistake["type"]
    data = parent = source.data
    path: DataPath = ()
    for part in location:  # pydantic's has parts that are not in the file
        if part in data if isinstance(data, dict) else isinstance(data, list) and part in range(len(data)):
            path, data, parent = (*path, part), data[part], data
    if kind == "extra_forbidden":
        hint = did_you_mean(path[-1], known_keys.get(id(parent), ()))
        return f"{source.spot(path, key=True)}: {_format_path(path[:-1])}unknown key {path[-1]!r}{hint}"
    if kind == "missing":
        message = _ROW if isinstance(location[-1], int) else f"the key {location[-1]!r} is missing"
    elif kind == "value_error":
        message = mistake["msg"].removeprefix("Value error, ")
    else:
        words = _MESSAGES.get(kind, mistake["msg"].replace("Input should", "it should"))
        message = f"{words}; found {_describe(mistake['input'])}"
    return f"{source.spot(path)}: {_format_path(path)}{message}"


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


def machine_of_rules(
    where: Place,
    states: Sequence[str],
    initial: str,
    propositions: Sequence[str],
    rules: Sequence[tuple[Place, Rule]],
    first_match: bool = False,
) -> RewardMachine:
    """Return the machine of rules, each with its place in a file; errors name that of a rule, or else ``where``."""
    try:
        return RewardMachine(states, initial, propositions, [rule for _, rule in rules], first_match)
    except PraemiaError as error:
        culprit = getattr(error, "rule", None)
        with located(next((place for place, rule in rules if rule is culprit), where)):
            raise
