"""``praemia convert``: a machine or a task from one format to another."""

from __future__ import annotations

from pathlib import Path

import click

from praemia.files.formats import FORMATS


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--from", "source_format", type=click.Choice(FORMATS), help="The format of IN, if its ending does not say."
)
@click.option(
    "--to", "target_format", type=click.Choice(FORMATS), help="The format of OUT, if its ending does not say."
)
@click.option("--pay", type=click.Choice(["first", "each", "end"]), help="When an automaton (.hoa) pays.")
def command(source: str, target: Path, source_format: str | None, target_format: str | None, pay: str | None) -> None:
    """Convert IN, a machine, a task or the name of one, to OUT.

    Machines: .yaml .json .txt (Toro Icarte's) .dot (AALpy's) .hoa, and multiagent-rl-rm's JSON (--to multiagent).
    A task can become a task file or Storm's .drn; in a format for machines, its machine is written. What a format
    cannot say is an error, and nothing is written.
    """
    from praemia.files import load, looks_like_file, resolve_task, save_machine, save_task
    from praemia.files.formats import STORM, format_of, is_text_format
    from praemia.models.task import Task

    loaded = load(source, source_format, pay=pay) if looks_like_file(source) else resolve_task(source)
    wants_machine = target_format == "multiagent" or is_text_format(format_of(target, target_format))
    if isinstance(loaded, Task) and not wants_machine:
        if target_format not in (None, format_of(target, None)):
            raise click.UsageError(f"--to {target_format} is for machines; a task is written as {target.name} ends")
        save_task(loaded, target)
        click.echo(f"wrote the task to {target}", err=True)
        return
    if target.suffix.lower() == STORM and target_format is None:
        raise click.UsageError(f"{source} holds just a machine; {STORM} is for tasks")
    save_machine(loaded.machine if isinstance(loaded, Task) else loaded, target, target_format)
    click.echo(f"wrote the machine to {target}", err=True)
