"""``praemia reproduce``: the paper's experiments, and the report that says what held."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from praemia.cli.common import Where, episodes_option, runs_option, seed_option, where_options
from praemia.errors import ParameterError

if TYPE_CHECKING:
    from praemia.cli.sweep import Sweep
    from praemia.experiments.settings import Experiment
    from praemia.statistics.stored_runs import Study
    from praemia.statistics.verdicts import Claim


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
    where: Where,
) -> int:
    """Run the paper's experiments and a small league, and write a report on what held.

    A claim held, did not hold, or is not decided: there are too few runs, or an interval is too wide. With --decide,
    undecided claims get 8, 16, 32 … 512 runs of their learners and tasks, until they are decided.

    Finished runs are kept when the command is interrupted; run it again to do the rest.
    """
    from praemia.cli.sweep import publish, report_failures, sweep
    from praemia.experiments.league import league
    from praemia.experiments.league_tasks import ONE_OF_EACH_KIND, SETTINGS_OF_THE_PAPER
    from praemia.experiments.paper import experiments, select

    if decide and where.shard is not None:
        raise ParameterError("--decide looks at all runs after each round; it cannot be combined with --shard")
    # A glimpse of the league, for it has many learners and tasks. `praemia league` plays it in full.
    tasks = (*ONE_OF_EACH_KIND, *SETTINGS_OF_THE_PAPER)
    contest = league(tasks, num_runs=max(1, runs // 4), num_episodes=max(1, episodes // 10), seed=seed)
    chosen = select([*experiments(runs, episodes, seed), contest], only)
    done = sweep(chosen, where)
    if where.shard is not None or (done.failures and not done.store.files()):
        return report_failures(done.failures)
    done = _play_on(done, where) if decide else done
    studies, damaged, claims = _look(done)
    publish(done, studies, damaged)
    _print_verdicts(claims)
    return report_failures(done.failures)


def _look(done: Sweep) -> tuple[list[Study], list[str], list[Claim]]:
    from praemia.report.page import all_claims
    from praemia.statistics.stored_runs import gather

    studies, damaged = gather(done.store, done.experiments)
    return studies, damaged, all_claims(studies)


def _play_on(done: Sweep, where: Where) -> Sweep:
    """Add runs for open claims and check them again, until more runs cannot help."""
    from praemia.cli.sweep import Sweep, sweep
    from praemia.statistics.comparisons import further_runs

    while True:
        claims = _look(done)[2]
        more = further_runs(claims, done.experiments)
        if done.failures or not more:
            return done
        open_claims = sum(claim.held is None for claim in claims)
        most = max(setting.num_runs for experiment in more for setting in experiment.settings)
        click.echo(f"{open_claims} of {len(claims)} claims are not decided; up to {most} runs of each", err=True)
        added = sweep(more, where)
        whole = [_grown(experiment, more) for experiment in done.experiments]
        done = Sweep(done.store, whole, added.failures, done.has_new_runs or added.has_new_runs)


def _grown(experiment: Experiment, more: Sequence[Experiment]) -> Experiment:
    """Return an experiment with as many runs as were added to any of its settings."""
    added = {s.name: s.num_runs for part in more if part.name == experiment.name for s in part.settings}
    settings = (replace(s, num_runs=max(s.num_runs, added.get(s.name, 0))) for s in experiment.settings)
    return replace(experiment, settings=tuple(settings))


def _print_verdicts(claims: Sequence[Claim]) -> None:
    from praemia.statistics.verdicts import verdict_lines

    for line in verdict_lines(claims):
        click.echo(line)
