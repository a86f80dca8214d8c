"""``praemia check``, ``convert`` and ``draw``: files that hold a task or a machine."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import click

from praemia.cli.common import code_option, complete_tasks, file_option, is_typed, named_machine
from praemia.cli.output import echo, emit, json_option, report_written
from praemia.files.load_save import FORMATS
from praemia.text_tables import Table, plural

MOST_LISTED = 20  # labels or rewards of traces


@click.command("check")
@click.argument("file", type=click.Path())
@code_option
@json_option
def check_command(file: str, allow_code: bool) -> None:
    """Check FILE, which holds a task, just a machine, or traces (.jsonl).

    Errors are shown with their line number, and the exit status is 2. Anything valid but suspicious is listed.
    """
    if Path(file).suffix.lower() == ".jsonl":
        _check_traces(file)
        return
    from praemia.files.lint import lint
    from praemia.files.load_save import load
    from praemia.machines.machine import RewardMachine

    loaded = load(file, allow_code=allow_code)
    if isinstance(loaded, RewardMachine):
        kind, findings, sizes = "machine", lint(loaded), loaded.sizes
    else:
        kind, findings, sizes = "task", lint(loaded), loaded.sizes + loaded.machine.sizes[1:]
    record = {"ok": True, "kind": kind, "findings": [asdict(finding) for finding in findings]}
    emit(record, "\n".join([*map(str, findings), f"ok: a {kind} with {', '.join(sizes)}"]))


def _check_traces(file: str) -> None:
    from praemia.inference.reading import load_traces
    from praemia.inference.traces import label_text

    summary = load_traces(file).summary()
    steps = " to ".join(dict.fromkeys(str(summary[key]) for key in ("shortest", "longest")))
    episodes, distinct = plural(summary["episodes"], "episode"), summary["distinct_episodes"]
    labels = [("label", label_text(frozenset(row["label"])), f"{row['steps']:,}") for row in summary["labels"]]
    rewards = [("reward", f"{row['reward']:g}", f"{row['steps']:,}") for row in summary["rewards"]]
    listed = [*labels[:MOST_LISTED], *rewards[:MOST_LISTED]]
    unit = "step" if steps == "1" else "steps"
    text = f"ok: {episodes} of {steps} {unit}, {distinct:,} distinct\n\n"
    text += str(Table(("", "value", "steps"), listed))
    if more := len(labels) + len(rewards) - len(listed):
        text += f"… and {more:,} more; --json lists all"
    emit({"ok": True, "kind": "traces", **summary}, text)


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--from", "form", type=click.Choice([*FORMATS]), help="The format of IN, if its extension does not tell.")
@click.option("--pay", type=click.Choice(["first", "each", "end"]), help="When an automaton (.hoa) pays.")
@click.option(
    "--reward",
    "rewards",
    multiple=True,
    metavar="OUTPUT=NUMBER",
    callback=lambda context, option, values: dict(map(_output_reward, values)) or None,
    help="What an output of AALpy's automata (.dot) pays that is not a number; others pay 0; may be repeated.",
)
def convert_command(
    source: str,
    target: Path,
    form: str | None,
    pay: str | None,
    rewards: dict[str, float] | None,
) -> None:
    """Convert IN, a machine file, a task file or a built-in task, to OUT.

    Machines are read from .yaml .json .txt (Toro Icarte's) .dot (AALpy's) .hoa, and multiagent-rl-rm's JSON, and
    written as .yaml or .json. A task can become a task file or Storm's .drn.
    """
    from praemia.files.load_save import load, save_machine, save_task
    from praemia.files.resolving import looks_like_file, resolve_task
    from praemia.machines.machine import RewardMachine

    is_file = looks_like_file(source)
    if not is_file and is_typed("form", "pay", "rewards"):
        raise click.UsageError(f"--from, --pay and --reward are for machine files; {source!r} is a built-in task")
    loaded = load(source, form, pay=pay, rewards=rewards) if is_file else resolve_task(source)
    if isinstance(loaded, RewardMachine):
        save_machine(loaded, target)
    else:
        save_task(loaded, target)
    echo(f"wrote the {'machine' if isinstance(loaded, RewardMachine) else 'task'} to {target}", err=True)


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
@file_option("-o", "--out", help="The file to write: .svg .png .pdf .dot .mmd")
def draw_command(task_or_machine: str, out: Path | None) -> None:
    """Draw the machine of a task, or of a file that holds just a machine.

    The extension of the file chooses the format. Without --out, the diagram is printed as Mermaid text.
    """
    drawing = named_machine(task_or_machine).draw()
    if out is None:
        echo(str(drawing))
    else:
        drawing.save(out)
        report_written(out)
