"""``praemia experiment``, ``reproduce`` and ``report``: fill a folder with runs, and say what they show."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import praemia
from praemia._support.activity import display, say
from praemia._support.limits import MAX_RUNS
from praemia._support.text_tables import are, plural
from praemia.cli import FAILURE, LEARNER_FAILED
from praemia.cli.common import (
    complete_experiments,
    complete_tasks,
    episodes_option,
    file_option,
    learners_option,
    together,
    where_options,
)
from praemia.cli.output import echo, emit, json_option, report_written, wants_json
from praemia.errors import FileError, ParameterError, PlanError, PraemiaError

if TYPE_CHECKING:
    from praemia.experiments.experiment import Experiment
    from praemia.experiments.jobs import Job
    from praemia.statistics.claims import Verdict


TEXT_WIDTH = 110
MAX_LINES = 60  # of tables in a terminal, where there are verdicts too


def sweep(jobs: Sequence[Job], store: praemia.StoredRuns, **where: Any) -> list[PraemiaError]:
    """Do the runs that are missing from a store; return the failures."""
    from praemia.experiments.runner import run_into_store

    with advice_on_interrupt(lambda: _stored(store, jobs)):
        return run_into_store(list(jobs), store, **where)


@contextmanager
def advice_on_interrupt(advice: Callable[[], str]) -> Iterator[None]:
    """Make Ctrl-C say what to do next."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(advice()) from None


def _stored(store: praemia.StoredRuns, jobs: Sequence[Job]) -> str:
    """Say how many runs are stored; they are not repeated."""
    count = sum(store.path_of(job).is_file() for job in jobs)
    return f"rerun to resume: {count} of {plural(len(jobs), 'run')} {are(count)} stored in {store.folder}"


def report_failures(failures: Sequence[PraemiaError]) -> int:
    """Print which learners failed, one line each; return the exit status."""
    for message, count in Counter(map(str, failures)).items():
        say(f"error: {message}" + (f", in {count} runs" if count > 1 else ""))
    if any(isinstance(error, PlanError) for error in failures):
        return FAILURE
    return LEARNER_FAILED if failures else 0


def experiment_options(out: str | None) -> Callable[[Any], Any]:
    """Add what can be said beside an experiment file."""
    tasks = "A built-in task or a task file; may be repeated.  [default: all of the experiment's]"
    text = "Folder for the runs and the report; stored runs are not repeated."
    text += "" if out else "  [default: results-NAME for NAME.yaml]"
    return together(
        click.option("--task", "tasks", metavar="TASK", multiple=True, shell_complete=complete_tasks, help=tasks),
        learners_option(help="  [default: all of the experiment's]"),
        click.option(
            "--runs", type=click.IntRange(1, MAX_RUNS), help="Runs per learner and task, in place of the file's."
        ),
        episodes_option(None, "Episodes of each run, in place of the file's."),
        click.option("--seed", type=click.IntRange(0), help="Random seed, in place of the file's."),
        click.option("--decide", is_flag=True, help="Add runs, up to 512 of each, until the claims are decided."),
        where_options(out, text),
        json_option,
    )


@click.command("experiment")
@click.argument("file", shell_complete=complete_experiments)
@experiment_options(None)
@click.option("--allow-code", is_flag=True, help="Run the Python files that FILE takes learners from.")
def experiment_command(file: str, allow_code: bool, **options: Any) -> int:
    """Run the experiment that FILE describes, or paper, league, office or craft, and write a report.

    \b
    tasks: [warehouse-4, my-task.yaml]
    learners:
      - ucbvi-prm
      - {learner: ucbvi-prm, bonus_scale: [0.01, 0.1]}   # a list is a grid
      - my_learner.py:MyLearner    # needs --allow-code
    runs: 16          # of each learner on each task
    episodes: 10000   # of each run; or steps
    seed: 0           # random seed
    claims:
      - {say: Headroom is lower, measure: ratio, of: headroom, than: ucbvi-prm, question: below}

    Only the tasks and learners that are named with --task and --learner are run, new ones too; the report is always on
    all runs in the folder. Finished runs are kept when the command is interrupted; rerun to resume.

    \b
    praemia experiment league --task warehouse-3 --learner eqo --learner my.py:MyLearner
    praemia experiment office --learner q-learning
    """
    return _run(file, allow_code=allow_code, **options)


@click.command("reproduce")
@experiment_options("results")
def reproduce_command(**options: Any) -> int:
    """Run the paper's experiments, with this package's own learner among them, and write a report on what held.

    The same as praemia experiment paper. A claim held, did not hold, or is not decided: there are too few runs, or an
    interval is too wide. With --decide, undecided claims get 8, 16, 32 … 512 runs of their learners and tasks.
    """
    return _run("paper", **options)


def _run(
    file: str,
    *,
    tasks: Sequence[str],
    names: Sequence[str],
    runs: int | None,
    episodes: int | None,
    seed: int | None,
    decide: bool,
    out: Path | None,
    allow_code: bool = False,
    **where: Any,
) -> int:
    from praemia.experiments.loading import Changes, load_experiment

    is_part = where["shard"] != (1, 1)
    if decide and is_part:
        raise ParameterError("--decide needs all runs after each round; it cannot be combined with --shard")
    experiment = load_experiment(file, Changes(tasks, names, runs, episodes, seed), allow_code=allow_code)
    if any(job.num_steps for group in experiment.groups for job in group.cells.values()):
        where["keep_policies"] = False  # hundreds of policies for hundreds of steps each would fill a disk
    store = praemia.StoredRuns.create(out or Path(f"results-{Path(file).stem}"))
    store.keep(experiment)
    failures = sweep(experiment.jobs(), store, **where)
    if not is_part and store.files():
        if decide:
            failures += _play_on(experiment, store, where)
        _publish(store)
    return report_failures(failures)


def _play_on(experiment: Experiment, store: praemia.StoredRuns, where: dict[str, Any]) -> list[PraemiaError]:
    """Add runs for open claims and check them again, until more runs cannot help."""
    from praemia.statistics.claims import check_claims, further_runs
    from praemia.statistics.series import studies_of

    while True:
        found = [check_claims(study) for study in studies_of(store.runs(), experiment.groups)[:-1]]
        wanted = [
            job for group, own in zip(experiment.groups, found, strict=True) for job in group.jobs(further_runs(own))
        ]
        more = [job for job in wanted if not store.path_of(job).is_file()]
        if not more:
            return []
        held = [verdict.held for own in found for verdict in own]
        most = max(job.seed[1] + 1 for job in more)
        say(f"{held.count(None)} of {len(held)} claims {are(held.count(None))} not decided; up to {most} runs of each")
        if failures := sweep(more, store, **where):
            return failures


def _publish(store: praemia.StoredRuns, path: Path | None = None) -> None:
    """Write the report on a folder, and print its verdicts and tables."""
    from praemia.report.page import write_report
    from praemia.report.tables import explained, has_kinds, main_table, record
    from praemia.statistics.claims import check_claims
    from praemia.statistics.series import read_folder

    with display():
        found = read_folder(store)
        if not found:
            also = f" ({plural(len(store.damaged), 'damaged file')})" if store.damaged else ""
            raise FileError(f"{store.folder}: there are no runs to report on{also}; praemia reproduce makes them")
        path = path or store.folder / "report.html"
        write_report(store, path, found)
    verdicts = [verdict for study in found for verdict in check_claims(study)]
    for message in store.damaged.values():
        say(f"warning: {message}")
    data = {
        "report": str(path),
        "groups": [{"title": study.group.title, "results": [*map(record, study.series.values())]} for study in found],
        "claims": [_claim_record(verdict) for verdict in verdicts],
        "damaged": [*store.damaged.values()],
    }
    is_short = sum(len(study.series) for study in found) <= MAX_LINES
    shown = [own for own in found if has_kinds(own) or own.group.has_steps or is_short]
    texts = [
        f"{study.group.title}\n\n{main_table(study)}\n{textwrap.fill(explained(study), TEXT_WIDTH)}\n"
        for study in shown
    ]
    emit(data, "\n".join([*texts, *map(str, verdicts)]))
    echo(f"the report is {path}", err=wants_json())


def _claim_record(verdict: Verdict) -> dict[str, Any]:
    said = verdict.claim.say
    return {"say": said, "outcome": verdict.outcome, "why": verdict.why, "rule": verdict.rule}


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The report; by default DIR/report.html.")
@file_option("--csv", "csv_file", help="Write a row per run to a CSV file, instead of the report.")
@click.option("--curves", is_flag=True, help="With --csv: one row per breakpoint of each regret curve, not per run.")
@json_option
def report_command(folder: Path, out: Path | None, csv_file: Path | None, curves: bool) -> None:
    """Write a report on the runs in DIR: what held, curves, tables, tasks, and how it was made.

    The report is one file that needs no network. Damaged files are reported and left out.
    """
    from praemia.files.atomic_io import write_whole

    if curves and csv_file is None:
        raise ParameterError("--curves says what is written; give a file with --csv")
    if csv_file is None:
        _publish(praemia.StoredRuns.open(folder), out)
        return
    runs = praemia.StoredRuns.open(folder)
    frame = runs.curves() if curves else runs.to_frame()
    write_whole(csv_file, frame.to_csv(index=False).encode())
    report_written(csv_file)
    emit({"runs": len(runs), "damaged": [*runs.damaged.values()]}, "")
