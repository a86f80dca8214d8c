"""The page about explored data: what it covers, what machines would get from it, and certificates against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.exploration.dataset import Dataset
from praemia.exploration.likely_loss import PRIOR
from praemia.exploration.plan_from import MachineReport, joint_failure_prob
from praemia.files.atomic_io import write_whole
from praemia.pictures.policy_page import ink, shaded
from praemia.pictures.scene import Area, Item, Scene, Text, place, text_width
from praemia.pictures.task_picture import MAX_SPOTS, task_picture
from praemia.report.chart_svg import legend, short
from praemia.report.charts import BLUE, GREEN, INK, ORANGE, PURPLE, SKY
from praemia.report.forest import Forest, Mark
from praemia.report.rendering import address, render_page, resource
from praemia.statistics.intervals import Interval
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task
from praemia.text_tables import Table, are, plural

LOOK_OF = {
    "certificate": BLUE,
    "vacuous certificate": INK,
    "proven loss": BLUE,
    "likely loss": SKY,
    "true value": ORANGE,
    "true loss": ORANGE,
    "true optimum": GREEN,
    "the plan's own value": PURPLE,
}
CELL, BAR, ROW = 50.0, 300.0, 18.0  # pixels: a place of a map, the longest bar, the distance of bars
MAX_BARS = 40
EXCEEDS = "*"  # marks a bound that is more than the plan's own value
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
        coverage_picture=address(coverage_scene(dataset, truth)),
        forests=[_with_legend(forest) for forest in (certainty_forest(rows), losses_forest(rows))],
        script=resource("report.js"),
        machines=machines_table(rows),
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


def machines_table(rows: list[MachineReport]) -> Table:
    """Tabulate what is proven and what is likely of each machine's plan; ``EXCEEDS`` marks bounds that say little."""
    header = ("machine", "value in p̂", "proven: loses ≤", "likely: loses ≤", "of at most")
    truth = ("optimum", "true value", "loss") if rows[0].optimum is not None else ()
    return Table((*header, *truth), list(map(_machine_cells, rows)))


def _machine_cells(row: MachineReport) -> tuple[str, ...]:
    sure, likely = row.plan.certificate, row.likely
    proven = "vacuous" if sure.is_vacuous else f"{sure.bound:.4f}"
    proven += EXCEEDS if row.exceeds_value(sure.bound) else " "
    probable = (
        "none " if likely is None else f"{likely.loss:.4f}" + (EXCEEDS if row.exceeds_value(likely.loss) else " ")
    )
    cells = (row.name, f"{row.plan.value.value:.4f}", proven, probable, f"{sure.largest:.4f}")
    if row.optimum is None or row.true_value is None:
        return cells
    return (*cells, f"{row.optimum:.4f}", f"{row.true_value:.4f}", f"{row.optimum - row.true_value:.6f}")


def _reading(rows: list[MachineReport]) -> list[str]:
    """Say what the table shows, from the numbers in it."""
    certificates, count = [row.plan.certificate for row in rows], len(rows)
    everything = "both" if count == 2 else f"all {count}"
    together = "the certificate holds" if count == 1 else f"{everything} certificates hold together"
    lines = [f"Proven: with probability {1.0 - joint_failure_prob(rows):g} {together}.", *_scopes(rows)]
    vacuous = sum(item.is_vacuous for item in certificates)
    lines.append(f"{vacuous} of {count} {are(vacuous)} vacuous, saying no more than that rewards are bounded.")
    exceeding = sum(row.exceeds_value(row.plan.certificate.bound) for row in rows)
    lines.append(f"The plan's own value is below {exceeding} of {count} proven bounds ({EXCEEDS}): they say little.")
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
        f"The plan's own value is below {exceeding} of {len(rows)} likely losses ({EXCEEDS}).",
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


def coverage_scene(dataset: Dataset, truth: Task | None) -> Scene:
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
        items.append(Text(spot.x, spot.y + 0.22, short(count), 0.24, ink(level), anchor="middle"))
    title = "Visits of each place's least tried action"
    across, down = picture.extent
    page = [Text(12.0, 20.0, title, 15, bold=True), *place(items, 12.0, 44.0, CELL)]
    return Scene(max(400.0, CELL * across + 24.0), CELL * down + 56.0, tuple(page), title)


def _bars(dataset: Dataset, visits: NDArray[np.int64]) -> Scene:
    """Draw a bar for each observation, on a log scale; if there are many, for the least covered ones."""
    order = np.arange(len(visits)) if len(visits) <= MAX_BARS else np.argsort(visits, kind="stable")[:MAX_BARS]
    names = [dataset.observation_name(int(o)) for o in order]
    lengths = BAR * np.log1p(visits[order]) / max(1.0, float(np.log1p(visits.max())))
    title, left = "Visits of each observation's least tried action", 20.0 + max(text_width(name, 11) for name in names)
    items: list[Item] = [Text(12.0, 20.0, title, 15, bold=True)]
    for i, (name, length, o) in enumerate(zip(names, lengths.tolist(), order, strict=True)):
        y = 44.0 + ROW * i
        items.append(Text(left - 6.0, y, name, 11, anchor="end"))
        items.append(Area(left + length / 2, y, length, 0.7 * ROW, BLUE.colour))
        items.append(Text(left + length + 5.0, y, short(int(visits[o])), 11))
    return Scene(max(400.0, left + BAR + 60.0), 50.0 + ROW * len(names), tuple(items), title)


def certainty_forest(rows: list[MachineReport]) -> Forest:
    """Return for each machine what its plan certainly earns, as a share of what no policy exceeds."""
    return Forest([(row.name, list(_certainty_marks(row))) for row in rows], None, is_log=False)


def _certainty_marks(row: MachineReport) -> Iterator[Mark]:
    sure = row.plan.certificate
    ends = (_share(row, value) for value in (row.plan.value.value, sure.pessimistic, sure.optimistic))
    yield Mark("vacuous certificate" if sure.is_vacuous else "certificate", Interval(*ends))
    if row.true_value is not None and row.optimum is not None:
        yield Mark("true value", _point(_share(row, row.true_value)))
        yield Mark("true optimum", _point(_share(row, row.optimum)))


def losses_forest(rows: list[MachineReport]) -> Forest:
    """Return for each machine what its plan loses at most, proven and likely, as a share of the most it could lose."""
    return Forest([(row.name, list(_loss_marks(row))) for row in rows], None)


def _loss_marks(row: MachineReport) -> Iterator[Mark]:
    yield Mark("proven loss", _point(_loss_share(row, row.plan.certificate.bound)))
    if row.likely is not None:
        ends = (_loss_share(row, loss) for loss in (row.likely.loss, *row.likely.monte_carlo))
        yield Mark("likely loss", Interval(*ends))
    if row.true_value is not None and row.optimum is not None:
        yield Mark("true loss", _point(_loss_share(row, row.optimum - row.true_value)))
    yield Mark("the plan's own value", _point(_loss_share(row, row.plan.value.value - row.least)))


def _point(value: float) -> Interval:
    return Interval(value, value, value)


def _with_legend(forest: Forest) -> dict[str, Any]:
    """Return a forest with the colours of its marks, and what they mean."""
    titles = dict.fromkeys(mark.title for _, marks in forest.rows for mark in marks)
    look_of = {title: LOOK_OF[title] for title in titles}
    return {
        "forest": forest,
        "colours": {title: look.name for title, look in look_of.items()},
        "legend": legend({title: replace(look, dash=()) for title, look in look_of.items()}),
    }


def _share(row: MachineReport, value: float) -> float:
    """Return where a value stands between the least that can be paid and the most that any policy can earn."""
    most = row.plan.certificate.optimistic - row.least
    return (value - row.least) / most if most > 0.0 else 0.0


def _loss_share(row: MachineReport, loss: float) -> float:
    largest = row.plan.certificate.largest
    return min(1.0, max(LEAST_SHARE, loss / largest if largest > 0.0 else 0.0))
