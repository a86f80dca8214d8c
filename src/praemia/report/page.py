"""The report: one HTML file that says what held, with curves, tables, tasks, and how it was made.

It is made from stored runs alone, needs no network, and the same runs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from praemia.experiments.league import LEAGUE
from praemia.experiments.paper import SIX_SETTINGS, TUNING
from praemia.experiments.settings import Job, slug
from praemia.experiments.suites import SUITE_NAMES
from praemia.files.atomic_io import write_whole
from praemia.report.figures import save
from praemia.report.league_page import league_figures, league_glance, league_section
from praemia.report.provenance import provenance_section
from praemia.report.rendering import Section, render_page, resource
from praemia.report.run_tables import regret_note
from praemia.report.sections import (
    study_figures,
    study_glance,
    study_section,
    tasks_section,
    tuning_section,
)
from praemia.report.suite_page import suite_figures, suite_section
from praemia.simulation.run import RNG_REVISION
from praemia.statistics.claims import BEYOND, PAPER, check_claims
from praemia.statistics.measurements import Claim
from praemia.statistics.stored_runs import Study
from praemia.statistics.verdicts import LOOKS, MIN_RUNS, MOST_RUNS
from praemia.text_tables import are

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Learning with probabilistic reward machines: what the runs say"


class StudyView(NamedTuple):
    """How a kind of study is shown: its section, its part of the first screen, and its figures for files."""

    section: Callable[[Study, Sequence[Claim]], Section]
    glance: Callable[[Study], dict[str, Any]] = lambda study: {"forest": None, "curves": None}
    figures: Callable[[Study], Iterable[tuple[str, Figure]]] = lambda study: ()


USUAL = StudyView(study_section, study_glance, study_figures)
VIEWS = {
    LEAGUE: StudyView(league_section, league_glance, league_figures),
    TUNING: StudyView(tuning_section),  # 24 curves in a panel say nothing
    **dict.fromkeys(SUITE_NAMES, StudyView(suite_section, figures=suite_figures)),
}


def write_report(studies: Sequence[Study], damaged: Iterable[str], path: Path, *, figures: bool) -> list[Path]:
    """Write the report on some studies, and the figures into a folder beside it; return all that was written."""
    page = _report(studies, list(damaged))
    write_whole(path, page, within=path.parent)
    return [path, *(write_figures(studies, path.parent / "figures") if figures else [])]


def _report(studies: Sequence[Study], damaged: Sequence[str]) -> bytes:
    """Return the page."""
    claims = check_claims(studies)
    revisions = sorted({run.rng_revision for study in studies for series in study.series for run in series.runs})
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
        revision=RNG_REVISION,
        revisions=revisions if revisions != [RNG_REVISION] else [],
        overview=_overview(studies, claims),
        sections=[
            *(VIEWS.get(study.name, USUAL).section(study, claims) for study in studies),
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


def _overview(studies: Sequence[Study], claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the first screen: the verdicts, the ratios to one learner's regret, and the curves."""
    groups = [
        (whose, [claim for claim in claims if claim.statement.source == source])
        for source, whose in ((PAPER, "The paper's claims"), (BEYOND, "Further questions"))
    ]
    main = min(studies, key=lambda study: (study.name != SIX_SETTINGS, study.name == TUNING))
    return {
        "verdicts": [(f"{whose}: {verdict_count(own)}.", own) for whose, own in groups if own],
        "anchor": slug(main.name),
        **VIEWS.get(main.name, USUAL).glance(main),
    }


def verdict_count(claims: Sequence[Claim]) -> str:
    """Say how many claims held, did not hold and are not decided."""
    outcomes = [claim.held for claim in claims]
    held, failed, undecided = (outcomes.count(outcome) for outcome in (True, False, None))
    parts = [f"{held} held", f"{failed} did not hold", f"{undecided} {are(undecided)} not decided"]
    return ", ".join(part for part, count in zip(parts, (held, failed, undecided), strict=True) if count)


def write_figures(studies: Sequence[Study], folder: Path) -> list[Path]:
    """Draw the curves of some studies into a folder, as PNG and SVG; return the files."""
    figures = (item for study in studies for item in VIEWS.get(study.name, USUAL).figures(study))
    return [path for name, figure in figures for path in save(figure, folder / name, folder.parent)]
