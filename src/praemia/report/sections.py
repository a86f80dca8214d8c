"""The sections of the report, each from the stored runs: claims, experiments, tasks, and how it was made."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape

from praemia.drawing.diagrams import machine_svg, mermaid
from praemia.drawing.maps import has_map, policy_map
from praemia.drawing.style import render
from praemia.envs.registry import svg_picture
from praemia.errors import MissingExtraError, PraemiaError
from praemia.experiments.settings import slug
from praemia.models.machine import RewardMachine
from praemia.models.task import Task
from praemia.report.figure_files import machines, paper_tasks
from praemia.report.html import details, figure, inline_svg, table
from praemia.report.interactive import as_script_data, curves
from praemia.statistics.claims import BEYOND, PAPER
from praemia.statistics.stored_runs import Study
from praemia.statistics.tables import COMPARISON_HEADER, SUMMARY_HEADER, Summary, compare, number, summarise
from praemia.statistics.verdicts import LOOKS, MIN_RUNS, MOST_RUNS, Claim, Line

LONG = 6  # lines of evidence; more are folded
MAP_CAPTION = (
    "The darker, the more often a place is visited in an episode in that machine state; the arrow is the action taken "
    "there most often, a dot is staying."
)


def claims_section(claims: Sequence[Claim]) -> str:
    """Return the claims, each with its verdict and numbers."""
    return "\n".join(
        [
            '<h2 id="claims">What held</h2>',
            f'<p class="lead">{escape(verdict_line(claims))}</p>',
            "<p>A claim <em>held</em>, <em>did not hold</em>, or is <em>not decided</em>, by the rule given with it. "
            f"Fewer than {MIN_RUNS} runs decide nothing. Regrets are compared seed by seed, and are level when they "
            "differ by less than 10 %. The intervals of a claim hold together with 95 %, and so at every one of "
            f"{LOOKS} looks from {MIN_RUNS} to {MOST_RUNS} runs: <code>praemia reproduce --decide</code> plays on "
            "where runs can decide. <em>As published</em> is UCRL2-RM-B as released, with the ends of its intervals "
            "used as distances; plain UCRL2-RM-B has correct intervals.</p>",
            *(_claim(claim) for claim in claims),
        ]
    )


def verdict_line(claims: Iterable[Claim]) -> str:
    """Say in a sentence how many claims held."""
    parts = []
    for source, whose in ((PAPER, "the paper's claims"), (BEYOND, "the further questions")):
        held = [claim.held for claim in claims if claim.source == source]
        if held:
            open_ones = f", {held.count(None)} are not decided" if None in held else ""
            parts.append(f"Of {whose}, {held.count(True)} held, {held.count(False)} did not hold{open_ones}")
    return ". ".join(parts) + "."


def _claim(claim: Claim) -> str:
    kind = {True: "held", False: "failed", None: "open"}[claim.held]
    body = _evidence(claim.evidence, claim.confidence) if claim.evidence else ""
    if len(claim.evidence) > LONG:
        body = details(f"all {len(claim.evidence)} comparisons", body)
    beside = details("for comparison", _evidence(claim.context, claim.confidence)) if claim.context else ""
    why = f'<p class="why">Not decided: {escape(claim.why)}.</p>' if claim.held is None else ""
    summary = f"<p>{escape(claim.summary[:1].upper() + claim.summary[1:])}.</p>" if claim.evidence else ""
    return (
        f'<section class="claim {kind}" id="claim-{escape(claim.key)}">'
        f'<h3><span class="badge">{claim.outcome}</span>{escape(claim.statement)}</h3>'
        f"{why}{summary}{body}{beside}"
        f'<p class="rule">{escape(claim.source.capitalize())}. Held when {escape(claim.rule)}.</p></section>'
    )


def _evidence(lines: Iterable[Line], confidence: float) -> str:
    rows = [
        (
            line.what,
            str(line.runs),
            *map(number, (line.interval.estimate, line.interval.low, line.interval.high)),
            {True: "yes", False: "no", None: "not decided"}[line.outcome],
            line.reading,
        )
        for line in lines
    ]
    level = f"{100.0 * confidence:.2f}%"
    return table(("comparison", "runs", "estimate", f"{level} low", f"{level} high", "holds", "reads"), rows)


def study_section(study: Study) -> str:
    """Return an experiment: its curves, its table and its pairwise comparisons."""
    summaries = [[summarise(name, series) for series in members] for name, members in study.settings.items()]
    flat = [summary for group in summaries for summary in group]
    pairs = [pair.cells() for name, members in study.settings.items() for pair in compare(name, members)]
    parts = [f'<h2 id="study-{slug(study.name)}">{escape(study.purpose[:1].upper() + study.purpose[1:])}</h2>']
    if study.name != "tuning":
        parts.append(_curves(study))
    parts.append(table(SUMMARY_HEADER, [summary.cells() for summary in flat], strong=_best(summaries)))
    parts.append(
        '<p class="source">Final exact regret: mean over runs, standard deviation, 95 % interval of the mean. '
        "In bold the lowest mean of each setting.</p>"
    )
    if pairs and study.name != "tuning":
        parts.append(details(f"{len(pairs)} pairwise comparisons", table(COMPARISON_HEADER, pairs)))
    return "\n".join(parts)


def _best(groups: Iterable[Sequence[Summary]]) -> list[int]:
    """Return the places of the lowest means, one per setting, in the whole list."""
    places, start = [], 0
    for group in groups:
        places.append(start + min(range(len(group)), key=lambda i, g=group: g[i].regret.estimate))  # type: ignore[misc]
        start += len(group)
    return places


def _curves(study: Study) -> str:
    name = slug(study.name)
    return (
        f'<div class="scale" data-target="curves-{name}">Axes: '
        '<button type="button" data-scale="linear" aria-pressed="true">linear</button> '
        '<button type="button" data-scale="log" aria-pressed="false">log–log</button> '
        "Click a name to hide or show its curves, twice to see it alone. Bands are 95 % intervals of the mean.</div>"
        f'<div class="curves" id="curves-{name}" data-figure="data-{name}"></div>'
        f'<script type="application/json" id="data-{name}">{as_script_data(curves(study.settings))}</script>'
    )


def tasks_section(studies: Sequence[Study]) -> str:
    """Return pictures of the tasks, maps of the optimal policy, and diagrams of the machines."""
    tasks = paper_tasks(studies)
    return "\n".join(
        [
            '<h2 id="tasks">Tasks and machines</h2>',
            _optima(studies),
            f'<div class="gallery">{"".join(map(_picture, tasks))}</div>',
            *_maps(tasks),
            "<h3>Machines</h3>",
            *(_machine(name, machine) for name, machine in machines(studies).items()),
        ]
    )


def _optima(studies: Iterable[Study]) -> str:
    rows: dict[str, tuple[str, ...]] = {}
    for study in studies:
        for members in study.settings.values():
            task, run = members[0].model, members[0].first
            sizes = (task.num_observations, task.num_actions, task.num_machine_states, task.horizon)
            rows[members[0].task] = (members[0].task, *map(str, sizes), f"{run.optimal_value:.6f}")
    header = ("task", "observations", "actions", "machine states", "horizon", "optimal value")
    return table(header, rows.values())


def _picture(task: Task) -> str:
    try:
        return f"<figure>{inline_svg(svg_picture(task))}</figure>"
    except PraemiaError:  # too large to draw
        return ""


def _maps(tasks: Iterable[Task]) -> list[str]:
    """Return maps of the optimal policy; without matplotlib there are none."""
    parts = ["<h3>The optimal policy, and where it goes</h3>"]
    try:
        for task in filter(has_map, tasks):
            data = base64.b64encode(render(policy_map(task), "svg")).decode()
            alt = f"{escape(task.name)}: map of the optimal policy"
            parts.append(f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{data}"></figure>')
    except MissingExtraError:
        return []
    return [*parts, f'<p class="source">{MAP_CAPTION}</p>'] if len(parts) > 1 else []


def _machine(name: str, machine: RewardMachine) -> str:
    caption = f"{name}: {machine.num_states} machine states; an edge reads: label | probability (unless 1), reward"
    try:
        return figure(inline_svg(machine_svg(machine)), caption, kind="machine")
    except MissingExtraError:
        return figure(f"<pre>{escape(mermaid(machine))}</pre>", caption)
