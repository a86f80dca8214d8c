"""Forest plots: intervals one below the other on a common axis, around the value of no difference.

The page draws them with boxes whose places are shares of its width, so they fit any screen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from praemia._support.text_tables import plural
from praemia.report.chart_svg import Ruler, short
from praemia.statistics.claims import Verdict
from praemia.statistics.intervals import Interval, quotient_interval
from praemia.statistics.measures import Scale
from praemia.statistics.series import Series, paired

PERCENT = 100
MAX_TICKS, FEW_TICKS = 9, 6
WIDEST = 100.0  # times the largest estimate: the intervals of a few runs may reach any distance


@dataclass(frozen=True)
class Whisker:
    """An interval, the learner that it belongs to, and the sample it rests on."""

    title: str
    interval: Interval
    basis: str = ""


@dataclass(frozen=True)
class Forest:
    """Rows of intervals, each with a label, and the scale of the comparison."""

    rows: Sequence[tuple[str, Sequence[Whisker]]]
    scale: Scale
    is_log: bool = True

    @property
    def is_single(self) -> bool:
        """Whether every row has one interval, which then stands beside it in numbers."""
        return all(len(marks) == 1 for _, marks in self.rows)

    @cached_property
    def axis(self) -> Ruler:
        """An axis of 100 units that holds all estimates, the null value, and the ends of intervals within reach."""
        intervals = [mark.interval for _, marks in self.rows for mark in marks]
        middles = [i.estimate for i in intervals if math.isfinite(i.estimate) and (i.estimate > 0.0 or not self.is_log)]
        values = [*middles, self.scale.null]
        reach = (min(values) / WIDEST, max(values) * WIDEST) if self.is_log else (-math.inf, math.inf)
        ends = [end for interval in intervals for end in (interval.low, interval.high)]
        values += [end for end in ends if reach[0] < end < reach[1]]
        low, high = min(values), max(values)
        if self.is_log:
            return Ruler(min(0.8, low / 1.15), max(1.25, high * 1.15), PERCENT, True)
        margin = 0.05 * (high - low) or 1.0
        return Ruler(low - margin, high + margin, PERCENT, False)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and values on the axis; there are fewer where text stands beside it."""
        limit = FEW_TICKS if self.is_single else MAX_TICKS
        return [(self.place(value), short(value)) for value in self.axis.ticks(limit)]

    def place(self, value: float) -> float:
        """Return where a value lies, in percent of the width; NaN lies at the null value."""
        value = self.scale.null if math.isnan(value) else value
        inside = min(max(value, self.axis.first), self.axis.last)
        return round(float(self.axis.places(np.array(inside))), 2)


def ratio_forest(rows: Mapping[str, Sequence[Series]], reference: str) -> Forest | None:
    """Return the regret of every learner over that of the reference, task by task and seed by seed."""
    lines = []
    for task, members in rows.items():
        base = [series for series in members if series.title == reference]
        others = [(own.title, paired((own, *base))) for own in members if base and own.title != reference]
        marks = [
            Whisker(title, quotient_interval(samples, (1, -1)), plural(samples.shape[1], "run"))
            for title, samples in others
            if samples.shape[1] > 0
        ]
        lines += [(task, marks)] if marks else []
    return Forest(lines, Scale.ratio()) if lines else None


def verdict_forest(verdict: Verdict) -> Forest | None:
    """Return the comparisons of a claim, where all have the same null value."""
    samples = [item.sample for item in verdict.evidence]
    scales = {sample.scale for sample in samples}
    if len({scale.null for scale in scales}) != 1:
        return None
    (null, *_) = (scale.null for scale in scales)
    scale = Scale(null, null, null) if len(scales) > 1 else scales.pop()
    rows = [(item.what, [Whisker("", item.sample.interval, str(item.sample.size))]) for item in verdict.evidence]
    return Forest(rows, scale, is_log=null > 0.0 and scale == Scale.ratio(null))
