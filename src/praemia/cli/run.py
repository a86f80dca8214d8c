"""``praemia run``: learners on a task, with their exact regret."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import praemia
from praemia._support.limits import MAX_RUNS
from praemia._support.text_tables import Table, number, plural
from praemia.cli.common import (
    complete_tasks,
    episodes_option,
    file_option,
    is_typed,
    learners_option,
    read_length,
    seed_option,
    set_option,
    variant_options,
    where_options,
)
from praemia.cli.experiments import advice_on_interrupt, report_failures, sweep
from praemia.cli.output import emit, fields_text, json_option, report_written
from praemia.errors import ParameterError, PraemiaError

if TYPE_CHECKING:
    from praemia.experiments.jobs import Job
    from praemia.statistics.series import Series

MEASURES = {"regret": ("regret", "per 1,000 episodes at the end"), "return": ("mean return", "over the last tenth")}
FEW = 20_000  # episodes in total for which starting processes costs more than it gains


@click.command("run")
@click.argument("task", shell_complete=complete_tasks)
@learners_option("headroom")
@set_option()
@episodes_option(1000)
@click.option("--steps", metavar="INTEGER", callback=read_length, help="Steps per run, in place of --episodes.")
@variant_options
@click.option("--runs", default=4, show_default=True, type=click.IntRange(1, MAX_RUNS), help="Runs per learner.")
@seed_option
@where_options(None, "Store the runs in this folder; stored runs are not repeated.", spread=False)
@file_option("--save", help="Save the policy learned in the first run, for show --policy.")
@json_option
def run_command(
    task: str,
    names: tuple[str, ...],
    settings: dict[str, Any],
    episodes: int,
    steps: int | None,
    until_done: bool,
    discount: float | None,
    allow_code: bool,
    runs: int,
    seed: int,
    save: Path | None,
    out: Path | None,
    **where: Any,
) -> int:
    """Run learners on TASK and print their exact regret or, for a black box, their returns.

    \b
    praemia run warehouse-4
    praemia run warehouse-4 --learner headroom --learner ucbvi --episodes 2000
    praemia run task.yaml --learner ucbvi-prm --set bonus_scale=0.01 --runs 16
    praemia run warehouse-3 --learner my_learner.py:MyLearner
    praemia run office-coffee --until-done --discount 0.9 --steps 20000
    """
    from praemia.experiments.jobs import Job, TaskText, learner_choices
    from praemia.report.tables import record

    if steps is not None and is_typed("episodes"):
        raise click.UsageError("--episodes and --steps together; give one of the two")
    if save is not None and len(set(names)) > 1:
        raise ParameterError("--save writes what one learner learned; give one --learner")
    choices = learner_choices(list(dict.fromkeys(names)), settings)
    num_episodes = episodes if steps is None else None
    played = TaskText.of(task, allow_code, until_done=until_done or None, discount=discount)
    jobs = [
        Job(played, choice, num_episodes, (seed, number), num_steps=steps)
        for number in range(runs)
        for choice in choices
    ]
    began = time.perf_counter()
    members, failures = _perform(jobs, out, **where)
    optimal = members[0].first.optimal_value if members else None
    is_box = bool(members) and optimal is None
    rows = [record(series) | {"seconds": series.seconds} for series in members]
    unit, length = ("episodes", episodes) if steps is None else ("steps", steps)
    shared = {"task": played.name, unit: length, "runs": runs, "seed": seed, "optimal_value": optimal}
    text = ""
    if members:
        lengths = f"{plural(length, unit.removesuffix('s'))}, {plural(runs, 'run')}"
        lengths += f", discount {members[0].first.discount:g}" if members[0].first.discount < 1.0 else ""
        text = f"{played.name}: {lengths}" + ("\n\n" if is_box else f", optimal value {optimal:.5g}\n\n")
        text += str(_table(rows, with_steps=until_done or steps is not None))
        text += "\n±: the standard deviation over the runs; " if runs > 1 else "\n"
        text += f"{time.perf_counter() - began:.1f} s in total"
        text += f"; kept in {out}" if out else ""
        words = [task, *_variant_words(until_done, discount, allow_code)]
        text += "\n\n" + _next_steps(words, names, save, is_box=is_box)
    if save is not None and members:
        policy = members[0].first.policy
        if policy is None:
            raise ParameterError("--save: the stored run has no policy (--no-policies)")
        policy.save(save)
        report_written(save)
    emit({**shared, "learners": rows}, text)
    return report_failures(failures)


def _variant_words(until_done: bool, discount: float | None, allow_code: bool) -> list[str]:
    """Return what was changed about the task as a user types it."""
    flags = ["--until-done"] * until_done + ["--allow-code"] * allow_code
    return flags + ([] if discount is None else ["--discount", f"{discount:g}"])


def _next_steps(task: list[str], names: Sequence[str], save: Path | None, *, is_box: bool) -> str:
    """Say how to compare the learner, and how to see what it learned."""
    own, other = names[0], "headroom" if names[0] == "ucbvi-prm" else "ucbvi-prm"
    learner = [] if own == "headroom" else ["--learner", own]
    steps = {
        "compare": ["run", *task, "--learner", own, "--learner", other],
        "see it learn": ["watch", *task, *learner],
        "see the optimum": ["show", *task],
    }
    if len(names) > 1:
        del steps["compare"]
    if is_box:  # no optimum is known
        del steps["see the optimum"]
    if save is not None:
        steps["see what it does"] = ["show", *task, "--policy", str(save)]
    return fields_text({what: shlex.join(["praemia", *words]) for what, words in steps.items()})


def _table(rows: list[dict[str, Any]], *, with_steps: bool) -> Table:
    measure, late = ("regret", "late_slope") if "regret" in rows[0] else ("return", "late_return")
    lines = []
    for row in rows:
        mean, std = number(row[f"{measure}_mean"]), row[f"{measure}_std"]
        mean += f" ± {number(std)}" if row["runs"] > 1 else ""
        counts = [f"{row[key]:.0f}" for key in ("steps",) * with_steps + ("plans",)]
        lines.append((row["learner"], mean, number(row[late]), *counts, f"{row['seconds']:.2f}"))
    return Table(("learner", *MEASURES[measure], *("steps",) * with_steps, "plans", "s per run"), lines)


def _perform(
    jobs: list[Job], out: Path | None, num_workers: int | None, keep_policies: bool
) -> tuple[list[Series], list[PraemiaError]]:
    """Do the runs, into a store if there is a folder; return them by learner, and the failures."""
    from praemia._support.limits import usable_cores
    from praemia.experiments.runner import run_in_memory
    from praemia.statistics.series import series_of

    workers = num_workers or (1 if sum(job.length for job in jobs) <= FEW else min(usable_cores(), len(jobs)))
    if out is not None:
        store = praemia.StoredRuns.create(out)
        failures = sweep(jobs, store, num_workers=workers, keep_policies=keep_policies)
        # What is stored may have been played under another title.
        stored = [(job, store.read(job)) for job in jobs]
        return series_of(replace(run, title=job.learner.title) for job, run in stored if run is not None), failures
    with advice_on_interrupt(lambda: "nothing is stored; --out FOLDER keeps each run that is finished"):
        runs, failures = run_in_memory(jobs, num_workers=workers)
        return series_of(runs), failures
