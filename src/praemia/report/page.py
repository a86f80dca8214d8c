"""The report: one HTML file that says what held, with curves, tables, tasks, and how it was made.

It is made from stored runs alone, needs no network, and the same runs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from praemia.errors import FileError, MissingExtraError
from praemia.experiments.league import LEAGUE
from praemia.experiments.paper import SIX_SETTINGS, TUNING
from praemia.experiments.settings import Job, slug
from praemia.experiments.suites import SUITE_NAMES, suite_of
from praemia.files.atomic_io import write_whole
from praemia.pictures.diagrams import draw_machine
from praemia.pictures.policy_page import has_map
from praemia.pictures.show import show
from praemia.report.charts import on_log_axes, per_episode_charts, regret_charts
from praemia.report.figures import chart_figure, save
from praemia.report.league_page import league_figure, league_section, rank_figure
from praemia.report.overview import overview
from praemia.report.provenance import provenance_section
from praemia.report.rendering import Section, render_page, resource
from praemia.report.run_tables import regret_note
from praemia.report.sections import drawn_machines, drawn_tasks, scaling, study_section, tasks_section, tuning_section
from praemia.report.suite_page import suite_figure, suite_section
from praemia.simulation.run import STREAMS
from praemia.statistics.claims import check_claims
from praemia.statistics.comparisons import Claim
from praemia.statistics.standings import boards, standings
from praemia.statistics.stored_runs import Series, Study
from praemia.statistics.verdicts import LOOKS, MIN_RUNS, MOST_RUNS
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Learning with probabilistic reward machines: what the runs say"
FAMILIES = {"riverswim": "RiverSwim", "warehouse": "Warehouse"}
# Studies that are not shown as others are.
SECTIONS: dict[str, Callable[[Study, Sequence[Claim]], Section]] = {
    LEAGUE: league_section,
    TUNING: tuning_section,
    **dict.fromkeys(SUITE_NAMES, suite_section),
}


def write_report(studies: Sequence[Study], damaged: Sequence[str], path: Path, *, figures: bool) -> list[Path]:
    """Write the report on some studies, and the figures into a folder beside it; return all that was written."""
    page = _report(studies, damaged)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None
    write_whole(path, page)
    return [path, *(write_figures(studies, path.parent / "figures") if figures else [])]


def _report(studies: Sequence[Study], damaged: Sequence[str]) -> bytes:
    """Return the page."""
    claims = check_claims(studies)
    streams = sorted({run.streams for study in studies for series in study.series for run in series.runs})
    # One run may serve two experiments; it is counted once.
    runs = {Job.of(run).digest + str(run.seed) for s in studies for series in s.series for run in series.runs}
    return render_page(
        "report.html.j2",
        title=_title(studies),
        num_runs=len(runs),
        num_learners=len({series.title for s in studies if s.name != TUNING for series in s.series}),
        num_tasks=len({setting for study in studies for setting in study.settings}),
        regret_note=regret_note([series for study in studies for series in study.series]),
        damaged=damaged,
        streams=STREAMS,
        other_streams=streams if streams != [STREAMS] else [],
        overview=overview(studies, claims),
        sections=[
            *(SECTIONS.get(study.name, study_section)(study, claims) for study in studies),
            tasks_section(studies),
            provenance_section(studies),
        ],
        rules={"min_runs": MIN_RUNS, "most_runs": MOST_RUNS, "looks": LOOKS},
        script=resource("report.js"),
    )


def _title(studies: Sequence[Study]) -> str:
    """Head the page with its one study, or with the paper's question."""
    if len(studies) == 1:
        return studies[0].purpose
    return TITLE if any(study.name == SIX_SETTINGS for study in studies) else "What the runs in this folder say"


def write_figures(studies: Sequence[Study], folder: Path) -> list[Path]:
    """Draw all figures of some studies into a folder, as PNG and SVG; return the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths: list[Path] = []
        for study in studies:
            for name, figure in study_figures(study):
                paths += save(figure, folder / name)
        for name, task in drawn_tasks(studies).items():
            if has_map(task):
                paths += _write_map(task, folder / f"map-{slug(name)}")
        return paths + _write_machines(studies, folder)
    except OSError as error:
        raise FileError(f"cannot write figures to {str(folder)!r}: {error.strerror}") from None


def study_figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Draw the figures of a study, each with a name for its file."""
    if (chart := scaling(study)) is not None:
        yield study.name, chart_figure([chart], study.purpose)
        return
    if suite := suite_of(study.name):
        yield study.name, suite_figure(suite, study.settings)
        return
    if study.name == LEAGUE:
        board, _ = boards(study.settings)
        if board.learners:
            yield LEAGUE, league_figure(board, standings(board))
            yield f"{LEAGUE}-ranks", rank_figure(board, standings(board))
        return
    if study.name == TUNING:
        return  # 24 curves in a panel say nothing; the report has their table
    families = _families(study) if study.name == SIX_SETTINGS else {study.name: study.settings}
    for family, members in families.items():
        yield f"regret-{slug(family)}", chart_figure(regret_charts(members), FAMILIES.get(family, study.purpose))
    log, rate = map(on_log_axes, regret_charts(study.settings)), per_episode_charts(study.settings)
    yield f"log-{slug(study.name)}", chart_figure(list(log), "Regret on log–log axes")
    yield f"per-episode-{slug(study.name)}", chart_figure(rate, "Regret per episode")


def _families(study: Study) -> dict[str, dict[str, list[Series]]]:
    families: dict[str, dict[str, list[Series]]] = {}
    for setting, members in study.settings.items():
        families.setdefault(setting.split("-")[0], {})[setting] = members
    return families


def _write_map(task: Task, stem: Path) -> list[Path]:
    paths = [stem.with_name(f"{stem.name}.{form}") for form in ("png", "svg")]
    picture = show(task)
    for path in paths:
        picture.save(path)
    return paths


def _write_machines(studies: Sequence[Study], folder: Path) -> list[Path]:
    paths = []
    for name, machine in drawn_machines(studies).items():
        stem = folder / f"machine-{slug(name)}"
        try:
            paths += [draw_machine(machine, stem.with_suffix(f".{form}")) for form in ("png", "svg")]
        except MissingExtraError:
            paths.append(draw_machine(machine, stem.with_suffix(".mmd")))
    return paths
