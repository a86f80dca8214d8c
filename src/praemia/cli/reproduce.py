"""``praemia reproduce``: the paper's experiments, and the report that says what held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from praemia.cli.common import engine_options, episodes_option, out_option, policies_option, runs_option, seed_option
from praemia.errors import ParameterError

if TYPE_CHECKING:
    from praemia.cli.sweep import Where
    from praemia.experiments.runner import Failure
    from praemia.experiments.settings import Experiment
    from praemia.experiments.store import Store
    from praemia.statistics.stored_runs import Study
    from praemia.statistics.verdicts import Claim


@click.command("reproduce")
@click.option("--only", multiple=True, metavar="NAME", help="An experiment or a setting; may be repeated.")
@click.option("--decide", is_flag=True, help="Add runs, up to 512 of each, until the claims are decided.")
@runs_option(16)
@episodes_option(10_000)
@seed_option
@engine_options
@out_option("results", "Folder for runs, figures and report; stored runs are not repeated.")
@policies_option
def reproduce_command(
    only: tuple[str, ...],
    decide: bool,
    runs: int,
    episodes: int,
    seed: int,
    jobs: int | None,
    engine: str | None,
    shard: str | None,
    out: Path,
    policies: bool,
) -> int:
    """Run the paper's experiments and a small league, and write a report on what held.

    A claim held, did not hold, or is not decided: there are too few runs, or an interval is too wide. With --decide,
    undecided claims get 8, 16, 32 … 512 runs of their learners and tasks, until they are decided.

    Finished runs are kept when the command is interrupted; run it again to do the rest.
    """
    from praemia.cli.sweep import Where, num_stored, publish_report, report_failures, sweep
    from praemia.experiments.league import league
    from praemia.experiments.league_tasks import ONE_OF_EACH_KIND, SETTINGS_OF_THE_PAPER
    from praemia.experiments.paper import experiments, select

    if decide and shard is not None:
        raise ParameterError("--decide looks at all runs after each round; it cannot be combined with --shard")
    # A glimpse of the league, for it has many learners and tasks. `praemia league` plays it in full.
    tasks = (*ONE_OF_EACH_KIND, *SETTINGS_OF_THE_PAPER)
    contest = league(tasks, num_runs=max(1, runs // 4), num_episodes=max(1, episodes // 10), seed=seed)
    chosen = select([*experiments(runs, episodes, seed), contest], only)
    where = Where(out, jobs, engine, shard, policies)
    before = num_stored(out)
    store, failures = sweep(chosen, where)
    if shard is not None or (failures and not store.files()):
        return report_failures(failures)
    found = _play_on(store, chosen, where, failures) if decide else _look(store, chosen)
    studies, damaged, claims = found
    publish_report(studies, damaged, out, is_new=num_stored(out) != before)
    _print_verdicts(claims)
    return report_failures(failures)


def _look(store: Store, catalogue: Sequence[Experiment]) -> tuple[list[Study], list[str], list[Claim]]:
    from praemia.report.page import all_claims
    from praemia.statistics.stored_runs import gather

    studies, damaged = gather(store, catalogue)
    return studies, damaged, all_claims(studies)


def _play_on(
    store: Store, catalogue: list[Experiment], where: Where, failures: list[Failure]
) -> tuple[list[Study], list[str], list[Claim]]:
    """Add runs for open claims and check them again, until more runs cannot help; add to ``failures``."""
    from praemia.cli.sweep import sweep
    from praemia.statistics.comparisons import further_runs

    while True:
        studies, damaged, claims = _look(store, catalogue)
        more = further_runs(claims, catalogue)
        if failures or not more:
            return studies, damaged, claims
        open_claims = sum(claim.held is None for claim in claims)
        most = max(setting.num_runs for experiment in more for setting in experiment.settings)
        click.echo(f"{open_claims} of {len(claims)} claims are not decided; up to {most} runs of each", err=True)
        failures += sweep(more, where)[1]
        catalogue = [_grown(experiment, more) for experiment in catalogue]


def _grown(experiment: Experiment, more: Sequence[Experiment]) -> Experiment:
    """Return an experiment with as many runs as were added to any of its settings."""
    added = {s.name: s.num_runs for part in more if part.name == experiment.name for s in part.settings}
    settings = (replace(s, num_runs=max(s.num_runs, added.get(s.name, 0))) for s in experiment.settings)
    return replace(experiment, settings=tuple(settings))


def _print_verdicts(claims: Sequence[Claim]) -> None:
    from praemia.statistics.verdicts import verdict_lines

    for line in verdict_lines(claims):
        click.echo(line)
