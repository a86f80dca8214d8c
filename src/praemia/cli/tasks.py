"""``praemia solve``, ``bound``, ``envs`` and ``learners``: what a task is worth, and what is built in."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from praemia.cli.common import (
    complete_environments,
    complete_tasks,
    emit,
    episodes_option,
    fields_text,
    json_option,
    rho_option,
    wants_json,
)
from praemia.cli.progress import display
from praemia.text_tables import table_text


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
