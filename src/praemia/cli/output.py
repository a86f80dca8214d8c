"""What commands print: one JSON object, or text for people."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def json_option(function: Function) -> Function:
    """Add the option ``--json`` to a command, as its argument ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(function)


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 run``, ``2 runs``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def print_json(record: Mapping[str, Any]) -> None:
    """Print a record as one JSON object on standard output."""
    click.echo(json.dumps(record, allow_nan=False))


def known(value: float) -> float | None:
    """Return a number as JSON has it: null for what is not known or infinite."""
    return float(value) if math.isfinite(value) else None


def print_fields(fields: Mapping[str, object]) -> None:
    """Print names and values, one per line, in two columns."""
    width = max(map(len, fields))
    for name, value in fields.items():
        click.echo(f"{name:<{width}}  {value}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in columns: the first to the left, numbers to the right."""
    table = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        first, *rest = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo("  ".join([first, *rest]).rstrip())
