"""Built-in environments, and the bridge to Gymnasium.

``make`` makes one by name; ``names`` lists some. Gymnasium finds them too, once this package is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from praemia._support.lazy import lazy
from praemia.envs.box_cells import cells
from praemia.envs.classics import flower, riverswim, riverswim_prm, two_rooms, warehouse
from praemia.envs.craft import craft
from praemia.envs.generated_models import random_task
from praemia.envs.generated_tasks import generated_task
from praemia.envs.grid import grid
from praemia.envs.gymnasium_table import from_gymnasium
from praemia.envs.office import office, office_jair, office_map
from praemia.envs.registry import make, names, register

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
__getattr__ = lazy(__name__, {"TaskEnv": "praemia.envs.gymnasium_env"})

register()
