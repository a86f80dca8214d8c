"""The league: every learner on every task, at one setting per learner for all tasks.

Learners and tasks join by name. The paper's learners play at the paper's exploration coefficients and under its replan
rules, all others at their defaults; UCRL2-RM-B plays a second time at 0.03, where it is best. Left out are the
players that do not learn, UCRL2-RM-B as published, and — unless they are named — Q-learning and CRM: they play another
policy in every episode, and to evaluate each of them exactly takes four fifths of the whole league's time.
"""

from __future__ import annotations

from collections.abc import Iterable

from praemia import learners
from praemia.envs.registry import FAMILIES
from praemia.experiments.experiment_file import task_text
from praemia.experiments.paper import FLOWER_LOOPS, RIVERSWIMS, UCBVI, UCBVI_PRM, UCRL2_B, UCRL2_L, WAREHOUSES
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText

NAME = "league"
TASKS = (
    *RIVERSWIMS,
    *WAREHOUSES,
    *(f"flower-{loop}" for loop in FLOWER_LOOPS),
    "rooms-9",
    "random-5x2x3-0",
    "random-10x3x5-1",
    "random-20x4x5-0",
    "random-50x4x10-0",
)
# At its usual horizon of 80 the office alone would take two thirds of the league's time.
OFFICE = TaskText.builtin("office-coffee", horizon=40)
TUNED_ON = (*RIVERSWIMS, *WAREHOUSES)  # where the exploration coefficients were searched for, by the paper or here
HEADROOM = "headroom"
# Its constants were chosen by looking at these too, and at another task in the same office.
TUNED_ON_FOR_HEADROOM = ("flower-20", "random-20x4x5-0", OFFICE.name)
YARDSTICKS = ("random", "optimal")
TOO_SLOW = ("q-learning", "crm")
UCRL2_B_BEST = LearnerChoice.of("ucrl2-rm-b", "UCRL2-RM-B 0.03", bonus_scale=0.03)
SETTINGS = {
    "ucbvi-prm": (UCBVI_PRM,),
    "ucbvi": (UCBVI,),
    "ucrl2-rm-l": (UCRL2_L,),
    "ucrl2-rm-b": (UCRL2_B, UCRL2_B_BEST),
}


def league(
    tasks: Iterable[str] = (),
    names: Iterable[str] = (),
    num_runs: int = 16,
    num_episodes: int = 10_000,
    seed: int = 0,
) -> Experiment:
    """Return the league of some tasks (names or files) and learners; the usual ones where none is named."""
    chosen = tuple(choice for name in dict.fromkeys(names or contestants()) for choice in choices(name))
    named = list(dict.fromkeys(tasks))
    played = [task_text(name) for name in named or TASKS] + ([] if named else [OFFICE])
    settings = tuple(Setting(task, chosen, num_runs, num_episodes, seed) for task in played)
    return Experiment(NAME, "every learner on every task, at one setting for all tasks", settings)


def kind_of(task: str) -> str:
    """Return the kind of a task: its family, such as ``riverswim``; a task of one's own is a kind for itself."""
    family = task.partition("-")[0]
    return family if family in FAMILIES else task


def contestants() -> list[str]:
    """Return the names of all that learn by planning."""
    return [name for name in learners.names() if name not in (*YARDSTICKS, *TOO_SLOW)]


def choices(name: str) -> tuple[LearnerChoice, ...]:
    """Return a learner, by name or as ``file.py:Class``, as it plays in the league; one plays twice."""
    return SETTINGS[name] if name in SETTINGS else (LearnerChoice.of(name),)
