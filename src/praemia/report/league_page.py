"""The league for people: its tables as text, its figure, and the section of the report that holds both."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from praemia.drawing.style import GREY, INK, new_figure, render, tidy
from praemia.errors import MissingExtraError
from praemia.experiments.settings import slug
from praemia.report import html
from praemia.statistics.standings import Board, Standing, standings
from praemia.statistics.stored_runs import Study
from praemia.statistics.tables import number, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "The league"
HEADER = ("learner", "ratio", "95% low", "95% high", "mean rank", "firsts", "worst run", "linear", "s")
CUT = 30.0  # ratios above this are drawn at it


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
        plain_text(HEADER, map(standing_cells, table)),
        explained,
        *(["", "linear runs:", *linear] if linear else []),
        *([f"\nnot on every task, and left out: {', '.join(board.left_out)}"] if board.left_out else []),
    ]
    return "\n".join(parts) + "\n"


def league_figure(board: Board, table: Sequence[Standing]) -> Figure:
    """Draw the ratios of regret with their intervals and every task's, beside the mean ranks, the best on top."""
    names = [line.learner for line in table]
    places = np.arange(len(names))[::-1]
    figure = new_figure(10.5, 1.6 + 0.34 * len(names), f"{TITLE}: {len(board.tasks)} tasks, one setting per learner")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1))
    ratios = board.ratios
    for place, line in zip(places, table, strict=True):
        left.plot([line.ratio.low, line.ratio.high], [place, place], color=GREY, linewidth=2.2, solid_capstyle="butt")
        own = np.minimum(CUT, ratios[:, board.learners.index(line.learner)])
        left.plot(own, np.full(len(own), place), "|", color="#0072B2", markersize=9, markeredgewidth=1.1)
        left.plot(min(CUT, line.ratio.estimate), place, "o", color=INK, markersize=6)
        right.plot(line.rank, place, "o", color=GREY, markersize=6)
    left.set_yticks(places, names)
    left.set_ylim(-0.6, len(names) - 0.4)
    _ratio_axis(left)
    left.axvline(1.0, color=GREY, linewidth=0.9, linestyle=(0, (4, 3)))
    tidy(
        left,
        f"regret ÷ that of {board.learners[board.reference]}, 95 % interval",
        f"a mark per task, cut at {CUT:g}; the dot is the geometric mean over kinds of task",
        "",
    )
    tidy(right, "mean rank", "1 is best", "")
    right.set_xlim(0.5, len(names) + 0.5)
    right.locator_params(axis="x", integer=True)
    return figure


def _ratio_axis(axes: Axes) -> None:
    """Make a logarithmic axis with plain numbers, from what is drawn to the cut."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    low, high = min(low, 0.3), max(3.0, min(high, CUT * 1.1))
    ticks = [tick for tick in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0) if low <= tick <= high]
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


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
