"""``praemia solve``, ``bound``, ``show``, ``envs`` and ``learners``: what a task is worth, and what is built in."""

from __future__ import annotations

import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from praemia.cli.common import (
    complete_environments,
    complete_tasks,
    emit,
    episodes_option,
    fields_text,
    file_option,
    json_option,
    rho_option,
    until_done_option,
    wants_json,
    wrote,
)
from praemia.cli.progress import display
from praemia.errors import ParameterError, require
from praemia.text_tables import table_text

PAUSE = 0.4  # seconds, between two steps in a terminal


@click.command("solve")
@click.argument("task", shell_complete=complete_tasks)
@json_option
def solve_command(task: str) -> None:
    """Find the optimal value of TASK: the most that any policy earns per episode, on average."""
    from praemia.files import resolve_task
    from praemia.planning.exact import solve

    problem = resolve_task(task)
    with display():
        value = solve(problem, keep_values=False).value
    record = {
        "task": problem.name,
        "value": value,
        "horizon": int(problem.horizon) if problem.has_horizon else None,
        **({"discount": problem.discount} if problem.discount < 1.0 else {}),
        "observations": problem.num_observations,
        "actions": problem.num_actions,
        "machine_states": problem.num_machine_states,
    }
    emit(record, fields_text({name.replace("_", " "): entry for name, entry in record.items()}))


@click.command("bound")
@click.argument("task", shell_complete=complete_tasks)
@episodes_option(10_000)
@rho_option(0.05, "the probability with which the bound may fail.")
@json_option
def bound_command(task: str, episodes: int, failure_prob: float) -> None:
    """Print Theorem 1's bound on UCBVI-PRM's regret on TASK, term by term, and the lower bound."""
    from praemia.files import resolve_task
    from praemia.theory import regret_bound, regret_lower_bound

    problem = resolve_task(task)
    if problem.discount < 1.0:
        raise ParameterError(f"{problem.name} has a discount; Theorem 1 and the lower bound are of tasks without one")
    sizes = (problem.num_observations, problem.num_actions)
    span = problem.machine.reward_range.span
    bound = regret_bound(*sizes, problem.num_machine_states, problem.horizon, episodes, failure_prob, span)
    lower = regret_lower_bound(*sizes, problem.horizon, episodes, span)
    terms = [
        ("leading", "leading", "72 ι √(HOAT)", bound.leading),
        ("model_error", "model error", "2500 H² O² A^1.5 ι²", bound.model_error),
        ("martingale", "martingale", "4 H √(Tι)", bound.martingale),
        ("total", "Theorem 1", "their sum", bound.total),
        ("trivial", "trivial", "H K", bound.trivial),
        ("lower", "lower bound", "√(HOAT), up to a constant", lower),
    ]
    asked = {"task": problem.name, "episodes": episodes, "failure_prob": failure_prob}
    text = f"{problem.name}, {episodes:,} episodes, ρ = {failure_prob:g}\n\n"
    text += table_text(("term", "formula", "value"), [(*names, f"{value:,.0f}") for _, *names, value in terms])
    if span != 1.0:
        text += f"\nRewards span {span:g}; each term is that for rewards in [0, 1], times {span:g}.\n"
    if bound.is_vacuous:
        text += "\nAt this length the theorem promises no more than the trivial bound.\n"
    emit({**asked, **{key: value for key, _, _, value in terms}, "vacuous": bound.is_vacuous}, text)


@click.command("envs")
@click.argument("name", required=False, shell_complete=complete_environments)
@json_option
def envs_command(name: str | None) -> None:
    """List the built-in environments, or show the one called NAME with its picture."""
    from praemia import envs

    if name is None:
        emit({"environments": envs.names()}, "\n".join(envs.names()))
        return
    task = envs.make(name)
    record = {
        "name": task.name,
        "observations": task.num_observations,
        "actions": task.num_actions,
        "machine_states": task.num_machine_states,
        "horizon": int(task.horizon),
        "propositions": list(task.machine.propositions),
    }
    emit(record, "" if wants_json() else f"{envs.describe(name)}\n\n{envs.text_picture(task)}")


@click.command("learners")
@json_option
def learners_command() -> None:
    """List the learners with their parameters, defaults and references."""
    from praemia import learners

    entries = [describe_learner(name) for name in learners.names()]
    emit({"learners": entries}, "\n\n".join(map(_learner_text, entries)) + "\n")


def describe_learner(name: str) -> dict[str, Any]:
    """Return what there is to say of a learner: its summary, its reference, and its parameters with their defaults."""
    from praemia import learners

    kind = learners.kind_of(name)
    helps = {item.name: item.metadata.get("help", "") for item in fields(kind)}
    return {
        "name": name,
        "summary": kind.summary,
        "reference": kind.reference,
        "parameters": [
            {"name": key, "default": value, "help": helps.get(key, "")}
            for key, value in learners.parameters_of(name).items()
        ],
    }


def _learner_text(entry: dict[str, Any]) -> str:
    lines = [f"{entry['name']}: {entry['summary']}"]
    if entry["reference"] != "—":
        lines.append(f"    {entry['reference']}")
    lines += [f"    --set {item['name']}={item['default']}  {item['help']}" for item in entry["parameters"]]
    return "\n".join(lines)


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
