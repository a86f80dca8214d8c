"""What a shell offers while a command is typed: tasks, learners and files. It must answer at once: no compiler here."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

TASK_FILES = (".yaml", ".yml", ".json")


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
    """Offer the names and the files that begin as typed; if there are none, leave it to the shell to find files."""
    from click.shell_completion import CompletionItem

    files = sorted(path.name for path in Path().iterdir() if path.suffix in suffixes)
    found = [CompletionItem(name) for name in (*names, *files) if name.startswith(incomplete)]
    return found or ([CompletionItem(incomplete, type="file")] if suffixes else [])
