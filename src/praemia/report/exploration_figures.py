"""The figures of the page about explored data: coverage, what is certain of each machine, and what a plan can lose."""

from __future__ import annotations

import math
from html import escape

import numpy as np
from numpy.typing import NDArray

from praemia.envs.pictures import Picture
from praemia.envs.registry import picture
from praemia.errors import PraemiaError
from praemia.exploration.dataset import Dataset
from praemia.exploration.what_if import Row
from praemia.models.task import Task
from praemia.report import html

BLUE, INK, RULE, PALE, AMBER = (0, 114, 178), "#22272e", "#aeb6c0", "#e8eaee", "#e69f00"
CELL, MARGIN = 46.0, 4.0
MAX_BARS = 60
LEFT, WIDE, STEP = 210.0, 520.0, 30.0  # of the figures with a line for each machine
LEAST_SHARE = 1e-5  # of the most that can be lost: what is less is drawn here


def coverage_figure(dataset: Dataset, truth: Task | None, name: str) -> str:
    shown = _picture(truth, name, dataset.num_observations)
    fewest = dataset.visits.min(axis=1)
    if shown is None or shown.round:
        return html.figure(_bars(dataset, fewest), "Visits of each observation's least tried action; log scale.")
    return html.figure(
        _grid(shown, fewest), "Visits of each place's least tried action; darker is more, on a log scale."
    )


def _picture(truth: Task | None, name: str, num_observations: int) -> Picture | None:
    try:
        shown = picture(truth if truth is not None else name)
    except PraemiaError:
        return None
    return shown if len(shown.spots) == num_observations else None


def _grid(shown: Picture, visits: NDArray[np.int64]) -> str:
    """Draw places as cells, with their visits as shade and number."""
    across, down = shown.extent
    logs = np.log1p(visits)
    shade = 0.15 + 0.7 * (logs - logs.min()) / max(1e-9, float(logs.max() - logs.min()))
    parts = []
    for x, y in shown.blocks:
        corner = f'x="{CELL * (x - 0.5):.1f}" y="{CELL * (y - 0.5):.1f}"'
        parts.append(f'<rect {corner} width="{CELL}" height="{CELL}" fill="#454c57"/>')
    for spot, level, count in zip(shown.spots, shade.tolist(), visits.tolist(), strict=True):
        x, y = CELL * (spot.x - 0.5), CELL * (spot.y - 0.5)
        fill = "#ffffff" if count == 0 else _tint(level)
        ink = "#ffffff" if level > 0.6 else INK
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{RULE}"/>')
        if spot.mark is not None and spot.mark.role != "plain":
            parts.append(_text(x + 5, y + 14, spot.mark.symbol, ink, 11, weight="bold"))
        parts.append(_text(x + CELL / 2, y + CELL - 9, _short(count), ink, 11, anchor="middle"))
    for x0, y0, x1, y1 in shown.walls:
        ends = f'x1="{CELL * x0:.1f}" y1="{CELL * y0:.1f}" x2="{CELL * x1:.1f}" y2="{CELL * y1:.1f}"'
        parts.append(f'<line {ends} stroke="#454c57" stroke-width="3"/>')
    return _svg(CELL * across, CELL * down, parts, "coverage of the places")


def _bars(dataset: Dataset, visits: NDArray[np.int64]) -> str:
    """Draw a bar for each observation, the least covered ones where there are many."""
    order = np.arange(len(visits)) if len(visits) <= MAX_BARS else np.argsort(visits, kind="stable")[:MAX_BARS]
    most = max(1.0, float(np.log1p(visits).max()))
    wide, high, base = 34.0, 110.0, 130.0
    parts = []
    for place, o in enumerate(order.tolist()):
        size = high * float(np.log1p(visits[o])) / most
        x = wide * place
        parts.append(
            f'<rect x="{x + 4:.1f}" y="{base - size:.1f}" width="{wide - 8}" height="{size:.1f}" fill="{_tint(0.8)}"/>'
        )
        parts.append(_text(x + wide / 2, base - size - 4, _short(int(visits[o])), INK, 10, anchor="middle"))
        parts.append(_text(x + wide / 2, base + 14, dataset.observation_name(o)[:6], INK, 10, anchor="middle"))
    return _svg(wide * len(order), base + 20, parts, "coverage of the observations")


def intervals_figure(rows: list[Row]) -> str:
    """Draw for each machine what is certain of its optimum and of its plan, with the truth where it is known."""
    height = STEP * len(rows)
    parts = []
    for tick in range(5):
        x = LEFT + WIDE * tick / 4
        parts.append(_line(x, 0.0, height, PALE, 1.0))
        parts.append(_text(x, height + 16, f"{25 * tick}%", INK, 11, anchor="middle"))
    for place, row in enumerate(rows):
        y = STEP * (place + 0.5)
        sure = row.plan.certificate
        low = _at(row, sure.pessimistic)
        colour = RULE if sure.is_vacuous else _tint(0.45)
        parts.append(_text(LEFT - 10, y + 4, row.name, INK, 13, anchor="end"))
        shape = f'x="{low:.1f}" y="{y - 6:.1f}" width="{max(2.0, LEFT + WIDE - low):.1f}" height="12" rx="2"'
        parts.append(f'<rect {shape} fill="{colour}"/>')
        if row.true_value is not None and row.optimum is not None:
            parts.append(_line(_at(row, row.optimum), y - 10, y + 10, AMBER, 2.5))
            parts.append(f'<circle cx="{_at(row, row.true_value):.1f}" cy="{y:.1f}" r="4" fill="{INK}"/>')
    known = rows[0].optimum is not None
    caption = "From what the plan certainly earns to what no policy exceeds (100%); grey: a vacuous certificate." + (
        " Dot: the plan's true value. Amber line: the true optimum." if known else ""
    )
    return html.figure(_svg(LEFT + WIDE + 30, height + 22, parts, "certificates"), caption)


def _at(row: Row, value: float) -> float:
    """Return where a value stands between the least that can be paid and the most that any policy can earn."""
    most = row.plan.certificate.optimistic - row.least
    return LEFT + WIDE * (value - row.least) / most if most > 0.0 else LEFT


def losses_figure(rows: list[Row]) -> str:
    """Draw for each machine what its plan loses at most, proven and likely, as a share of the most that can be lost."""
    height, decades = STEP * len(rows), round(-math.log10(LEAST_SHARE))
    parts = []
    for tick in range(decades + 1):
        x = LEFT + WIDE * tick / decades
        parts.append(_line(x, 0.0, height, PALE, 1.0))
        share = f"{100.0 * LEAST_SHARE * 10.0**tick:g}%"
        parts.append(_text(x, height + 16, f"≤ {share}" if tick == 0 else share, INK, 11, anchor="middle"))

    def at(row: Row, loss: float) -> float:
        largest = row.plan.certificate.largest
        share = min(1.0, max(LEAST_SHARE, loss / largest if largest > 0.0 else 0.0))
        return LEFT + WIDE * (1.0 + math.log10(share) / decades)

    for place, row in enumerate(rows):
        y = STEP * (place + 0.5)
        parts.append(_text(LEFT - 10, y + 4, row.name, INK, 13, anchor="end"))
        parts.append(_line(at(row, row.plan.value.value - row.least), y - 10, y + 10, RULE, 2.0))
        x = at(row, row.plan.certificate.bound)
        parts.append(f'<rect x="{x - 5:.1f}" y="{y - 5:.1f}" width="10" height="10" fill="{_tint(1.0)}"/>')
        if row.likely is not None:
            low, high = (at(row, end) for end in row.likely.monte_carlo)
            ends = f'x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}"'
            parts.append(f'<line {ends} stroke="{_tint(0.45)}" stroke-width="4"/>')
            centre = f'cx="{at(row, row.likely.loss):.1f}" cy="{y:.1f}" r="5"'
            parts.append(f'<circle {centre} fill="#fff" stroke="{_tint(1.0)}" stroke-width="2.5"/>')
        if row.true_value is not None and row.optimum is not None:
            x = at(row, row.optimum - row.true_value)
            corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 6:.1f},{y:.1f}"
            parts.append(f'<polygon points="{corners}" fill="{AMBER}"/>')
    known = rows[0].optimum is not None
    caption = (
        "What each plan loses at most, as a share of the most that can be lost; log scale. Square: proven. Circle: "
        "likely (Bayesian), with its Monte-Carlo error. Grey line: the plan's own value; a mark to the right of it "
        "says little." + (" Diamond: the true loss." if known else "")
    )
    return html.figure(_svg(LEFT + WIDE + 30, height + 22, parts, "what plans lose"), caption)


def _tint(level: float) -> str:
    red, green, blue = (round(255 - level * (255 - part)) for part in BLUE)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _short(count: int) -> str:
    return f"{count:,}" if count < 10_000 else f"{count / 1000:.0f}k"


def _text(
    x: float, y: float, text: str, colour: str, size: int, *, anchor: str = "start", weight: str = "normal"
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}>{escape(text)}</text>"


def _line(x: float, top: float, bottom: float, colour: str, thickness: float) -> str:
    ends = f'x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{bottom:.1f}"'
    return f'<line {ends} stroke="{colour}" stroke-width="{thickness}"/>'


def _svg(width: float, height: float, parts: list[str], title: str) -> str:
    box = f"{-MARGIN} {-MARGIN} {width + 2 * MARGIN:.0f} {height + 2 * MARGIN:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" width="{width + 2 * MARGIN:.0f}" '
        f'height="{height + 2 * MARGIN:.0f}" role="img" font-family="Helvetica, Arial, sans-serif">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
