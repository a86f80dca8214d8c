"""What is claimed, as data: by the paper and beyond it, and of Headroom in the league.

Regret is the exact cumulative regret at the end of a run, averaged over runs. Every verdict is computed by a rule that
is written beside the claim; ``verdicts`` has the rules, and ``measurements`` measures.

The baseline UCRL2-RM-B appears twice: *as published*, with the ends of its intervals used as distances, which is what
the paper's figures show; and with correct intervals. In the league, tasks that Headroom's constants were chosen on do
not count where it is asked how it does on others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product

from scipy.stats import binomtest

from praemia.experiments.league import DRAWN, LEAGUE, is_untouched
from praemia.experiments.paper import (
    FLOWER_LOOPS,
    HEADROOM,
    RIVERSWIMS,
    UCBVI,
    UCBVI_PRM,
    UCRL2_B,
    UCRL2_B_BEST,
    UCRL2_B_PUBLISHED,
    UCRL2_L,
    WAREHOUSES,
)
from praemia.statistics.intervals import Interval, median_interval
from praemia.statistics.measurements import (
    Claim,
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
from praemia.statistics.standings import LeagueTable, is_linear, regret_ratio, tails
from praemia.statistics.stored_runs import Series, Study
from praemia.statistics.verdicts import MIN_RUNS, Question, Scale
from praemia.text_tables import plural

PRM, PRODUCT, L1 = UCBVI_PRM.title, UCBVI.title, UCRL2_L.title
PUBLISHED, CORRECT, OWN = UCRL2_B_PUBLISHED.title, UCRL2_B.title, HEADROOM.title
PAPER, BEYOND = "claimed by the paper", "asked beyond the paper"
SETTINGS = (*RIVERSWIMS, *WAREHOUSES)
FLOWERS = (f"flower-{FLOWER_LOOPS[0]}", f"flower-{FLOWER_LOOPS[-1]}")
HORIZONS = ("riverswim-10-horizon-20", "riverswim-10-horizon-80")
RIVERS = ("riverswim-5-horizon-40", "riverswim-20-horizon-40")

RATIO_ABOVE = "every interval of the ratio lies above 1"
WIDER = "every interval of the change of the difference lies above 0"
SLOWER = "every interval of the quotient of the two factors lies below 1"
MORE_STATES = f"from {13 + FLOWER_LOOPS[0]} to {13 + FLOWER_LOOPS[-1]} machine states"


def _ratios(settings: Iterable[str], others: Sequence[str], ours: str = PRM) -> list[Quantity]:
    return [ratio(setting, other, ours) for setting, other in product(settings, others)]


BASELINES = (PRM, PRODUCT, L1, CORRECT)
CLAIMS = (
    Statement(
        "warehouse-lowest",
        f"Warehouses: lower regret than {PRODUCT}",
        PAPER,
        f"{PRM} has a lower regret than {PRODUCT} in all three warehouses.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(WAREHOUSES, [PRODUCT]),
    ),
    Statement(
        "warehouse-margin",
        "Warehouses: a margin that grows",
        PAPER,
        f"The margin of {PRM} over {PRODUCT} grows with the warehouse.",
        f"{WIDER}, each warehouse against the next smaller one; the ratios beside it say how the margin looks in "
        "proportion",
        Question.ABOVE,
        [margin_growth(small, large, PRODUCT, PRM) for small, large in pairwise(WAREHOUSES)],
        context=[measure(setting, PRODUCT, PRM) for measure in (difference, ratio) for setting in WAREHOUSES],
    ),
    Statement(
        "warehouse-of-all",
        "Warehouses: the lowest regret of all",
        BEYOND,
        f"{PRM} has the lowest regret of all learners in all three warehouses, even of those that the paper compares "
        "only in RiverSwim.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(WAREHOUSES, (PRODUCT, L1, PUBLISHED, CORRECT)),
    ),
    Statement(
        "riverswim-small",
        "Small RiverSwim: level",
        PAPER,
        f"In the small RiverSwim {PRM} is level with the baselines as published.",
        "every interval of the ratio lies within 10% of 1",
        Question.LEVEL,
        _ratios(RIVERSWIMS[:1], (L1, PUBLISHED)),
    ),
    Statement(
        "riverswim-larger",
        "Larger RiverSwims: ahead",
        PAPER,
        f"In the larger RiverSwims {PRM} is ahead of the baselines as published.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(RIVERSWIMS[1:], (L1, PUBLISHED)),
    ),
    Statement(
        "riverswim-margin",
        "RiverSwims: a margin that grows",
        PAPER,
        f"The margin of {PRM} over the baselines as published grows with the river and the horizon.",
        WIDER,
        Question.ABOVE,
        [margin_growth(a, b, other, PRM) for other in (L1, PUBLISHED) for a, b in pairwise(RIVERSWIMS)],
    ),
    Statement(
        "correct-intervals",
        f"Ahead of {CORRECT} with correct intervals",
        BEYOND,
        f"{PRM} is still ahead of UCRL2-RM-B when the intervals of the latter are correct, in all six settings.",
        f"{RATIO_ABOVE}; below 1 it is UCRL2-RM-B that is ahead",
        Question.ABOVE,
        _ratios(SETTINGS, [CORRECT]),
    ),
    Statement(
        "published-intervals",
        "Intervals as published cost regret",
        BEYOND,
        "The intervals as published cost UCRL2-RM-B regret in all six settings.",
        "every interval of the ratio, as published to correct, lies above 1",
        Question.ABOVE,
        _ratios(SETTINGS, [PUBLISHED], CORRECT),
    ),
    Statement(
        "machine-size",
        "No growth with the machine",
        PAPER,
        f"The regret of {PRM} does not grow with the number of machine states.",
        f"the interval of the ratio, {MORE_STATES}, stays below 1.1",
        Question.NO_MORE,
        [size_effect(*FLOWERS, PRM)],
        study="machine-size",
    ),
    Statement(
        "machine-size-product",
        f"{PRODUCT} grows with the machine",
        PAPER,
        f"The regret of {PRODUCT}, which learns in the product, does grow with the number of machine states.",
        f"the interval of the ratio, {MORE_STATES}, lies above 1",
        Question.ABOVE,
        [size_effect(*FLOWERS, PRODUCT)],
        study="machine-size",
    ),
    # The paper reads the next two from its bounds; the baseline is UCRL2-RM-B with correct intervals.
    Statement(
        "horizon",
        "Slower growth with the horizon",
        PAPER,
        f"The regret of {PRM} grows more slowly with the horizon than those of {L1} and {CORRECT}.",
        SLOWER,
        Question.BELOW,
        [relative_growth(*HORIZONS, other, PRM) for other in (L1, CORRECT)],
        study="horizon",
    ),
    Statement(
        "observations",
        "Slower growth with the observations",
        PAPER,
        f"The regret of {PRM} grows more slowly with the number of observations than that of {CORRECT}.",
        SLOWER,
        Question.BELOW,
        [relative_growth(*RIVERS, CORRECT, PRM)],
        study="river-length",
    ),
    Statement(
        "square-root",
        "Growth no faster than √T",
        PAPER,
        f"The regret of {PRM} grows no faster than √T at the end of the runs.",
        "α is the slope of the mean curve on log–log axes over the last tenfold of episodes; every interval of it "
        "stays below 0.541, with which the regret would grow by 10% more than √T does",
        Question.NO_MORE,
        [growth(setting, PRM) for setting in SETTINGS],
        context=[growth(setting, title) for title in (PRODUCT, L1, PUBLISHED, CORRECT) for setting in SETTINGS],
    ),
    Statement(
        "headroom-baselines",
        f"{OWN} ahead of the baselines",
        BEYOND,
        f"{OWN} has a lower regret than {', '.join(BASELINES[:-1])} and {BASELINES[-1]} in all six settings.",
        RATIO_ABOVE,
        Question.ABOVE,
        _ratios(SETTINGS, BASELINES, OWN),
    ),
    Statement(
        "headroom-best-ucrl2",
        f"{OWN} no worse than the best baseline",
        BEYOND,
        f"{OWN} is no worse than {UCRL2_B_BEST.title}, the best setting of the best baseline, in all six.",
        "every interval of the ratio lies above 0.909: nowhere is the regret higher by 10%",
        Question.NO_LESS,
        _ratios(SETTINGS, [UCRL2_B_BEST.title], OWN),
    ),
)
RARE = 0.01  # a share of runs
TAIL = 2.0  # worst run ÷ mean
FEW_RUNS = 2  # of each task, where the tasks are the sample


def check_claims(studies: Sequence[Study]) -> list[Claim]:
    """Check what is claimed of the studies that there are."""
    settings = {study.name: study.settings for study in studies}
    statements = (*CLAIMS, *_league_statements(settings.get(LEAGUE, {})))
    return [check(item, settings[item.study]) for item in statements if item.study in settings]


def _league_statements(settings: Mapping[str, Sequence[Series]]) -> list[Statement]:
    """Return what is claimed of a league.

    It is nothing where Headroom does not play with others, or only on tasks of the user's choice: those of the league
    are drawn.
    """
    untouched = {task: members for task, members in settings.items() if is_untouched(task)}
    learners = LeagueTable.of(settings).learners
    if OWN not in learners or len(learners) < 2 or not any(task.startswith(f"{DRAWN}-") for task in untouched):
        return []
    others = LeagueTable.of(untouched)
    return [_first(others), _short_tails(others), _few_linear_runs(settings)]


def _first(board: LeagueTable) -> Statement:
    """Compare with every other learner, task by task; more runs do not make the tasks agree."""
    sample, is_of_tasks = _sample_size(board)
    extent = plural(len(board.kinds), "kind") + " of task"
    if len(board.kinds) != len(board.tasks):
        extent += f" ({plural(len(board.tasks), 'task')})"

    def against(other: str) -> Quantity:
        def measure(_: Sequence[Series], confidence: float) -> tuple[Interval, Scale, int]:
            return regret_ratio(board, other, OWN, confidence), Scale.ratio(), sample

        parts = tuple((task, title) for task in board.tasks for title in (other, OWN))
        words = (f"{OWN} is ahead", "level", f"{other} is ahead")
        return Quantity(f"regret of {other} ÷ that of {OWN}", parts, words, measure)

    more_runs_help = sample < MIN_RUNS and not is_of_tasks
    return Statement(
        "headroom-first",
        f"{OWN} first on tasks nobody tuned on",
        BEYOND,
        f"{OWN} is first in the league on tasks that nobody tuned on.",
        f"against every other learner the ratio of regrets lies above 1, over {extent} "
        f"({', '.join(board.kinds)}), compared task by task; ranks play no part",
        Question.ABOVE,
        [against(name) for name in board.learners if name != OWN],
        study=LEAGUE,
        more_runs_help=more_runs_help,
        too_few="" if more_runs_help else extent,
    )


def _sample_size(board: LeagueTable) -> tuple[int, bool]:
    """Return how many draws an interval over tasks rests on, and whether these are tasks.

    They are the tasks beyond one of each kind; where a kind has one task alone, or a task few runs, they are the runs.
    """
    runs = board.fewest_runs(OWN)
    if runs >= FEW_RUNS and all(len(rows) > 1 for rows in board.kinds.values()):
        return len(board.tasks) - len(board.kinds), True
    return runs, False


def _short_tails(board: LeagueTable) -> Statement:
    """Ask whether the worst run of a task is at most twice as bad as the mean, in the median over tasks."""
    runs = board.fewest_runs(OWN)

    def measure(_: Sequence[Series], confidence: float) -> tuple[Interval, Scale, int]:
        return median_interval(list(tails(board, OWN).values()), confidence), Scale(TAIL, TAIL, TAIL), runs

    what = f"worst run of {OWN} ÷ its mean, median over {plural(len(board.tasks), 'task')}"
    words = ("more than twice the mean", "twice the mean", "less than twice the mean")
    return Statement(
        "headroom-tails",
        f"{OWN}: worst run at most twice the mean",
        BEYOND,
        f"The worst run of {OWN} on a task has at most twice the mean regret, in the median over tasks.",
        f"the interval of the median lies below {TAIL:g}; the more runs, the worse the worst of them",
        Question.NO_MORE,
        [Quantity(what, tuple((task, OWN) for task in board.tasks), words, measure)],
        study=LEAGUE,
        more_runs_help=runs < MIN_RUNS,
    )


def _few_linear_runs(settings: Mapping[str, Sequence[Series]]) -> Statement:
    members = {task: s for task, own in settings.items() for s in own if s.title == OWN}
    runs = [run for series in members.values() for run in series.runs]
    linear, fewest = sum(map(is_linear, runs)), min(series.num_runs for series in members.values())

    def measure(_: Sequence[Series], confidence: float) -> tuple[Interval, Scale, int]:
        low, high = binomtest(linear, len(runs)).proportion_ci(confidence, method="exact")
        return Interval(linear / len(runs), low, high), Scale(RARE, RARE, RARE), fewest

    what = f"share of linear runs of {OWN}, {linear} of {plural(len(runs), 'run')} on {plural(len(members), 'task')}"
    words = ("more than 1%", "1%", "less than 1%")
    return Statement(
        "headroom-linear",
        f"{OWN}: linear runs are rare",
        BEYOND,
        f"Of 100 runs of {OWN} fewer than one ends with linear regret, on average over the league's tasks.",
        "the interval of the share of linear runs lies below 1%; the league's rule says when a run is linear",
        Question.NO_MORE,
        [Quantity(what, tuple((task, OWN) for task in members), words, measure)],
        study=LEAGUE,
    )
