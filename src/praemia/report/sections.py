"""The sections of the report, each from the stored runs: claims, experiments, tasks, and how it was made."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from html import escape

from praemia.drawing.diagrams import machine_svg, mermaid
from praemia.drawing.interactive import as_script_data, curves
from praemia.drawing.maps import has_map, policy_map
from praemia.drawing.style import render
from praemia.envs.registry import svg_picture
from praemia.errors import MissingExtraError, PraemiaError
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.league import OFFICE, TASKS, contestants
from praemia.experiments.paper import experiments
from praemia.experiments.settings import slug
from praemia.models.machine import RewardMachine
from praemia.models.task import Task
from praemia.report.figure_files import machines, paper_tasks
from praemia.report.html import details, figure, inline_svg, table
from praemia.statistics.claims import BEYOND, PAPER
from praemia.statistics.stored_runs import Series, Study
from praemia.statistics.tables import COMPARISON_HEADER, SUMMARY_HEADER, Summary, compare, summarise
from praemia.statistics.verdicts import LOOKS, MIN_RUNS, MOST_RUNS, Claim, Line
from praemia.text_tables import number

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


def provenance_section(studies: Sequence[Study]) -> str:
    """Say what was run, with what, for how long, and how to do it again."""
    return "\n".join(
        [
            '<h2 id="made">How it was made</h2>',
            "<h3>Learners and their coefficients</h3>",
            _learners(studies),
            "<h3>Runs, seeds and times</h3>",
            _effort(studies),
            "<h3>Versions</h3>",
            _versions(studies),
            "<h3>How to repeat it</h3>",
            "<p>Each run depends on its task, learner, number of episodes and seed alone, whatever the number of "
            "workers: the same versions give the same bytes.</p>",
            f"<pre>{escape(commands(studies))}</pre>",
        ]
    )


def commands(studies: Sequence[Study]) -> str:
    """Return the commands that make these runs again."""
    lines = []
    version = next((r.versions["praemia"] for study in studies for s in study.series for r in s.runs), None)
    if version is not None:
        lines.append(f"# with praemia {version} and its extras")
    known = {experiment.name for experiment in experiments()}
    for study in studies:
        first, runs = study.series[0], max(series.num_runs for series in study.series)
        options = f"--runs {runs} --episodes {first.num_episodes} --seed {first.first.seed[0]}"
        if study.name in known:
            lines.append(f"praemia reproduce --only {study.name} {options}")
        elif study.name == LEAGUE:
            lines.append(f"praemia league {options}{_chosen(study)}")
        elif study.name == "tuning":
            lines.append(f"praemia tune {options}")
        else:
            lines.append(f"praemia experiment FILE  # {study.name}: the tasks and learners above, in a file")
    return "\n".join(lines)


def _chosen(study: Study) -> str:
    """Return the options that name the tasks and the learners of a league that is not the usual one."""
    found = [series.first for series in study.series]
    names = dict.fromkeys(run.origin.partition("@")[0] or run.learner for run in found)
    tasks = [] if set(study.settings) == {*TASKS, OFFICE.name} else list(study.settings)
    learners = [] if {run.learner for run in found} == set(contestants()) else list(names)
    return "".join([*(f" --task {task}" for task in tasks), *(f" --learner {name}" for name in learners)])


def _learners(studies: Iterable[Study]) -> str:
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for study in studies:
        if study.name == "tuning":
            continue
        for series in study.series:
            run = series.first
            listed = ", ".join(f"{key} = {value}" for key, value in sorted(run.parameters.items()))
            rows[series.title, listed + run.origin] = (series.title, run.origin or run.learner, listed)
    return table(("learner", "name", "parameters"), rows.values())


def _effort(studies: Iterable[Study]) -> str:
    rows = []
    for study in studies:
        runs = [run for series in study.series for run in series.runs]
        seconds = [run.seconds for run in runs if not math.isnan(run.seconds)]
        rows.append(
            (
                study.name,
                str(len(study.settings)),
                str(len(runs)),
                _range(series.num_runs for series in study.series),
                _range(series.num_episodes for series in study.series),
                _seeds(study.series),
                number(sum(seconds) / 60 if seconds else math.nan),
            )
        )
    header = ("experiment", "settings", "runs", "runs each", "episodes", "seeds", "core minutes")
    return table(header, rows)


def _range(values: Iterable[int]) -> str:
    found = sorted(set(values))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def _seeds(members: Iterable[Series]) -> str:
    """Write seeds as ``0-0 … 0-15``, as in the names of the files."""
    seeds = sorted({run.seed for series in members for run in series.runs})
    first, last = ("-".join(map(str, seed)) for seed in (seeds[0], seeds[-1]))
    return first if first == last else f"{first} … {last}"


def _versions(studies: Iterable[Study]) -> str:
    found: dict[str, set[str]] = {}
    for study in studies:
        for series in study.series:
            for run in series.runs:
                for package, version in run.versions.items():
                    found.setdefault(package, set()).add(version)
    return table(("package", "version"), [(package, ", ".join(sorted(found[package]))) for package in sorted(found)])
