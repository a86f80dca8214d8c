"""Reinforcement learning with probabilistic reward machines: describe a task, plan in it, learn it, compare learners.

    >>> import praemia
    >>> task = praemia.envs.make("warehouse-4")  # or load_task("task.yaml"), Task(mdp, machine, horizon)
    >>> plan = praemia.solve(task)  # the optimum, exact; plan.policy can be evaluated, shown, saved
    >>> run = praemia.simulate(task, "headroom", num_episodes=1_000)  # learn without the transition probabilities
    >>> bool(run.regret[-1] < 0.1 * plan.value * run.num_episodes)  # exact regret against the optimum
    True

Start with ``envs`` (tasks that are there), ``RewardMachine.from_ltlf`` (a machine from a formula), ``learners.names()``
and ``compare``. ``BlackBox`` takes a Gymnasium environment in place of a model, ``explore`` and ``plan_from`` plan for
rewards that come later, ``infer`` finds a machine in traces, and ``Learner`` is the base of your own learner.
The names are listed in this order in ``praemia.__all__``; ``help(praemia.solve)`` describes one, with an example.
"""

# Each name is imported when it is first used: describing a task needs no compiler. Type checkers read them in
# ``__init__.pyi``, which ``make names`` generates from ``_HOMES``.

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from praemia._support.lazy import lazy
from praemia.learners import _CLASSES as LEARNERS

__version__ = version("praemia")

_HOMES = {
    "praemia.tasks.task": ("Task",),
    "praemia.tasks.mdp": ("LabeledMDP",),
    "praemia.machines.labels": ("LabelRule",),
    "praemia.machines.machine": ("RewardMachine",),
    "praemia.machines.builder": ("MachineBuilder",),
    "praemia.machines.rules": ("Rule", "Outcome"),
    "praemia.machines.rewards": ("Reward",),
    "praemia.files.load_save": ("load_task", "save_task", "load_machine", "save_machine"),
    "praemia.planning.exact": ("solve", "evaluate", "occupancy"),
    "praemia.policies.policy": ("Policy",),
    "praemia.simulation.rollout": ("rollout",),
    "praemia.pictures.show": ("show",),
    "praemia.tasks.product": ("product",),
    "praemia.simulation": ("simulate", "Run"),
    "praemia.report.watch_page": ("watch",),
    "praemia.comparison": ("compare",),
    "praemia.experiments.store": ("load_runs", "StoredRuns"),
    "praemia.envs.black_box": ("BlackBox",),
    "praemia.envs.machine_wrapper": ("MachineWrapper",),
    "praemia.envs.machine_vector_wrapper": ("MachineVectorWrapper",),
    "praemia.exploration": ("explore", "plan_from", "Dataset", "TrajectoryReward"),
    "praemia.inference": ("infer", "Inference"),
    "praemia.learners": ("Learner", "LearnerPlan", "Experience", "plan_with_bonus", *LEARNERS),
    "praemia.tasks.spec": ("TaskSpec",),
    "praemia.errors": ("PraemiaError",),
    "praemia": ("envs", "labels", "patterns", "learners", "testing", "theory", "deep"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*_HOME_OF]
__getattr__ = lazy(__name__, _HOME_OF)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


# Gymnasium knows the environments from here on. The command imports what it uses: its help is there at once.
if "praemia" not in {Path(word).stem for word in sys.orig_argv[1:3]}:
    import_module("praemia.envs")
