"""``praemia check``: is a file right, and is there anything odd about it?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from praemia.cli.common import json_option, print_json

if TYPE_CHECKING:
    from praemia.models.machine import RewardMachine


@click.command("check")
@click.argument("file", type=click.Path())
@json_option
def command(file: str, as_json: bool) -> None:
    """Check FILE, which holds a task or just a machine.

    Mistakes are shown with their line and end with exit status 2. What is allowed but seems odd is listed.
    """
    from praemia.files import load
    from praemia.files.lint import lint, lint_machine
    from praemia.models.task import Task

    loaded = load(file)
    if isinstance(loaded, Task):
        kind, findings = "task", lint(loaded)
        size = f"{loaded.num_observations} observations, {loaded.num_actions} actions, "
        size += f"horizon {loaded.horizon}, {_machine_size(loaded.machine)}"
    else:
        kind, findings, size = "machine", lint_machine(loaded), _machine_size(loaded)
    if as_json:
        print_json({"ok": True, "kind": kind, "findings": [asdict(finding) for finding in findings]})
        return
    for finding in findings:
        click.echo(finding)
    click.echo(f"ok: a {kind} with {size}")


def _machine_size(machine: RewardMachine) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in machine.sizes.items())
