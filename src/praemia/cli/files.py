"""``praemia check``, ``convert`` and ``schema``: files that hold a task or a machine."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

import praemia
from praemia._support.text_tables import Table, plural
from praemia.cli import FAILURE
from praemia.cli.common import code_option, is_typed
from praemia.cli.output import echo, emit, json_option, wants_json
from praemia.errors import PraemiaError
from praemia.files.load_save import OPTIONS, READERS, format_of
from praemia.files.source import DataPath, read_source

_SPOT = re.compile(r"(.+?):([0-9]+)(?::([0-9]+))?: (.*)")
EXPERIMENT_KEYS = ("tasks", "learners", "groups")
MOST_LISTED = 20  # labels or rewards of traces


@click.command("check")
@click.argument("file", type=click.Path())
@code_option
@json_option
def check_command(file: str, allow_code: bool) -> int:
    """Check FILE, which holds a task, just a machine, an experiment, or traces (.jsonl).

    Errors are shown with their line, and the exit status is 2. Warns about valid but suspicious constructs. With
    --json, errors are reported as findings.
    """
    kind = _kind_of(file)
    try:
        if kind == "traces":
            _check_traces(file)
        elif kind == "experiment":
            _check_experiment(file, allow_code)
        else:
            _check_task(file, allow_code)
    except PraemiaError as error:
        if not wants_json():
            raise
        emit({"ok": False, "kind": kind, "findings": _mistakes(file, error)}, "")
        return FAILURE
    return 0


def _check_experiment(file: str, allow_code: bool) -> None:
    from praemia.experiments.loading import load_experiment

    experiment = load_experiment(file, allow_code=allow_code)
    cells = {cell for group in experiment.groups for cell in group.cells}
    sizes = [plural(len(experiment.groups), "group"), plural(len({task for task, _ in cells}), "task")]
    sizes += [plural(len({title for _, title in cells}), "learner"), plural(len(experiment.jobs()), "run")]
    emit({"ok": True, "kind": "experiment", "findings": []}, f"ok: an experiment with {', '.join(sizes)}")


def _check_task(file: str, allow_code: bool) -> None:
    from praemia.files.lint import lint
    from praemia.files.load_save import load

    loaded = load(file, allow_code=allow_code)
    kind, sizes = "machine", loaded.sizes
    if not isinstance(loaded, praemia.RewardMachine):
        kind, sizes = "task", loaded.sizes + loaded.machine.sizes[1:]
    found = lint(loaded)
    findings = [{"level": own.level, "message": own.message, **_place(file, own.part)} for own in found]
    emit(
        {"ok": True, "kind": kind, "findings": findings},
        "\n".join([*map(str, found), f"ok: a {kind} with {', '.join(sizes)}"]),
    )


def _place(file: str, part: DataPath) -> dict[str, Any]:
    """Return the place of a part of a task or a machine; without a line where the format has no such parts."""
    if format_of(file) not in OPTIONS["allow_code"]:
        return {"file": file, "line": None, "column": None}
    source = read_source(file)
    part = part[1:] if part[:1] == ("machine",) and not source.has_any(("machine",)) else part
    (finding,) = _mistakes(file, PraemiaError(f"{source.spot(part)}: "))
    return {key: finding[key] for key in ("file", "line", "column")}


def _kind_of(file: str) -> str | None:
    """Tell what a file holds, or was meant to hold, by its keys; None where they cannot be read."""
    from praemia.files.building import MACHINE_KEYS

    if Path(file).suffix.lower() == ".jsonl":
        return "traces"
    if format_of(file) not in OPTIONS["allow_code"]:
        return "machine"
    try:
        source = read_source(file)
    except PraemiaError:
        return None
    if source.has_any(EXPERIMENT_KEYS):
        return "experiment"
    return "machine" if source.has_any(MACHINE_KEYS) else "task"


def _mistakes(file: str, error: PraemiaError) -> list[dict[str, Any]]:
    """Return the lines of a message as findings, each with its place."""
    found: list[dict[str, Any]] = []
    for line in str(error).splitlines():
        match = _SPOT.fullmatch(line)
        if match is not None or line.startswith(f"{file}: ") or not found:
            place, row, column, message = (
                match.groups() if match else (file, None, None, line.removeprefix(f"{file}: "))
            )
            where = {"file": place, "line": row and int(row), "column": column and int(column)}
            found.append({"level": "error", "message": message, **where})
        else:
            found[-1]["message"] += f"\n{line}"
    return found


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
    emit({"ok": True, "kind": "traces", "findings": [], **summary}, text)


@click.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option("--from", "form", type=click.Choice([*READERS]), help="The format of IN, if not that of its extension.")
@click.option("--pay", type=click.Choice(["first", "each", "end"]), help="When an automaton (.hoa) is rewarded.")
def convert_command(source: str, target: Path, form: str | None, pay: str | None) -> None:
    """Convert IN, a machine file, a task file or a built-in task, to OUT.

    Machines are read from .yaml .json .txt (Toro Icarte's) .dot (AALpy's) .hoa, and multiagent-rl-rm's JSON, and
    written as .yaml or .json. A task can become a task file or Storm's .drn.
    """
    from praemia.files.load_save import load
    from praemia.files.resolving import looks_like_file, resolve_task

    is_file = looks_like_file(source)
    if not is_file and is_typed("form", "pay"):
        raise click.UsageError(f"--from and --pay are for machine files; {source!r} is a built-in task")
    loaded = load(source, form, pay=pay) if is_file else resolve_task(source)
    if isinstance(loaded, praemia.RewardMachine):
        praemia.save_machine(loaded, target)
    else:
        praemia.save_task(loaded, target)
    echo(f"wrote the {'machine' if isinstance(loaded, praemia.RewardMachine) else 'task'} to {target}", err=True)


@click.command("schema")
@click.argument("kind", type=click.Choice(("machine", "task", "experiment")), default="task")
@click.option("--strict", is_flag=True, help="The long form alone, without shorthands, for programs that write files.")
def schema_command(kind: str, strict: bool) -> None:
    """Print the JSON Schema of a file type: task (the default), machine or experiment.

    Editors can use it for completion, language models for constrained output. praemia check also verifies that names
    exist and that probabilities sum to 1.
    """
    from praemia.experiments.schema import ExperimentPart
    from praemia.files.schema import json_schema

    if kind == "experiment":
        schema = ExperimentPart.model_json_schema(mode="serialization" if strict else "validation")
    else:
        schema = json_schema("machine" if kind == "machine" else "task", strict=strict)
    click.echo(json.dumps(schema, indent=2, ensure_ascii=False))
