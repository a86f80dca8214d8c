"""What the league says about Headroom, this package's own learner: claims and rules as for the paper's.

Tasks that its constants were chosen on do not count where it is asked how it does on others.
"""

from __future__ import annotations

from praemia.analysis.bootstrap import Interval
from praemia.analysis.claims import BEYOND, Claim
from praemia.analysis.evidence import Line, Runs
from praemia.analysis.league import Board, rank_differences, standings
from praemia.analysis.results import Study
from praemia.experiments.builtin import RIVERSWIMS, UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_L, WAREHOUSES
from praemia.experiments.league import HEADROOM, NAME, TUNED_ON, TUNED_ON_FOR_HEADROOM, UCRL2_B_BEST

SETTINGS = (*RIVERSWIMS, *WAREHOUSES)
BASELINES = (UCBVI_PRM.title, UCBVI.title, UCRL2_L.title, UCRL2_B.title)
CLEARLY = 5  # of the six settings


def check_league(study: Study) -> list[Claim]:
    """Check the claims against the runs of a league; there are none where Headroom does not play with others."""
    board = Board.of(study.settings)
    if HEADROOM not in board.learners or len(board.learners) < 2:
        return []
    runs = Runs([study])
    untouched = {
        task: members
        for task, members in study.settings.items()
        if task not in TUNED_ON and task not in TUNED_ON_FOR_HEADROOM
    }
    first = [_first(Board.of(untouched))] if untouched else []
    return [_baselines(runs), _best_ucrl2(runs), *first, _no_linear_run(board)]


def _baselines(runs: Runs) -> Claim:
    lines = {setting: [runs.ratio(setting, other, HEADROOM, NAME) for other in BASELINES] for setting in SETTINGS}
    found = tuple(line for group in lines.values() for line in group if line is not None)
    held = None
    if len(found) == len(SETTINGS) * len(BASELINES):
        clear = sum(all(line is not None and line.interval.low > 1.0 for line in group) for group in lines.values())
        held = all(line.interval.estimate > 1.0 for line in found) and clear >= CLEARLY
    return Claim(
        "headroom-baselines",
        f"{HEADROOM} has a lower regret than {', '.join(BASELINES[:-1])} and {BASELINES[-1]} in all six settings.",
        f"every ratio is above 1, and in at least {CLEARLY} of the settings every interval lies above 1",
        BEYOND,
        held,
        found,
    )


def _best_ucrl2(runs: Runs) -> Claim:
    lines = [runs.ratio(setting, UCRL2_B_BEST.title, HEADROOM, NAME) for setting in SETTINGS]
    found = tuple(line for line in lines if line is not None)
    held = all(line.interval.high >= 1.0 for line in found) if len(found) == len(lines) else None
    return Claim(
        "headroom-best-ucrl2",
        f"{HEADROOM} is level with or below {UCRL2_B_BEST.title}, the best setting of the best baseline, in all six.",
        "every interval of the ratio reaches 1 or more: nowhere is the other clearly lower",
        BEYOND,
        held,
        found,
    )


def _first(board: Board) -> Claim:
    enough = all(board.series[task, name].num_runs >= 2 for task in board.tasks for name in board.learners)
    differences = rank_differences(board, HEADROOM) if enough else {}
    lines = tuple(
        Line(f"mean rank of {other} − that of {HEADROOM}", interval, _reading(interval, other))
        for other, interval in differences.items()
    )
    return Claim(
        "headroom-first",
        f"{HEADROOM} is first in the league on tasks that nobody tuned on.",
        f"its mean rank over {', '.join(board.tasks)} is the lowest; the intervals say how surely",
        BEYOND,
        all(interval.estimate > 0.0 for interval in differences.values()) if differences else None,
        lines,
    )


def _reading(interval: Interval, other: str) -> str:
    if interval.low > 0.0:
        return f"{HEADROOM} is ahead"
    return f"{other} is ahead" if interval.high < 0.0 else "level"


def _no_linear_run(board: Board) -> Claim:
    (own,) = [line for line in standings(board) if line.learner == HEADROOM]
    lines = tuple(
        Line(f"{task}: linear runs of {HEADROOM}", Interval(float(count), float(count), float(count)), "linear runs")
        for task, count in own.linear.items()
    )
    return Claim(
        "headroom-linear",
        f"No run of {HEADROOM} ends with linear regret, on any task of the league.",
        f"none of its {own.runs} runs is linear by the league's rule",
        BEYOND,
        not own.linear,
        lines,
    )
