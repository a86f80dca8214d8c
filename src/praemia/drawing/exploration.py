"""Figures of explored data: what it covers, and what is certain of a plan for each of several machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from praemia.drawing.maps import draw_cells, ink
from praemia.drawing.style import GREY, new_figure, tidy
from praemia.envs.pictures import Picture
from praemia.envs.registry import picture
from praemia.errors import PraemiaError
from praemia.exploration.dataset import Dataset
from praemia.exploration.what_if import Row
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, PALE_BLUE, PALE_GREY, AMBER = "#0072B2", "#8DC3E0", "#AEB6C0", "#E69F00"
CELL = 0.5  # inches
MAX_BARS = 40
THIN = 0.005  # a bar that can still be seen
LEAST_SHARE = 1e-5  # of the most that can be lost: what is less is drawn here


def coverage_figure(dataset: Dataset, truth: Task | None, name: str) -> Figure:
    """Draw how often each observation's least tried action was tried: as a map where there is one, else as bars."""
    fewest = dataset.visits.min(axis=1)
    shown = _picture(truth if truth is not None else name, dataset.num_observations)
    return _bars(dataset, fewest) if shown is None or shown.round else _map(shown, fewest)


def _picture(task: Task | str, num_observations: int) -> Picture | None:
    try:
        shown = picture(task)
    except PraemiaError:
        return None
    return shown if len(shown.spots) == num_observations else None


def _map(shown: Picture, visits: NDArray[np.int64]) -> Figure:
    """Draw places as cells, with their visits as shade, on a log scale, and as a number."""
    across, down = shown.extent
    figure = new_figure(max(4.2, CELL * across), CELL * down + 0.5, "Visits of each place's least tried action")
    axes = figure.add_subplot()
    logs = np.log1p(visits)
    span = max(1e-9, float(logs.max() - logs.min()))
    shade = np.where(visits == 0, 0.0, 0.15 + 0.7 * (logs - logs.min()) / span)
    draw_cells(axes, shown, shade)
    for spot, level, count in zip(shown.spots, shade.tolist(), visits.tolist(), strict=True):
        axes.text(spot.x, spot.y + 0.25, _short(count), fontsize=8, ha="center", va="center", color=ink(level))
    return figure


def _bars(dataset: Dataset, visits: NDArray[np.int64]) -> Figure:
    """Draw a bar for each observation; if there are many, for the least covered ones."""
    order = np.arange(len(visits)) if len(visits) <= MAX_BARS else np.argsort(visits, kind="stable")[:MAX_BARS]
    figure = new_figure(max(4.2, 1.2 + 0.34 * len(order)), 2.6, "Visits of each observation's least tried action")
    axes = figure.add_subplot()
    bars = axes.bar(np.arange(len(order)), visits[order], color=BLUE, width=0.75)
    axes.bar_label(bars, [_short(int(count)) for count in visits[order]], fontsize=7, padding=1)
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylim(0, 3.0 * max(1, int(visits.max())))
    tidy(axes, "", "observation", "visits (log scale)")
    names = [dataset.observation_name(int(o)) for o in order]
    axes.set_xticks(np.arange(len(order)), names, rotation=90 if max(map(len, names)) > 4 else 0)
    axes.minorticks_off()
    axes.grid(visible=False, axis="x")
    return figure


def certainty_figure(rows: list[Row]) -> Figure:
    """Draw for each machine what its plan certainly earns, as a share of what no policy exceeds."""
    figure, axes = _line_per_machine(rows, "What each plan certainly earns")
    for y, row in enumerate(rows):
        sure = row.plan.certificate
        low = _share(row, sure.pessimistic)
        axes.barh(y, max(THIN, 1.0 - low), left=low, height=0.4, color=PALE_GREY if sure.is_vacuous else PALE_BLUE)
        if row.true_value is not None and row.optimum is not None:
            optimum = _share(row, row.optimum)
            axes.plot([optimum, optimum], [y - 0.34, y + 0.34], color=AMBER, linewidth=2.0)
            axes.plot([_share(row, row.true_value)], [y], "o", color="black", markersize=5)
    axes.set_xlim(-0.01, 1.02)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    return figure


def losses_figure(rows: list[Row]) -> Figure:
    """Draw for each machine what its plan loses at most, proven and likely, as a share of the most it could lose."""
    figure, axes = _line_per_machine(rows, "What each plan loses at most")
    for y, row in enumerate(rows):
        value = _loss_share(row, row.plan.value.value - row.least)
        axes.plot([value, value], [y - 0.34, y + 0.34], color=GREY, linewidth=1.5)
        if row.likely is not None:
            ends = [_loss_share(row, end) for end in row.likely.monte_carlo]
            axes.plot(ends, [y, y], color=PALE_BLUE, linewidth=3.0)
            axes.plot([_loss_share(row, row.likely.loss)], [y], "o", color=BLUE, markerfacecolor="white", markersize=7)
        axes.plot([_loss_share(row, row.plan.certificate.bound)], [y], "s", color=BLUE, markersize=7)
        if row.true_value is not None and row.optimum is not None:
            axes.plot([_loss_share(row, row.optimum - row.true_value)], [y], "D", color=AMBER, markersize=6)
    axes.set_xscale("log")
    axes.set_xlim(0.7 * LEAST_SHARE, 1.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{'≤ ' if value <= LEAST_SHARE else ''}{100.0 * value:g}%")
    axes.minorticks_off()
    return figure


def _line_per_machine(rows: list[Row], title: str) -> tuple[Figure, Axes]:
    figure = new_figure(7.6, 0.9 + 0.32 * len(rows), title)
    axes = figure.add_subplot()
    tidy(axes, "", "", "")
    axes.set_yticks(np.arange(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    return figure, axes


def _share(row: Row, value: float) -> float:
    """Return where a value stands between the least that can be paid and the most that any policy can earn."""
    most = row.plan.certificate.optimistic - row.least
    return (value - row.least) / most if most > 0.0 else 0.0


def _loss_share(row: Row, loss: float) -> float:
    largest = row.plan.certificate.largest
    return min(1.0, max(LEAST_SHARE, loss / largest if largest > 0.0 else 0.0))


def _short(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:.0f}k"
