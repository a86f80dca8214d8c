"""Figures of explored data: what it covers, and what is certain of a plan for each of several machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.dataset import Dataset
from praemia.exploration.what_if import MachineReport
from praemia.pictures.policy_page import ink, shaded
from praemia.pictures.scene import Scene, Text, place
from praemia.pictures.task_picture import MAX_SPOTS, task_picture
from praemia.report.rendering import GREY, new_figure, tidy
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, PALE_BLUE, PALE_GREY, AMBER = "#0072B2", "#8DC3E0", "#AEB6C0", "#E69F00"
CELL = 50.0  # pixels
MAX_BARS = 40
THIN = 0.005  # a bar that can still be seen
LEAST_SHARE = 1e-5  # of the most that can be lost: what is less is drawn here


def coverage_figure(dataset: Dataset, truth: Task | None) -> Figure | Scene:
    """Draw how often each observation's least tried action was tried: as a map where there is one, else as bars."""
    fewest = dataset.visits.min(axis=1)
    if truth is None or truth.num_observations != dataset.num_observations or len(fewest) > MAX_SPOTS:
        return _bars(dataset, fewest)
    picture = task_picture(truth)
    return _bars(dataset, fewest) if picture.is_round else _map(picture, fewest)


def _map(picture: Picture, visits: NDArray[np.int64]) -> Scene:
    """Draw places as cells, with their visits as shade, on a log scale, and as a number."""
    logs = np.log1p(visits)
    span = max(1e-9, float(logs.max() - logs.min()))
    shade = np.where(visits == 0, 0.0, 0.15 + 0.7 * (logs - logs.min()) / span)
    items = shaded(picture, shade, np.zeros(len(visits), dtype=bool))
    for spot, level, count in zip(picture.spots, shade.tolist(), visits.tolist(), strict=True):
        items.append(Text(spot.x, spot.y + 0.22, _short(count), 0.24, ink(level), anchor="middle"))
    title = "Visits of each place's least tried action"
    across, down = picture.extent
    page = [Text(12.0, 20.0, title, 15, bold=True), *place(items, 12.0, 44.0, CELL)]
    return Scene(max(400.0, CELL * across + 24.0), CELL * down + 56.0, tuple(page), title)


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


def certainty_figure(rows: list[MachineReport]) -> Figure:
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


def losses_figure(rows: list[MachineReport]) -> Figure:
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


def _line_per_machine(rows: list[MachineReport], title: str) -> tuple[Figure, Axes]:
    figure = new_figure(7.6, 0.9 + 0.32 * len(rows), title)
    axes = figure.add_subplot()
    tidy(axes, "", "", "")
    axes.set_yticks(np.arange(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    return figure, axes


def _share(row: MachineReport, value: float) -> float:
    """Return where a value stands between the least that can be paid and the most that any policy can earn."""
    most = row.plan.certificate.optimistic - row.least
    return (value - row.least) / most if most > 0.0 else 0.0


def _loss_share(row: MachineReport, loss: float) -> float:
    largest = row.plan.certificate.largest
    return min(1.0, max(LEAST_SHARE, loss / largest if largest > 0.0 else 0.0))


def _short(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:.0f}k"
