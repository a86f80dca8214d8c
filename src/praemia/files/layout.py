"""Lay records out as YAML or JSON text: a line for each key, each item of a list, each row of a map."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from praemia.files.source import parse_scalar

LISTS = frozenset({"transitions", "labels"})  # whose items get a line each
PARTS = frozenset({"mdp", "grid", "machine"})  # whose keys get a line each
MAP = "map"

_BASIC = re.compile(r"[^\x20-\x7e\U00010000-\U0010ffff]")
_BARE = re.compile(r"[^\W\d][\w-]*", re.ASCII)


def yaml_text(record: Mapping[str, Any]) -> str:
    """Write a record as YAML."""
    return "\n".join(_yaml_lines(record, "")) + "\n"


def _yaml_lines(record: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in record.items():
        if key in LISTS and value:
            yield f"{indent}{key}:"
            yield from (f"{indent}  - {_flow(item)}" for item in value)
        elif key == MAP:
            yield f"{indent}{key}: |"
            yield from (f"{indent}  {row}" for row in value.splitlines())
        elif key in PARTS:
            yield f"{indent}{key}:"
            yield from _yaml_lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {_flow(value)}"


def _flow(value: Any) -> str:
    """Write a value on one line, as YAML's flow style does."""
    match value:
        case str():
            return _quoted(value)
        case bool():
            return str(value).lower()
        case Mapping():
            return "{" + ", ".join(f"{_quoted(key)}: {_flow(item)}" for key, item in value.items()) + "}"
        case Sequence():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    """Write text bare where it stays text, else in quotes."""
    if _BARE.fullmatch(text) and isinstance(parse_scalar(text), str):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'


def json_text(record: Mapping[str, Any]) -> str:
    """Write a record as JSON."""
    return _json_lines(record, "") + "\n"


def _json_lines(record: Mapping[str, Any], indent: str) -> str:
    inner = indent + "  "
    parts = [f"{inner}{json.dumps(key)}: {_json_value(key, value, inner)}" for key, value in record.items()]
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


def _json_value(key: str, value: Any, indent: str) -> str:
    if key in LISTS and value:
        items = ",\n".join(f"{indent}  {_json_flow(item)}" for item in value)
        return f"[\n{items}\n{indent}]"
    return _json_lines(value, indent) if key in PARTS else _json_flow(value)


def _json_flow(value: Any) -> str:
    """Write a value on one line; what is not printable in YAML, as which JSON is read, is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else _BASIC.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return match.group() if match.group().isprintable() else f"\\u{ord(match.group()):04x}"
