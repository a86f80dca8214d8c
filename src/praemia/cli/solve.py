"""``praemia solve``: the optimal value of a task."""

from __future__ import annotations

import click

from praemia.cli.common import json_option, print_fields, print_json
from praemia.cli.compiling import compiling_notice
from praemia.cli.completion import complete_tasks


@click.command("solve")
@click.argument("task", shell_complete=complete_tasks)
@json_option
def command(task: str, as_json: bool) -> None:
    """Find the optimal value of TASK: the most that any policy earns per episode, on average."""
    from praemia.files import resolve_task
    from praemia.planning.exact import solve

    problem = resolve_task(task)
    with compiling_notice():
        value = solve(problem, keep_values=False).value
    record = {
        "task": problem.name,
        "value": value,
        "horizon": int(problem.horizon),
        "observations": problem.num_observations,
        "actions": problem.num_actions,
        "machine_states": problem.num_machine_states,
    }
    if as_json:
        print_json(record)
    else:
        print_fields({name.replace("_", " "): entry for name, entry in record.items()})
