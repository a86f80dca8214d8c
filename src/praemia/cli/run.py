"""``praemia run``: learners on a task, with their exact regret."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.options import episodes_option, jobs_option, out_option, parse_settings, runs_option, seed_option
from praemia.cli.output import json_option, print_json, print_table
from praemia.cli.progress import job_progress

if TYPE_CHECKING:
    from praemia.analysis.results import Series
    from praemia.experiments.settings import Setting


@click.command("run")
@click.argument("task")
@click.option("--learner", "names", multiple=True, default=("ucbvi-prm",), show_default=True, help="May be repeated.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A parameter of every learner that has it."
)
@episodes_option(1000)
@runs_option(4)
@seed_option
@jobs_option
@out_option(None, "Keep the runs in this folder; runs that are there are not done again.")
@json_option
def command(
    task: str,
    names: tuple[str, ...],
    settings: tuple[str, ...],
    episodes: int,
    runs: int,
    seed: int,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run learners on TASK and print their exact regret.

    \b
    praemia run warehouse-4 --learner ucbvi-prm --learner ucbvi --episodes 2000
    praemia run task.yaml --learner ucbvi-prm --set bonus_scale=0.01 --runs 16
    """
    from praemia.experiments.files import learner_choices, task_text
    from praemia.experiments.settings import Setting

    choices = learner_choices(list(dict.fromkeys(names)), parse_settings(settings))
    setting = Setting(task_text(task), choices, runs, episodes, seed)
    began = time.perf_counter()
    found = _perform(setting, jobs, out)
    rows = [_row(series) for series in found]
    optimal = found[0].records[0].optimal_value
    if as_json:
        shared = {"task": setting.name, "episodes": episodes, "runs": runs, "seed": seed, "optimal_value": optimal}
        print_json({**shared, "learners": rows})
        return
    click.echo(f"{setting.name}: {episodes:,} episodes, {runs} runs, optimal value {optimal:.6f}\n")
    print_table(
        ("learner", "regret", "per 1,000 episodes at the end", "plans", "s per run"),
        [
            (
                row["learner"],
                f"{row['regret_mean']:.2f} ± {row['regret_std']:.2f}",
                f"{row['late_slope']:.3f}",
                f"{row['plans']:.0f}",
                f"{row['seconds']:.2f}",
            )
            for row in rows
        ],
    )
    click.echo(f"\n{time.perf_counter() - began:.1f} s in all" + (f"; kept in {out}" if out else ""))


def _perform(setting: Setting, jobs: int | None, out: Path | None) -> list[Series]:
    """Do the runs, in a store if one is wanted and in a passing one if not."""
    import tempfile

    from praemia.analysis.results import collect
    from praemia.experiments.engines import default_jobs
    from praemia.experiments.runner import run_into_store
    from praemia.experiments.store import Store

    work = setting.jobs()
    # Starting processes costs more than a few short runs.
    workers = jobs or (1 if len(work) * setting.num_episodes <= 20_000 else min(default_jobs(), len(work)))
    with tempfile.TemporaryDirectory() if out is None else nullcontext(out) as folder, job_progress() as progress:
        store = Store.create(folder)
        run_into_store(
            work,
            store,
            num_workers=workers,
            on_start=progress.start,
            on_done=progress.done,
            on_damage=progress.damage,
        )
        return collect(store, [setting])[setting.name]


def _row(series: Series) -> dict[str, Any]:
    """Return a learner's line as plain data."""
    choice = series.records[0].job.learner
    return {
        "learner": choice.title,
        "name": choice.name,
        "parameters": dict(choice.parameters),
        "regret": [float(value) for value in series.final],
        "regret_mean": float(series.final.mean()),
        "regret_std": float(series.final.std(ddof=1)) if len(series.final) > 1 else 0.0,
        "late_slope": series.late_slope,
        "plans": sum(record.num_plans for record in series.records) / len(series.records),
        "seconds": series.seconds,
    }
