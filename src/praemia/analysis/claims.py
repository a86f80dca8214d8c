"""What the paper claims, and what the stored runs say about it.

Every verdict is computed by a rule that is written beside the claim. Regret is the exact cumulative regret at the end
of a run, averaged over runs; intervals are 95 % bootstrap intervals over runs. In the rules, *lower* means that the
whole interval lies on that side, and *level* that it contains equality. A claim is undecided (``held`` is None) when a
learner it speaks of has fewer than two runs in one of its settings.

The baseline UCRL2-RM-B appears twice: *as published*, with the ends of its intervals used as distances, which is what
the paper's figures show; and with correct intervals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from praemia.analysis.bootstrap import Interval
from praemia.analysis.evidence import Line, Runs
from praemia.analysis.results import Study
from praemia.experiments.builtin import (
    FLOWER_LOOPS,
    RIVERSWIMS,
    UCBVI,
    UCBVI_PRM,
    UCRL2_B,
    UCRL2_B_PUBLISHED,
    UCRL2_L,
    WAREHOUSES,
)

OURS, PRODUCT, L1 = UCBVI_PRM.title, UCBVI.title, UCRL2_L.title
PUBLISHED, CORRECT = UCRL2_B_PUBLISHED.title, UCRL2_B.title
PAPER, BEYOND = "claimed by the paper", "asked beyond the paper"
SQRT = 0.5


@dataclass(frozen=True)
class Claim:
    """A claim and its verdict.

    Attributes
    ----------
    key : a short name; statement : the claim in a sentence; rule : when it counts as held.
    source : whether the paper claims it, or it is asked beyond the paper.
    held : True, False, or None when runs are missing.
    evidence : the comparisons that decide; context : comparisons shown beside them.
    """

    key: str
    statement: str
    rule: str
    source: str
    held: bool | None
    evidence: tuple[Line, ...]
    context: tuple[Line, ...] = ()

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return {True: "held", False: "did not hold", None: "not decided: runs missing"}[self.held]

    @property
    def summary(self) -> str:
        """How often the deciding comparisons read which way."""
        counts = Counter(line.reading for line in self.evidence)
        total = len(self.evidence)
        if total == 1:
            return self.evidence[0].reading
        return "; ".join(f"{reading} in {count} of {total}" for reading, count in counts.most_common())


def check_claims(studies: Iterable[Study]) -> list[Claim]:
    """Check every claim against the runs."""
    runs = Runs(studies)
    return [
        *_warehouse(runs),
        *_riverswim(runs),
        *_correct_intervals(runs),
        *_machine_size(runs),
        *_sizes(runs),
        _growth(runs),
    ]


def _claim(
    key: str,
    statement: str,
    rule: str,
    source: str,
    evidence: Sequence[Line | None],
    test: Callable[[Interval], bool],
    context: Sequence[Line | None] = (),
) -> Claim:
    """Make a claim that holds when every deciding comparison passes the test."""
    there = tuple(line for line in evidence if line is not None)
    held = all(test(line.interval) for line in there) if len(there) == len(evidence) else None
    return Claim(key, statement, rule, source, held, there, tuple(line for line in context if line is not None))


def _warehouse(runs: Runs) -> list[Claim]:
    others = (PRODUCT, L1, PUBLISHED, CORRECT)
    return [
        _claim(
            "warehouse-lowest",
            f"{OURS} has a lower regret than {PRODUCT} in all three warehouses.",
            "every interval of the ratio lies above 1",
            PAPER,
            [runs.ratio(setting, PRODUCT, OURS) for setting in WAREHOUSES],
            lambda interval: interval.low > 1.0,
        ),
        _claim(
            "warehouse-margin",
            f"The margin of {OURS} over {PRODUCT} grows with the warehouse.",
            "the difference of the regrets is wider in each warehouse than in the next smaller one: every interval of "
            "the change lies above 0; the ratios beside it say how the margin looks in proportion",
            PAPER,
            [runs.margin_growth(small, large, PRODUCT, OURS) for small, large in pairwise(WAREHOUSES)],
            lambda interval: interval.low > 0.0,
            context=[
                compare(setting, PRODUCT, OURS) for compare in (runs.difference, runs.ratio) for setting in WAREHOUSES
            ],
        ),
        _claim(
            "warehouse-of-all",
            f"{OURS} has the lowest regret of all learners in all three warehouses, those included that the paper "
            "runs in RiverSwim only.",
            "every interval of the ratio lies above 1",
            BEYOND,
            [runs.ratio(setting, other, OURS) for setting in WAREHOUSES for other in others],
            lambda interval: interval.low > 1.0,
        ),
    ]


def _riverswim(runs: Runs) -> list[Claim]:
    small, *larger = RIVERSWIMS
    baselines = (L1, PUBLISHED)
    return [
        _claim(
            "riverswim-small",
            f"In the small RiverSwim {OURS} is level with the baselines as published.",
            "every interval of the difference contains 0; where it does not, the reading says who is lower",
            PAPER,
            [runs.difference(small, other, OURS) for other in baselines],
            lambda interval: interval.low <= 0.0 <= interval.high,
            context=[runs.ratio(small, other, OURS) for other in baselines],
        ),
        _claim(
            "riverswim-larger",
            f"In the larger RiverSwims {OURS} is ahead of the baselines as published.",
            "every interval of the ratio lies above 1",
            PAPER,
            [runs.ratio(setting, other, OURS) for setting in larger for other in baselines],
            lambda interval: interval.low > 1.0,
        ),
        _claim(
            "riverswim-margin",
            f"The margin of {OURS} over the baselines as published grows with the river and the horizon.",
            "every interval of the change of the difference lies above 0",
            PAPER,
            [runs.margin_growth(a, b, other, OURS) for other in baselines for a, b in pairwise(RIVERSWIMS)],
            lambda interval: interval.low > 0.0,
        ),
    ]


def _correct_intervals(runs: Runs) -> list[Claim]:
    settings = (*RIVERSWIMS, *WAREHOUSES)
    return [
        _claim(
            "correct-intervals",
            f"{OURS} is still ahead of UCRL2-RM-B when the intervals of the latter are correct, in all six settings.",
            "every interval of the ratio lies above 1; below 1 it is UCRL2-RM-B that is ahead",
            BEYOND,
            [runs.ratio(setting, CORRECT, OURS) for setting in settings],
            lambda interval: interval.low > 1.0,
        ),
        _claim(
            "published-intervals",
            "The intervals as published cost UCRL2-RM-B regret in all six settings.",
            "every interval of the ratio, as published to correct, lies above 1",
            BEYOND,
            [runs.ratio(setting, PUBLISHED, CORRECT) for setting in settings],
            lambda interval: interval.low > 1.0,
        ),
    ]


def _machine_size(runs: Runs) -> list[Claim]:
    smallest, largest = f"flower-{FLOWER_LOOPS[0]}", f"flower-{FLOWER_LOOPS[-1]}"
    ours, product = (runs.size_effect(smallest, largest, title, "machine-size") for title in (OURS, PRODUCT))
    states = (13 + FLOWER_LOOPS[0], 13 + FLOWER_LOOPS[-1])
    root = math.sqrt(states[1] / states[0])
    return [
        _claim(
            "machine-size",
            f"The regret of {OURS} does not grow with the number of machine states.",
            "the interval of the ratio reaches down to 1 (no growth is seen) and stays below "
            f"√({states[1]}/{states[0]}) = {root:.2f} (growth with the square root of the machine is ruled out)",
            PAPER,
            [ours],
            lambda interval: interval.low <= 1.0 and interval.high < root,
        ),
        _claim(
            "machine-size-product",
            f"The regret of {PRODUCT}, which learns in the product, does grow with the number of machine states.",
            "the interval of the ratio lies above 1",
            PAPER,
            [product],
            lambda interval: interval.low > 1.0,
        ),
    ]


def _sizes(runs: Runs) -> list[Claim]:
    """The paper reads these from its bounds; the baseline here is UCRL2-RM-B with correct intervals."""
    horizons = ("riverswim-10-horizon-20", "riverswim-10-horizon-80")
    rivers = ("riverswim-5-horizon-40", "riverswim-20-horizon-40")
    rule = "every interval of the quotient of the two factors lies below 1"
    return [
        _claim(
            "horizon",
            f"The regret of {OURS} grows more slowly with the horizon than those of {L1} and {CORRECT}.",
            rule,
            PAPER,
            [runs.relative_growth(*horizons, other, OURS, "horizon") for other in (L1, CORRECT)],
            lambda interval: interval.high < 1.0,
        ),
        _claim(
            "observations",
            f"The regret of {OURS} grows more slowly with the number of observations than that of {CORRECT}.",
            rule,
            PAPER,
            [runs.relative_growth(*rivers, CORRECT, OURS, "river-length")],
            lambda interval: interval.high < 1.0,
        ),
    ]


def _growth(runs: Runs) -> Claim:
    settings = (*RIVERSWIMS, *WAREHOUSES)
    return _claim(
        "square-root",
        f"The regret of {OURS} grows no faster than √T at the end of the runs.",
        "α is the slope of the mean curve on log–log axes over the last tenfold of episodes; no interval of it reaches "
        "above 0.5",
        PAPER,
        [runs.growth(setting, OURS) for setting in settings],
        lambda interval: interval.high <= SQRT,
        context=[runs.growth(setting, title) for title in (PRODUCT, L1, PUBLISHED, CORRECT) for setting in settings],
    )
