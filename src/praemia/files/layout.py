"""Write records as YAML or JSON text: a line for each key of a block and each row of a list, the rest in one line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import yaml

from praemia.errors import FileError
from praemia.files.source import parse_scalar


class Block(dict[str, Any]):
    """A mapping whose keys get a line each."""


class Rows(list[Any]):
    """A list whose items get a line each."""


class Lines(str):
    """Text of several lines, which YAML can show as they are."""


_TAGS = {type(value): f"tag:yaml.org,2002:{type(value).__name__}" for value in (True, 1, 1.0, "")}


class _Dumper(yaml.SafeDumper):
    """PyYAML's writer, with the scalars that ``source`` reads: those of YAML 1.2."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)  # rows stand below their key, not beside it

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> Any:
        """Return the tag of what a scalar is read as if it is written without quotes."""
        if kind is not yaml.ScalarNode or not implicit[0]:
            return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        try:
            return _TAGS.get(type(parse_scalar(value)))
        except FileError:  # a number of too many digits
            return None

    def represent_text(self, text: str) -> yaml.Node:
        style = "|" if isinstance(text, Lines) else None if text.isprintable() else '"'
        return self.represent_scalar(_TAGS[str], text, style)

    def represent_block(self, block: Block) -> yaml.Node:
        return self.represent_mapping(self.DEFAULT_MAPPING_TAG, block, flow_style=False)

    def represent_rows(self, rows: Rows) -> yaml.Node:
        return self.represent_sequence(self.DEFAULT_SEQUENCE_TAG, rows, flow_style=False)


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(Lines, _Dumper.represent_text)
_Dumper.add_representer(Block, _Dumper.represent_block)
_Dumper.add_representer(Rows, _Dumper.represent_rows)


def yaml_text(record: Mapping[str, Any]) -> str:
    """Write a record as YAML."""
    text: str = yaml.dump(
        record, Dumper=_Dumper, default_flow_style=True, width=math.inf, sort_keys=False, allow_unicode=True
    )
    return text


def json_text(record: Mapping[str, Any]) -> str:
    """Write a record as JSON."""
    return _json(record, "") + "\n"


def _json(value: Any, indent: str) -> str:
    inner = indent + "  "
    match value:
        case Block():
            items = [f"{json.dumps(key)}: {_json(item, inner)}" for key, item in value.items()]
            return "{" + ",".join(f"\n{inner}{item}" for item in items) + f"\n{indent}}}"
        case Rows() if value:
            return "[" + ",".join(f"\n{inner}{_json(item, inner)}" for item in value) + f"\n{indent}]"
        case _:
            text = json.dumps(value, ensure_ascii=False)
            # It is read as YAML, in which some characters have to be escaped.
            return text if text.isprintable() else json.dumps(value)
