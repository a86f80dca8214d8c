"""``praemia solve``, ``envs`` and ``learners``: the optimal value of a task, and what is built in."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

import praemia
from praemia._support.activity import display
from praemia._support.text_tables import Table
from praemia.cli.common import (
    complete_environments,
    complete_learners,
    complete_tasks,
    variant_options,
)
from praemia.cli.output import emit, fields_text, json_option, terminal_width, wants_json


@click.command("solve")
@click.argument("task", shell_complete=complete_tasks)
@variant_options
@json_option
def solve_command(task: str, **variant: Any) -> None:
    """Find the optimal value of TASK: the maximum expected return per episode."""
    from praemia.files.resolving import resolve_task
    from praemia.tasks.task import require_task

    problem = require_task(resolve_task(task, **variant), "an exact value")
    with display():
        value = praemia.solve(problem, keep_values=False).value
    record = {
        "task": problem.name,
        "value": value,
        "horizon": problem.horizon,
        **({"discount": problem.discount} if problem.discount < 1.0 else {}),
        "observations": problem.num_observations,
        "actions": problem.num_actions,
        "machine_states": problem.num_machine_states,
    }
    rounded = record | {"value": f"{value:.6g}", "horizon": record["horizon"] or "none"}
    emit(record, fields_text({name.replace("_", " "): entry for name, entry in rounded.items()}))


@click.command("envs")
@click.argument("name", required=False, shell_complete=complete_environments)
@json_option
def envs_command(name: str | None) -> None:
    """List the built-in environments, or show the one called NAME with its picture.

    The names in the list are examples: warehouse-7 or riverswim-40 are environments too.
    """
    from praemia.envs.registry import EXAMPLES

    if name is not None:
        task, entry = praemia.envs.make(name), _env_entry(name)
        text = "" if wants_json() else f"{_env_text(name, task)}\n\n{task.draw()}"
        emit(entry | {"propositions": list(task.machine.propositions)}, text)
        return
    entries = [_env_entry(example) for example in praemia.envs.names()]
    sizes = [("×".join(f"{own[key]:,}" for key in SIZES[:-1]), f"{own['horizon']:,}") for own in entries]
    rows = [(own["name"], *size, aim) for own, size, aim in zip(entries, sizes, EXAMPLES.values(), strict=True)]
    table = Table(("name", "sizes", "horizon", "what to do"), rows).text(terminal_width())
    notes = "sizes: observations × actions × machine states\npraemia envs NAME shows one, with its picture"
    emit({"environments": praemia.envs.names(), "entries": entries}, f"{table}\n{notes}")


SIZES = ("observations", "actions", "machine_states", "horizon")


def _env_entry(name: str) -> dict[str, Any]:
    """Return a built-in task as plain data: what it is, and its sizes."""
    from praemia.envs.registry import FAMILIES, make, parse_name

    task = make(name)
    sizes = (task.num_observations, task.num_actions, task.num_machine_states, task.horizon)
    summary = FAMILIES[parse_name(name)[0]].summary.partition(";")[0].rstrip(".")
    return {"name": task.name, **dict(zip(SIZES, sizes, strict=True)), "summary": summary}


def _env_text(name: str, task: praemia.Task) -> str:
    """Say in a few lines what a built-in task is."""
    from praemia.envs.registry import FAMILIES, parse_name

    family = parse_name(name)[0]
    actions = ", ".join(map(task.mdp.action_name, range(task.num_actions)))
    return (
        f"{task.name}: {FAMILIES[family].summary}\n{', '.join(task.sizes)}\n"
        f"actions: {actions}; propositions: {', '.join(task.machine.propositions)}\n"
        f"parameters of {family}: {', '.join(FAMILIES[family].parameters)}"
    )


@click.command("learners")
@click.argument("name", required=False, shell_complete=complete_learners)
@json_option
def learners_command(name: str | None) -> None:
    """List the learners, or show the one called NAME with its parameters: defaults, ranges and what they do.

    NAME may be file.py:Class too.
    """

    if name is not None:
        entry = describe_learner(name)
        emit(entry, _learner_text(entry))
        return
    entries = [describe_learner(each) for each in praemia.learners.names()]
    rows = [(entry["name"], entry["summary"]) for entry in entries]
    table = Table(("learner", "what it does"), rows).text(terminal_width())
    emit({"learners": entries}, f"{table}\npraemia learners NAME shows one, with its parameters")


def describe_learner(name: str) -> dict[str, Any]:
    """Return what there is to say of a learner: its summary, its reference, and its parameters."""
    from praemia.experiments.jobs import LearnerChoice

    learner = LearnerChoice.of(name).make()
    metadata = {item.name: item.metadata for item in fields(learner)}
    return {
        "name": learner.name,
        "summary": learner.summary,
        "reference": learner.reference,
        "parameters": [
            {
                "name": key,
                "default": value,
                "range": list(metadata[key]["range"]) if "range" in metadata[key] else None,
                "help": metadata[key].get("help", ""),
            }
            for key, value in learner.parameters.items()
        ],
    }


def _learner_text(entry: dict[str, Any]) -> str:
    lines = [f"{entry['name']}: {entry['summary']}"]
    if entry["reference"] != "—":
        lines.append(entry["reference"])
    rows = []
    for item in entry["parameters"]:
        ends = item["range"]
        between = "" if ends is None else f"{ends[0]:g} … {ends[1]:g}"
        rows.append((item["name"], str(item["default"]), between, item["help"]))
    if rows:
        header = ("parameter", "default", "range", "what it does")
        example = f"praemia run TASK --learner {entry['name']} --set {rows[0][0]}={rows[0][1]}"
        lines += ["", Table(header, rows).text(terminal_width()).rstrip(), "", example]
    return "\n".join(lines)
