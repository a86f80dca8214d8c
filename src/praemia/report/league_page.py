"""The league: its tables as text, and its section of the report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from praemia.drawing.figures import league_figure
from praemia.experiments.settings import slug
from praemia.report.rendering import Table, picture
from praemia.statistics.standings import Board, Standing, standings
from praemia.statistics.stored_runs import Study
from praemia.text_tables import number, table_text

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


def league_section(study: Study) -> dict[str, Any]:
    """Return what the league's section of the report shows: its figure and its tables."""
    board = Board.of(study.settings)
    shared = {"name": study.name, "slug": slug(study.name), "is_league": True, "board": board}
    if not board.learners:
        return shared
    table = standings(board)
    return shared | {
        "runs": " or ".join(map(str, sorted({series.num_runs for series in board.series.values()}))),
        "episodes": " or ".join(f"{k:,}" for k in sorted({s.num_episodes for s in board.series.values()})),
        "picture": picture(league_figure, board, table),
        "standings": Table(HEADER, list(map(standing_cells, table)), strong=(0,)),
        "linear": [f"{line.learner} on {task}: {count}" for line in table for task, count in line.linear.items()],
        "regrets": Table(("task", *board.learners), regret_rows(board)),
    }
