"""Suites: their table as text, their figure, and their section of the report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from praemia.experiments.settings import slug
from praemia.experiments.suites import LEARNED_SHARE, PLAYED_SHARE, SHARES, Suite, suite_of
from praemia.report.chart_svg import plots
from praemia.report.charts import Chart, Curve, PublishedPoint
from praemia.report.figures import chart_figure
from praemia.report.rendering import Section
from praemia.statistics.measurements import Claim
from praemia.statistics.stored_runs import Series, Study
from praemia.statistics.suite_lines import SuiteLine, share_curve, suite_lines
from praemia.text_tables import Table, number, plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADER = (
    *("task", "learner"),
    *(f"to {share:g}" for share in SHARES),
    *("played", f"learned to {LEARNED_SHARE:g}", "t test", "learned t test", "published", "seconds"),
)
CURVE_POINTS, FIRST_STEP = 300, 100
ABOVE = 1.06  # where published figures are marked: above the curves


def steps_text(steps: Sequence[float], budget: int) -> str:
    """Write the median over runs; where half of the runs have not come so far, that it is more than the budget."""
    if not steps:
        return "–"
    median = float(np.median(steps))
    return f"{median:,.0f}" if math.isfinite(median) else f"> {budget:,}"


def suite_table(lines: Sequence[SuiteLine]) -> Table:
    """Return the table of a suite."""
    return Table(HEADER, list(map(_cells, lines)))


def _cells(line: SuiteLine) -> tuple[str, ...]:
    near = (steps_text(line.steps[share], line.budget) for share in SHARES)
    published = "–" if line.published is None else f"{line.published:,}"
    kinds = (line.played, line.learned, line.t_test, line.learned_t_test)
    others = (steps_text(steps, line.budget) for steps in kinds)
    return (line.task, line.learner, *near, *others, published, number(line.seconds))


def explained(suite: Suite) -> list[str]:
    """Return what the table shows, in sentences."""
    shares = ", ".join(f"{share:g}" for share in SHARES)
    return [
        f"To {shares}: steps until the exact value of every plan is at least this share of the optimum, for good; the "
        "median over runs, or more than the budget, which is the same for all learners of a task.",
        f"Played: steps after which each twentieth of the run earns {PLAYED_SHARE:g} of the optimum on average, "
        "exploration included.",
        f"Published: {suite.criterion}. {suite.source}.",
        *(
            [
                f"Learned to {LEARNED_SHARE:g}: steps until every learned policy, the best in the learner's estimate, "
                "without a bonus, is worth this share of the optimum; of learners without an estimate, every plan.",
                "t test: the same criterion here, against 100 episodes of an optimal policy; of the plan, and of the "
                "learned policy.",
            ]
            if suite.test_every is not None
            else []
        ),
    ]


def suite_text(suite: Suite, lines: Sequence[SuiteLine]) -> str:
    """Return the table as text, and what it shows."""
    return f"{suite_table(lines)}\n" + "\n".join(explained(suite)) + "\n"


def suite_data(suite: Suite, lines: Sequence[SuiteLine]) -> dict[str, Any]:
    """Return the table as plain data; infinite steps are more than the budget."""
    about = {"suite": suite.name, "source": suite.source, "criterion": suite.criterion}
    published = {item.task: dict(item.published) for item in suite.benchmarks}
    return {**about, "lines": [asdict(line) for line in lines], "published": published}


def suite_section(study: Study, claims: Sequence[Claim]) -> Section:
    """Return a suite: its figure and its table."""
    suite = suite_of(study.name)
    assert suite is not None
    content = {
        "purpose": suite.purpose,
        "runs": " or ".join(plural(count, "run") for count in sorted({series.num_runs for series in study.series})),
        "charts": plots(suite_charts(suite, study.settings)),
        "table": suite_table(suite_lines(suite, study.settings)),
        "explained": explained(suite),
    }
    return Section(slug(study.name), f"The suite {suite.name}", "suite.html.j2", content)


def suite_charts(suite: Suite, settings: Mapping[str, Sequence[Series]]) -> list[Chart]:
    """Return the value of plans against steps, a chart for each task, with the published figures as marks."""
    charts = []
    for item in suite.benchmarks:
        steps = np.geomspace(FIRST_STEP, item.num_steps, CURVE_POINTS)
        members = settings.get(item.task, ())
        curves = [Curve(series.title, steps, np.maximum(0.0, share_curve(series, steps))) for series in members]
        points = [PublishedPoint(method, published, ABOVE) for method, published in item.published.items()]
        if curves:
            charts.append(
                Chart(item.task, "", "steps", "value ÷ optimum", curves, is_log_across=True, published=points)
            )
    return charts


def suite_figures(study: Study) -> Iterator[tuple[str, Figure]]:
    """Draw the figure of a suite, with a name for its file."""
    suite = suite_of(study.name)
    assert suite is not None
    title = f"{suite.purpose}: value ÷ optimum against steps; triangles: published"
    yield study.name, chart_figure(suite_charts(suite, study.settings), title)
