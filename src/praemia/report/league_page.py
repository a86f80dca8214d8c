"""The league: its tables as text, and its section of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from praemia.drawing.league_figure import league_figure
from praemia.experiments.settings import slug
from praemia.report.rendering import Table, picture
from praemia.statistics.standings import Board, Standing, boards, compare, standings
from praemia.statistics.stored_runs import Study
from praemia.text_tables import number, table_text

RANKED = ("learner", "ratio", "95% low", "95% high", "mean rank", "firsts")
HEADER = (*RANKED, "settled", "after", "95% run", "worst run", "largest", "linear", "s")
APART = "Tasks on which constants were chosen, the paper's settings among them"


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
        table_text(HEADER, map(standing_cells, table)),
        explained,
        *(
            ["", "yardsticks, who are told part of the truth:", table_text(RANKED[:4], yardstick_rows(board))]
            if board.yardsticks
            else []
        ),
        *(["", "linear runs:", *linear] if linear else []),
        *([f"\nnot on every task, and left out: {', '.join(board.left_out)}"] if board.left_out else []),
    ]
    return "\n".join(parts) + "\n"


def league_section(study: Study) -> dict[str, Any]:
    """Return what the league's section of the report shows: its figure and its tables."""
    board, apart = boards(study.settings)
    shared = {"name": study.name, "slug": slug(study.name), "is_league": True, "board": board}
    if not board.learners:
        return shared
    table = standings(board)
    return shared | {
        "runs": " or ".join(map(str, sorted({series.num_runs for series in board.series.values()}))),
        "episodes": " or ".join(f"{k:,}" for k in sorted({s.num_episodes for s in board.series.values()})),
        "picture": picture(league_figure, board, table),
        "standings": Table(HEADER, list(map(standing_cells, table)), strong=(0,)),
        "yardsticks": Table(RANKED[:4], yardstick_rows(board), strong=(0,)) if board.yardsticks else None,
        "linear": [f"{line.learner} on {task}: {count}" for line in table for task, count in line.linear.items()],
        "regrets": _regrets(board),
        "apart": _apart(apart) if apart is not None and apart.learners else None,
    }


def _regrets(board: Board) -> Table:
    return Table(("task", *board.learners, *board.yardsticks), regret_rows(board))


def _apart(board: Board) -> dict[str, Any]:
    """Return the tables of the paper's settings."""
    table = Table(HEADER, list(map(standing_cells, standings(board))), strong=(0,))
    return {"title": APART, "standings": table, "regrets": _regrets(board)}
