"""Write results into the documentation: ``python docs/make_benchmarks.py FOLDER …``, in the clone's folder.

    praemia experiment office; praemia experiment craft; praemia experiment league
    python docs/make_benchmarks.py results-office results-craft results-league

The tables stand on their pages between marks with the name of the folder; the figure is docs/pictures/office.svg.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from concept_pictures import svg_of
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter
from scipy.stats import binom

import praemia
from praemia._support.text_tables import Table
from praemia.report.styles import STYLES
from praemia.report.tables import standings_table
from praemia.statistics.series import Study, read_folder
from praemia.statistics.steps import steps_of

FOLDER = Path(__file__).parent
PAGES = {"league": FOLDER / "reference" / "learners.md"}
STEPS_PAGE = FOLDER / "about" / "published-benchmarks.md"
HEADLINES = ("learned", "to 0.95")  # the criterion of the table and the figure: the first that was measured
LEVEL = 0.05


class Median(NamedTuple):
    """The median of the steps of some runs, and its 95% interval from order statistics; infinite beyond the budget."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, steps: Sequence[float]) -> Median:
        ordered, place = np.sort(steps), int(binom.ppf(LEVEL / 2.0, len(steps), 0.5)) - 1
        low, high = (ordered[place], ordered[-1 - place]) if place >= 0 else (0.0, np.inf)
        return cls(float(ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1].mean()), float(low), float(high))

    def text(self, budget: int) -> str:
        """Write the median with its interval."""
        if not np.isfinite(self.middle):
            return f"> {budget:,}"
        return f"{self.middle:,.0f} ({self.low:,.0f}–{self.high:,.0f})".replace("inf", "∞")


class Row(NamedTuple):
    """A task: the median of each learner by each criterion, the published figures, and the budget."""

    task: str
    medians: dict[str, dict[str, Median]]  # by criterion, then by the learner's title
    published: dict[str, int]
    budget: int

    def winner(self, criterion: str) -> str | None:
        """Return the learner whose interval lies below all others', or None."""
        own = self.medians[criterion]
        best = min(own, key=lambda title: own[title].high)
        return best if all(own[best].high < own[title].low for title in own if title != best) else None


def rows_of(study: Study) -> Iterator[Row]:
    """Yield the tasks of a study that have runs."""
    for task, members in study.rows.items():
        medians: dict[str, dict[str, Median]] = {}
        for series in members:
            for criterion, steps in steps_of(series).items():
                if not np.isnan(steps).any():
                    medians.setdefault(criterion, {})[series.title] = Median.of(steps)
        yield Row(task, medians, study.group.tasks[task].published, members[0].first.step_budget or 0)


def steps_tables(study: Study) -> str:
    """Return how many tasks each learner wins by each criterion, and the steps of each task."""
    rows = list(rows_of(study))
    criteria, titles = list(rows[0].medians), list(next(iter(rows[0].medians.values())))
    headline = next(name for name in HEADLINES if name in criteria)
    won = [(name, *(str(sum(row.winner(name) == title for row in rows)) for title in titles)) for name in criteria]
    published = [title for title in titles if any(title in row.published for row in rows)]
    header = ("task", *titles, *(f"{title}, published" for title in published))
    steps = [
        (
            f"`{row.task}`",
            *(_marked(row.medians[headline][t].text(row.budget), row.winner(headline) == t) for t in titles),
            *(f"{row.published[title]:,}" if title in row.published else "–" for title in published),
        )
        for row in rows
    ]
    return (
        f"In how many of {len(rows)} tasks a learner is the fastest, by the intervals:\n\n"
        f"{markdown(Table(('criterion', *titles), won))}\nSteps, *{headline}*:\n\n{markdown(Table(header, steps))}"
    )


def _marked(text: str, is_strong: bool) -> str:
    return f"**{text}**" if is_strong else text


def markdown(table: Table) -> str:
    """Return a table in Markdown; its strong rows are in bold."""
    lines = [table.header, ["---"] * len(table.header)]
    lines += [[_marked(cell, i in set(table.strong)) for cell in row] for i, row in enumerate(table.rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def figure(study: Study) -> str:
    """Draw the medians of each task with their intervals, and published steps as triangles."""
    rows = list(rows_of(study))[::-1]
    headline = next(name for name in HEADLINES if name in rows[0].medians)
    chart = Figure(figsize=(7, 1.3 + 0.3 * len(rows)), layout="constrained")
    axes = chart.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    titles = list(rows[0].medians[headline])
    names = {series.title: series.first.learner for series in study.series.values()}
    for place, title in enumerate(titles):
        colour = STYLES[names[title]].on_light
        shade = colour if names[title] not in [names[other] for other in titles[:place]] else f"{colour}80"
        y = np.arange(len(rows)) + 0.2 * (1 - place)
        own = [row.medians[headline][title] for row in rows]
        ends = [(m.low, min(m.high, row.budget)) for m, row in zip(own, rows, strict=True)]
        axes.hlines(y, [low for low, _ in ends], [high for _, high in ends], colors=shade, linewidth=2)
        middles = [m.middle if np.isfinite(m.middle) else np.nan for m in own]
        axes.plot(middles, y, "o", color=shade, markersize=5, label=title)
        marks = [row.published.get(title, np.nan) for row in rows]
        if not np.isnan(marks).all():
            axes.plot(marks, y, "<", color=shade, markersize=5, fillstyle="none", label=f"{title}, published")
    axes.set(xscale="log", xlabel="steps", ylim=(-0.6, len(rows) - 0.4))
    axes.set_yticks(range(len(rows)), [row.task for row in rows])
    axes.set_xticks([1_000, 10_000, 100_000], ["1,000", "10,000", "100,000"])
    axes.xaxis.set_minor_formatter(NullFormatter())
    chart.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=3)
    return svg_of(chart)


def write(folder: Path) -> None:
    """Put the results of a folder between its marks, each group of the experiment between its own."""
    name = folder.name.removeprefix("results-")
    path = PAGES.get(name, STEPS_PAGE)
    text = path.read_text(encoding="utf-8")
    for place, study in enumerate(read_folder(praemia.load_runs(folder))):
        mark = f"{name}-{place + 1}" if place else name
        begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
        before, found, rest = text.partition(begin)
        if not found:
            continue
        shown = steps_tables(study) if path == STEPS_PAGE else markdown(standings_table(study))
        if mark == "office":
            (FOLDER / "pictures" / "office.svg").write_text(figure(study), encoding="utf-8")
            shown = f"![Steps in the office of QR-Max](../pictures/office.svg)\n\n{shown}"
        text = f"{before}{begin}{shown}{end}{rest.partition(end)[2]}"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        write(Path(each))
