"""``praemia envs`` and ``praemia learners``: what is built in."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from praemia.cli.common import complete_environments, json_option, print_json


@click.command("envs")
@click.argument("name", required=False, shell_complete=complete_environments)
@json_option
def envs_command(name: str | None, as_json: bool) -> None:
    """List the built-in environments, or show the one called NAME with its picture."""
    from praemia import envs

    if name is None:
        if as_json:
            print_json({"environments": envs.names()})
        else:
            click.echo("\n".join(envs.names()))
        return
    task = envs.make(name)
    if as_json:
        print_json(
            {
                "name": task.name,
                "observations": task.num_observations,
                "actions": task.num_actions,
                "machine_states": task.num_machine_states,
                "horizon": int(task.horizon),
                "propositions": list(task.machine.propositions),
            }
        )
    else:
        click.echo(f"{envs.describe(name)}\n\n{envs.text_picture(task)}")


@click.command("learners")
@json_option
def learners_command(as_json: bool) -> None:
    """List the learners with their parameters, defaults and references."""
    from praemia import learners

    entries = [_entry(name, learners.kind_of(name), learners.parameters_of(name)) for name in learners.names()]
    if as_json:
        print_json({"learners": entries})
        return
    for entry in entries:
        click.echo(f"{entry['name']}: {entry['summary']}")
        if entry["reference"] != "—":
            click.echo(f"    {entry['reference']}")
        for parameter in entry["parameters"]:
            click.echo(f"    --set {parameter['name']}={parameter['default']}  {parameter['help']}")
        click.echo()


def _entry(name: str, kind: Any, defaults: dict[str, Any]) -> dict[str, Any]:
    helps = {item.name: item.metadata.get("help", "") for item in fields(kind)}
    return {
        "name": name,
        "summary": kind.summary,
        "reference": kind.reference,
        "parameters": [{"name": key, "default": value, "help": helps.get(key, "")} for key, value in defaults.items()],
    }
