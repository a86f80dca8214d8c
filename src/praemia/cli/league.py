"""``praemia league``: every learner on every task, at one setting per learner."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.options import engine_options, episodes_option, out_option, runs_option, seed_option
from praemia.cli.output import json_option, print_json
from praemia.errors import ParameterError

if TYPE_CHECKING:
    from praemia.analysis.league import Board, Standing


@click.command("league")
@click.option("--tasks", metavar="NAMES", help="Tasks or task files, with commas between; all of the league's if none.")
@click.option("--learners", metavar="NAMES", help="Learners, with commas between; all that plan if none.")
@runs_option(16)
@episodes_option(10_000)
@seed_option
@engine_options
@out_option("results-league", "Where runs, report and figures go; runs that are there are not done again.")
@json_option
def command(
    tasks: str | None,
    learners: str | None,
    runs: int,
    episodes: int,
    seed: int,
    jobs: int | None,
    engine: str | None,
    shard: str | None,
    out: Path,
    as_json: bool,
) -> None:
    """Run every learner on every task, at one setting per learner, and print who is best.

    Left out unless named: random and optimal, which do not learn, and q-learning and crm, which take most of the time.

    \b
    praemia league --tasks warehouse-3,riverswim-10 --learners eqo,ucbvi-prm --runs 4
    """
    from praemia.analysis.league import Board, standings
    from praemia.analysis.league_page import league_text
    from praemia.analysis.report import publish
    from praemia.analysis.results import collect
    from praemia.cli.sweep import sweep
    from praemia.experiments.league import league

    chosen = league(_names(tasks), _names(learners), runs, episodes, seed)
    store = sweep([chosen], out, jobs, engine, shard)
    if shard is not None:
        return
    board = Board.of(collect(store, chosen.settings))
    table = standings(board)
    if as_json:
        print_json(_as_data(board, table))
    else:
        click.echo(league_text(board, table))
    click.echo("writing the report", err=True)
    publish(store, [chosen], out / "report.html")
    if not as_json:
        click.echo(f"the report is {out / 'report.html'}, the figures are in {out / 'figures'}")


def _names(text: str | None) -> list[str]:
    """Read names with commas between; an option that is not given is no names, one that is given has some."""
    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise ParameterError(f"{text!r} has an empty name in it; expected names with commas between")
    return names


def _as_data(board: Board, table: list[Standing]) -> dict[str, Any]:
    """Return the league as plain data."""
    return {
        "tasks": list(board.tasks),
        "reference": board.learners[board.reference],
        "standings": [{**asdict(line), "seconds": round(line.seconds, 6)} for line in table],
        "regret": {
            task: dict(zip(board.learners, row, strict=True))
            for task, row in zip(board.tasks, board.regrets.tolist(), strict=True)
        },
    }
