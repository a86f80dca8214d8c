"""The tasks of the league: untouched ones, drawn by fixed seeds, and the paper's six settings, reported apart.

No constant of any learner was chosen on an untouched task. The tasks that Headroom's were chosen on are drawn by other
seeds, in ``benchmarks/tune_headroom.py``, and a test keeps the two apart.
"""

from __future__ import annotations

from praemia.envs.drawn_tasks import KINDS
from praemia.envs.registry import FAMILIES
from praemia.experiments.paper import RIVERSWIMS, WAREHOUSES

SEEDS = range(12)
LARGE_SEEDS = range(2)
UNTOUCHED = tuple(f"drawn-{kind}-{seed}" for kind in KINDS for seed in SEEDS)
ONE_OF_EACH_KIND = tuple(f"drawn-{kind}-{SEEDS[0]}" for kind in KINDS)
LARGE = tuple(f"drawn-{kind}-large-{seed}" for kind in KINDS for seed in LARGE_SEEDS)
SETTINGS_OF_THE_PAPER = (
    *RIVERSWIMS,
    *WAREHOUSES,
)  # exploration coefficients were chosen on these, by the paper or here
DRAWN = "drawn"


def kind_of(task: str) -> str:
    """Return the kind of a task: that of a drawn one, else its family; a task of one's own is a kind for itself."""
    family, _, rest = task.partition("-")
    if family == DRAWN:
        return rest.partition("-")[0]
    return family if family in FAMILIES else task


def is_untouched(task: str) -> bool:
    """Tell whether no constant was chosen by looking at a task, as far as this package knows."""
    return task not in SETTINGS_OF_THE_PAPER
