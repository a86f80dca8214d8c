"""Reinforcement learning with probabilistic reward machines.

The public names, each imported when it is first used: describing a task needs no compiler.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from praemia import envs, learners, theory
    from praemia.envs.black_box import BlackBox
    from praemia.errors import PraemiaError
    from praemia.exploration import CoverageReward, Dataset, TrajectoryReward, explore, plan_from
    from praemia.files import load_machine, load_task, save_machine, save_task
    from praemia.learners import (
        CRM,
        EQO,
        EULER,
        MVP,
        OPSRL,
        PSRL,
        UCBVI,
        UCBVIBF,
        UCBVIPRM,
        UCRL2RM,
        Optimal,
        QLearning,
        QRMax,
        Random,
    )
    from praemia.models.labels import LabelRule
    from praemia.models.machine import MachineBuilder, RewardMachine
    from praemia.models.mdp import LabeledMDP
    from praemia.models.product import product
    from praemia.models.rewards import Reward
    from praemia.models.task import Task, TaskSpec
    from praemia.planning.exact import evaluate, occupancy, solve
    from praemia.simulation import Run, simulate

__version__ = version("praemia")

_HOMES = {
    "praemia.envs.black_box": ("BlackBox",),
    "praemia.errors": ("PraemiaError",),
    "praemia.exploration": ("CoverageReward", "Dataset", "TrajectoryReward", "explore", "plan_from"),
    "praemia.files": ("load_machine", "load_task", "save_machine", "save_task"),
    "praemia.learners": (
        "CRM",
        "EQO",
        "EULER",
        "MVP",
        "OPSRL",
        "PSRL",
        "UCBVI",
        "UCBVIBF",
        "UCBVIPRM",
        "UCRL2RM",
        "Optimal",
        "QLearning",
        "QRMax",
        "Random",
    ),
    "praemia.models.labels": ("LabelRule",),
    "praemia.models.machine": ("MachineBuilder", "RewardMachine"),
    "praemia.models.mdp": ("LabeledMDP",),
    "praemia.models.product": ("product",),
    "praemia.models.rewards": ("Reward",),
    "praemia.models.task": ("Task", "TaskSpec"),
    "praemia.planning.exact": ("evaluate", "occupancy", "solve"),
    "praemia.simulation": ("Run", "simulate"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = ("envs", "learners", "theory")

__all__ = [  # noqa: RUF022 — grouped by what they are for
    "envs", "learners", "theory",
    "BlackBox", "LabelRule", "LabeledMDP", "MachineBuilder", "PraemiaError", "Reward", "RewardMachine", "Task",
    "TaskSpec",
    "load_machine", "load_task", "save_machine", "save_task",
    "evaluate", "occupancy", "product", "solve",
    "CRM", "EQO", "EULER", "MVP", "OPSRL", "PSRL", "UCBVI", "UCBVIBF", "UCBVIPRM", "UCRL2RM", "Optimal", "QLearning",
    "QRMax", "Random",
    "Run", "simulate",
    "CoverageReward", "Dataset", "TrajectoryReward", "explore", "plan_from",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"praemia.{name}")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'praemia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
