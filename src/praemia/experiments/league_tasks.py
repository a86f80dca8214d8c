"""The tasks of the league: untouched ones, drawn by fixed seeds, and the paper's six settings, reported apart.

No constant of any learner was chosen on an untouched task. Headroom's were chosen on tasks drawn by other seeds, from
1000 on, in ``benchmarks/tune_headroom.py``; a test keeps the two apart. The seeds here were played once, with Headroom
as it is now; others of each kind had been looked at before (docs/reference/learners.md).
"""

from __future__ import annotations

import re

from praemia.envs.drawn_tasks import KINDS
from praemia.envs.registry import FAMILIES
from praemia.experiments.paper import RIVERSWIMS, WAREHOUSES

SEEDS = range(300, 324)
TUNING_SEEDS = range(1000, 2**63)  # drawn tasks of these seeds are for choosing constants
LARGE_SEEDS = range(2)
UNTOUCHED = tuple(f"drawn-{kind}-{seed}" for kind in KINDS for seed in SEEDS)
ONE_OF_EACH_KIND = tuple(f"drawn-{kind}-{SEEDS[0]}" for kind in KINDS)
LARGE = tuple(f"drawn-{kind}-large-{seed}" for kind in KINDS for seed in LARGE_SEEDS)
SETTINGS_OF_THE_PAPER = (
    *RIVERSWIMS,
    *WAREHOUSES,
)  # exploration coefficients were chosen on these, by the paper or here
# Built-in tasks on which constants of Headroom were chosen, now or in earlier versions; random-20x4x5 with any seed.
TUNED_ON = ("rooms-7", "office-mail", "flower-20", "random-10x3x3-2", "random-10x3x3-5", "random-40x3x4-7")
DRAWN, TUNED_FAMILY = "drawn", "random-20x4x5-"


def kind_of(task: str) -> str:
    """Return the kind of a task: that of a drawn one, else its family; a task of one's own is a kind for itself."""
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
