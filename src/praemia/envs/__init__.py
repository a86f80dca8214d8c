"""Built-in environments, and the bridge to Gymnasium.

``make`` makes one by name; ``names`` lists some. Gymnasium is imported only by what needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from praemia.envs.box_cells import cells
from praemia.envs.craft import craft
from praemia.envs.flower import flower
from praemia.envs.generated_tasks import generated_task, random_task
from praemia.envs.grid import grid
from praemia.envs.gymnasium_table import from_gymnasium
from praemia.envs.office import office, office_jair, office_map
from praemia.envs.registry import make, names
from praemia.envs.riverswim import riverswim, riverswim_prm
from praemia.envs.rooms import two_rooms
from praemia.envs.warehouse import warehouse

if TYPE_CHECKING:
    from praemia.envs.gymnasium_env import TaskEnv

__all__ = [
    "TaskEnv",
    "cells",
    "craft",
    "flower",
    "from_gymnasium",
    "generated_task",
    "grid",
    "make",
    "names",
    "office",
    "office_jair",
    "office_map",
    "random_task",
    "riverswim",
    "riverswim_prm",
    "two_rooms",
    "warehouse",
]


def __getattr__(name: str) -> Any:
    if name == "TaskEnv":
        from praemia.envs.gymnasium_env import TaskEnv

        return TaskEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
