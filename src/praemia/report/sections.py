"""What the sections of the report show, from the stored runs: claims, experiments, tasks, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from markupsafe import Markup

from praemia.envs.registry import svg_picture
from praemia.errors import MissingExtraError, ModelError, PraemiaError
from praemia.experiments.settings import slug
from praemia.machines.machine import RewardMachine
from praemia.pictures.diagrams import machine_svg, mermaid
from praemia.pictures.policy_page import has_map, policy_scene
from praemia.report.figures import as_script_data, curves
from praemia.report.rendering import Table, inline_svg, picture
from praemia.statistics.claims import BEYOND, PAPER
from praemia.statistics.intervals import mean_interval, quotient_interval, sum_interval
from praemia.statistics.stored_runs import Series, Study, paired
from praemia.statistics.verdicts import LOOKS, MIN_RUNS, MOST_RUNS, TOO_FEW, Claim, Line, Scale
from praemia.tasks.task import Task
from praemia.text_tables import number

SUMMARY_HEADER = (
    "setting",
    "learner",
    "runs",
    "episodes",
    "regret",
    "std",
    "95% low",
    "95% high",
    "per 1,000 episodes at the end",
    "worst run",
    "plans",
    "seconds per run",
)
PAIRS_HEADER = ("setting", "first", "second", "runs", "difference", "ratio", "95% low", "95% high", "who is lower")
MAX_CELLS = 400  # of a map in the report
MAX_MACHINE = 20  # machine states; a larger diagram cannot be read


def claims_section(claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the claims, each with its verdict and numbers."""
    return {
        "claims": claims,
        "verdicts": verdict_line(claims),
        "evidence": _evidence,
        "min_runs": MIN_RUNS,
        "most_runs": MOST_RUNS,
        "looks": LOOKS,
    }


def verdict_line(claims: Iterable[Claim]) -> str:
    """Say in a sentence how many claims held."""
    parts = []
    for source, whose in ((PAPER, "the paper's claims"), (BEYOND, "the further questions")):
        held = [claim.held for claim in claims if claim.source == source]
        if held:
            undecided = f", {held.count(None)} not decided" if None in held else ""
            parts.append(f"Of {whose}, {held.count(True)} held, {held.count(False)} did not hold{undecided}")
    return ". ".join(parts) + "."


def _evidence(lines: Iterable[Line], claim: Claim) -> Table:
    """Return some of a claim's comparisons as a table."""
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
    level = f"{100.0 * claim.confidence:.2f}%"
    return Table(("comparison", "runs", "estimate", f"{level} low", f"{level} high", "holds", "result"), rows)


def study_section(study: Study) -> dict[str, Any]:
    """Return an experiment: its curves, its table and its pairwise comparisons; tuning has only the table."""
    is_tuning = study.name == "tuning"
    settings = {} if is_tuning else study.settings
    return {
        "name": study.name,
        "slug": slug(study.name),
        "is_league": False,
        "purpose": study.purpose,
        "curves": None if is_tuning else Markup(as_script_data(curves(study.settings))),
        "summary": summary_table(study.settings),
        "pairs": pairs_table(settings),
        "policies": list(filter(None, map(_final_policy, settings.values()))),
    }


def _final_policy(members: Sequence[Series]) -> dict[str, Any] | None:
    """Return a map of the last policy of the best learner's first run; None if it was not stored or has no map."""
    best = min(members, key=lambda series: float(series.final.mean()))
    task, policy = best.model, best.first.final_policy
    if policy is None or task.num_observations > MAX_CELLS or not has_map(task):
        return None
    try:
        return {"task": best.task, "learner": best.title, "map": picture(policy_scene, task, policy)}
    except ModelError:  # a file may hold any policy
        return None


def tasks_section(studies: Sequence[Study]) -> dict[str, Any]:
    """Return pictures of the tasks, maps of the optimal policy, and diagrams of the machines."""
    tasks = paper_tasks(studies)
    maps = [(task.name, picture(policy_scene, task)) for task in filter(has_map, tasks)]
    return {
        "optima": _optima(studies),
        "pictures": list(filter(None, map(_picture, tasks))),
        "maps": [(name, address) for name, address in maps if address is not None],
        "machines": [_machine(name, machine) for name, machine in machines(studies).items()],
    }


def paper_tasks(studies: Sequence[Study]) -> list[Task]:
    """Return the tasks of the paper that have runs; those of the other studies where there are none."""
    preferred = [study for study in studies if study.name == "paper"] or studies
    return [members[0].model for study in preferred for members in study.settings.values()]


def machines(studies: Iterable[Study]) -> dict[str, RewardMachine]:
    """Return the machines that are small enough to draw, each once, by the name of the first task that has it."""
    small_ones: dict[str, RewardMachine] = {}
    for study in studies:
        for members in study.settings.values():
            machine = members[0].model.machine
            small = machine.num_states <= MAX_MACHINE
            if small and not any(other.rules == machine.rules for other in small_ones.values()):
                small_ones[members[0].task] = machine
    return small_ones


def _optima(studies: Iterable[Study]) -> Table:
    rows: dict[str, tuple[str, ...]] = {}
    for study in studies:
        for members in study.settings.values():
            task, run = members[0].model, members[0].first
            sizes = (task.num_observations, task.num_actions, task.num_machine_states, task.horizon)
            rows[members[0].task] = (members[0].task, *map(str, sizes), f"{run.optimal_value:.6f}")
    header = ("task", "observations", "actions", "machine states", "horizon", "optimal value")
    return Table(header, list(rows.values()))


def _picture(task: Task) -> Markup | None:
    try:
        return inline_svg(svg_picture(task))
    except PraemiaError:  # too large to draw
        return None


def _machine(name: str, machine: RewardMachine) -> dict[str, Any]:
    """Return a machine's diagram: drawn, or as text where pygraphviz is missing."""
    shared = {"name": name, "num_states": machine.num_states}
    try:
        return {**shared, "svg": inline_svg(machine_svg(machine))}
    except MissingExtraError:
        return {**shared, "svg": None, "mermaid": mermaid(machine)}


def provenance_section(studies: Sequence[Study]) -> dict[str, Any]:
    """Return what was run, with what, for how long, and how to do it again."""
    return {
        "learners": _learners(studies),
        "effort": _effort(studies),
        "versions": _versions(studies),
        "commands": commands(studies),
    }


def commands(studies: Sequence[Study]) -> str:
    """Return the commands that asked for these runs, each once."""
    version = next((r.versions["praemia"] for study in studies for s in study.series for r in s.runs), None)
    lines = [] if version is None else [f"# with praemia {version} and its extras"]
    return "\n".join(dict.fromkeys((*lines, *(line for study in studies for line in study.command.splitlines()))))


def _learners(studies: Iterable[Study]) -> Table:
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for study in studies:
        if study.name == "tuning":
            continue
        for series in study.series:
            run = series.first
            listed = ", ".join(f"{key} = {value}" for key, value in sorted(run.parameters.items()))
            rows[series.title, listed + run.origin] = (series.title, run.origin or run.learner, listed)
    return Table(("learner", "name", "parameters"), list(rows.values()))


def _effort(studies: Iterable[Study]) -> Table:
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
    return Table(header, rows)


def _range(values: Iterable[int]) -> str:
    distinct = sorted(set(values))
    return f"{distinct[0]:,}" if len(distinct) == 1 else f"{distinct[0]:,} to {distinct[-1]:,}"


def _seeds(members: Iterable[Series]) -> str:
    """Write seeds as ``0-0 … 0-15``, as in the names of the files."""
    seeds = sorted({run.seed for series in members for run in series.runs})
    first, last = ("-".join(map(str, seed)) for seed in (seeds[0], seeds[-1]))
    return first if first == last else f"{first} … {last}"


def _versions(studies: Iterable[Study]) -> Table:
    versions: dict[str, set[str]] = {}
    for study in studies:
        for series in study.series:
            for run in series.runs:
                for package, version in run.versions.items():
                    versions.setdefault(package, set()).add(version)
    rows = [(package, ", ".join(sorted(own))) for package, own in sorted(versions.items())]
    return Table(("package", "version"), rows)


def summary_table(settings: Mapping[str, Sequence[Series]]) -> Table:
    """Tabulate the final regret of every learner, with the lowest mean of each setting in bold."""
    rows: list[tuple[str, ...]] = []
    lowest: list[int] = []
    for name, members in settings.items():
        lowest.append(len(rows) + int(np.argmin([series.final.mean() for series in members])))
        rows += [_summary(name, series) for series in members]
    return Table(SUMMARY_HEADER, rows, lowest)


def _summary(setting: str, series: Series) -> tuple[str, ...]:
    regret = mean_interval(series.final)
    spread = series.spread if series.num_runs > 1 else math.nan
    numbers = (regret.estimate, spread, regret.low, regret.high, series.late_slope, float(series.final.max()))
    plans = np.mean([run.num_plans for run in series.runs])
    sizes = (str(series.num_runs), str(series.num_episodes))
    return (setting, series.title, *sizes, *map(number, numbers), f"{plans:.0f}", number(series.seconds))


def pairs_table(settings: Mapping[str, Sequence[Series]]) -> Table:
    """Tabulate every two learners of a setting that share seeds: first − second and first ÷ second."""
    rows = []
    for name, members in settings.items():
        for first, second in combinations(members, 2):
            samples = paired((first, second))
            if runs := samples.shape[1]:
                difference, ratio = (measure(samples, (1, -1)) for measure in (sum_interval, quotient_interval))
                numbers = (difference.estimate, ratio.estimate, ratio.low, ratio.high)
                titles = (second.title, "level", first.title)
                lower = TOO_FEW if runs < MIN_RUNS else Scale.ratio().read(ratio, titles)
                rows.append((name, first.title, second.title, str(runs), *map(number, numbers), lower))
    return Table(PAIRS_HEADER, rows)
