"""The league: every learner on every task, at one setting per learner for all tasks.

Learners and tasks join by name. The paper's learners play at the paper's exploration coefficients and under its replan
rules, all others at their defaults; UCRL2-RM-B plays a second time at 0.03, where it is best. Left out are the
players that do not learn, UCRL2-RM-B as published, and — unless they are named — Q-learning and CRM: model-free, they
need many more episodes than the league has. Oracle baselines (*yardsticks*), which know part of p, play too and are
ranked nowhere.

Most tasks are *untouched*: no constant of any learner was chosen on them. Headroom's were chosen on tasks drawn by
other seeds, from 1000 on, ``TUNING_SEEDS``; a test keeps the two apart. The seeds here were played
once, with Headroom as it is now; others of each kind had been looked at before (docs/reference/learners.md). The
paper's six settings are reported apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from praemia import learners
from praemia.envs.generated_tasks import KINDS
from praemia.envs.registry import FAMILIES
from praemia.experiments.paper import RIVERSWIMS, UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_B_BEST, UCRL2_L, WAREHOUSES
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText, learner_choices

LEAGUE = "league"
YARDSTICKS = ("told-support",)
DO_NOT_LEARN = ("random", "optimal")
MODEL_FREE = ("q-learning", "crm")
SETTINGS = {
    "ucbvi-prm": (UCBVI_PRM,),
    "ucbvi": (UCBVI,),
    "ucrl2-rm-l": (UCRL2_L,),
    "ucrl2-rm-b": (UCRL2_B, UCRL2_B_BEST),
}

SEEDS = range(300, 324)
TUNING_SEEDS = range(1000, 2**63)  # generated tasks of these seeds are for choosing constants
UNTOUCHED = tuple(f"generated-{kind}-{seed}" for kind in KINDS for seed in SEEDS)
LARGE = tuple(f"generated-{kind}-large-{seed}" for kind in KINDS for seed in range(2))
SETTINGS_OF_THE_PAPER = (*RIVERSWIMS, *WAREHOUSES)  # coefficients were chosen on these, by the paper or here
# Built-in tasks on which constants of Headroom were chosen, now or in earlier versions; random-20x4x5 with any seed.
TUNED_ON = ("rooms-7", "office-mail", "flower-20", "random-10x3x3-2", "random-10x3x3-5", "random-40x3x4-7")
DRAWN, TUNED_FAMILY = "generated", "random-20x4x5-"


class Budget(NamedTuple):
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
    parameters: Mapping[str, Any] | None = None,
) -> Experiment:
    """Return the league of some tasks (names or files) and learners; the usual ones where none is named.

    ``parameters`` are given to every learner that has them, in place of its usual setting.
    """
    players = list(dict.fromkeys(names or [*contestants(), *YARDSTICKS]))
    choices = tuple(choice for name in players for choice in SETTINGS.get(name) or (LearnerChoice.of(name),))
    if parameters:
        choices = learner_choices(players, dict(parameters))
    budgets = FULL if full else USUAL
    text: Callable[[str], TaskText] = TaskText.builtin  # to check these names would be to draw hundreds of tasks
    if named := tuple(dict.fromkeys(tasks)):
        budgets, text = (budgets[0]._replace(tasks=named),), TaskText.of
    settings = tuple(
        Setting(
            text(name),
            choices,
            budget.runs if num_runs is None else num_runs,
            budget.episodes if num_episodes is None else num_episodes,
            seed,
        )
        for budget in budgets
        for name in budget.tasks
    )
    return Experiment(LEAGUE, "The league: every learner on every task, at one setting for all tasks", settings)


def contestants() -> list[str]:
    """Return the names of all that learn by planning."""
    return [name for name in learners.names() if name not in (*YARDSTICKS, *DO_NOT_LEARN, *MODEL_FREE)]


def task_kind(task: str) -> str:
    """Return the kind of a task: that of a drawn one, else its family; a user's own task is a kind by itself."""
    family, _, rest = task.partition("-")
    if family == DRAWN:
        return rest.partition("-")[0]
    return family if family in FAMILIES else task


def is_untouched(task: str) -> bool:
    """Tell whether no constant was chosen by looking at a task, as far as this package knows."""
    if task in (*SETTINGS_OF_THE_PAPER, *TUNED_ON) or task.startswith(TUNED_FAMILY):
        return False
    seed = task.rpartition("-")[2] if task.startswith(f"{DRAWN}-") else ""
    return not (re.fullmatch("[0-9]{1,18}", seed) and int(seed) in TUNING_SEEDS)
