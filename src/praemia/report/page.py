"""The report: one HTML file on a folder of runs. It needs no network, and the same runs give the same bytes.

Every experiment has the same kind of page. First what was claimed and whether it held, the ratios of regrets and the
curves of the first group; then the groups, their tables folded; then the tasks, and how it was made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from praemia._support.text_tables import Table, are, plural
from praemia.experiments.jobs import Job, slug
from praemia.experiments.store import RECORD, StoredRuns
from praemia.files.atomic_io import write_whole
from praemia.machines.machine import RewardMachine
from praemia.report.chart_svg import plots
from praemia.report.charts import on_log_axes, regret_charts, returns_chart, scaling_chart, value_charts
from praemia.report.forest import Forest, Whisker, ratio_forest, verdict_forest
from praemia.report.rendering import picture, render_page, resource
from praemia.report.styles import styles
from praemia.report.tables import (
    RETURNS_NOTE,
    explained,
    has_kinds,
    main_table,
    pairs_table,
    ratios_to_reference,
    reference_of,
    regret_note,
    summary_table,
)
from praemia.statistics.claims import ANALYSES, MAX_RUNS, MIN_RUNS, Verdict, check_claims
from praemia.statistics.measures import Scale
from praemia.statistics.series import Series, Study, read_folder

REGRETS_CHART_NOTE = "On linear axes, bands are 95% intervals of the mean."
VALUES_CHART_NOTE = "Medians over runs. Triangles are published figures, by their own criterion."
RETURNS_CHART_NOTE = "Moving means of the returns, over runs, with their 95% intervals."
MAX_SPREAD = 30.0  # of final regrets on linear axes: below one that is higher, the others cannot be told apart
MAX_PANELS = 24  # tasks: a report has at most some megabytes
MAX_PAIRS = 2_000
MAX_MACHINE = 20  # machine states; a larger diagram cannot be read


def write_report(store: StoredRuns, path: Path, groups: Sequence[Study] | None = None) -> None:
    """Write the report on all runs of a folder; ``groups`` are these, where they have been read already."""
    groups, experiment = read_folder(store) if groups is None else groups, store.experiment()
    title = "What the runs in this folder say" if experiment is None else experiment.title
    write_whole(path, _report(groups, title, list(store.damaged.values())), within=path.parent)


def _report(groups: Sequence[Study], title: str, damaged: Sequence[str]) -> bytes:
    verdicts = [check_claims(study) for study in groups]
    members = [series for study in groups for series in study.series.values()]
    known = [series for series in members if series.first.optimal_value is not None]
    runs = {(Job.of(series.first).digest, run.seed) for series in members for run in series.runs}
    reference = reference_of(groups[0]) if groups and groups[0].learners else ""
    return render_page(
        "report.html.j2",
        title=title,
        num_runs=len(runs),
        num_learners=len({series.title for series in members}),
        num_tasks=len({(series.task, series.first.task_text) for series in members}),
        notes=[regret_note(known)] * bool(known) + [RETURNS_NOTE] * (len(known) < len(members)),
        damaged=damaged,
        verdicts=_by_source([own for part in verdicts for own in part]),
        reference=reference,
        forest_of_ratios=_ratios(groups[0], reference) if groups else None,
        colours={title: style.colour for title, style in styles(groups[0].players.items()).items()} if groups else {},
        sections=[_section(*pair) for pair in zip(groups, verdicts, strict=True)],
        tasks=_tasks(groups),
        made=_made(members),
        record=RECORD,
        rules={"min_runs": MIN_RUNS, "most_runs": MAX_RUNS, "analyses": ANALYSES},
        script=resource("report.js"),
    )


def _by_source(verdicts: Sequence[Verdict]) -> list[tuple[str, list[Verdict]]]:
    """Return the verdicts by who makes the claim, with how many held."""
    sources: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        sources.setdefault(verdict.claim.source, []).append(verdict)
    return [(f"{source}: {_count(own)}.", own) for source, own in sources.items()]


def _count(verdicts: Sequence[Verdict]) -> str:
    outcomes = [verdict.held for verdict in verdicts]
    held, failed, undecided = (outcomes.count(outcome) for outcome in (True, False, None))
    parts = [f"{held} held", f"{failed} did not hold", f"{undecided} {are(undecided)} not decided"]
    return ", ".join(part for part, count in zip(parts, (held, failed, undecided), strict=True) if count)


def _shown(study: Study) -> dict[str, list[Series]]:
    """Return the rows whose curves are plotted: all, or of many the first of each kind."""
    rows = study.rows
    if len(rows) > MAX_PANELS:
        first = {study.group.kind(task): task for task in reversed(rows)}
        rows = {task: rows[task] for task in [*first.values()][: -MAX_PANELS - 1 : -1]}
    return rows


def _ratios(study: Study, reference: str) -> Forest | None:
    """Return the ratios of regrets task by task, or over the kinds of many tasks."""
    if not reference or study.is_of_boxes or study.group.has_steps:
        return None
    if not has_kinds(study):
        return ratio_forest(_shown(study), reference)
    ratios = ratios_to_reference(study)
    rows = [(title, [Whisker(title, ratio)]) for title, ratio in ratios.items() if title != reference]
    return Forest(rows, Scale.ratio()) if rows else None


def _curves(study: Study) -> dict[str, Any]:
    """Return the regret over episodes on linear and on log–log axes, the value of plans over steps, or returns."""
    rows, style_of = _shown(study), styles(study.players.items())
    shown: dict[str, Any] = {"scale": "", "left_out": len(study.rows) - len(rows)}
    if study.is_of_boxes:
        return shown | plots([*map(returns_chart, rows.values())], style_of) | {"note": RETURNS_CHART_NOTE}
    if study.group.has_steps:
        published = {name: part.published for name, part in study.group.tasks.items()}
        return shown | plots(value_charts(rows, published), style_of) | {"note": VALUES_CHART_NOTE}
    charts = regret_charts(rows)
    is_steep = any(_spread([curve.y[-1] for curve in chart.curves]) > MAX_SPREAD for chart in charts)
    log_panels = plots([*map(on_log_axes, charts)], style_of)["panels"]
    scale = {"scale": "log" if is_steep else "linear", "note": REGRETS_CHART_NOTE}
    return shown | plots(charts, style_of) | scale | {"log_panels": log_panels}


def _spread(ends: Sequence[float]) -> float:
    positive = [end for end in ends if end > 0.0]
    return max(positive, default=1.0) / min(positive, default=1.0)


def _section(study: Study, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return a group: what was claimed, the plot that answers its question, its curves, and its tables."""
    rows = study.rows
    pairs = 0 if study.is_of_boxes else sum(len(members) * (len(members) - 1) // 2 for members in rows.values())
    against = study.group.part.against
    return {
        "anchor": slug(study.group.title).lower(),
        "heading": study.group.title,
        "claims": [{"verdict": own, "forest": verdict_forest(own), "evidence": _evidence(own)} for own in verdicts],
        "scaling": plots([scaling_chart(rows, against)], styles(study.players.items())) if against else None,
        "curves": _curves(study),
        "main": main_table(study),
        "explained": explained(study),
        "summary": summary_table(rows) if has_kinds(study) or study.group.has_steps else None,
        "pairs": pairs_table(rows) if 0 < pairs <= MAX_PAIRS else None,
    }


def _evidence(verdict: Verdict) -> Table:
    outcomes = {True: "yes", False: "no", None: "not decided"}
    rows = [
        (item.what, str(item.sample.size), str(item.sample.interval), outcomes[item.outcome], item.reading)
        for item in verdict.evidence
    ]
    level = f"estimate [{100.0 * verdict.confidence:.2f}% interval]"
    sizes = "tasks" if verdict.evidence and verdict.evidence[0].sample.of_tasks else "runs"
    return Table(("comparison", sizes, level, "holds", "result"), rows)


def _tasks(groups: Iterable[Study]) -> dict[str, Any]:
    """Return the sizes of the tasks, and pictures of some of them and of their machines."""
    first = {series.first.task_text: series for study in groups for own in _shown(study).values() for series in own[:1]}
    rows, pictures, machines = list[tuple[str, ...]](), [], dict[str, tuple[str, RewardMachine]]()
    for series in list(first.values())[:MAX_PANELS]:
        task = series.loaded_task
        if task is None:
            rows.append((series.task, *["–"] * 5))
            continue
        sizes = (task.num_observations, task.num_actions, task.num_machine_states, task.max_steps)
        rows.append((series.task, *map(str, sizes), f"{series.first.optimal_value:.6g}"))
        pictures.append((series.task, picture(task)))
        if task.num_machine_states <= MAX_MACHINE:
            machines.setdefault(repr(task.machine.rules), (series.task, task.machine))
    header = ("task", "observations", "actions", "machine states", "horizon", "optimal value")
    drawn = [(f"{name}: {plural(own.num_states, 'machine state')}", picture(own)) for name, own in machines.values()]
    return {"sizes": Table(header, rows), "pictures": pictures, "machines": drawn}


def _made(members: Sequence[Series]) -> Mapping[str, Table]:
    """Return with which learners and versions the runs were made."""
    learners: dict[tuple[str, ...], None] = {}
    versions: dict[str, set[str]] = {}
    for series in members:
        run = series.first
        parameters = ", ".join(f"{key} = {value}" for key, value in sorted(run.parameters.items()))
        learners[series.title, run.origin or run.learner, parameters] = None
        for package, version in (item for own in series.runs for item in own.versions.items()):
            versions.setdefault(package, set()).add(version)
    rows = [(package, ", ".join(sorted(own))) for package, own in sorted(versions.items())]
    return {
        "Learners and their parameters": Table(("learner", "name", "parameters"), [*learners]),
        "Versions": Table(("package", "version"), rows),
    }
