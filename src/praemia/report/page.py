"""The report: one HTML file that says what held, with curves, tables, tasks, and how it was made.

It is made from stored runs alone, needs no network, and the same runs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from praemia.drawing.interactive import plotly_script
from praemia.errors import FileError
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.settings import Job
from praemia.files.atomic_io import write_whole
from praemia.report.figure_files import write_figures
from praemia.report.league_page import league_section
from praemia.report.rendering import render_page, resource
from praemia.report.sections import claims_section, provenance_section, study_section, tasks_section
from praemia.simulation.run import STREAMS
from praemia.statistics.claims import check_claims
from praemia.statistics.league_claims import check_league
from praemia.statistics.stored_runs import Study
from praemia.statistics.verdicts import Claim

TITLE = "Learning with probabilistic reward machines: what the runs say"
CLAIMED = {"paper", "machine-size", "horizon", "river-length"}  # the experiments that claims are made of


def write_report(studies: Sequence[Study], damaged: Sequence[str], path: Path, *, figures: bool) -> list[Path]:
    """Write the report on some studies, and the figures into a folder beside it; return all that was written."""
    page = _report(studies, damaged)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None
    write_whole(path, page)
    return [path, *(write_figures(studies, path.parent / "figures") if figures else [])]


def all_claims(studies: Sequence[Study]) -> list[Claim]:
    """Check what the paper claims and what is claimed of the league, where there are runs of these."""
    claims = check_claims(studies) if any(study.name in CLAIMED for study in studies) else []
    return claims + [claim for study in studies if study.name == LEAGUE for claim in check_league(study)]


def _report(studies: Sequence[Study], damaged: Sequence[str]) -> bytes:
    """Return the page."""
    claims = all_claims(studies)
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
