"""``praemia experiment``, ``reproduce`` and ``league``: fill a folder with runs and report on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from praemia.cli import FAILURE, LEARNER_FAILED
from praemia.cli.common import (
    RunOptions,
    command_text,
    episodes_option,
    learners_option,
    parse_settings,
    parse_shard,
    runs_option,
    seed_option,
    set_option,
    tasks_option,
    where_options,
)
from praemia.cli.output import emit, json_option, wants_json
from praemia.cli.progress import display, say
from praemia.cli.results import results_table
from praemia.errors import ParameterError, require
from praemia.text_tables import are, plural

if TYPE_CHECKING:
    from praemia.experiments.runner import Failure
    from praemia.experiments.settings import Experiment, Job
    from praemia.experiments.store import Store
    from praemia.statistics.measurements import Claim
    from praemia.statistics.standings import LeagueTable
    from praemia.statistics.stored_runs import Study


class Sweep(NamedTuple):
    """What a sweep left behind."""

    store: Store
    experiments: list[Experiment]  # with the command that asked for them
    failures: list[Failure]
    has_new_runs: bool


def sweep(experiments: Iterable[Experiment], where: RunOptions, *, is_reported: bool = True) -> Sweep:
    """Record what is asked for and do the missing runs; first see that a report on them can be written."""
    from praemia.experiments.runner import run_into_store
    from praemia.experiments.store import Store

    assert where.out is not None
    if is_reported and where.shard is None:
        require("matplotlib.figure")
    shard = parse_shard(where.shard)
    store = Store.create(where.out)
    asked = [replace(experiment, command=command_text()) for experiment in experiments]
    # Experiments may share a run: it is done once.
    jobs = list({store.path_of(job): job for experiment in asked for job in experiment.jobs()}.values())
    before = len(store.files())
    with advice_on_interrupt(lambda: _stored(store, jobs)), display() as progress:
        store.ask(asked)
        failures = run_into_store(
            jobs,
            store,
            num_workers=where.jobs,
            address=where.engine,
            shard=shard,
            keep_policies=where.policies,
            progress=progress,
        )
    return Sweep(store, asked, failures, len(store.files()) != before)


def _run_options(options: Mapping[str, Any], folder: str) -> RunOptions:
    """Return where runs go: into the folder that a command has, if the user names none."""
    return RunOptions(**{**options, "out": options["out"] or Path(folder)})


def publish(result: Sweep, studies: list[Study]) -> None:
    """Write the report on some studies and say where it is.

    Figures that are there are not drawn again where nothing is new.
    """
    from praemia.report.page import write_report

    report, figures = result.store.folder / "report.html", result.store.folder / "figures"
    say("writing the report")
    with display():
        damaged = result.store.damaged.values()
        write_report(studies, damaged, report, figures=result.has_new_runs or not figures.is_dir())
    click.echo(f"the report is {report}, the figures are in {figures}", err=wants_json())


@contextmanager
def advice_on_interrupt(advice: Callable[[], str]) -> Iterator[None]:
    """Make Ctrl-C say what to do next."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(advice()) from None


def _stored(store: Store, jobs: list[Job]) -> str:
    """Say how many runs are stored; they are not repeated."""
    count = sum(store.path_of(job).is_file() for job in jobs)
    return f"run again to go on: {count} of {plural(len(jobs), 'run')} {are(count)} stored in {store.folder}"


def report_failures(failures: Iterable[Failure]) -> int:
    """Print which learners failed, one line each; return the exit status."""
    counts = Counter((failure.message, failure.is_bad_plan) for failure in failures)
    for (message, _), count in counts.items():
        say(f"error: {message}" + (f", in {count} runs" if count > 1 else ""))
    if any(is_bad_plan for _, is_bad_plan in counts):
        return FAILURE
    return LEARNER_FAILED if counts else 0


@click.command("experiment")
@click.argument("file", type=click.Path(path_type=Path))
@where_options(None, "Folder for the runs and the report; by default results-NAME for NAME.yaml.")
@click.option("--allow-code", is_flag=True, help="Run the Python files that FILE takes learners from.")
def experiment_command(file: Path, allow_code: bool, **options: Any) -> int:
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
    from praemia.experiments.experiment_file import load_experiment
    from praemia.statistics.stored_runs import gather

    experiment = load_experiment(file, allow_code=allow_code)
    where = _run_options(options, f"results-{experiment.name}")
    result = sweep([experiment], where)
    if where.shard is None:  # a shard is only a part
        studies = gather(result.store, result.experiments)
        if studies:
            publish(result, studies)
            click.echo(results_table(series for study in studies for series in study.series))
    return report_failures(result.failures)


@click.command("reproduce")
@click.option("--only", multiple=True, metavar="NAME", help="An experiment or a setting; may be repeated.")
@click.option("--decide", is_flag=True, help="Add runs, up to 512 of each, until the claims are decided.")
@runs_option(16)
@episodes_option(10_000)
@seed_option
@where_options("results", "Folder for runs, figures and report; stored runs are not repeated.")
def reproduce_command(
    only: tuple[str, ...],
    decide: bool,
    runs: int,
    episodes: int,
    seed: int,
    **options: Any,
) -> int:
    """Run the paper's experiments, with this package's own learner among them, and write a report on what held.

    A claim held, did not hold, or is not decided: there are too few runs, or an interval is too wide. With --decide,
    undecided claims get 8, 16, 32 … 512 runs of their learners and tasks, until they are decided.

    Finished runs are kept when the command is interrupted; run it again to do the rest.
    """
    from praemia.experiments.paper import experiments, select
    from praemia.statistics.measurements import verdict_lines

    where = RunOptions(**options)
    if decide and where.shard is not None:
        raise ParameterError("--decide looks at all runs after each round; it cannot be combined with --shard")
    result = sweep(select(experiments(runs, episodes, seed), only), where)
    if where.shard is not None or (result.failures and not result.store.files()):
        return report_failures(result.failures)
    result = _play_on(result, where) if decide else result
    studies, claims = _look(result)
    publish(result, studies)
    for line in verdict_lines(claims):
        click.echo(line)
    click.echo("to compare all learners on other tasks, run: praemia league")
    return report_failures(result.failures)


def _look(result: Sweep) -> tuple[list[Study], list[Claim]]:
    from praemia.statistics.claims import check_claims
    from praemia.statistics.stored_runs import gather

    studies = gather(result.store, result.experiments)
    return studies, check_claims(studies)


def _play_on(result: Sweep, where: RunOptions) -> Sweep:
    """Add runs for open claims and check them again, until more runs cannot help."""
    from praemia.experiments.requests import unite
    from praemia.statistics.measurements import further_runs

    while True:
        _, claims = _look(result)
        more = further_runs(claims, result.experiments)
        if result.failures or not more:
            return result
        open_claims = sum(claim.held is None for claim in claims)
        most = max(setting.num_runs for experiment in more for setting in experiment.settings)
        say(f"{open_claims} of {len(claims)} claims {are(open_claims)} not decided; up to {most} runs of each")
        added = sweep(more, where)
        whole = unite([*result.experiments, *added.experiments])
        result = Sweep(result.store, whole, added.failures, result.has_new_runs or added.has_new_runs)


@click.command("league")
@tasks_option("all of the league's")
@learners_option(help="  [default: all that plan]")
@set_option("Set a parameter of every learner that has it, in place of its usual setting.")
@click.option(
    "--suite",
    metavar="NAME",
    help="Published benchmarks, office, office-jair or craft: steps to the optimum, beside the published ones.",
)
@click.option("--full", is_flag=True, help="Also run the large tasks, with more and longer runs (overnight).")
@click.option("--runs", type=click.IntRange(1), help="Runs of each; 2, 32 with --full, 10 with --suite.")
@episodes_option(None, "Episodes of each run; 3000, or 10000 with --full.")
@seed_option
@where_options(None, "Folder for runs, report and figures; by default results-league, or results-NAME for a suite.")
@json_option
def league_command(
    tasks: tuple[str, ...],
    names: tuple[str, ...],
    settings: tuple[str, ...],
    suite: str | None,
    full: bool,
    runs: int | None,
    episodes: int | None,
    seed: int,
    **options: Any,
) -> int:
    """Run every learner on every task, at one setting per learner, and print whose regret is lowest.

    Most tasks are drawn by seeds that no constant was chosen on; the paper's settings are reported separately. It takes
    up to 10 minutes on two cores. Left out unless named: random and optimal, which do not learn, and q-learning and
    crm, which need many more episodes.

    With --suite it plays published benchmarks instead: how many steps until a learner is at .9, .95 and .99 of the
    optimum for good, by exact values, within a budget that is the same for all. --learner q-learning adds others,
    with the settings that were published.

    \b
    praemia league --task warehouse-3 --learner eqo --learner my.py:MyLearner
    praemia league --suite office
    """
    if suite is not None:
        others = {"--task": tasks, "--set": settings, "--full": full, "--episodes": episodes}
        return _play_suite(suite, names, runs, seed, _run_options(options, f"results-{suite}"), others)
    where = _run_options(options, "results-league")
    from praemia.experiments.league import league
    from praemia.report.league_page import APART, league_text
    from praemia.statistics.claims import check_claims
    from praemia.statistics.measurements import verdict_lines
    from praemia.statistics.standings import boards
    from praemia.statistics.stored_runs import gather

    contest = league(tasks, names, runs, episodes, seed, full=full, parameters=parse_settings(settings))
    result = sweep([contest], where)
    studies = gather(result.store, result.experiments)
    board, apart = boards(studies[0].settings if studies else {})
    if where.shard is None and not board.learners:
        say("no ranking: no learner has a run on every task (oracle baselines are not ranked)")
    if where.shard is not None or not board.learners:
        return report_failures(result.failures)
    claims, text = check_claims(studies), league_text(board)
    if apart is not None and apart.learners:
        text += f"\n{APART}:\n\n{league_text(apart)}"
    emit({**_as_data(board), "paper": apart and _as_data(apart), **_claims(claims)}, text)
    publish(result, studies)
    if claims and not wants_json():
        click.echo("\n".join(verdict_lines(claims)))
    return report_failures(result.failures)


def _play_suite(
    name: str, names: tuple[str, ...], runs: int | None, seed: int, where: RunOptions, others: Mapping[str, Any]
) -> int:
    """Play a suite of published benchmarks and print its table."""
    from praemia.experiments.requests import unite
    from praemia.experiments.suites import find, suite_experiment
    from praemia.report.suite_page import suite_data, suite_text
    from praemia.statistics.stored_runs import gather
    from praemia.statistics.suite_lines import suite_lines

    if clashing := [option for option, value in others.items() if value]:
        raise ParameterError(
            f"--suite cannot be combined with {', '.join(clashing)}: a suite fixes its tasks and run lengths"
        )
    suite = find(name)
    # Hundreds of policies for hundreds of steps each would fill a disk, and no figure shows them.
    where = replace(where, policies=False)
    result = sweep([suite_experiment(suite, names, runs, seed)], where)
    # Learners that were asked for earlier, in the same folder, are in the table too.
    earlier = [e for e in result.store.asked() if e.name == result.experiments[0].name]
    studies = gather(result.store, unite([*result.experiments, *earlier])[:1])
    if where.shard is None and studies:
        lines = suite_lines(suite, studies[0].settings)
        emit(suite_data(suite, lines), suite_text(suite, lines))
        publish(result._replace(has_new_runs=True), studies)
    return report_failures(result.failures)


def _as_data(board: LeagueTable) -> dict[str, Any]:
    """Return the standings as plain data."""
    players = (*board.learners, *board.yardsticks)
    regrets = board.regrets_of(players).tolist()
    return {
        "tasks": list(board.tasks),
        "kinds": list(board.kinds),
        "reference": board.reference,
        "standings": [asdict(line) for line in board.standings],
        "regret": {task: dict(zip(players, row, strict=True)) for task, row in zip(board.tasks, regrets, strict=True)},
        "yardsticks": list(board.yardsticks),
    }


def _claims(claims: list[Claim]) -> dict[str, Any]:
    return {
        "claims": [{"key": c.key, "statement": c.statement.text, "outcome": c.outcome, "why": c.why} for c in claims]
    }
