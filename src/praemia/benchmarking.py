"""What ``praemia bench`` and ``benchmarks/`` measure. A time is the best of several repeats.

The grid has ``few`` labels (every tenth diagonal has an item, those halfway between them a delivery point, and four
observations in five nothing) or ``many`` (64 labels all over the grid, one of them empty). The machine is a chain. With
``sparse`` τ, a step along it succeeds with probability 0.8; with ``dense`` τ, a label that a state reacts to may lead
to any state. Every other step along the chain pays 1.

Bytes are counted as in the STREAM benchmark: each array that is read or written counts once. A cache line that is
fetched only to be overwritten does not count, neither for the kernel nor for the copy that it is compared with.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia import envs, learners
from praemia.envs.grid_kernel import MOVES, kernel_entries, number_cells, reached_by_moves
from praemia.kernels.records import action_type, padded_width
from praemia.learners.base import Learner
from praemia.machines.guards import Guard, parse_guard
from praemia.machines.labels import Indices, Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.planning.exact import choose_threads, solve
from praemia.simulation.loop import run_loop
from praemia.simulation.simulate import simulate
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

_BITS = tuple(f"bit-{i}" for i in range(6))
_ITEM, _DELIVERY = 1, 2


@dataclass(frozen=True)
class DiagonalLabels(Labelling):
    """Label each cell by its diagonal; a label is a number, with a proposition for each binary digit."""

    side: int
    many: bool

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        """Return the number of each transition's label, and the labels by number."""
        row, column = np.divmod(targets, self.side)
        if self.many:
            numbers = (7 * row + 13 * column) % 64
        else:
            numbers = np.where((row + column) % 10 == 3, _ITEM, 0) + np.where((row + column) % 10 == 8, _DELIVERY, 0)
        return numbers.astype(np.int32), [_label(number) for number in range(64 if self.many else 3)]

    def propositions(self) -> Label:
        """Return the propositions that can occur."""
        return frozenset(_BITS)


def grid_task(side: int, num_machine_states: int, horizon: int, *, many: bool = False, dense: bool = False) -> Task:
    """Make a side × side grid with five actions and a chain of machine states, with few labels or many."""
    reached = reached_by_moves(number_cells(np.ones((side, side), dtype=bool)))
    mdp = LabeledMDP.from_entries(
        side * side, len(MOVES) + 1, *kernel_entries(reached, stay=True), labels=DiagonalLabels(side, many)
    )
    name = f"grid-{side}-{'many' if many else 'few'}-{'dense' if dense else 'sparse'}"
    return Task(mdp, chain(num_machine_states, many=many, dense=dense), horizon, name)


def chain(num_states: int, *, many: bool = False, dense: bool = False) -> RewardMachine:
    """Make the machine: state i reacts to one label in turn, or to a quarter of the many labels."""
    guards = [parse_guard(" & ".join(name if bit else f"!{name}" for name, bit in _bits(n))) for n in range(64)]
    outcomes = _dense_outcomes if dense else _sparse_outcomes
    rules = []
    for i in range(num_states):
        heard = [n for n in range(1, 64) if n % 4 == i % 4] if many else [_ITEM if i % 2 == 0 else _DELIVERY]
        rules += [_rule(i, guards[n], outcomes(i, n, num_states)) for n in heard]
    return RewardMachine(tuple(map(str, range(num_states))), "0", _BITS, tuple(rules))


def _rule(i: int, guard: Guard, outcomes: list[Outcome]) -> Rule:
    return Rule(str(i), guard, tuple(outcomes))


def _sparse_outcomes(i: int, label: int, num_states: int) -> list[Outcome]:
    return [Outcome(str((i + 1) % num_states), 0.8, Reward.of(i % 2)), Outcome(str(i), 0.2)]


def _dense_outcomes(i: int, label: int, num_states: int) -> list[Outcome]:
    weights = [1 + (31 * i + 17 * j + 7 * label) % 13 for j in range(num_states)]
    return [
        Outcome(str(j), weights[j] / sum(weights), Reward.of(i % 2 if j == (i + 1) % num_states else 0))
        for j in range(num_states)
    ]


def _bits(number: int) -> list[tuple[str, bool]]:
    return [(name, bool(number >> i & 1)) for i, name in enumerate(_BITS)]


def _label(number: int) -> Label:
    return frozenset(name for name, bit in _bits(number) if bit)


ENOUGH = 1 << 62  # an amount of work per step that is always worth sharing among threads
WARM_EPISODES = 2_000
FIRST_CALL = """
import time
began = time.perf_counter()
from praemia import envs, learners, simulate
imported = time.perf_counter()
simulate(envs.make("warehouse-4"), learners.make("{learner}"), 10)
print(imported - began, time.perf_counter() - imported)
"""


def all_threads() -> int:
    """Return the number of threads that large tasks use by default."""
    return choose_threads(None, ENOUGH)


def planning(task: Task, threads: int, repeats: int, bytes_per_second: float) -> dict[str, float]:
    """Measure exact planning, and compare it with the least time in which its bytes could be moved."""
    taken = seconds_of(lambda: solve(task, keep_values=False, threads=threads), repeats)
    best = min(taken)
    size = task.num_observations * task.num_machine_states * task.horizon
    limit = bytes_per_step(task) * task.horizon / bytes_per_second
    return {
        "threads": threads,
        "seconds": best,
        "median_seconds": statistics.median(taken),
        "ns_per_state_and_step": 1e9 * best / size,
        "times_the_limit": best / limit,
        "percent_of_bandwidth": 100.0 * limit / best,
    }


def exact_planning(side: int = 200, num_machine_states: int = 20, horizon: int = 40) -> dict[str, Any]:
    """Measure exact planning on a grid of 40,000 observations, with one thread and with all."""
    task = grid_task(side, num_machine_states, horizon)
    solve(grid_task(5, num_machine_states, 2), threads=1)
    solve(grid_task(5, num_machine_states, 2), threads=2)
    counts = sorted({1, all_threads()})
    moved = {threads: bandwidth(threads) for threads in counts}
    return {
        "observations": task.num_observations,
        "machine_states": num_machine_states,
        "horizon": horizon,
        "bytes_per_second": {str(threads): speed for threads, speed in moved.items()},
        "runs": [planning(task, threads, 5, moved[threads]) for threads in counts],
    }


def steps_per_second(num_episodes: int = 400_000, repeats: int = 5) -> dict[str, float]:
    """Measure playing a fixed policy in the 5 × 5 warehouse: drawing, moving, paying and counting, no plans."""
    task = envs.make("warehouse-5")
    part = num_episodes // repeats
    player = learners.make("optimal")  # it plans once, but the loop still checks whether a plan is due
    world = TaskWorld(task, player, WARM_EPISODES + repeats * part, (0,), valued=False)
    run_loop(world, WARM_EPISODES)
    taken = seconds_of(lambda: run_loop(world, world.played + part), repeats)
    speeds = sorted(part * task.horizon / seconds for seconds in taken)
    return {"best": speeds[-1], "median": statistics.median(speeds), "worst": speeds[0]}


def run_times(name: str, num_episodes: int = 10_000, repeats: int = 5) -> dict[str, float]:
    """Measure whole runs in the 5 × 5 warehouse, with their plans and the exact value of each."""
    task, learner = envs.make("warehouse-5"), learners.make(name)
    simulate(task, learner, 20)
    taken = seconds_of(lambda: simulate(task, learner, num_episodes, 1), repeats)
    plans = simulate(task, learner, num_episodes, 1).num_plans
    return {"seconds": min(taken), "median_seconds": statistics.median(taken), "plans": plans}


def plan_times(task: Task, learner: Learner, num_episodes: int = 300, repeats: int = 30) -> dict[str, float]:
    """Measure one plan of a learner, from what it knows after some episodes."""
    world = TaskWorld(task, learner, num_episodes, (0,), valued=False)
    run_loop(world, num_episodes)
    world.replan()  # the first call loads what is compiled
    taken = seconds_of(world.replan, repeats)
    return {"seconds": min(taken), "median_seconds": statistics.median(taken)}


def first_call(learner: str = "ucbvi-prm") -> dict[str, float]:
    """Measure, in processes of their own, importing and a first short run: with an empty cache, then a full one."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        (imported, cold), (_, warm) = (_first_call(environment, learner) for _ in range(2))
    return {"import_seconds": imported, "empty_cache_seconds": cold, "full_cache_seconds": warm}


def _first_call(environment: dict[str, str], learner: str) -> tuple[float, float]:
    command = [sys.executable, "-c", FIRST_CALL.format(learner=learner)]
    ran = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    imported, first = map(float, ran.stdout.split())
    return imported, first


NUMBERS = 1 << 24  # 128 MiB per array: larger than any cache


def seconds_of(function: Callable[[], object], repeats: int) -> list[float]:
    """Call a function several times; return how long each call took."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        taken.append(time.perf_counter() - began)
    return taken


def bandwidth(threads: int = 1, repeats: int = 7) -> float:
    """Return the bytes per second that NumPy moves at best, copying or adding arrays far larger than any cache."""
    first, second, total = (np.ones(NUMBERS) for _ in range(3))
    edges = np.linspace(0, NUMBERS, threads + 1).astype(int)
    parts = [slice(edges[i], edges[i + 1]) for i in range(threads)]
    with ThreadPoolExecutor(threads) as pool:

        def copy() -> None:
            list(pool.map(lambda part: np.copyto(total[part], first[part]), parts))

        def add() -> None:
            list(pool.map(lambda part: np.add(first[part], second[part], out=total[part]), parts))

        copying, adding = min(seconds_of(copy, repeats)), min(seconds_of(add, repeats))
    return max(16 * NUMBERS / copying, 24 * NUMBERS / adding)


def bytes_per_step(task: Task) -> int:
    """Return the bytes that one step of ``solve`` must move, if every number is read or written only once.

    V_{h+1} is read and V_h written, rows padded to four machine states; the extra rows are written and read; the edges
    (probability and row) and where they start are read; the policy is written.
    """
    model = task.model.arrays
    width = 8 * padded_width(task.num_machine_states)
    extra = len(model.extra_rows)
    tables = 2 * width * (task.num_observations + extra)
    edges = 12 * len(model.probs) + 8 * len(model.indptr) + 8 * extra
    policy = np.dtype(action_type(task.num_actions)).itemsize * task.num_observations * task.num_machine_states
    return tables + edges + policy
