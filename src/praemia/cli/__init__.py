"""The command ``praemia``: parse, call, print.

``praemia NAME`` is the click command ``NAME_command``. Its module is imported only when it is run, so that
``praemia --help`` answers at once. To add a command, add a line to ``COMMANDS``.
"""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

import click

from praemia.cli.output import echo
from praemia.errors import LearnerFailure, PraemiaError, PraemiaWarning, did_you_mean

COMMANDS = {
    "check": ("praemia.cli.files", "Check a file with a task, a machine or traces, and point out anything suspicious."),
    "convert": ("praemia.cli.files", "Convert a machine or a task to another tool's format."),
    "envs": ("praemia.cli.tasks", "List the built-in environments, or show one."),
    "experiment": ("praemia.cli.experiments", "Run your own experiment from a file, or a built-in one."),
    "explore": ("praemia.cli.explore", "Explore a task without any reward and save the data."),
    "infer": ("praemia.cli.machine", "Infer a machine from traces of labels and rewards."),
    "learners": ("praemia.cli.tasks", "List the learners, or show one with its parameters."),
    "machine": ("praemia.cli.machine", "Make a machine from a formula or a regular expression; try it on a trace."),
    "plan": ("praemia.cli.explore", "Plan for machines from explored data, with certificates."),
    "report": ("praemia.cli.experiments", "Write a report on a folder of runs, or export them."),
    "reproduce": ("praemia.cli.experiments", "Run the paper's experiments and report which claims held."),
    "run": ("praemia.cli.run", "Run learners on a task; print their exact regret."),
    "schema": ("praemia.cli.files", "Print the JSON Schema of a task, machine or experiment file."),
    "show": ("praemia.cli.show", "Show a policy: where it goes, and what it does there; or draw a machine."),
    "solve": ("praemia.cli.tasks", "Find the optimal value of a task."),
    "watch": ("praemia.cli.show", "See a learner learn: one page with a slider over its plans."),
}

FAILURE = 2
LEARNER_FAILED = 1
INTERRUPTED = 130
BROKEN_PIPE = 1


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            if ctx.resilient_parsing:  # a shell asks for completions
                return None
            ctx.fail(f"no such command {cmd_name!r}{did_you_mean(cmd_name, COMMANDS)}")
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0]), f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            refuse_repeated(click.Context(command, ctx, name), rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


def refuse_repeated(ctx: click.Context, arguments: list[str]) -> None:
    """Refuse an option that takes one value and is given twice: click would silently drop the first."""
    command = ctx.command
    _, rest, given = command.make_parser(ctx).parse_args(list(arguments))
    for option in command.get_params(ctx):
        if isinstance(option, click.Option) and not option.multiple and given.count(option) > 1:
            raise click.UsageError(f"{option.opts[-1]} is given {given.count(option)} times; expected once", ctx)
    inner = command.get_command(ctx, rest[0]) if isinstance(command, click.Group) and rest else None
    if inner is not None:
        refuse_repeated(click.Context(inner, ctx, rest[0]), rest[1:])


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="praemia", prog_name="praemia", message="%(prog)s %(version)s")
@click.pass_context
def praemia(ctx: click.Context) -> None:
    """Reinforcement learning with probabilistic reward machines.

    TASK is a task file (YAML or JSON) or a built-in name such as warehouse-4 or riverswim-5.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit: 0, or 2 with one message on standard error; 1 if a user's learner failed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    status = execute(arguments)
    # A second Ctrl-C would be a traceback while Python shuts down.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


def execute(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; every expected failure is one message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", PraemiaWarning)
            warnings.showwarning = _show_warning
            status = praemia.main(arguments, prog_name="praemia", standalone_mode=False)
        if sys.stdout is not None:  # it is None when the caller closed it
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.ClickException as error:
        return _fail(error.format_message() + _hint(error))
    except LearnerFailure as error:
        return _fail(str(error), LEARNER_FAILED)
    except PraemiaError as error:
        return _fail(str(error))
    except (KeyboardInterrupt, click.Abort) as error:
        advice = str(error.__cause__ or error)  # click turns the one into the other
        return _fail(f"interrupted; {advice}" if advice else "interrupted", INTERRUPTED)
    except BrokenPipeError:
        # Python flushes standard output once more at exit; give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except MemoryError:
        return _fail("there is not enough memory for this")
    except OSError as error:
        return _fail(": ".join(str(part) for part in (error.filename, error.strerror or error) if part))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    ours = issubclass(category, PraemiaWarning)
    echo(f"warning: {message}" if ours else warnings.formatwarning(message, category, filename, lineno), err=True)


def _fail(message: str, status: int = FAILURE) -> int:
    echo(f"error: {message}", err=True)
    return status


def _hint(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return "" if context is None else f" (see '{context.command_path} --help')"
