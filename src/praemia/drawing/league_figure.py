"""The league's figure: who wins where, by kind of task, and how the ranks change as episodes go by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from praemia.drawing.style import GREY, INK, looks, new_figure, tidy
from praemia.statistics.standings import Board, Standing, rank_profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "The league"
CUT = 10.0  # ratios above this have the darkest colour
LABELLED = 4  # so many lines of ranks have a name: the best
PROFILE_POINTS, FIRST_SHARE = 24, 0.003  # where ranks are taken, in shares of a run's episodes


def league_figure(board: Board, table: Sequence[Standing]) -> Figure:
    """Draw each player's regret in units of the lowest, by kind of task, beside the mean ranks over time."""
    names = [line.learner for line in table]
    title = f"{TITLE}: {len(board.tasks)} tasks of {len(board.kinds)} kinds, one setting per learner"
    rows = len(names) + len(board.yardsticks)
    figure = new_figure(5.2 + 0.62 * len(board.kinds), 2.0 + 0.3 * rows, title)
    left, right = figure.subplots(1, 2, width_ratios=(1.5 + 0.45 * len(board.kinds), 3))
    _who_wins_where(left, board, names)
    _ranks_over_time(right, board, names)
    return figure


def ratios_to_best(board: Board, names: Sequence[str]) -> NDArray[np.float64]:
    """Return regret ÷ that of the task's best learner, float64[len(names), kinds]: geometric means over tasks."""
    best = board.log_regrets_of(board.learners).min(axis=1)
    own = board.log_regrets_of(names).T - best
    ratios: NDArray[np.float64] = np.exp(np.stack([own[:, rows].mean(axis=1) for rows in board.kinds.values()], axis=1))
    return ratios


def _who_wins_where(axes: Axes, board: Board, names: Sequence[str]) -> None:
    """Draw a cell for each player and kind; the lowest of a kind stands in bold in a frame."""
    from matplotlib.patches import Rectangle

    shown = [*names, *board.yardsticks]
    ratios = ratios_to_best(board, shown)
    axes.imshow(np.log(np.minimum(CUT, ratios)), cmap="YlGnBu", vmin=0.0, vmax=np.log(CUT), aspect="auto")
    winners = ratios[: len(names)].argmin(axis=0)
    for (i, j), ratio in np.ndenumerate(ratios):
        wins = winners[j] == i
        colour = "white" if ratio > CUT**0.6 else INK
        text = "< .01" if ratio < 0.005 else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"
        axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=colour, weight="bold" if wins else "normal")
        if wins:
            axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=INK, linewidth=1.6))
    if board.yardsticks:
        axes.axhline(len(names) - 0.5, color=INK, linewidth=1.2)
    tidy(axes, "regret ÷ that of each task's best learner", "below the line: yardsticks, who are told part of p", "")
    if not board.yardsticks:
        axes.set_xlabel("")
    axes.set_xticks(range(len(board.kinds)), list(board.kinds), rotation=40, ha="right")
    axes.set_yticks(range(len(shown)), shown)
    axes.grid(visible=False)


def _ranks_over_time(axes: Axes, board: Board, names: Sequence[str]) -> None:
    """Draw the mean rank of every learner; the best at the end have their names beside their lines."""
    lengths = {series.num_episodes for series in board.series.values()}
    last = lengths.pop() if len(lengths) == 1 else 1
    shares = np.geomspace(FIRST_SHARE, 1.0, PROFILE_POINTS)
    profile = dict(zip(board.learners, rank_profile(board, shares), strict=True))
    look = looks(names[:LABELLED])
    for name in names[::-1]:
        if name in look:
            dash = (0, look[name].dash) if look[name].dash else "-"
            axes.plot(shares * last, profile[name], color=look[name].colour, linewidth=1.8, linestyle=dash)
        else:
            axes.plot(shares * last, profile[name], color=GREY, linewidth=0.7, alpha=0.6)
    spread = _apart([float(profile[name][-1]) for name in look], 0.055 * len(names))
    for name, place in zip(look, spread, strict=True):
        axes.text(1.05 * last, place, name, fontsize=8, va="center", color=look[name].colour)
    unit = "episodes" if last > 1 else "share of a run's episodes"
    tidy(axes, "mean rank as episodes go by", unit, "rank, best at the top")
    axes.set_xscale("log")
    axes.set_ylim(len(names) + 0.3, 0.7)
    axes.margins(x=0)


def _apart(places: Sequence[float], least: float) -> list[float]:
    """Move places apart that are too close for their names, keeping their order."""
    order = np.argsort(places, kind="stable")
    moved, before = list(places), -np.inf
    for i in order:
        moved[i] = before = max(places[i], before + least)
    return moved
