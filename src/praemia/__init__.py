"""Reinforcement learning with probabilistic reward machines.

The public names, each imported when it is first used: describing a task needs no compiler. Type checkers read them in
``__init__.pyi``, which is generated from ``_HOMES`` by ``make names``.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from praemia.learners.registry import CLASSES

__version__ = version("praemia")

_MODULES = ("deep", "envs", "labels", "learners", "patterns", "testing", "theory")
_HOMES = {
    "praemia.comparison": ("compare",),
    "praemia.pictures.show": ("show",),
    "praemia.report.watch_page": ("watch",),
    "praemia.envs.black_box": ("BlackBox",),
    "praemia.envs.machine_wrapper": ("MachineWrapper",),
    "praemia.errors": ("PraemiaError",),
    "praemia.exploration": ("Dataset", "TrajectoryReward", "explore", "plan_from"),
    "praemia.files.load_save": ("load_machine", "load_task", "save_machine", "save_task"),
    "praemia.inference": ("Inference", "infer"),
    "praemia.learners": (*CLASSES, "Experience", "Learner", "LearnerPlan", "plan_with_bonus"),
    "praemia.machines.labels": ("LabelRule",),
    "praemia.machines.builder": ("MachineBuilder",),
    "praemia.machines.machine": ("RewardMachine",),
    "praemia.tasks.mdp": ("LabeledMDP",),
    "praemia.tasks.product": ("product",),
    "praemia.machines.rewards": ("Reward",),
    "praemia.machines.rules": ("Outcome", "Rule"),
    "praemia.tasks.spec": ("TaskSpec",),
    "praemia.tasks.task": ("Task",),
    "praemia.planning.exact": ("evaluate", "occupancy", "solve"),
    "praemia.planning.policy": ("Policy",),
    "praemia.simulation": ("Run", "simulate"),
    "praemia.simulation.rollout": ("rollout",),
    "praemia.statistics.frames": ("StoredRuns", "load_runs"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*_MODULES, *_HOME_OF]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"praemia.{name}")
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'praemia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _register_environments() -> None:
    import_module("praemia.envs.registry").register()


class _OnGymnasium:
    """Register the environments once Gymnasium is imported: praemia alone is imported without it, and so faster."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "gymnasium":
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        spec: Any = find_spec(name)
        if spec is not None:
            execute = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                execute(module)
                _register_environments()

            spec.loader.exec_module = exec_module
        return spec


if "gymnasium" in sys.modules:
    _register_environments()
else:
    sys.meta_path.insert(0, _OnGymnasium())  # type: ignore[arg-type]
