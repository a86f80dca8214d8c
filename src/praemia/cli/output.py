"""What commands print: text, or one JSON object."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import click

from praemia.errors import visible

Function = TypeVar("Function", bound=Callable[..., Any])
JSON = "praemia.cli.json"  # in a context's meta: whether --json is given


def json_option(function: Function) -> Function:
    """Add the option ``--json`` to a command; ``emit`` heeds it."""

    def note(context: click.Context, _: click.Parameter, is_given: bool) -> None:
        context.meta[JSON] = is_given

    text = "Print one JSON object and nothing else."
    return click.option("--json", "as_json", is_flag=True, expose_value=False, callback=note, help=text)(function)


def wants_json() -> bool:
    """Return whether the command being run was given ``--json``."""
    return bool(click.get_current_context().meta.get(JSON))


def echo(text: object, *, err: bool = False) -> None:
    """Print a text, its control characters escaped; that nobody can read standard error is no reason to fail."""
    with suppress(OSError) if err else nullcontext():
        click.echo(visible(str(text)), err=err)


def emit(record: Mapping[str, Any], text: object) -> None:
    """Print what a command found: the record as one JSON object with ``--json``, else a text or a table, if any."""
    if wants_json():
        click.echo(json.dumps(_as_json(record), allow_nan=False))
    elif shown := str(text).rstrip("\n"):
        echo(shown)


def _as_json(value: Any) -> Any:
    """Replace numbers that JSON does not have, infinite ones and NaN, by null."""
    if isinstance(value, Mapping):
        return {key: _as_json(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def fields_text(fields: Mapping[str, object]) -> str:
    """Write names and values, one per line, in two columns."""
    width = max(map(len, fields))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in fields.items())


def terminal_width() -> int | None:
    """Return how many characters a line of the terminal has; None where the output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def report_written(*paths: Path | None) -> None:
    """Say which files were written."""
    for path in paths:
        if path is not None:
            echo(f"wrote {path}", err=True)
