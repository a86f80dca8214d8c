"""The page about explored data: what it covers, what machines would get from it, and certificates against the truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.dataset import Dataset
from praemia.exploration.likely_loss import PRIOR
from praemia.exploration.plan_from import MachineReport, joint_failure_prob
from praemia.files.atomic_io import write_whole
from praemia.pictures.policy_page import ink, shaded
from praemia.pictures.scene import Scene, Text, place
from praemia.pictures.task_picture import MAX_SPOTS, task_picture
from praemia.report.figures import GREY, new_figure, tidy
from praemia.report.rendering import Table, picture, render_page
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task
from praemia.text_tables import are, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, PALE_BLUE, PALE_GREY, AMBER = "#0072B2", "#8DC3E0", "#AEB6C0", "#E69F00"
CELL = 50.0  # pixels
MAX_BARS = 40
THIN = 0.005  # a bar that can still be seen
LEAST_SHARE = 1e-5  # of the most that can be lost: what is less is drawn here


def write_page(dataset: Dataset, rows: list[MachineReport], truth: Task | None, path: Path) -> None:
    """Write the page, whole or not at all."""
    name = str(dataset.sources[0].get("task", "data")) if dataset.sources else "data"
    page = render_page(
        "exploration.html.j2",
        title=f"Explored: {name}",
        coverage=dataset.coverage().splitlines(),
        sources=[f"collected with {_source_text(source)}" for source in dataset.sources],
        is_truth_known=rows[0].optimum is not None,
        coverage_figure=picture(coverage_figure, dataset, truth),
        certainty_figure=picture(certainty_figure, rows),
        losses_figure=picture(losses_figure, rows),
        machines=_table(rows),
        reading=_reading(rows),
        to_visit=_to_visit(dataset, rows),
    )
    write_whole(path, page)


def _source_text(source: Mapping[str, Any]) -> str:
    """Say how a part of the data was collected, and how exploring until a loss ended."""
    apart = ("task", "until", "certify", "reached", "checks")
    keys = sorted((key for key in source if key not in apart), key=lambda key: key != "method")  # the method first
    text = ", ".join(f"{key.replace('_', ' ')} {source[key]}" for key in keys)
    if "until" not in source:
        return text
    episodes, loss = source["checks"][-1]
    loss_text = "not known" if loss is None else f"{loss:.4g}"
    verdict = "reached" if source["reached"] else "not reached"
    goal = f"until a {source['certify']} loss of {source['until']:g}"
    return f"{text}; {goal}: {verdict}, {loss_text} at {plural(episodes, 'episode')}"


def _table(rows: list[MachineReport]) -> Table:
    header = ["machine", "value in p̂", "proven: loses at most", "likely: loses at most", "of at most"]
    header.append("more than the plan's value")
    if rows[0].optimum is not None:
        header += ["true optimum", "true value", "true loss"]
    body = []
    for row in rows:
        sure, likely = row.plan.certificate, row.likely
        cells = [row.name, f"{row.plan.value.value:.4f}", f"{sure.bound:.4f}"]
        cells += ["–" if likely is None else f"{likely.loss:.4f}", f"{sure.largest:.4f}", _exceeding(row)]
        if row.optimum is not None and row.true_value is not None:
            cells += [f"{row.optimum:.4f}", f"{row.true_value:.4f}", f"{row.optimum - row.true_value:.6f}"]
        body.append(cells)
    return Table(header, body)


def _exceeding(row: MachineReport) -> str:
    """Say which of the two bounds are more than the plan's own value."""
    proven = row.exceeds_value(row.plan.certificate.bound)
    likely = row.likely is not None and row.exceeds_value(row.likely.loss)
    return {(False, False): "neither", (True, False): "proven", (False, True): "likely", (True, True): "both"}[
        proven, likely
    ]


def _reading(rows: list[MachineReport]) -> list[str]:
    """Say what the table shows, from the numbers in it."""
    certificates, count = [row.plan.certificate for row in rows], len(rows)
    everything = "both" if count == 2 else f"all {count}"
    together = "the certificate holds" if count == 1 else f"{everything} certificates hold together"
    lines = [f"Proven: with probability {1.0 - joint_failure_prob(rows):g} {together}.", *_scopes(rows)]
    vacuous = sum(item.is_vacuous for item in certificates)
    lines.append(f"{vacuous} of {count} {are(vacuous)} vacuous, saying no more than that rewards are bounded.")
    exceeding = sum(row.exceeds_value(row.plan.certificate.bound) for row in rows)
    lines.append(f"The plan's own value is below {exceeding} of {count} proven bounds: such a bound says little.")
    lines += _likely_reading([row for row in rows if row.likely is not None])
    losses = [
        (row.optimum - row.true_value, row) for row in rows if row.optimum is not None and row.true_value is not None
    ]
    if losses:
        broken = sum(loss > row.plan.certificate.bound + 1e-9 for loss, row in losses)
        unlikely = sum(row.likely is not None and loss > row.likely.loss + 1e-9 for loss, row in losses)
        lines.append(f"The largest true loss is {max(loss for loss, _ in losses):.6f}.")
        lines.append(
            f"The true loss is above {broken} of {count} certificates and {unlikely} of {count} likely losses."
        )
    return lines


def _scopes(rows: list[MachineReport]) -> list[str]:
    """Say what the certificates hold for: in one line if it is the same for all."""
    by_scope: dict[str, list[str]] = {}
    for row in rows:
        by_scope.setdefault(row.plan.certificate.scope.value, []).append(row.name)
    if len(by_scope) == 1:
        return [f"{'It holds' if len(rows) == 1 else 'They hold'} for {next(iter(by_scope))}."]
    return [f"Those of {'; '.join(names)} hold for {scope}." for scope, names in by_scope.items()]


def _likely_reading(rows: list[MachineReport]) -> list[str]:
    """Say what likely losses are, and what they were computed with."""
    losses = [row.likely for row in rows if row.likely is not None]
    if not losses:
        return ["There are no likely losses: there is not enough memory for a label of every (o, a, o')."]
    first = losses[0]
    exceeding = sum(row.likely is not None and row.exceeds_value(row.likely.loss) for row in rows)
    lines = [
        f"Likely: Bayesian. With probability {first.level:g} under the posterior a plan loses at most this. Each holds "
        f"by itself, and as far as the prior is right: Dirichlet of total weight {PRIOR:g} over all observations. "
        f"{first.draws:,} draws, seed {first.seed}.",
        f"The plan's own value is below {exceeding} of {len(rows)} likely losses.",
    ]
    if first.labels_drawn:
        lines.append("Labels of transitions never seen were drawn from those that the data has.")
    return lines


def _to_visit(dataset: Dataset, rows: list[MachineReport]) -> Table:
    """Return the ten pairs that add the most to the certificates, on average over the machines."""
    totals: dict[tuple[int, int], float] = {}
    for row in rows:
        for item in row.plan.certificate.to_visit:
            place = (item.observation, item.action)
            totals[place] = totals.get(place, 0.0) + item.weight / len(rows)
    best = sorted(totals.items(), key=lambda entry: -entry[1])[:10]
    body = [
        (dataset.observation_name(o), dataset.action_name(a), f"{dataset.visits[o, a]:,}", f"{weight:.4f}")
        for (o, a), weight in best
    ]
    return Table(("observation", "action", "visits", "adds on average"), body)


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
