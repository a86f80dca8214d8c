"""What the paper claims, and what the stored runs say about it.

Regret is the exact cumulative regret at the end of a run, averaged over runs. Every verdict is computed by a rule that
is written beside the claim; ``verdicts`` has the rules.

The baseline UCRL2-RM-B appears twice: *as published*, with the ends of its intervals used as distances, which is what
the paper's figures show; and with correct intervals.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from praemia.experiments.paper import (
    FLOWER_LOOPS,
    RIVERSWIMS,
    UCBVI,
    UCBVI_PRM,
    UCRL2_B,
    UCRL2_B_PUBLISHED,
    UCRL2_L,
    WAREHOUSES,
)
from praemia.statistics.comparisons import (
    Quantity,
    Runs,
    difference,
    growth,
    margin_growth,
    ratio,
    relative_growth,
    size_effect,
)
from praemia.statistics.stored_runs import Study
from praemia.statistics.verdicts import Claim, Question

OURS, PRODUCT, L1 = UCBVI_PRM.title, UCBVI.title, UCRL2_L.title
PUBLISHED, CORRECT = UCRL2_B_PUBLISHED.title, UCRL2_B.title
PAPER, BEYOND = "claimed by the paper", "asked beyond the paper"
SETTINGS = (*RIVERSWIMS, *WAREHOUSES)

RATIO_ABOVE = "every interval of the ratio lies above 1"
WIDER = "every interval of the change of the difference lies above 0"


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


def _ratios(settings: Iterable[str], others: Iterable[str], ours: str = OURS) -> list[Quantity]:
    titles = list(others)
    return [ratio(setting, other, ours) for setting in settings for other in titles]


def _warehouse(runs: Runs) -> list[Claim]:
    return [
        runs.claim(
            "warehouse-lowest",
            f"{OURS} has a lower regret than {PRODUCT} in all three warehouses.",
            RATIO_ABOVE,
            PAPER,
            Question.ABOVE,
            _ratios(WAREHOUSES, [PRODUCT]),
        ),
        runs.claim(
            "warehouse-margin",
            f"The margin of {OURS} over {PRODUCT} grows with the warehouse.",
            f"{WIDER}, each warehouse against the next smaller one; the ratios beside it say how the margin looks in "
            "proportion",
            PAPER,
            Question.ABOVE,
            [margin_growth(small, large, PRODUCT, OURS) for small, large in pairwise(WAREHOUSES)],
            context=[compare(setting, PRODUCT, OURS) for compare in (difference, ratio) for setting in WAREHOUSES],
        ),
        runs.claim(
            "warehouse-of-all",
            f"{OURS} has the lowest regret of all learners in all three warehouses, those included that the paper "
            "runs in RiverSwim only.",
            RATIO_ABOVE,
            BEYOND,
            Question.ABOVE,
            _ratios(WAREHOUSES, (PRODUCT, L1, PUBLISHED, CORRECT)),
        ),
    ]


def _riverswim(runs: Runs) -> list[Claim]:
    small, *larger = RIVERSWIMS
    baselines = (L1, PUBLISHED)
    return [
        runs.claim(
            "riverswim-small",
            f"In the small RiverSwim {OURS} is level with the baselines as published.",
            "every interval of the ratio lies within 10 % of 1",
            PAPER,
            Question.LEVEL,
            _ratios([small], baselines),
        ),
        runs.claim(
            "riverswim-larger",
            f"In the larger RiverSwims {OURS} is ahead of the baselines as published.",
            RATIO_ABOVE,
            PAPER,
            Question.ABOVE,
            _ratios(larger, baselines),
        ),
        runs.claim(
            "riverswim-margin",
            f"The margin of {OURS} over the baselines as published grows with the river and the horizon.",
            WIDER,
            PAPER,
            Question.ABOVE,
            [margin_growth(a, b, other, OURS) for other in baselines for a, b in pairwise(RIVERSWIMS)],
        ),
    ]


def _correct_intervals(runs: Runs) -> list[Claim]:
    return [
        runs.claim(
            "correct-intervals",
            f"{OURS} is still ahead of UCRL2-RM-B when the intervals of the latter are correct, in all six settings.",
            f"{RATIO_ABOVE}; below 1 it is UCRL2-RM-B that is ahead",
            BEYOND,
            Question.ABOVE,
            _ratios(SETTINGS, [CORRECT]),
        ),
        runs.claim(
            "published-intervals",
            "The intervals as published cost UCRL2-RM-B regret in all six settings.",
            "every interval of the ratio, as published to correct, lies above 1",
            BEYOND,
            Question.ABOVE,
            _ratios(SETTINGS, [PUBLISHED], CORRECT),
        ),
    ]


def _machine_size(runs: Runs) -> list[Claim]:
    smallest, largest = f"flower-{FLOWER_LOOPS[0]}", f"flower-{FLOWER_LOOPS[-1]}"
    states = f"from {13 + FLOWER_LOOPS[0]} to {13 + FLOWER_LOOPS[-1]} machine states"
    return [
        runs.claim(
            "machine-size",
            f"The regret of {OURS} does not grow with the number of machine states.",
            f"the interval of the ratio, {states}, stays below 1.1",
            PAPER,
            Question.NO_MORE,
            [size_effect(smallest, largest, OURS, "machine-size")],
        ),
        runs.claim(
            "machine-size-product",
            f"The regret of {PRODUCT}, which learns in the product, does grow with the number of machine states.",
            f"the interval of the ratio, {states}, lies above 1",
            PAPER,
            Question.ABOVE,
            [size_effect(smallest, largest, PRODUCT, "machine-size")],
        ),
    ]


def _sizes(runs: Runs) -> list[Claim]:
    """The paper reads these from its bounds; the baseline here is UCRL2-RM-B with correct intervals."""
    horizons = ("riverswim-10-horizon-20", "riverswim-10-horizon-80")
    rivers = ("riverswim-5-horizon-40", "riverswim-20-horizon-40")
    rule = "every interval of the quotient of the two factors lies below 1"
    return [
        runs.claim(
            "horizon",
            f"The regret of {OURS} grows more slowly with the horizon than those of {L1} and {CORRECT}.",
            rule,
            PAPER,
            Question.BELOW,
            [relative_growth(*horizons, other, OURS, "horizon") for other in (L1, CORRECT)],
        ),
        runs.claim(
            "observations",
            f"The regret of {OURS} grows more slowly with the number of observations than that of {CORRECT}.",
            rule,
            PAPER,
            Question.BELOW,
            [relative_growth(*rivers, CORRECT, OURS, "river-length")],
        ),
    ]


def _growth(runs: Runs) -> Claim:
    return runs.claim(
        "square-root",
        f"The regret of {OURS} grows no faster than √T at the end of the runs.",
        "α is the slope of the mean curve on log–log axes over the last tenfold of episodes; every interval of it "
        "stays below 0.541, with which the regret would grow by 10 % more than √T does",
        PAPER,
        Question.NO_MORE,
        [growth(setting, OURS) for setting in SETTINGS],
        context=[growth(setting, title) for title in (PRODUCT, L1, PUBLISHED, CORRECT) for setting in SETTINGS],
    )
