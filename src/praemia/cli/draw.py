"""``praemia draw``: a machine as a diagram."""

from __future__ import annotations

from pathlib import Path

import click

from praemia.cli.completion import complete_tasks


@click.command("draw")
@click.argument("task_or_machine", metavar="TASK_OR_MACHINE_FILE", shell_complete=complete_tasks)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The file to write: .svg .png .pdf .dot .mmd")
def command(task_or_machine: str, out: Path | None) -> None:
    """Draw the machine of a task, or of a file with just a machine.

    The format follows from the file's ending. Without --out the diagram is printed as Mermaid text.
    """
    from praemia.drawing.diagrams import draw_machine, mermaid
    from praemia.files import load_machine, looks_like_file, resolve_task

    if looks_like_file(task_or_machine):
        machine = load_machine(task_or_machine)
    else:
        machine = resolve_task(task_or_machine).machine
    if out is None:
        click.echo(mermaid(machine), nl=False)
    else:
        draw_machine(machine, out)
        click.echo(f"wrote {out}", err=True)
