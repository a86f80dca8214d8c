"""What is claimed, as data: by the paper, and of Headroom in the league; and what the stored runs say about it.

Regret is the exact cumulative regret at the end of a run, averaged over runs. Every verdict is computed by a rule that
is written beside the claim; ``verdicts`` has the rules.

The baseline UCRL2-RM-B appears twice: *as published*, with the ends of its intervals used as distances, which is what
the paper's figures show; and with correct intervals. In the league, tasks that Headroom's constants were chosen on do
not count where it is asked how it does on others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, product

from scipy.stats import binomtest

from praemia.experiments.league import HEADROOM, LEAGUE, UCRL2_B_BEST, is_untouched
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
    Measurement,
    Quantity,
    Statement,
    check,
    difference,
    growth,
    margin_growth,
    ratio,
    relative_growth,
    size_effect,
)
from praemia.statistics.intervals import Interval, median_interval
from praemia.statistics.standings import LeagueTable, compare, is_linear, tails
from praemia.statistics.stored_runs import Series, Study
from praemia.statistics.verdicts import MIN_RUNS, Claim, Question, Scale
from praemia.text_tables import plural

OURS, PRODUCT, L1 = UCBVI_PRM.title, UCBVI.title, UCRL2_L.title
PUBLISHED, CORRECT = UCRL2_B_PUBLISHED.title, UCRL2_B.title
PAPER, BEYOND = "claimed by the paper", "asked beyond the paper"
SETTINGS = (*RIVERSWIMS, *WAREHOUSES)
FLOWERS = (f"flower-{FLOWER_LOOPS[0]}", f"flower-{FLOWER_LOOPS[-1]}")
HORIZONS = ("riverswim-10-horizon-20", "riverswim-10-horizon-80")
RIVERS = ("riverswim-5-horizon-40", "riverswim-20-horizon-40")

RATIO_ABOVE = "every interval of the ratio lies above 1"
WIDER = "every interval of the change of the difference lies above 0"
SLOWER = "every interval of the quotient of the two factors lies below 1"
MORE_STATES = f"from {13 + FLOWER_LOOPS[0]} to {13 + FLOWER_LOOPS[-1]} machine states"


def _ratios(settings: Iterable[str], others: Sequence[str], ours: str = OURS, study: str = "paper") -> list[Quantity]:
    return [ratio(setting, other, ours, study) for setting, other in product(settings, others)]


PAPER_CLAIMS = (
    Statement(
        "warehouse-lowest",
        PAPER,
        f"{OURS} has a lower regret than {PRODUCT} in all three warehouses.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(WAREHOUSES, [PRODUCT]),
    ),
    Statement(
        "warehouse-margin",
        PAPER,
        f"The margin of {OURS} over {PRODUCT} grows with the warehouse.",
        f"{WIDER}, each warehouse against the next smaller one; the ratios beside it say how the margin looks in "
        "proportion",
        Question.ABOVE,
        [margin_growth(small, large, PRODUCT, OURS) for small, large in pairwise(WAREHOUSES)],
        context=[measure(setting, PRODUCT, OURS) for measure in (difference, ratio) for setting in WAREHOUSES],
    ),
    Statement(
        "warehouse-of-all",
        BEYOND,
        f"{OURS} has the lowest regret of all learners in all three warehouses, those included that the paper runs in "
        "RiverSwim only.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(WAREHOUSES, (PRODUCT, L1, PUBLISHED, CORRECT)),
    ),
    Statement(
        "riverswim-small",
        PAPER,
        f"In the small RiverSwim {OURS} is level with the baselines as published.",
        "every interval of the ratio lies within 10 % of 1",
        Question.LEVEL,
        _ratios(RIVERSWIMS[:1], (L1, PUBLISHED)),
    ),
    Statement(
        "riverswim-larger",
        PAPER,
        f"In the larger RiverSwims {OURS} is ahead of the baselines as published.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(RIVERSWIMS[1:], (L1, PUBLISHED)),
    ),
    Statement(
        "riverswim-margin",
        PAPER,
        f"The margin of {OURS} over the baselines as published grows with the river and the horizon.",
        WIDER,
        Question.ABOVE,
        [margin_growth(a, b, other, OURS) for other in (L1, PUBLISHED) for a, b in pairwise(RIVERSWIMS)],
    ),
    Statement(
        "correct-intervals",
        BEYOND,
        f"{OURS} is still ahead of UCRL2-RM-B when the intervals of the latter are correct, in all six settings.",
        f"{RATIO_ABOVE}; below 1 it is UCRL2-RM-B that is ahead",
        Question.ABOVE,
        _ratios(SETTINGS, [CORRECT]),
    ),
    Statement(
        "published-intervals",
        BEYOND,
        "The intervals as published cost UCRL2-RM-B regret in all six settings.",
        "every interval of the ratio, as published to correct, lies above 1",
        Question.ABOVE,
        _ratios(SETTINGS, [PUBLISHED], CORRECT),
    ),
    Statement(
        "machine-size",
        PAPER,
        f"The regret of {OURS} does not grow with the number of machine states.",
        f"the interval of the ratio, {MORE_STATES}, stays below 1.1",
        Question.NO_MORE,
        [size_effect(*FLOWERS, OURS, "machine-size")],
    ),
    Statement(
        "machine-size-product",
        PAPER,
        f"The regret of {PRODUCT}, which learns in the product, does grow with the number of machine states.",
        f"the interval of the ratio, {MORE_STATES}, lies above 1",
        Question.ABOVE,
        [size_effect(*FLOWERS, PRODUCT, "machine-size")],
    ),
    # The paper reads the next two from its bounds; the baseline is UCRL2-RM-B with correct intervals.
    Statement(
        "horizon",
        PAPER,
        f"The regret of {OURS} grows more slowly with the horizon than those of {L1} and {CORRECT}.",
        SLOWER,
        Question.BELOW,
        [relative_growth(*HORIZONS, other, OURS, "horizon") for other in (L1, CORRECT)],
    ),
    Statement(
        "observations",
        PAPER,
        f"The regret of {OURS} grows more slowly with the number of observations than that of {CORRECT}.",
        SLOWER,
        Question.BELOW,
        [relative_growth(*RIVERS, CORRECT, OURS, "river-length")],
    ),
    Statement(
        "square-root",
        PAPER,
        f"The regret of {OURS} grows no faster than √T at the end of the runs.",
        "α is the slope of the mean curve on log–log axes over the last tenfold of episodes; every interval of it "
        "stays below 0.541, with which the regret would grow by 10 % more than √T does",
        Question.NO_MORE,
        [growth(setting, OURS) for setting in SETTINGS],
        context=[growth(setting, title) for title in (PRODUCT, L1, PUBLISHED, CORRECT) for setting in SETTINGS],
    ),
)
STUDIES_OF_THE_PAPER = {part[0] for claim in PAPER_CLAIMS for quantity in claim.quantities for part in quantity.parts}

BASELINES = (OURS, PRODUCT, L1, CORRECT)
HEADROOM_CLAIMS = (
    Statement(
        "headroom-baselines",
        BEYOND,
        f"{HEADROOM} has a lower regret than {', '.join(BASELINES[:-1])} and {BASELINES[-1]} in all six settings.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(SETTINGS, BASELINES, HEADROOM, LEAGUE),
    ),
    Statement(
        "headroom-best-ucrl2",
        BEYOND,
        f"{HEADROOM} is no worse than {UCRL2_B_BEST.title}, the best setting of the best baseline, in all six.",
        "every interval of the ratio lies above 0.909: nowhere is the regret higher by 10 %",
        Question.NO_LESS,
        _ratios(SETTINGS, [UCRL2_B_BEST.title], HEADROOM, LEAGUE),
    ),
)
RARE = 0.01  # a share of runs
TAIL = 2.0  # worst run ÷ mean
FEW_RUNS = 2  # of each task, where the tasks are the sample


def check_claims(studies: Sequence[Study]) -> list[Claim]:
    """Check what the paper claims and what is claimed of the league, where there are runs of these."""
    claims = check(PAPER_CLAIMS, studies) if any(study.name in STUDIES_OF_THE_PAPER for study in studies) else []
    return claims + [claim for study in studies if study.name == LEAGUE for claim in _check_league(study)]


def _check_league(study: Study) -> list[Claim]:
    """Check the claims against the runs of a league; there are none where Headroom does not play with others."""
    board = LeagueTable.of(study.settings)
    if HEADROOM not in board.learners or len(board.learners) < 2:
        return []
    untouched = {task: members for task, members in study.settings.items() if is_untouched(task)}
    others = LeagueTable.of(untouched) if untouched else None
    on_others = [_first(others), _short_tails(others)] if others else []
    return check([*HEADROOM_CLAIMS, *on_others, _few_linear_runs(study)], [study])


def _first(board: LeagueTable) -> Statement:
    """Compare with every other learner, task by task; more runs do not make the tasks agree."""
    sample, is_of_tasks = _sample_size(board)
    extent = plural(len(board.kinds), "kind") + " of task"
    if len(board.kinds) != len(board.tasks):
        extent += f" ({plural(len(board.tasks), 'task')})"

    def against(other: str) -> Quantity:
        def measure(_: Sequence[Series], confidence: float) -> Measurement:
            return Measurement(compare(board, other, HEADROOM, confidence), Scale.ratio(), sample)

        parts = tuple((LEAGUE, task, title) for task in board.tasks for title in (other, HEADROOM))
        words = (f"{HEADROOM} is ahead", "level", f"{other} is ahead")
        return Quantity(f"regret of {other} ÷ that of {HEADROOM}", parts, words, measure)

    more_runs_help = sample < MIN_RUNS and not is_of_tasks
    return Statement(
        "headroom-first",
        BEYOND,
        f"{HEADROOM} is first in the league on tasks that nobody tuned on.",
        f"against every other learner the ratio of regrets lies above 1, over {extent} "
        f"({', '.join(board.kinds)}), compared task by task; ranks play no part",
        Question.ABOVE,
        [against(name) for name in board.learners if name != HEADROOM],
        more_runs_help=more_runs_help,
        too_few="" if more_runs_help else extent,
    )


def _sample_size(board: LeagueTable) -> tuple[int, bool]:
    """Return how many draws an interval over tasks rests on, and whether these are tasks.

    They are the tasks beyond one of each kind; where a kind has one task alone, or a task few runs, they are the runs.
    """
    runs = board.fewest_runs(HEADROOM)
    if runs >= FEW_RUNS and all(len(rows) > 1 for rows in board.kinds.values()):
        return len(board.tasks) - len(board.kinds), True
    return runs, False


def _short_tails(board: LeagueTable) -> Statement:
    """Ask whether the worst run of a task is at most twice as bad as the mean, in the median over tasks."""
    runs = board.fewest_runs(HEADROOM)

    def measure(_: Sequence[Series], confidence: float) -> Measurement:
        median = median_interval(list(tails(board, HEADROOM).values()), confidence)
        return Measurement(median, Scale(TAIL, TAIL, TAIL), runs)

    what = f"worst run of {HEADROOM} ÷ its mean, median over {len(board.tasks)} tasks"
    words = ("more than twice the mean", "twice the mean", "less than twice the mean")
    return Statement(
        "headroom-tails",
        BEYOND,
        f"The worst run of {HEADROOM} on a task has at most twice the mean regret, in the median over tasks.",
        f"the interval of the median lies below {TAIL:g}; the more runs, the worse the worst of them",
        Question.NO_MORE,
        [Quantity(what, tuple((LEAGUE, task, HEADROOM) for task in board.tasks), words, measure)],
        more_runs_help=runs < MIN_RUNS,
    )


def _few_linear_runs(study: Study) -> Statement:
    tasks = [task for task, members in study.settings.items() if any(s.title == HEADROOM for s in members)]

    def measure(members: Sequence[Series], confidence: float) -> Measurement:
        runs = [run for series in members for run in series.runs]
        linear = sum(map(is_linear, runs))
        low, high = binomtest(linear, len(runs)).proportion_ci(confidence, method="exact")
        reading = f"{linear} of {len(runs)} runs are linear"
        fewest = min(series.num_runs for series in members)
        return Measurement(Interval(linear / len(runs), low, high), Scale(0.0, 0.0, RARE), fewest, reading)

    what = f"share of linear runs of {HEADROOM} on {len(tasks)} tasks"
    return Statement(
        "headroom-linear",
        BEYOND,
        f"Of 100 runs of {HEADROOM} fewer than one ends with linear regret, on average over the league's tasks.",
        "the interval of the share of linear runs lies below 1 %; the league's rule says when a run is linear",
        Question.NO_MORE,
        [Quantity(what, tuple((LEAGUE, task, HEADROOM) for task in tasks), ("", "", ""), measure)],
    )
