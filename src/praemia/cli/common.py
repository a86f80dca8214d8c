"""Options that commands share, and shell completion. It is imported for completion, so it must import fast."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.core import ParameterSource

import praemia
from praemia.cli.output import Function
from praemia.errors import FileError, ParameterError, require
from praemia.experiments import BUILT_IN

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


Completer: TypeAlias = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def _completer(registry: str | None, *suffixes: str, names: Sequence[str] = ()) -> Completer:
    """Return a completion by names, of a registry or given ones, and by files; else the shell completes paths."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        files = sorted(path.name for path in Path().iterdir() if path.suffix in suffixes)
        known = names if registry is None else import_module(registry).names()
        offers = [CompletionItem(name) for name in (*known, *files) if name.startswith(incomplete)]
        return offers or ([CompletionItem(incomplete, type="file")] if suffixes else [])

    return complete


complete_environments = _completer("praemia.envs.registry")
complete_tasks = _completer("praemia.envs.registry", ".yaml", ".yml", ".json")
complete_learners = _completer("praemia.learners.registry", ".py")
complete_experiments = _completer(None, ".yaml", ".yml", ".json", names=BUILT_IN)


def read_length(context: click.Context, option: click.Parameter, text: str | None) -> int | None:
    """Parse a number of episodes or steps, written as 10000, 10_000 or 1e4; None if the option is left out."""
    from praemia._support.limits import MAX_EPISODES

    if text is None:
        return None
    try:
        number = Decimal(text.strip())
        is_whole = number == number.to_integral_value()
    except ArithmeticError:
        is_whole = False
    if not is_whole:
        raise click.BadParameter(f"{text!r} is not an integer, such as 10000 or 1e4", context, option)
    if not 1 <= number <= MAX_EPISODES:
        raise click.BadParameter(f"{text!r} is not in the range 1 … {MAX_EPISODES:,}", context, option)
    return int(number)


def episodes_option(
    default: int | None, help: str = "Episodes per run.", name: str = "--episodes"
) -> Callable[[Function], Function]:
    text = None if default is None else str(default)
    return click.option(name, default=text, show_default=True, metavar="INTEGER", callback=read_length, help=help)


def is_typed(*names: str) -> bool:
    """Return whether the command being run was given any of these options or arguments."""
    context = click.get_current_context()
    return any(context.get_parameter_source(name) == ParameterSource.COMMANDLINE for name in names)


def learners_option(*default: str, help: str = "") -> Callable[[Function], Function]:
    """Add ``--learner``, which may be repeated, as the argument ``names``."""
    return click.option(
        "--learner",
        "names",
        multiple=True,
        default=default,
        show_default=bool(default),
        metavar="NAME",
        shell_complete=complete_learners,
        help=f"A learner, or file.py:Class; may be repeated.{help}",
    )


def set_option(help: str = "Set a parameter of every learner that has it.") -> Callable[[Function], Function]:
    """Add ``--set NAME=VALUE``, as the argument ``settings``: a dict."""
    return click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", callback=_read_settings, help=help)


def _read_settings(context: click.Context, option: click.Parameter, items: tuple[str, ...]) -> dict[str, Any]:
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


def rho_option(default: float, help: str) -> Callable[[Function], Function]:
    return click.option("--failure-prob", default=default, show_default=True, help=f"ρ: {help}")


class OutputFile(click.Path):
    """A file to write: what would stand in the way is said before the work, not after it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        super().convert(value, param, ctx)
        path = Path(value)
        if not path.parent.is_dir():
            raise FileError(f"{path}: there is no folder {path.parent}")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise FileError(f"{path}: its folder cannot be written to")
        return path


def file_option(*names: str, help: str, required: bool = False) -> Callable[[Function], Function]:
    return click.option(*names, type=OutputFile(dir_okay=False), required=required, help=help)


seed_option = click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Random seed.")


def where_options(out: str | None, help: str, *, spread: bool = True) -> Callable[[Function], Function]:
    """Add where runs are computed and stored: what ``run_into_store`` takes, and ``out``.

    They are --jobs, --out and --no-policies, with ``spread`` also --engine and --shard.
    """
    jobs = "Processes on this computer; all cores by default."
    options = [click.option("--jobs", "num_workers", type=click.IntRange(1), help=jobs)]
    if spread:
        engine = "A Dask scheduler's address or scheduler file."
        shard = "Do only every N-th run, starting with the I-th (for array jobs)."
        options += [
            click.option("--engine", "address", metavar="ADDRESS", help=engine),
            click.option("--shard", metavar="I/N", default="1/1", callback=_read_shard, help=shard),
        ]
    policies = "Store runs without their policies."
    return together(
        *options,
        click.option("--out", type=click.Path(path_type=Path), default=out, show_default=True, help=help),
        click.option("--no-policies", "keep_policies", flag_value=False, default=True, help=policies),
    )


def _read_shard(context: click.Context, option: click.Parameter, text: str) -> tuple[int, int]:
    """Parse ``i/n``; 1/1 is the whole."""
    numbers = re.fullmatch("([0-9]{1,9})/([0-9]{1,9})", text)
    if numbers is None:
        raise ParameterError(f"--shard {text}; expected I/N, such as 1/3")
    index, count = map(int, numbers.groups())
    if not 1 <= index <= count:
        raise ParameterError(f"--shard {text}; expected I/N with 1 ≤ I ≤ N")
    return index, count


def together(*options: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return what adds several options to a command, in the order in which its help lists them."""

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


code_option = click.option("--allow-code", is_flag=True, help="Execute the functions that a task file names.")

variant_options = together(  # what a user changes about a task: ``resolve_task`` takes these keywords
    click.option(
        "--until-done", is_flag=True, help="End an episode once no further reward, positive or negative, is possible."
    ),
    click.option("--discount", type=float, help="Discount factor per step, in (0, 1]."),
    code_option,
)


def require_drawing(path: Path | None) -> None:
    """Raise the error of a missing extra before the work, if a picture of a machine needs it."""
    needs = {".svg": ["pygraphviz"], ".png": ["pygraphviz", "PIL"]}
    if path is not None:
        require(*needs.get(path.suffix.lower(), ()))


def named_machine(name: str) -> praemia.RewardMachine:
    """Return the machine that a user names: of a file with a machine or a task, or of a built-in task."""
    from praemia.files.resolving import looks_like_file, resolve_task

    return praemia.load_machine(name) if looks_like_file(name) else resolve_task(name).machine
