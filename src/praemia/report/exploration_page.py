"""The page about explored data: what it covers, what machines would get from it, and certificates against the truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from praemia.exploration.dataset import Dataset
from praemia.exploration.posterior import PRIOR
from praemia.exploration.what_if import MachineReport, joint_failure_prob
from praemia.files.atomic_io import write_whole
from praemia.report.exploration_figures import certainty_figure, coverage_figure, losses_figure
from praemia.report.rendering import Table, picture, render_page
from praemia.tasks.task import Task


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
    shown = sorted((key for key in source if key not in apart), key=lambda key: key != "method")  # the method first
    text = ", ".join(f"{key.replace('_', ' ')} {source[key]}" for key in shown)
    if "until" not in source:
        return text
    episodes, loss = source["checks"][-1]
    found = "not known" if loss is None else f"{loss:.4g}"
    verdict = "reached" if source["reached"] else "not reached"
    return (
        f"{text}; until a {source['certify']} loss of {source['until']:g}: {verdict}, {found} at {episodes:,} episodes"
    )


def _table(rows: list[MachineReport]) -> Table:
    header = ["machine", "value in p̂", "proven: loses at most", "likely: loses at most", "of at most"]
    header.append("more than the plan's value")
    known = rows[0].optimum is not None
    if known:
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
    together = "the certificate holds" if count == 1 else f"all {count} certificates hold together"
    lines = [f"Proven: with probability {1.0 - joint_failure_prob(rows):g} {together}.", *_scopes(rows)]
    vacuous = sum(item.is_vacuous for item in certificates)
    lines.append(f"{vacuous} of {count} are vacuous: they say no more than that rewards are bounded.")
    exceeding = sum(row.exceeds_value(row.plan.certificate.bound) for row in rows)
    lines.append(f"{exceeding} of {count} proven bounds exceed the plan's own value: such a bound says little.")
    lines += _likely_reading([row for row in rows if row.likely is not None])
    losses = [
        (row.optimum - row.true_value, row) for row in rows if row.optimum is not None and row.true_value is not None
    ]
    if losses:
        broken = sum(loss > row.plan.certificate.bound + 1e-9 for loss, row in losses)
        unlikely = sum(row.likely is not None and loss > row.likely.loss + 1e-9 for loss, row in losses)
        lines.append(f"The largest true loss is {max(loss for loss, _ in losses):.6f}.")
        lines.append(
            f"{broken} of {count} certificates and {unlikely} of {count} likely losses are below the true loss."
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
    found = [row.likely for row in rows if row.likely is not None]
    if not found:
        return ["There are no likely losses: there is not enough memory for a label of every (o, a, o')."]
    first = found[0]
    exceeding = sum(row.likely is not None and row.exceeds_value(row.likely.loss) for row in rows)
    lines = [
        f"Likely: Bayesian. With probability {first.level:g} under the posterior a plan loses at most this. Each holds "
        f"by itself, and as far as the prior is right: Dirichlet of total weight {PRIOR:g} over all observations. "
        f"{first.draws:,} draws, seed {first.seed}.",
        f"{exceeding} of {len(rows)} likely losses exceed the plan's own value.",
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
