"""The league for people: its tables as text, and the section of the report that holds them and the figure."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from contextlib import suppress
from html import escape

from praemia.drawing.league_figure import TITLE, league_figure
from praemia.drawing.style import render
from praemia.errors import MissingExtraError
from praemia.experiments.settings import slug
from praemia.report import html
from praemia.statistics.standings import Board, Standing, boards, compare, standings
from praemia.statistics.stored_runs import Study
from praemia.statistics.tables import number, plain_text

RANKED = ("learner", "ratio", "95% low", "95% high", "mean rank", "firsts")
HEADER = (*RANKED, "settled", "after", "95% run", "worst run", "largest", "linear", "s")
APART = "The paper's settings, on which exploration coefficients were chosen"


def standing_cells(line: Standing) -> tuple[str, ...]:
    """Return a learner's line of the table, in the order of ``HEADER``."""
    ratio = (line.ratio.estimate, line.ratio.low, line.ratio.high)
    linear = f"{sum(line.linear.values())}/{line.runs}"
    after = f"{line.settled_after:,.0f}" if math.isfinite(line.settled_after) else "never"
    rest = (f"{line.rank:.2f}", str(line.firsts), str(line.settled), after)
    tails = map(number, (line.late, line.tail.estimate, line.worst))
    return (line.learner, *map(number, ratio), *rest, *tails, linear, number(line.seconds))


def regret_rows(board: Board) -> list[tuple[str, ...]]:
    """Return a line for every task: the mean final regret of each learner, and of the yardsticks."""
    regrets = board.regrets_of((*board.learners, *board.yardsticks)).tolist()
    return [(task, *map(number, row)) for task, row in zip(board.tasks, regrets, strict=True)]


def yardstick_rows(board: Board) -> list[tuple[str, ...]]:
    """Return a line for every yardstick: its regret over the reference's, with the interval."""
    reference = board.learners[board.reference]
    found = ((name, compare(board, name, reference)) for name in board.yardsticks)
    return [(name, *map(number, (ratio.estimate, ratio.low, ratio.high))) for name, ratio in found]


def league_text(board: Board, table: Sequence[Standing]) -> str:
    """Return the standings and the regrets as text."""
    explained = (
        f"ratio: to the regret of {board.learners[board.reference]}, geometric mean over {len(board.kinds)} kinds of "
        f"task ({len(board.tasks)} tasks);\nsettled: tasks on which half of the runs come and stay within 1 % of the "
        "optimum, after so many episodes (median over tasks);\n95% run, worst run: ÷ mean, median over tasks; largest: "
        "worst ÷ mean; linear: runs that still lose at the end; s: seconds per run."
    )
    linear = [
        f"  {line.learner}: " + ", ".join(f"{task} {count}" for task, count in line.linear.items())
        for line in table
        if line.linear
    ]
    parts = [
        plain_text(HEADER, map(standing_cells, table)),
        explained,
        *(
            ["", "yardsticks, who are told part of the truth:", plain_text(RANKED[:4], yardstick_rows(board))]
            if board.yardsticks
            else []
        ),
        *(["", "linear runs:", *linear] if linear else []),
        *([f"\nnot on every task, and left out: {', '.join(board.left_out)}"] if board.left_out else []),
    ]
    return "\n".join(parts) + "\n"


def league_section(study: Study) -> str:
    """Return the league as a section of the report: its figure and its tables."""
    board, apart = boards(study.settings)
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
        image = f'<img alt="regret by kind of task, and mean ranks" src="data:image/svg+xml;base64,{data}">'
        picture = html.figure(image, "Who wins where: regrets in units of the lowest, and mean ranks over time.")
    rules = (
        "Ratios are to the reference's regret: a geometric mean in which every kind of task "
        f"({', '.join(board.kinds)}) counts once, with the 95 % interval for tasks drawn anew from the same kinds. "
        "Mean ranks change when others join, and decide nothing. Settled: tasks on which half of the runs come to "
        "within 1 % of the optimum and stay there, and after how many episodes, in the median over tasks. The 95 % run "
        "and the worst run are in units of a task's mean, in the median over tasks; beside them the largest worst run. "
        "A run is linear when over its last half it loses at least half as much per episode as on average, and more "
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
            _yardsticks(board),
            html.details("linear runs, by learner and task", html.bullets(linear)) if linear else "",
            "<h3>Mean regret on every task</h3>",
            html.table(("task", *board.learners, *board.yardsticks), regret_rows(board)),
            f"<p>Not on every task, and left out: {escape(', '.join(board.left_out))}.</p>" if board.left_out else "",
            _apart(apart) if apart is not None and apart.learners else "",
        ]
    )


def _yardsticks(board: Board) -> str:
    """Return the yardsticks' table, if any play."""
    if not board.yardsticks:
        return ""
    said = "Yardsticks are told part of the truth. Nobody who is told nothing can be expected below them."
    return f"<h3>Yardsticks</h3><p>{said}</p>" + html.table(RANKED[:4], yardstick_rows(board), strong=(0,))


def _apart(board: Board) -> str:
    """Return the tables of the paper's settings."""
    titles = ("task", *board.learners, *board.yardsticks)
    table = html.table(HEADER, map(standing_cells, standings(board)), strong=(0,))
    return f"<h3>{escape(APART)}</h3>{table}{html.table(titles, regret_rows(board))}"
