"""Check a file's data against a pydantic model, and report every mistake with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from praemia.errors import FileError, did_you_mean
from praemia.files import schema
from praemia.files.source import DataPath, Source

MAX_MISTAKES = 20
MAX_VALUE_LENGTH = 60

Model = TypeVar("Model", bound=BaseModel)
Parts: TypeAlias = Mapping[str | int, type[BaseModel]]

# Which model a mapping is read by, found from the last key of its path that is listed here.
_MODELS: Parts = {
    "mdp": schema.MdpPart,
    "grid": schema.GridPart,
    "gymnasium": schema.GymnasiumPart,
    "labels": schema.LabelPart,
    "machine": schema.MachinePart,
    "ltlf": schema.FormulaPay,
    "regex": schema.FormulaPay,
    "transitions": schema.RulePart,
    "to": schema.OutcomePart,
    "reward": schema.RewardLaw,
}

_ROW = "a row is [observation, action, {observation: probability}]"

# In place of pydantic's messages that speak of Python rather than of the file.
_WORDS = {
    "tuple_type": _ROW,
    "too_long": _ROW,
    "too_short": "it should not be empty",
    "string_type": "it should be text",
    "dict_type": "it should be keys with values",
    "model_type": "it should be keys with values",
    "list_type": "it should be a list",
}


def validate(source: Source, model: type[Model], parts: Parts | None = None) -> Model:
    """Return a source's data as a model, or raise one FileError with a line for each mistake.

    ``parts`` are the models of a file of another kind than a task file, by the keys that lead to them.
    """
    if not isinstance(source.data, dict):
        raise FileError(f"{source.spot(())}: expected keys with values, found {_describe(source.data)}")
    try:
        return model.model_validate(source.data)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False)
        lines = [_message(source, model, parts or _MODELS, mistake) for mistake in mistakes[:MAX_MISTAKES]]
        if len(mistakes) > MAX_MISTAKES:
            lines.append(f"{source.name}: and {len(mistakes) - MAX_MISTAKES} more mistakes")
        raise FileError("\n".join(lines)) from None


def _message(source: Source, root: type[BaseModel], parts: Parts, mistake: Any) -> str:
    """Write one of pydantic's errors as ``file:line:column: path: message``."""
    path, last = _data_path(source, mistake["loc"])
    if mistake["type"] == "extra_forbidden":
        return f"{source.spot(path, key=True)}: {_unknown_key(source, path, root, parts)}"
    if mistake["type"] == "missing":
        message = _ROW if isinstance(last, int) else f"the key {last!r} is missing"
    elif mistake["type"] == "value_error":
        message = mistake["msg"].removeprefix("Value error, ")
    else:
        words = _WORDS.get(mistake["type"], mistake["msg"].replace("Input should", "it should"))
        message = f"{words}; found {_describe(mistake['input'])}"
    return f"{source.spot(path)}: {_format_path(path)}{message}"


def _data_path(source: Source, location: tuple[str | int, ...]) -> tuple[DataPath, str | int]:
    """Drop from pydantic's location what is not in the file; return the path, and the last part of it."""
    path: DataPath = ()
    for part in location:
        if source.has((*path, part)):
            path = (*path, part)
    return path, location[-1] if location else ""


def _unknown_key(source: Source, path: DataPath, root: type[BaseModel], parts: Parts) -> str:
    model = next((parts[part] for part in reversed(path[:-1]) if part in parts), root)
    if model is schema.MachinePart and any(source.has((*path[:-1], key)) for key in schema.FORMULA_KEYS):
        model = schema.FormulaPart
    keys = [field.alias or name for name, field in model.model_fields.items()]
    return f"{_format_path(path[:-1])}unknown key {path[-1]!r}{did_you_mean(path[-1], keys)}"


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
