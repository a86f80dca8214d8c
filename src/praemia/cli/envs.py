"""``praemia envs``: the built-in environments."""

from __future__ import annotations

import click

from praemia.cli.common import json_option, print_json
from praemia.cli.completion import complete_environments


@click.command("envs")
@click.argument("name", required=False, shell_complete=complete_environments)
@json_option
def command(name: str | None, as_json: bool) -> None:
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
