"""The report: one HTML file that says what held, with curves, tables, tasks, and how it was made.

It is made from a store alone, needs no network, and is the same for the same store.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from praemia.drawing.interactive import plotly_script
from praemia.errors import FileError
from praemia.experiments.league import NAME as LEAGUE
from praemia.experiments.settings import Experiment, Job, slug
from praemia.experiments.store import Store
from praemia.files.atomic_io import write_whole
from praemia.report.figure_files import write_figures
from praemia.report.html import bullets, page, resource
from praemia.report.league_page import league_section
from praemia.report.sections import claims_section, provenance_section, study_section, tasks_section
from praemia.simulation.run import STREAMS
from praemia.statistics.claims import check_claims
from praemia.statistics.league_claims import check_league
from praemia.statistics.stored_runs import Study, discover, gather
from praemia.statistics.verdicts import Claim

TITLE = "Learning with probabilistic reward machines: what the runs say"
CLAIMED = {"paper", "machine-size", "horizon", "river-length"}  # the experiments that claims are made of


def write_report(store: Store, experiments: Iterable[Experiment] | None, path: str | Path) -> Path:
    """Write the report on some experiments, or on all that the store has runs of; return its path."""
    return publish_studies(*_studies(store, experiments), Path(path), figures=False)[0]


def publish(store: Store, experiments: Iterable[Experiment] | None, path: str | Path) -> list[Path]:
    """Write the report, and the figures into a folder ``figures`` beside it; return all that was written."""
    return publish_studies(*_studies(store, experiments), Path(path), figures=True)


def publish_studies(studies: Sequence[Study], damaged: Sequence[str], path: Path, *, figures: bool) -> list[Path]:
    """Write the report on some studies, and the figures if they are wanted; return all that was written."""
    report = _write(studies, damaged, path)
    return [report, *(write_figures(studies, report.parent / "figures") if figures else [])]


def _studies(store: Store, experiments: Iterable[Experiment] | None) -> tuple[list[Study], list[str]]:
    studies, damaged = discover(store) if experiments is None else gather(store, experiments)
    if not studies:
        found = f" ({len(damaged)} damaged files)" if damaged else ""
        raise FileError(f"{store.folder}: there are no runs to report on{found}; praemia reproduce makes them")
    return studies, damaged


def _write(studies: Sequence[Study], damaged: Sequence[str], path: Path) -> Path:
    text = page(TITLE, report_body(studies, damaged), [plotly_script(), resource("report.js")])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None
    write_whole(path, text.encode())
    return path


def all_claims(studies: Sequence[Study]) -> list[Claim]:
    """Check what the paper claims and what is claimed of the league, where there are runs of these."""
    claims = check_claims(studies) if any(study.name in CLAIMED for study in studies) else []
    return claims + [claim for study in studies if study.name == LEAGUE for claim in check_league(study)]


def report_body(studies: Sequence[Study], damaged: Sequence[str] = ()) -> str:
    """Return the report without the page around it."""
    claims = all_claims(studies)
    return "\n".join(
        [
            f"<h1>{escape(TITLE)}</h1>",
            f'<p class="lead">{escape(_opening(studies))}</p>',
            _contents(studies, with_claims=bool(claims)),
            _damage(damaged),
            _revisions(studies),
            claims_section(claims) if claims else "",
            *(league_section(study) if study.name == LEAGUE else study_section(study) for study in studies),
            tasks_section(studies),
            provenance_section(studies),
        ]
    )


def _opening(studies: Sequence[Study]) -> str:
    # One run may serve two experiments; it is counted once.
    runs = {Job.of(run).digest + str(run.seed) for s in studies for series in s.series for run in series.runs}
    tasks = {setting for study in studies for setting in study.settings}
    learners = {series.title for study in studies if study.name != "tuning" for series in study.series}
    return (
        f"{len(runs):,} runs of {len(learners)} learners on {len(tasks)} tasks. Regret is exact: the value of every "
        "policy that was played is computed, not sampled."
    )


def _contents(studies: Iterable[Study], *, with_claims: bool) -> str:
    links = [("claims", "What held")] if with_claims else []
    links += [(f"study-{slug(study.name)}", study.name) for study in studies]
    links += [("tasks", "Tasks and machines"), ("made", "How it was made")]
    return "<nav>" + "".join(f'<a href="#{escape(to)}">{escape(text)}</a>' for to, text in links) + "</nav>"


def _damage(damaged: Sequence[str]) -> str:
    if not damaged:
        return ""
    return (
        f'<div class="notice"><p>{len(damaged)} damaged files are left out; running the experiment again makes them '
        f"anew.</p>{bullets(damaged)}</div>"
    )


def _revisions(studies: Sequence[Study]) -> str:
    """Say so when runs were made with other random streams than this version's."""
    found = sorted({run.streams for study in studies for series in study.series for run in series.runs})
    if found in ([], [STREAMS]):
        return ""
    which = " and ".join(map(str, found))
    text = (
        f"This folder holds runs of revision {which} of the random streams; this version makes revision {STREAMS}. At "
        "the same seed they are different runs. They are never put together: an experiment is made of the newest "
        "revision that it has runs of, and all others are under “other runs in this folder”."
    )
    return f'<div class="notice"><p>{escape(text)}</p></div>'
