"""``praemia run`` and ``praemia experiment``: learners on tasks, with their exact regret."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from praemia.cli.common import (
    Where,
    complete_learners,
    complete_tasks,
    episodes_option,
    json_option,
    parse_settings,
    plural,
    print_json,
    print_table,
    runs_option,
    seed_option,
    where_options,
)
from praemia.cli.progress import CountProgress, job_progress

if TYPE_CHECKING:
    from praemia.experiments.runner import Failure
    from praemia.experiments.settings import Setting
    from praemia.inference.hidden_machine import HiddenRun
    from praemia.statistics.stored_runs import Series

FEW = 20_000  # episodes in total for which starting processes costs more than it gains


@click.command("run")
@click.argument("task", shell_complete=complete_tasks)
@click.option(
    "--learner",
    "names",
    multiple=True,
    default=("headroom",),
    show_default=True,
    metavar="NAME",
    shell_complete=complete_learners,
    help="A learner, or file.py:Class; may be repeated.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of every learner that has it."
)
@episodes_option(1000)
@runs_option(4)
@seed_option
@where_options(None, "Store the runs in this folder; stored runs are not repeated.", spread=False)
@click.option(
    "--hidden-machine", is_flag=True, help="Hide the machine: explore, infer it, and plan with what was inferred."
)
@json_option
def run_command(
    task: str,
    names: tuple[str, ...],
    settings: tuple[str, ...],
    episodes: int,
    runs: int,
    seed: int,
    where: Where,
    hidden_machine: bool,
    as_json: bool,
) -> int:
    """Run learners on TASK and print their exact regret.

    \b
    praemia run warehouse-4
    praemia run warehouse-4 --learner headroom --learner ucbvi --episodes 2000
    praemia run task.yaml --learner ucbvi-prm --set bonus_scale=0.01 --runs 16
    praemia run warehouse-3 --learner my_learner.py:MyLearner
    """
    from praemia.cli.sweep import report_failures
    from praemia.experiments.experiment_file import learner_choices, task_text
    from praemia.experiments.settings import Setting

    if hidden_machine:
        context = click.get_current_context()
        others = ("names", "settings", "jobs", "out", "policies")
        if any(context.get_parameter_source(name) == ParameterSource.COMMANDLINE for name in others):
            raise click.UsageError("--hidden-machine goes with --episodes, --runs, --seed and --json alone")
        _run_hidden(task, episodes, runs, seed, as_json)
        return 0
    choices = learner_choices(list(dict.fromkeys(names)), parse_settings(settings))
    setting = Setting(task_text(task), choices, runs, episodes, seed)
    began = time.perf_counter()
    found, failures = _perform(setting, where)
    optimal = found[0].first.optimal_value if found else None
    rows = [_row(series) for series in found]
    if as_json:
        shared = {"task": setting.name, "episodes": episodes, "runs": runs, "seed": seed, "optimal_value": optimal}
        print_json({**shared, "learners": rows})
    elif found:
        click.echo(f"{setting.name}: {episodes:,} episodes, {plural(runs, 'run')}, optimal value {optimal:.6f}\n")
        _show(rows)
        click.echo(f"\n{time.perf_counter() - began:.1f} s in total" + (f"; kept in {where.out}" if where.out else ""))
    return report_failures(failures)


def _run_hidden(name: str, episodes: int, runs: int, seed: int, as_json: bool) -> None:
    """Play with the machine hidden; print what was held when, and how good the last plan is."""
    from praemia.files import resolve_task
    from praemia.inference.hidden_machine import play_hidden

    task, progress = resolve_task(name), CountProgress("episodes")
    found = []
    for number in range(runs):
        before = number * episodes
        report = partial(_report_after, progress, before, runs * episodes)
        found.append(play_hidden(task, episodes, seed + number, on_progress=report))
    optimal = found[0].optimal_value
    if as_json:
        rows = [_hidden_row(run, seed + number) for number, run in enumerate(found)]
        print_json({"task": task.name, "episodes": episodes, "optimal_value": optimal, "runs": rows})
        return
    click.echo(f"{task.name}, machine hidden: {episodes:,} episodes, optimal value {optimal:.6f}\n")
    print_table(
        ("seed", "mean return", "value of the last plan", "states held", "right from episode"),
        [
            (
                str(seed + number),
                f"{run.returns.mean():.4f}",
                f"{run.value:.6f}",
                " → ".join(str(held.machine.num_states) for held in run.held),
                "never" if run.found_at is None else f"{run.found_at:,}",
            )
            for number, run in enumerate(found)
        ],
    )


def _report_after(progress: CountProgress, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def _hidden_row(run: HiddenRun, seed: int) -> dict[str, Any]:
    """Return a run with a hidden machine as plain data: what it earned, and each machine held from an episode on."""
    from praemia.files.writing import machine_record

    return {
        "seed": seed,
        "returns": run.returns.tolist(),
        "value": run.value,
        "found_at": run.found_at,
        "machines": [
            {
                "episode": held.episode,
                "states": held.machine.num_states,
                "right": held.is_right,
                "machine": machine_record(held.machine),
            }
            for held in run.held
        ],
    }


def _show(rows: list[dict[str, Any]]) -> None:
    print_table(
        ("learner", "regret", "per 1,000 episodes at the end", "plans", "s per run"),
        [
            (
                row["learner"],
                f"{row['regret_mean']:.2f} ± {_spread(row['regret_std'])}",
                f"{row['late_slope']:.3f}",
                f"{row['plans']:.0f}",
                f"{row['seconds']:.2f}",
            )
            for row in rows
        ],
    )


def _spread(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _perform(setting: Setting, where: Where) -> tuple[list[Series], list[Failure]]:
    """Do the runs, into a store if there is a folder; return them by learner, and the failures."""
    from praemia.cli.sweep import advice_on_interrupt, sweep
    from praemia.experiments.engines import default_jobs
    from praemia.experiments.runner import run_in_memory
    from praemia.experiments.settings import Experiment
    from praemia.statistics.stored_runs import collect, group

    work = setting.jobs()
    workers = where.jobs or (1 if len(work) * setting.num_episodes <= FEW else min(default_jobs(), len(work)))
    if where.out is not None:
        experiment = Experiment(setting.name, f"learners on {setting.name}", (setting,))
        done = sweep([experiment], replace(where, jobs=workers))
        return collect(done.store, [setting]).get(setting.name, []), done.failures
    with advice_on_interrupt(lambda: "nothing is stored; --out FOLDER keeps each run that is finished"):
        with job_progress() as progress:
            runs, failures = run_in_memory(work, num_workers=workers, progress=progress)
        return group(runs), failures


def _row(series: Series) -> dict[str, Any]:
    """Return a learner's line as plain data."""
    first = series.first
    return {
        "learner": series.title,
        "name": first.learner,
        "parameters": first.parameters,
        "regret": [float(value) for value in series.final],
        "regret_mean": float(series.final.mean()),
        "regret_std": series.spread if series.num_runs > 1 else None,
        "late_slope": series.late_slope,
        "plans": sum(run.num_plans for run in series.runs) / series.num_runs,
        "seconds": series.seconds,
    }


@click.command("experiment")
@click.argument("file", type=click.Path(path_type=Path))
@where_options(None, "Folder for the runs and the report; by default results-NAME for NAME.yaml.")
@click.option("--allow-code", is_flag=True, help="Run the Python files that FILE takes learners from.")
def experiment_command(
    file: Path,
    where: Where,
    allow_code: bool,
) -> int:
    """Run the experiment that FILE describes and write a report.

    \b
    tasks: [warehouse-4, my-task.yaml]
    learners:
      - ucbvi-prm
      - {learner: ucbvi-prm, bonus_scale: 0.01, title: bolder}
      - my_learner.py:MyLearner    # needs --allow-code
    runs: 16          # of each learner on each task
    episodes: 10000   # of each run
    seed: 0           # random seed
    """
    from praemia.cli.sweep import publish, report_failures, sweep
    from praemia.experiments.experiment_file import load_experiment
    from praemia.statistics.stored_runs import gather

    experiment = load_experiment(file, allow_code=allow_code)
    done = sweep([experiment], replace(where, out=where.out or Path(f"results-{experiment.name}")))
    studies, damaged = gather(done.store, done.experiments) if where.shard is None else ([], [])
    if studies:  # a shard is only a part
        publish(done, studies, damaged)
    return report_failures(done.failures)
