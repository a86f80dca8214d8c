"""The league: its tables, its figure, and its section of the report."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.experiments.league import LEAGUE
from praemia.experiments.settings import slug
from praemia.report.chart_svg import plots
from praemia.report.charts import Chart, Curve
from praemia.report.figures import chart_figure
from praemia.report.forest import league_forest
from praemia.report.rendering import Section
from praemia.report.sections import claim_cards
from praemia.statistics.measurements import Claim
from praemia.statistics.standings import LeagueTable, Standing, boards, rank_profile, regret_ratio
from praemia.statistics.stored_runs import Study
from praemia.text_tables import Table, number, plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RANKED = ("learner", "ratio", "95% low", "95% high", "mean rank", "firsts")
HEADER = (*RANKED, "settled", "settled after", "95% run", "worst run", "largest", "linear", "seconds")
CUT = 10.0  # ratios above this have the darkest colour
MAX_CURVES = 7  # of ranks: those of the best, for more could not be told apart
PROFILE_POINTS, FIRST_SHARE = 24, 0.003  # where ranks are taken, in shares of a run's episodes
TEXT_WIDTH = 110  # of a line of the explanation, in characters
APART = "Tasks on which constants were chosen, the paper's settings among them"


def standings_table(board: LeagueTable) -> Table:
    """Return the table of standings."""
    return Table(HEADER, list(map(_standing_cells, board.standings)), strong=(0,))


def _standing_cells(line: Standing) -> tuple[str, ...]:
    ratio = (line.ratio.estimate, line.ratio.low, line.ratio.high)
    linear = f"{sum(line.linear.values())}/{line.runs}"
    after = f"{line.settled_after:,.0f}" if math.isfinite(line.settled_after) else "never"
    rest = (f"{line.rank:.2f}", str(line.firsts), str(line.settled), after)
    tails = map(number, (line.late, line.tail.estimate, line.worst))
    return (line.learner, *map(number, ratio), *rest, *tails, linear, number(line.seconds))


def regrets_table(board: LeagueTable) -> Table:
    """Return a line for every task: the mean final regret of each learner, and of the yardsticks."""
    players = (*board.learners, *board.yardsticks)
    rows = zip(board.tasks, board.regrets_of(players).tolist(), strict=True)
    return Table(("task", *players), [(task, *map(number, row)) for task, row in rows])


def yardsticks_table(board: LeagueTable) -> Table:
    """Return a line for every yardstick: its regret over the reference's, with the interval."""
    ratios = {name: regret_ratio(board, name, board.reference) for name in board.yardsticks}
    rows = [(name, *map(number, (ratio.estimate, ratio.low, ratio.high))) for name, ratio in ratios.items()]
    return Table(RANKED[:4], rows, strong=(0,))


def linear_lines(board: LeagueTable) -> list[str]:
    """Say of each learner on which tasks how many runs are linear, where any is."""
    texts = {line.learner: ", ".join(f"{task} {n}" for task, n in line.linear.items()) for line in board.standings}
    return [f"{learner}: {text}" for learner, text in texts.items() if text]


def explanation(board: LeagueTable) -> str:
    """Explain the columns of the standings."""
    return (
        f"ratio: to the regret of {board.reference}, a geometric mean over {plural(len(board.tasks), 'task')} in which "
        f"every kind of task ({', '.join(board.kinds)}) counts once, with the 95% interval for tasks drawn anew from "
        "the same kinds; mean rank: it changes when others join, and decides nothing; settled: tasks on which half of "
        "the runs come to within 1% of the optimum and stay there, after so many episodes (median over tasks); "
        "95% run, worst run: ÷ the task's mean, median over tasks; largest: the largest worst run ÷ mean; linear: runs "
        "that lose, over their last half, at least half as much per episode as on average, and more than 1% of the "
        "optimum; seconds: per run."
    )


def league_text(board: LeagueTable) -> str:
    """Return the standings and the regrets as text."""
    linear = [f"  {line}" for line in linear_lines(board)]
    parts = [
        str(standings_table(board)),
        textwrap.fill(explanation(board), TEXT_WIDTH),
        *(["", "oracle baselines, which know part of p:", str(yardsticks_table(board))] if board.yardsticks else []),
        *(["", "linear runs:", *linear] if linear else []),
        *([f"\nnot on every task, and left out: {', '.join(board.left_out)}"] if board.left_out else []),
    ]
    return "\n".join(parts) + "\n"


def league_section(study: Study, claims: Sequence[Claim]) -> Section:
    """Return the league: its figure, what held, and its tables."""
    board, apart = boards(study.settings)
    content = {"board": board, "claims": claim_cards(study, claims)} | (_tables(board, apart) if board.learners else {})
    return Section(slug(study.name), "The league", "league.html.j2", content)


def league_glance(study: Study) -> dict[str, Any]:
    """Return the league's part of the first screen."""
    board, _ = boards(study.settings)
    if not board.learners:
        return {"forest": None, "curves": None}
    return {
        "reference": board.reference,
        "forest": league_forest(board),
        "colours": {},
        "curves": None,
        "wins": who_wins_where(board),
    }


def _tables(board: LeagueTable, apart: LeagueTable | None) -> dict[str, Any]:
    return {
        "runs": " or ".join(map(str, sorted({series.num_runs for series in board.series.values()}))),
        "episodes": " or ".join(f"{k:,}" for k in sorted({s.num_episodes for s in board.series.values()})),
        "wins": who_wins_where(board),
        "ranks": plots([rank_chart(board)]),
        "standings": standings_table(board),
        "explanation": explanation(board),
        "yardsticks": yardsticks_table(board) if board.yardsticks else None,
        "linear": linear_lines(board),
        "regrets": regrets_table(board),
        "apart": _apart(apart) if apart is not None and apart.learners else None,
    }


def _apart(board: LeagueTable) -> dict[str, Any]:
    """Return the tables of the paper's settings."""
    return {"title": APART, "standings": standings_table(board), "regrets": regrets_table(board)}


def league_figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Draw the figure of the league, with a name for its file."""
    board, _ = boards(study.settings)
    if board.learners:
        charts = [rank_chart(board)]
        yield f"{LEAGUE}-ranks", chart_figure(charts, "Mean ranks of the best as episodes go by")


def rank_chart(board: LeagueTable) -> Chart:
    """Return the mean ranks of the best learners as episodes go by."""
    lengths = {series.num_episodes for series in board.series.values()}
    last = lengths.pop() if len(lengths) == 1 else 1
    shares = np.geomspace(FIRST_SHARE, 1.0, PROFILE_POINTS)
    profile = dict(zip(board.learners, rank_profile(board, shares), strict=True))
    curves = [Curve(line.learner, shares * last, profile[line.learner]) for line in board.standings[:MAX_CURVES]]
    across = "episodes" if last > 1 else "share of a run's episodes"
    return Chart("", "", across, f"mean rank of {len(board.learners)}", curves, is_log_across=True)


def who_wins_where(board: LeagueTable) -> dict[str, Any]:
    """Return each player's regret in units of the lowest, by kind of task: its text, its shade, and whether it wins."""
    players = [*(line.learner for line in board.standings), *board.yardsticks]
    ratios = ratios_to_best(board, players)
    winners = ratios[: len(board.learners)].argmin(axis=0)
    shades = np.log(np.clip(ratios, 1.0, CUT)) / np.log(CUT)
    cells = [
        list(zip(map(ratio_text, own), shade.round(3).tolist(), winners == i, strict=True))
        for i, (own, shade) in enumerate(zip(ratios, shades, strict=True))
    ]
    rows = list(zip(players, cells, strict=True))
    return {"kinds": list(board.kinds), "rows": rows, "num_learners": len(board.learners)}


def ratio_text(ratio: float) -> str:
    """Write a ratio in few letters."""
    return "< .01" if ratio < 0.005 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def ratios_to_best(board: LeagueTable, names: Sequence[str]) -> NDArray[np.float64]:
    """Return regret ÷ that of the task's best learner, float64[len(names), kinds]: geometric means over tasks."""
    best = board.log_regrets_of(board.learners).min(axis=1)
    own = board.log_regrets_of(names).T - best
    ratios: NDArray[np.float64] = np.exp(np.stack([own[:, rows].mean(axis=1) for rows in board.kinds.values()], axis=1))
    return ratios
