"""``praemia show`` and ``praemia watch``: see what a policy does, and see a learner learn."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import praemia
from praemia._support.activity import display
from praemia._support.text_tables import plural
from praemia.cli.common import (
    complete_learners,
    complete_tasks,
    episodes_option,
    file_option,
    is_typed,
    seed_option,
    set_option,
    variant_options,
)
from praemia.cli.experiments import report_failures
from praemia.cli.output import echo, emit, json_option, report_written
from praemia.errors import ParameterError, require, visible

if TYPE_CHECKING:
    from praemia.experiments.jobs import LearnerChoice
    from praemia.pictures.drawing import Drawing
    from praemia.report.watch_page import LearningPage

PAUSE = 0.4  # seconds, between two steps in a terminal


@click.command("show")
@click.argument("task", shell_complete=complete_tasks)
@click.option("--policy", default="optimal", show_default=True, metavar="RUN", help="A file with a run or a policy.")
@click.option("--episode", type=click.IntRange(0), metavar="SEED", help="Play one episode, sampled with this seed.")
@click.option("--machine", is_flag=True, help="Draw the machine of TASK instead.")
@variant_options
@file_option("-o", "--out", help="The file to write: .svg .png .txt; .gif: an episode; machines: .svg .png .mmd")
def show_command(task: str, policy: str, episode: int | None, machine: bool, out: Path | None, **variant: Any) -> None:
    """Show what a policy does in TASK: where it goes in each machine state, and which action it takes there.

    Without --out it is printed as text; --episode plays an episode in the terminal. With --machine, or where TASK is a
    file with just a machine, the machine is drawn: as Mermaid text, or into a file.
    """
    from praemia.files.load_save import load
    from praemia.files.resolving import looks_like_file, resolve_task
    from praemia.pictures.show import named_policy

    loaded = load(task, allow_code=variant["allow_code"]) if looks_like_file(task) else None
    if machine or isinstance(loaded, praemia.RewardMachine):
        if is_typed("policy", "episode", *variant):
            raise click.UsageError("--machine, or a file with just a machine, cannot be combined with policy options")
        drawn = loaded if isinstance(loaded, praemia.RewardMachine) else resolve_task(task).machine
        _print_or_save(drawn.draw(), out)
        return
    suffix = out.suffix.lower() if out else ""
    if episode is not None and out is not None and suffix not in (".gif", ".txt"):
        raise ParameterError(f"cannot play an episode into {str(out)!r}; expected a file .gif or .txt")
    if suffix in (".png", ".gif"):
        require("PIL")
    problem: Any = resolve_task(task, **variant)
    given_policy = named_policy(policy)
    if given_policy is None and isinstance(problem, praemia.BlackBox):
        raise ParameterError(
            f"the optimum of {problem.name!r}, a black box, is not known; give --policy FILE, which praemia run "
            f"{task} --save FILE writes"
        )
    with display():
        picture = praemia.show(problem, given_policy)
    if episode is None and suffix != ".gif":
        _print_or_save(picture, out)
        return
    _play(problem, given_policy, episode or 0, out)


def _print_or_save(drawing: Drawing, out: Path | None) -> None:
    if out is None:
        echo(str(drawing))
    else:
        drawing.save(out)
        report_written(out)


def _play(problem: Any, given_policy: Any, seed: int, out: Path | None) -> None:
    episode = praemia.rollout(problem, praemia.solve(problem).policy if given_policy is None else given_policy, seed)
    if out is None and sys.stdout.isatty() and isinstance(problem, praemia.Task):
        _animate(episode)
    elif out is None:
        echo(str(episode))
    else:
        with display() as progress:
            episode.save(out, progress.count("frames"))
        report_written(out)


def _animate(episode: Any) -> None:
    """Play an episode in the terminal: the map with the agent in brackets, the machine's state lit."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from praemia.pictures.episodes import story_of
    from praemia.pictures.task_picture import task_picture
    from praemia.pictures.text_map import page_text

    picture = task_picture(episode.task)
    with Live(console=Console(), auto_refresh=False) as live:
        for observation, machine_state, line in story_of(episode):
            scene = Text(visible(page_text(picture, episode.task.name, observation)) + "\n\n")
            for i, name in enumerate(episode.task.machine.states):
                scene.append(f" {visible(name)} ", style="reverse" if i == machine_state else "dim")
            scene.append(visible(f"\n{line}\n"))
            live.update(scene, refresh=True)
            time.sleep(PAUSE)


@click.command("watch")
@click.argument("task", shell_complete=complete_tasks)
@click.option(
    "--learner",
    default="headroom",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_learners,
    help="A learner, or file.py:Class.",
)
@set_option("Set a parameter of the learner.")
@episodes_option(1000, "Episodes of the run.")
@variant_options
@seed_option
@click.option("--run", "run_file", type=click.Path(path_type=Path), help="Replay a stored run.")
@file_option("-o", "--out", help="The page to write, .html; TASK-LEARNER.html by default.")
@json_option
def watch_command(
    task: str,
    learner: str,
    settings: dict[str, Any],
    episodes: int,
    seed: int,
    run_file: Path | None,
    out: Path | None,
    **variant: Any,
) -> int:
    """See a learner learn TASK: write one HTML page with a slider over the plans of a run.

    For each machine state the page shows where a plan goes and what it does there, its exact value, and the regret so
    far. It plays by itself and needs no network. The run is the first that praemia run plays with the same options.

    \b
    praemia watch warehouse-4
    praemia watch office-patrol --learner ucbvi-prm --episodes 5000 -o patrol.html
    praemia watch warehouse-4 --run run-0-3.npz
    """
    from praemia.experiments.jobs import Job, TaskText, learner_choices, slug
    from praemia.experiments.runner import run_in_memory
    from praemia.pictures.task_picture import task_picture
    from praemia.report.watch_page import LearningPage

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"cannot write {str(out)!r}; expected a file .html")
    if run_file is None:
        problem = TaskText.of(task, **variant)
        made = problem.make()
        if isinstance(made, praemia.Task):
            task_picture(made)  # a task that is too large is refused before the work
        (choice,) = learner_choices([learner], settings)
        runs, failures = run_in_memory([Job(problem, choice, episodes, (seed, 0))], num_workers=1)
        if failures:
            return report_failures(failures)
        run = runs[0]
    else:
        if is_typed("settings", "episodes", "seed", "until_done", "discount"):
            raise click.UsageError("--run replays a stored run; only --learner and --out can be combined with it")
        choice, run = _stored(run_file, learner if is_typed("learner") else None)
        problem = TaskText.of(task, until_done=run.until_done, discount=run.discount)
    with display() as progress:
        report = progress.count("episodes")
        watched = problem.make()
        page = LearningPage.of(watched, choice.make(), run, lambda played: report(played, run.num_episodes))
    path = out or Path(f"{slug(page.task.name)}-{slug(run.learner)}.html")
    page.save(path)
    shown = f"{len(page.plans)} of {plural(run.num_plans, 'plan')}"
    emit(_watched(page, path), f"{page.title}: {shown} in {path}; open it in a browser")
    return 0


def _watched(page: LearningPage, path: Path) -> dict[str, Any]:
    """Return what a page shows, as plain data."""
    run = page.run
    return {
        "file": str(path),
        "task": page.task.name,
        "learner": run.title,
        "episodes": run.num_episodes,
        "seed": list(run.seed),
        "plans": run.num_plans,
        "plans_shown": len(page.plans),
        "optimal_value": run.optimal_value,
        "last_value": float(run.plan_values[-1]),
        "regret": None if run.optimal_value is None else float(run.regret[-1]),
    }


def _stored(path: Path, learner: str | None) -> tuple[LearnerChoice, praemia.Run]:
    """Read a run and its learner; one of the user's own is to be named, for its code is not kept."""
    from praemia.experiments.jobs import Job, LearnerChoice

    run = praemia.Run.load(path)
    choice = Job.of(run).learner if learner is None else LearnerChoice.of(learner)
    if choice.name != run.learner or (choice.code is None) != (not run.origin):
        raise ParameterError(f"{path}: a run of {run.origin or run.learner}; name this learner with --learner")
    return replace(choice, parameters=run.parameters), run
