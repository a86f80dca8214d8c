"""What commands share: options, shell completion, printing. It is imported for completion, so it must import fast."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from praemia.errors import FileError, ParameterError
from praemia.text_tables import table_text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])
TASK_FILES = (".yaml", ".yml", ".json")


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
    """Return a number for JSON: None, which becomes null, if it is NaN or infinite."""
    return float(value) if math.isfinite(value) else None


def print_fields(fields: Mapping[str, object]) -> None:
    """Print names and values, one per line, in two columns."""
    width = max(map(len, fields))
    for name, value in fields.items():
        click.echo(f"{name:<{width}}  {value}")


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on standard output."""
    click.echo(table_text(header, rows), nl=False)


def runs_option(default: int) -> Callable[[Function], Function]:
    return click.option(
        "--runs", default=default, show_default=True, type=click.IntRange(1), help="Runs per learner and task."
    )


def read_episodes(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """Parse a number of episodes, written as 10000, 10_000 or 1e4; None if the option is left out."""
    from praemia.limits import MAX_EPISODES

    if text is None:
        return None
    try:
        number = Decimal(text.strip())
        is_whole = number == number.to_integral_value()
    except ArithmeticError:
        is_whole = False
    if not is_whole:
        raise click.BadParameter(f"{text!r} is not a whole number, such as 10000 or 1e4", context, option)
    if not 1 <= number <= MAX_EPISODES:
        raise click.BadParameter(f"{text!r} is not in the range 1 … {MAX_EPISODES:,}", context, option)
    return int(number)


def episodes_option(default: int) -> Callable[[Function], Function]:
    return click.option(
        "--episodes",
        default=str(default),
        show_default=True,
        metavar="INTEGER",
        callback=read_episodes,
        help="Episodes per run.",
    )


def seed_option(function: Function) -> Function:
    return click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Random seed.")(function)


def jobs_option(function: Function) -> Function:
    return click.option("--jobs", type=click.IntRange(1), help="Processes on this machine; all cores by default.")(
        function
    )


def policies_option(function: Function) -> Function:
    """Add the option --no-policies, as the argument ``policies``."""
    return click.option(
        "--no-policies", "policies", flag_value=False, default=True, help="Store runs without their final policies."
    )(function)


def engine_options(function: Function) -> Function:
    """Add the options that say where runs are computed: --jobs, --engine, --shard."""
    function = click.option(
        "--shard", metavar="I/N", help="Do only every N-th run, starting with the I-th (for array jobs)."
    )(function)
    function = click.option("--engine", metavar="ADDRESS", help="A Dask scheduler's address or scheduler file.")(
        function
    )
    return jobs_option(function)


def out_option(default: str | None, help: str) -> Callable[[Function], Function]:
    return click.option("--out", type=click.Path(path_type=Path), default=default, show_default=True, help=help)


def parse_shard(text: str | None) -> tuple[int, int]:
    """Parse ``i/n``; None is the whole, 1/1."""
    if text is None:
        return 1, 1
    found = re.fullmatch("([0-9]{1,9})/([0-9]{1,9})", text)
    if found is None:
        raise ParameterError(f"--shard {text}; expected I/N, such as 1/3")
    index, count = map(int, found.groups())
    if not 1 <= index <= count:
        raise ParameterError(f"--shard {text}; expected I/N with 1 ≤ I ≤ N")
    return index, count


def parse_settings(items: tuple[str, ...]) -> dict[str, Any]:
    """Parse ``name=value`` pairs; numbers, true and false are converted, anything else is text."""
    from praemia.files.source import parse_scalar

    parameters = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise ParameterError(f"--set {item}; expected NAME=VALUE, such as bonus_scale=0.001")
        key = name.strip().replace("-", "_")
        if key in parameters:
            raise ParameterError(f"--set {key} is given twice")
        try:
            parameters[key] = parse_scalar(value.strip())
        except FileError as error:
            raise ParameterError(f"--set {key}: {error}") from None
    return parameters


def complete_tasks(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer built-in tasks, and task files."""
    from praemia.envs.registry import names

    return _offer(names(), TASK_FILES, incomplete)


def complete_environments(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer built-in tasks."""
    from praemia.envs.registry import names

    return _offer(names(), (), incomplete)


def complete_learners(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the learners by name, and Python files that may hold one."""
    from praemia.learners.registry import names

    return _offer(names(), (".py",), incomplete)


def _offer(names: Iterable[str], suffixes: tuple[str, ...], incomplete: str) -> list[CompletionItem]:
    """Offer the names and files that start with what was typed; if there are none, let the shell look for files."""
    from click.shell_completion import CompletionItem

    files = sorted(path.name for path in Path().iterdir() if path.suffix in suffixes)
    found = [CompletionItem(name) for name in (*names, *files) if name.startswith(incomplete)]
    return found or ([CompletionItem(incomplete, type="file")] if suffixes else [])
