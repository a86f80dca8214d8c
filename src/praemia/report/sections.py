"""What the report shows of a study, its claims, its curves and its tables; and of the tasks and their machines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from praemia.experiments.league import task_kind
from praemia.experiments.paper import SIX_SETTINGS
from praemia.experiments.settings import slug
from praemia.machines.machine import RewardMachine
from praemia.pictures.policy_page import has_map
from praemia.pictures.show import show
from praemia.report.chart_svg import plots
from praemia.report.charts import Chart, looks, on_log_axes, per_episode_charts, regret_charts, scaling_chart
from praemia.report.figures import chart_figure
from praemia.report.forest import claim_forest, ratio_forest
from praemia.report.rendering import Section, picture
from praemia.report.run_tables import pairs_table, summary_table
from praemia.statistics.intervals import ROUNDING
from praemia.statistics.measurements import Claim, Measurement
from praemia.statistics.standings import REFERENCE
from praemia.statistics.stored_runs import Series, Study
from praemia.tasks.task import Task
from praemia.text_tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Studies that vary a size of the task: what it is called, and what it is.
SIZES = {
    "machine-size": ("machine states", lambda task: task.num_machine_states),
    "horizon": ("horizon", lambda task: task.max_steps),
    "river-length": ("observations", lambda task: task.num_observations),
}
FAMILIES = {"riverswim": "RiverSwim", "warehouse": "Warehouse"}
MAX_SPREAD = 30.0
MAX_DRAWN = 24  # tasks or settings: a report has at most some megabytes
MAX_CELLS = 400  # of a map in the report
MAX_MACHINE = 20  # machine states; a larger diagram cannot be read


@lru_cache(maxsize=1)  # the main study's are asked for twice, by the first screen and by its section
def _curves(study: Study) -> dict[str, Any]:
    """Return the regret over episodes: each setting on linear and on log–log axes, under one legend."""
    settings = drawn_settings(study)
    charts = regret_charts(settings)
    # On linear axes the curves below one that is thirty times as high cannot be told apart.
    is_steep = any(_spread([curve.y[-1] for curve in chart.curves]) > MAX_SPREAD for chart in charts)
    linear = plots(charts)
    return {
        "left_out": len(study.settings) - len(settings),
        "scale": "log" if is_steep else "linear",
        "legend": linear["legend"],
        "panels": linear["panels"],
        "log_panels": plots(list(map(on_log_axes, charts)))["panels"],
    }


def study_glance(study: Study) -> dict[str, Any]:
    """Return a study's part of the first screen: the ratios to one learner's regret, and the curves."""
    titles = list(dict.fromkeys(series.title for series in study.series))
    reference = REFERENCE if REFERENCE in titles else titles[0]
    return {
        "reference": reference,
        "forest": ratio_forest(study.settings, reference),
        "colours": {title: look.name for title, look in looks(titles).items()},
        "curves": _curves(study),
    }


def drawn_settings(study: Study) -> dict[str, list[Series]]:
    """Return the settings whose curves are drawn: all, or the first of many."""
    return dict(list(study.settings.items())[:MAX_DRAWN])


def _spread(ends: Sequence[float]) -> float:
    return max(ends) / max(min(ends), ROUNDING)


def study_section(study: Study, claims: Sequence[Claim]) -> Section:
    """Return an experiment: the plot that answers its question, what held, its curves and its tables."""
    chart = _scaling(study)
    content = {
        "claims": claim_cards(study, claims),
        "scaling": None if chart is None else plots([chart]),
        "curves": _curves(study),
        "per_episode": plots(per_episode_charts(drawn_settings(study)))["panels"],
        "summary": summary_table(study.settings),
        "pairs": pairs_table(study.settings),
        "policies": list(filter(None, map(_learned_policy, drawn_settings(study).values()))),
    }
    return Section(slug(study.name), study.purpose, "study.html.j2", content)


def tuning_section(study: Study, claims: Sequence[Claim]) -> Section:
    """Return the search for parameters: its table alone, for its many curves would hide one another."""
    return Section(slug(study.name), study.purpose, "tuning.html.j2", {"summary": summary_table(study.settings)})


def study_figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Draw the figures of a study, each with a name for its file."""
    if (chart := _scaling(study)) is not None:
        yield study.name, chart_figure([chart], study.purpose)
        return
    families: dict[str, dict[str, list[Series]]] = {}
    for setting, members in study.settings.items():
        family = setting.split("-")[0] if study.name == SIX_SETTINGS else study.name
        families.setdefault(family, {})[setting] = members
    for family, settings in families.items():
        yield f"regret-{slug(family)}", chart_figure(regret_charts(settings), FAMILIES.get(family, study.purpose))
    log, rate = map(on_log_axes, regret_charts(study.settings)), per_episode_charts(study.settings)
    yield f"log-{slug(study.name)}", chart_figure(list(log), "Regret on log–log axes")
    yield f"per-episode-{slug(study.name)}", chart_figure(rate, "Regret per episode")


def _scaling(study: Study) -> Chart | None:
    """Return the final regret against the size that a study varies; None where it varies none."""
    if study.name not in SIZES:
        return None
    across, size = SIZES[study.name]
    return scaling_chart(study.settings, across, size)


def claim_cards(study: Study, claims: Sequence[Claim]) -> list[dict[str, Any]]:
    """Return the claims about a study."""
    return [_card(claim) for claim in claims if claim.statement.study == study.name]


def _card(claim: Claim) -> dict[str, Any]:
    """Return a claim with its measurements, drawn and as a table."""
    return {
        "claim": claim,
        "forest": claim_forest(claim.evidence),
        "evidence": _measurements(claim.evidence, claim.confidence),
        "context": _measurements(claim.context, claim.confidence),
    }


def _measurements(measurements: Iterable[Measurement], confidence: float) -> Table:
    rows = [
        (
            item.quantity.what,
            str(item.runs),
            str(item.interval),
            {True: "yes", False: "no", None: "not decided"}[item.outcome],
            item.reading,
        )
        for item in measurements
    ]
    level = f"estimate [{100.0 * confidence:.2f}% interval]"
    return Table(("comparison", "runs", level, "holds", "result"), rows)


def _learned_policy(members: Sequence[Series]) -> dict[str, Any] | None:
    """Return a map of what the best learner's first run learned; None if it was not stored or has no map."""
    best = min(members, key=lambda series: float(series.final.mean()))
    task, policy = best.loaded_task, best.first.learned_policy
    if policy is None or task.num_observations > MAX_CELLS or not has_map(task):
        return None
    map_of_policy = picture(show, task, policy)  # None for a policy that does not fit: a file may hold any
    return None if map_of_policy is None else {"task": best.task, "learner": best.title, "map": map_of_policy}


def tasks_section(studies: Sequence[Study]) -> Section:
    """Return pictures of the tasks, maps of the optimal policy, and diagrams of the machines."""
    tasks = _some_tasks([study for study in studies if study.name == SIX_SETTINGS] or studies)
    content = {
        "optima": _optima(studies),
        "pictures": [(name, picture(task.draw)) for name, task in tasks.items()],
        "maps": [(name, picture(show, task)) for name, task in tasks.items() if has_map(task)],
        "machines": [_machine(name, machine) for name, machine in _small_machines(studies).items()],
    }
    return Section("tasks", "Tasks and machines", "tasks.html.j2", content)


def _small_machines(studies: Sequence[Study]) -> dict[str, RewardMachine]:
    """Return the machines that are small enough to draw, each once, by the name of the first task that has it."""
    machines: dict[str, RewardMachine] = {}
    for name, task in _some_tasks(studies).items():
        is_small = task.machine.num_states <= MAX_MACHINE
        if is_small and not any(other.rules == task.machine.rules for other in machines.values()):
            machines[name] = task.machine
    return machines


def _some_tasks(studies: Iterable[Study]) -> dict[str, Task]:
    """Return the tasks of some studies by name; of more than 24 the first of each kind."""
    first = {members[0].task: members[0] for study in studies for members in study.settings.values()}
    if len(first) > MAX_DRAWN:
        by_kind: dict[str, Series] = {}
        for name, series in first.items():
            by_kind.setdefault(task_kind(name), series)
        first = {series.task: series for series in list(by_kind.values())[:MAX_DRAWN]}
    return {name: series.loaded_task for name, series in first.items()}


def _optima(studies: Iterable[Study]) -> Table:
    rows: dict[str, tuple[str, ...]] = {}
    for study in studies:
        for members in study.settings.values():
            task, run = members[0].loaded_task, members[0].first
            sizes = (task.num_observations, task.num_actions, task.num_machine_states, task.max_steps)
            rows[members[0].task] = (members[0].task, *map(str, sizes), f"{run.optimal_value:.6f}")
    header = ("task", "observations", "actions", "machine states", "horizon", "optimal value")
    return Table(header, list(rows.values()))


def _machine(name: str, machine: RewardMachine) -> dict[str, Any]:
    """Return a machine's diagram: drawn, or as text where pygraphviz is missing."""
    drawing = picture(machine.draw)
    text = str(machine.draw()) if drawing is None else ""
    return {"name": name, "num_states": machine.num_states, "picture": drawing, "mermaid": text}
