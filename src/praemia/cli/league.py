"""``praemia league``: every learner on every task, at one setting per learner."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.common import (
    Where,
    complete_tasks,
    emit,
    episodes_option,
    json_option,
    learners_option,
    seed_option,
    wants_json,
    where_options,
)
from praemia.cli.experiments import publish, report_failures, sweep

if TYPE_CHECKING:
    from praemia.statistics.standings import LeagueTable, Standing
    from praemia.statistics.verdicts import Claim


@click.command("league")
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="TASK",
    shell_complete=complete_tasks,
    help="A built-in task or a task file; may be repeated.  [default: all of the league's]",
)
@learners_option(help="  [default: all that plan]")
@click.option("--full", is_flag=True, help="Large tasks too, longer and more runs: takes a night.")
@click.option("--runs", type=click.IntRange(1), help="Runs of each; 2, or 32 with --full.")
@episodes_option(None, "Episodes of each run; 3000, or 10000 with --full.")
@seed_option
@where_options("results-league", "Folder for runs, report and figures; stored runs are not repeated.")
@json_option
def league_command(
    tasks: tuple[str, ...],
    names: tuple[str, ...],
    full: bool,
    runs: int | None,
    episodes: int | None,
    seed: int,
    where: Where,
) -> int:
    """Run every learner on every task, at one setting per learner, and print whose regret is lowest.

    Most tasks are drawn by seeds that no constant was chosen on; the paper's settings are reported separately. It takes
    up to 10 minutes on two cores. Left out unless named: random and optimal, which do not learn, and q-learning and
    crm, which take most of the time.

    \b
    praemia league --task warehouse-3 --task riverswim-10 --learner eqo --learner my_learner.py:MyLearner --runs 4
    """
    from praemia.experiments.league import league
    from praemia.report.league_page import APART, league_text
    from praemia.statistics.claims import check_claims
    from praemia.statistics.standings import boards, standings
    from praemia.statistics.stored_runs import gather
    from praemia.statistics.verdicts import verdict_lines

    contest = league(tasks, names, runs, episodes, seed, full=full)
    done = sweep([contest], where)
    studies, damaged = gather(done.store, done.experiments)
    board, apart = boards(studies[0].settings if studies else {})
    if where.shard is None and not board.learners:
        click.echo("no ranking: no learner has a run on every task (oracle baselines are not ranked)", err=True)
    if where.shard is not None or not board.learners:
        return report_failures(done.failures)
    table, claims = standings(board), check_claims(studies)
    text = league_text(board, table)
    if apart is not None and apart.learners:
        text += f"\n{APART}:\n\n{league_text(apart, standings(apart))}"
    emit({**_as_data(board, table), "paper": apart and _as_data(apart, standings(apart)), **_claims(claims)}, text)
    publish(done, studies, damaged)
    if claims and not wants_json():
        click.echo("\n".join(verdict_lines(claims)))
    return report_failures(done.failures)


def _as_data(board: LeagueTable, table: list[Standing]) -> dict[str, Any]:
    """Return the standings as plain data."""
    players = (*board.learners, *board.yardsticks)
    regrets = board.regrets_of(players).tolist()
    return {
        "tasks": list(board.tasks),
        "kinds": list(board.kinds),
        "reference": board.learners[board.reference],
        "standings": [asdict(line) for line in table],
        "regret": {task: dict(zip(players, row, strict=True)) for task, row in zip(board.tasks, regrets, strict=True)},
        "yardsticks": list(board.yardsticks),
    }


def _claims(claims: list[Claim]) -> dict[str, Any]:
    return {"claims": [{"key": c.key, "statement": c.statement, "outcome": c.outcome, "why": c.why} for c in claims]}
