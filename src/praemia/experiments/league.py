"""The league: every learner on every task, at one setting per learner for all tasks.

Learners and tasks join by name. The paper's learners play at the paper's exploration coefficients and under its replan
rules, all others at their defaults; UCRL2-RM-B plays a second time at 0.03, where it is best. Left out are the
players that do not learn, UCRL2-RM-B as published, and — unless they are named — Q-learning and CRM: they play another
policy in every episode, and to evaluate each of them exactly takes four fifths of the whole league's time. Yardsticks,
which are told part of the truth, play too and are ranked nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from praemia import learners
from praemia.experiments.experiment_file import task_text
from praemia.experiments.league_tasks import LARGE, SETTINGS_OF_THE_PAPER, UNTOUCHED
from praemia.experiments.paper import UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_L
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText

NAME = "league"
HEADROOM = "headroom"
YARDSTICKS = ("told-support", "told-most")
DO_NOT_LEARN = ("random", "optimal")
TOO_SLOW = ("q-learning", "crm")
UCRL2_B_BEST = LearnerChoice.of("ucrl2-rm-b", "UCRL2-RM-B 0.03", bonus_scale=0.03)
SETTINGS = {
    "ucbvi-prm": (UCBVI_PRM,),
    "ucbvi": (UCBVI,),
    "ucrl2-rm-l": (UCRL2_L,),
    "ucrl2-rm-b": (UCRL2_B, UCRL2_B_BEST),
}


@dataclass(frozen=True)
class Budget:
    """How much the league plays, unless told otherwise."""

    tasks: tuple[str, ...]
    runs: int
    episodes: int


USUAL = (Budget((*UNTOUCHED, *SETTINGS_OF_THE_PAPER), 2, 3_000),)  # within 10 minutes on two cores
# A night. A plan for a large task takes up to seconds, so these have fewer and shorter runs.
FULL = (Budget((*UNTOUCHED, *SETTINGS_OF_THE_PAPER), 32, 10_000), Budget(LARGE, 8, 1_000))


def league(
    tasks: Iterable[str] = (),
    names: Iterable[str] = (),
    num_runs: int | None = None,
    num_episodes: int | None = None,
    seed: int = 0,
    *,
    full: bool = False,
) -> Experiment:
    """Return the league of some tasks (names or files) and learners; the usual ones where none is named."""
    chosen = tuple(choice for name in dict.fromkeys(names or [*contestants(), *YARDSTICKS]) for choice in choices(name))
    budgets = FULL if full else USUAL
    text: Callable[[str], TaskText] = TaskText.builtin  # to check these names would be to draw hundreds of tasks
    if named := tuple(dict.fromkeys(tasks)):
        budgets, text = (replace(budgets[0], tasks=named),), task_text
    settings = tuple(
        Setting(
            text(name),
            chosen,
            budget.runs if num_runs is None else num_runs,
            budget.episodes if num_episodes is None else num_episodes,
            seed,
        )
        for budget in budgets
        for name in budget.tasks
    )
    return Experiment(NAME, "every learner on every task, at one setting for all tasks", settings)


def contestants() -> list[str]:
    """Return the names of all that learn by planning."""
    return [name for name in learners.names() if name not in (*YARDSTICKS, *DO_NOT_LEARN, *TOO_SLOW)]


def choices(name: str) -> tuple[LearnerChoice, ...]:
    """Return a learner, by name or as ``file.py:Class``, as it plays in the league; one plays twice."""
    return SETTINGS[name] if name in SETTINGS else (LearnerChoice.of(name),)
