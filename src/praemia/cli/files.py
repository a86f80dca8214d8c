"""``praemia check``, ``convert`` and ``draw``: files that hold a task or a machine."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from praemia.cli.common import complete_tasks, json_option, plural, print_json, print_table
from praemia.files.registry import MACHINE_FORMATS

if TYPE_CHECKING:
    from praemia.machines.machine import RewardMachine

MOST_LISTED = 20  # labels or rewards of traces


@click.command("check")
@click.argument("file", type=click.Path())
@json_option
def check_command(file: str, as_json: bool) -> None:
    """Check FILE, which holds a task, just a machine, or traces (.jsonl).

    Errors are shown with their line number, and the exit status is 2. Anything valid but suspicious is listed.
    """
    if Path(file).suffix.lower() == ".jsonl":
        _check_traces(file, as_json)
        return
    from praemia.files import load
    from praemia.files.lint import Finding, lint, lint_machine
    from praemia.files.registry import format_of
    from praemia.tasks.task import Task

    loaded = load(file)
    if isinstance(loaded, Task):
        kind, findings = "task", lint(loaded)
        size = f"{loaded.num_observations} observations, {loaded.num_actions} actions, "
        size += f"horizon {loaded.horizon}, {_machine_size(loaded.machine)}"
    else:
        kind, findings, size = "machine", lint_machine(loaded), _machine_size(loaded)
        remarks = getattr(format_of(file), "remarks", None)
        findings += [Finding("note", remark) for remark in (remarks(loaded) if remarks else ())]
    if as_json:
        print_json({"ok": True, "kind": kind, "findings": [asdict(finding) for finding in findings]})
        return
    for finding in findings:
        click.echo(finding)
    click.echo(f"ok: a {kind} with {size}")


def _check_traces(file: str, as_json: bool) -> None:
    from praemia.inference.reading import load_traces
    from praemia.inference.traces import label_text

    found = load_traces(file).summary()
    if as_json:
        print_json({"ok": True, "kind": "traces", **found})
        return
    steps = (
        f"{found['shortest']}"
        if found["shortest"] == found["longest"]
        else f"{found['shortest']} to {found['longest']}"
    )
    click.echo(
        f"ok: {plural(found['episodes'], 'episode')} of {steps} steps, {found['distinct_episodes']:,} distinct\n"
    )
    labels = [("label", label_text(frozenset(row["label"])), row["steps"]) for row in found["labels"]]
    rewards = [("reward", f"{row['reward']:g}", row["steps"]) for row in found["rewards"]]
    shown = [*labels[:MOST_LISTED], *rewards[:MOST_LISTED]]
    print_table(("", "value", "steps"), [(kind, text, f"{count:,}") for kind, text, count in shown])
    more = len(labels) + len(rewards) - len(shown)
    if more:
        click.echo(f"… and {more:,} more; --json lists all")


def _machine_size(machine: RewardMachine) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in machine.sizes.items())


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "source_format",
    type=click.Choice(MACHINE_FORMATS),
    help="The format of IN, if its extension does not tell.",
)
@click.option(
    "--to",
    "target_format",
    type=click.Choice(MACHINE_FORMATS),
    help="The format of OUT, if its extension does not tell.",
)
@click.option("--pay", type=click.Choice(["first", "each", "end"]), help="When an automaton (.hoa) pays.")
@click.option(
    "--reward",
    "rewards",
    multiple=True,
    metavar="OUTPUT=NUMBER",
    callback=lambda context, option, values: dict(map(_output_reward, values)) or None,
    help="What an output of AALpy's automata (.dot) pays that is not a number; others pay 0. Repeatable.",
)
def convert_command(
    source: str,
    target: Path,
    source_format: str | None,
    target_format: str | None,
    pay: str | None,
    rewards: dict[str, float] | None,
) -> None:
    """Convert IN, a machine file, a task file or a built-in task, to OUT.

    Machines: .yaml .json .txt (Toro Icarte's) .dot (AALpy's) .hoa, and multiagent-rl-rm's JSON (--to multiagent).
    A task can become a task file or Storm's .drn; in a machine format, only its machine is written. What a format
    cannot express is an error, and nothing is written.
    """
    from praemia.files import load, looks_like_file, resolve_task, save_machine, save_task
    from praemia.files.registry import format_of
    from praemia.tasks.task import Task

    is_file = looks_like_file(source)
    loaded = load(source, source_format, pay=pay, rewards=rewards) if is_file else resolve_task(source)
    form = format_of(target, target_format)
    is_for_tasks = form is None or form.write_task is not None
    if isinstance(loaded, Task) and is_for_tasks:
        if target_format is not None and form is not format_of(target):
            raise click.UsageError(f"--to {target_format} is for machines; a task is written as {target.name} ends")
        save_task(loaded, target)
        click.echo(f"wrote the task to {target}", err=True)
        return
    save_machine(loaded.machine if isinstance(loaded, Task) else loaded, target, target_format)
    click.echo(f"wrote the machine to {target}", err=True)


def _output_reward(text: str) -> tuple[str, float]:
    output, equals, number = text.rpartition("=")
    try:
        reward = float(number)
    except ValueError:
        reward = math.nan
    if not equals or not math.isfinite(reward):
        raise click.BadParameter(f"{text!r}; expected OUTPUT=NUMBER, such as coffee=1")
    return output, reward


@click.command("draw")
@click.argument("task_or_machine", metavar="TASK_OR_MACHINE_FILE", shell_complete=complete_tasks)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The file to write: .svg .png .pdf .dot .mmd")
def draw_command(task_or_machine: str, out: Path | None) -> None:
    """Draw the machine of a task, or of a file that holds just a machine.

    The extension of the file chooses the format. Without --out, the diagram is printed as Mermaid text.
    """
    from praemia.files import load_machine, looks_like_file, resolve_task
    from praemia.pictures.diagrams import draw_machine, mermaid

    if looks_like_file(task_or_machine):
        machine = load_machine(task_or_machine)
    else:
        machine = resolve_task(task_or_machine).machine
    if out is None:
        click.echo(mermaid(machine), nl=False)
    else:
        draw_machine(machine, out)
        click.echo(f"wrote {out}", err=True)
