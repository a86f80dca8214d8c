"""The report: one HTML file that says what held, with curves, tables, tasks, and how it was made.

It is made from stored runs alone, needs no network, and the same runs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from praemia.errors import FileError, MissingExtraError
from praemia.experiments.league import LEAGUE
from praemia.experiments.settings import Job, slug
from praemia.files.atomic_io import write_whole
from praemia.pictures.diagrams import draw_machine
from praemia.pictures.policy_page import has_map
from praemia.pictures.show import show
from praemia.report import figures as drawn
from praemia.report.figures import plotly_script
from praemia.report.league_page import league_figure, league_section
from praemia.report.rendering import render_page, resource, save
from praemia.report.sections import (
    claims_section,
    machines,
    paper_tasks,
    provenance_section,
    study_section,
    tasks_section,
)
from praemia.simulation.run import STREAMS
from praemia.statistics.claims import check_claims
from praemia.statistics.standings import boards, standings
from praemia.statistics.stored_runs import Series, Study
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Learning with probabilistic reward machines: what the runs say"
SIZES = {
    "machine-size": ("machine states", lambda task: task.num_machine_states),
    "horizon": ("horizon", lambda task: task.horizon),
    "river-length": ("observations", lambda task: task.num_observations),
}
FAMILIES = {"riverswim": "RiverSwim", "warehouse": "Warehouse"}


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
        title=TITLE,
        num_runs=len(runs),
        num_learners=len({series.title for s in studies if s.name != "tuning" for series in s.series}),
        num_tasks=len({setting for study in studies for setting in study.settings}),
        damaged=damaged,
        streams=STREAMS,
        other_streams=streams if streams != [STREAMS] else [],
        studies=[league_section(study) if study.name == LEAGUE else study_section(study) for study in studies],
        plotly=Markup(plotly_script()),
        script=resource("report.js"),
        **claims_section(claims),
        **tasks_section(studies),
        **provenance_section(studies),
    )


def write_figures(studies: Sequence[Study], folder: Path) -> list[Path]:
    """Draw all figures of some studies into a folder, as PNG and SVG; return the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written: list[Path] = []
        for study in studies:
            for name, figure in study_figures(study):
                written += save(figure, folder / name)
        for task in paper_tasks(studies):
            if has_map(task):
                written += _write_map(task, folder / f"map-{slug(task.name)}")
        return written + _write_machines(studies, folder)
    except OSError as error:
        raise FileError(f"cannot write figures to {str(folder)!r}: {error.strerror}") from None


def study_figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Draw the figures of a study, each with a name for its file."""
    if study.name in SIZES:
        across, size = SIZES[study.name]
        yield study.name, drawn.scaling_figure(study.settings, study.purpose.capitalize(), across, size)
        return
    if study.name == LEAGUE:
        board, _ = boards(study.settings)
        if board.learners:
            yield LEAGUE, league_figure(board, standings(board))
        return
    if study.name == "tuning":
        return  # 24 curves in a panel say nothing; the report has their table
    if study.name == "paper":
        for family, members in _families(study).items():
            title = f"{FAMILIES.get(family, family)}: exact regret, mean and its 95 % interval"
            yield f"regret-{family}", drawn.regret_figure(members, title)
    else:
        yield f"regret-{study.name}", drawn.regret_figure(study.settings, f"{study.purpose}: exact regret")
    yield f"log-{study.name}", drawn.log_figure(study.settings, "Exact regret on log–log axes")
    yield f"per-episode-{study.name}", drawn.per_episode_figure(study.settings, "Exact regret per episode")


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
    written = []
    for name, machine in machines(studies).items():
        stem = folder / f"machine-{slug(name)}"
        try:
            written += [draw_machine(machine, stem.with_suffix(f".{form}")) for form in ("png", "svg")]
        except MissingExtraError:
            written.append(draw_machine(machine, stem.with_suffix(".mmd")))
    return written
