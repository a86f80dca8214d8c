"""The first screen of the report: the verdicts, the ratios to one learner's regret, and the curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from praemia.experiments.league import LEAGUE
from praemia.experiments.paper import SIX_SETTINGS, TUNING
from praemia.experiments.settings import slug
from praemia.experiments.suites import SUITE_NAMES
from praemia.report.forest import ratio_forest
from praemia.report.league_page import league_overview
from praemia.report.looks import looks
from praemia.report.sections import curves
from praemia.statistics.claims import BEYOND, PAPER
from praemia.statistics.comparisons import Claim
from praemia.statistics.standings import REFERENCE
from praemia.statistics.stored_runs import Study
from praemia.text_tables import are


def overview(studies: Sequence[Study], claims: Sequence[Claim]) -> dict[str, Any]:
    """Return the first screen: the verdicts, the ratios to one learner's regret, and the curves."""
    groups = [
        (whose, [claim for claim in claims if claim.statement.source == source])
        for source, whose in ((PAPER, "The paper's claims"), (BEYOND, "Further questions"))
    ]
    main = min(studies, key=lambda study: (study.name != SIX_SETTINGS, study.name == TUNING))
    glance = GLANCES.get(main.name, _study_overview)
    return {
        "verdicts": [(f"{whose}: {verdict_count(own)}.", own) for whose, own in groups if own],
        "anchor": slug(main.name),
        **glance(main),
    }


def _no_overview(study: Study) -> dict[str, Any]:
    """Return nothing: the section of the study says more than ratios and curves of its regret."""
    return {"forest": None, "curves": None}


GLANCES = {LEAGUE: league_overview, **dict.fromkeys((TUNING, *SUITE_NAMES), _no_overview)}


def _study_overview(study: Study) -> dict[str, Any]:
    titles = list(dict.fromkeys(series.title for series in study.series))
    reference = REFERENCE if REFERENCE in titles else titles[0]
    return {
        "reference": reference,
        "forest": ratio_forest(study.settings, reference),
        "colours": {title: look.name for title, look in looks(titles).items()},
        "curves": curves(study),
    }


def verdict_count(claims: Sequence[Claim]) -> str:
    """Say how many claims held, did not hold and are not decided."""
    outcomes = [claim.held for claim in claims]
    held, failed, undecided = (outcomes.count(outcome) for outcome in (True, False, None))
    parts = [f"{held} held", f"{failed} did not hold", f"{undecided} {are(undecided)} not decided"]
    return ", ".join(part for part, count in zip(parts, (held, failed, undecided), strict=True) if count)
