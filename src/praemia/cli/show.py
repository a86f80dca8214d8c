"""``praemia show``: a policy, as a picture, as text, or at work in an episode."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from praemia.cli.common import complete_tasks, file_option, until_done_option, wrote
from praemia.cli.progress import display
from praemia.errors import ParameterError, require

PAUSE = 0.4  # seconds, between two steps in a terminal


@click.command("show")
@click.argument("task", shell_complete=complete_tasks)
@click.option("--policy", default="optimal", show_default=True, metavar="RUN", help="A file with a run or a policy.")
@click.option("--episode", type=click.IntRange(0), metavar="SEED", help="Play one episode, drawn by this seed.")
@until_done_option
@file_option("-o", "--out", help="The file to write: .svg .png .txt; .gif: an episode")
def show_command(task: str, policy: str, episode: int | None, until_done: bool, out: Path | None) -> None:
    """Show what a policy does in TASK: where it goes in each machine state, and which action it takes there.

    Without --out it is printed as text; --episode plays an episode in the terminal.
    """
    from praemia.files import resolve_task
    from praemia.pictures.show import named_policy, show

    suffix = out.suffix.lower() if out else ""
    if episode is not None and out is not None and suffix not in (".gif", ".txt"):
        raise ParameterError(f"cannot play an episode into {str(out)!r}; expected a file .gif or .txt")
    if suffix in (".png", ".gif"):
        require("PIL")
    problem, given_policy = resolve_task(task), named_policy(policy)
    problem = problem.with_until_done() if until_done else problem
    with display():
        picture = show(problem, given_policy)
    if episode is None and suffix != ".gif":
        if out is None:
            click.echo(str(picture))
        else:
            picture.save(out)
            wrote(out)
        return
    _play(problem, given_policy, episode or 0, out)


def _play(problem: Any, given_policy: Any, seed: int, out: Path | None) -> None:
    from praemia.files.atomic_io import write_whole
    from praemia.pictures.episodes import save_gif
    from praemia.planning.exact import solve
    from praemia.simulation.rollout import rollout

    played = rollout(problem, solve(problem).policy if given_policy is None else given_policy, seed)
    if out is None and sys.stdout.isatty():
        _animate(played)
    elif out is None:
        click.echo(str(played))
    else:
        if out.suffix.lower() == ".txt":
            write_whole(out, f"{played}\n".encode())
        else:
            with display() as progress:
                save_gif(played, out, progress.count("frames"))
        wrote(out)


def _animate(played: Any) -> None:
    """Play an episode in the terminal: the map with the agent in brackets, the machine's state lit."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from praemia.pictures.episodes import moments
    from praemia.pictures.task_picture import page_text, task_picture

    picture = task_picture(played.task)
    with Live(console=Console(), auto_refresh=False) as live:
        for observation, machine_state, line in moments(played):
            scene = Text(page_text(picture, played.task.name, observation))
            for i, name in enumerate(played.task.machine.states):
                scene.append(f" {name} ", style="reverse" if i == machine_state else "dim")
            scene.append(f"\n{line}\n")
            live.update(scene, refresh=True)
            time.sleep(PAUSE)
