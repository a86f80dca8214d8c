"""What commands print: one JSON object, or text for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def json_option(function: Function) -> Function:
    """Add the option ``--json`` to a command, as its argument ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(function)


def print_json(record: Mapping[str, Any]) -> None:
    """Print a record as one JSON object on standard output."""
    click.echo(json.dumps(record, allow_nan=False))


def print_fields(fields: Mapping[str, object]) -> None:
    """Print names and values, one per line, in two columns."""
    width = max(map(len, fields))
    for name, value in fields.items():
        click.echo(f"{name:<{width}}  {value}")
