"""The league: its tables as text, and its section of the report."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from contextlib import suppress
from html import escape

from praemia.drawing.figures import league_figure
from praemia.drawing.style import render
from praemia.errors import MissingExtraError
from praemia.experiments.settings import slug
from praemia.report import html
from praemia.statistics.standings import Board, Standing, standings
from praemia.statistics.stored_runs import Study
from praemia.text_tables import number, table_text

TITLE = "The league"
HEADER = ("learner", "ratio", "95% low", "95% high", "mean rank", "firsts", "worst run", "linear", "s")


def standing_cells(line: Standing) -> tuple[str, ...]:
    """Return a learner's line of the table, in the order of ``HEADER``."""
    ratio = (line.ratio.estimate, line.ratio.low, line.ratio.high)
    linear = f"{sum(line.linear.values())}/{line.runs}"
    rest = (f"{line.rank:.2f}", str(line.firsts), number(line.worst), linear, number(line.seconds))
    return (line.learner, *map(number, ratio), *rest)


def regret_rows(board: Board) -> list[tuple[str, ...]]:
    """Return a line for every task: the mean final regret of each learner."""
    return [(task, *map(number, row)) for task, row in zip(board.tasks, board.regrets.tolist(), strict=True)]


def league_text(board: Board, table: Sequence[Standing]) -> str:
    """Return the standings and the regrets as text."""
    explained = (
        f"ratio: to the regret of {board.learners[board.reference]}, geometric mean over {len(board.kinds)} kinds of "
        f"task ({len(board.tasks)} tasks);\nworst run: the largest worst ÷ mean; linear: runs that still lose at the "
        "end; s: seconds per run."
    )
    linear = [
        f"  {line.learner}: " + ", ".join(f"{task} {count}" for task, count in line.linear.items())
        for line in table
        if line.linear
    ]
    parts = [
        table_text(HEADER, map(standing_cells, table)),
        explained,
        *(["", "linear runs:", *linear] if linear else []),
        *([f"\nnot on every task, and left out: {', '.join(board.left_out)}"] if board.left_out else []),
    ]
    return "\n".join(parts) + "\n"


def league_section(study: Study) -> str:
    """Return the league as a section of the report: its figure and its tables."""
    board = Board.of(study.settings)
    heading = f'<h2 id="study-{slug(study.name)}">{escape(TITLE)}</h2>'
    if not board.learners:
        return f"{heading}<p>No learner has runs on every task yet.</p>"
    table = standings(board)
    runs = sorted({series.num_runs for series in board.series.values()})
    episodes = sorted({series.num_episodes for series in board.series.values()})
    lead = (
        f"{len(board.learners)} learners on {len(board.tasks)} tasks, {' or '.join(map(str, runs))} runs of "
        f"{' or '.join(f'{k:,}' for k in episodes)} episodes each, exact regret, one setting per learner for all tasks."
    )
    picture = ""
    with suppress(MissingExtraError):
        data = base64.b64encode(render(league_figure(board, table), "svg")).decode()
        image = f'<img alt="ratios of regret and mean ranks" src="data:image/svg+xml;base64,{data}">'
        picture = html.figure(image, "Regrets in units of the reference's, and mean ranks.")
    rules = (
        "Ratios are to the reference's regret: a geometric mean in which every kind of task "
        f"({', '.join(board.kinds)}) counts once, with the 95 % interval of a t test over kinds. Mean ranks change "
        "when others join, and decide nothing. The worst run is given as the largest quotient of worst and mean. A "
        "run is linear when over its last half it loses at least half as much per episode as on average, and more "
        "than 1 % of the optimum."
    )
    linear = [f"{line.learner} on {task}: {count}" for line in table for task, count in line.linear.items()]
    return "\n".join(
        [
            heading,
            f'<p class="lead">{escape(lead)}</p>',
            picture,
            html.table(HEADER, map(standing_cells, table), strong=(0,)),
            f"<p>{escape(rules)}</p>",
            html.details("linear runs, by learner and task", html.bullets(linear)) if linear else "",
            "<h3>Mean regret on every task</h3>",
            html.table(("task", *board.learners), regret_rows(board)),
            f"<p>Not on every task, and left out: {escape(', '.join(board.left_out))}.</p>" if board.left_out else "",
        ]
    )
