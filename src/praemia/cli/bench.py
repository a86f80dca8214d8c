"""``praemia bench``: how fast the package is on this computer. A time is the best of several repeats."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.output import emit, fields_text, json_option
from praemia.cli.progress import display, say
from praemia.text_tables import Table, plural

if TYPE_CHECKING:
    from praemia.learners.base import Learner
    from praemia.tasks.task import Task

RUNS = ("ucbvi-prm", "headroom")
EPISODES = 10_000
NOISE = 0.2  # a median this far above the best time is shown beside it
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


@click.command("bench")
@click.option("--quick", is_flag=True, help="Smaller sizes and no compiling, for a first look.")
@json_option
def bench_command(quick: bool) -> None:
    """Measure planning, playing, whole runs and compiling on this computer; takes about a minute.

    A time is the best of several. Where the median is far from it, both are shown: best … median. Differences within
    such a range are noise.
    """
    record = {}
    with display():
        for name, (title, measure) in _parts(quick).items():
            say(f"{title} …")
            record[name] = measure()
    emit(record, _text(record))


def _parts(quick: bool) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return what is measured: a title, and the function that measures it."""
    from praemia import envs, learners

    names = RUNS if quick else learners.names()
    warehouse = envs.make("warehouse-5")
    episodes, num_plays, played = (1_000, 100_000, 50) if quick else (EPISODES, 400_000, 300)
    sizes = (100, 8, 20) if quick else (200, 20, 40)
    parts: dict[str, tuple[str, Callable[[], Any]]] = {
        "planning": ("exact planning", lambda: exact_planning(*sizes)),
        "steps_per_second": ("playing", lambda: steps_per_second(num_plays)),
        "runs": ("whole runs", lambda: {name: run_times(name, episodes) for name in RUNS}),
        "plan_seconds": (
            "the learners' plans",
            lambda: {name: plan_times(warehouse, learners.make(name), played) for name in names},
        ),
    }
    return parts if quick else {**parts, "first_call": ("compiling", first_call)}


def _text(record: dict[str, Any]) -> str:
    plan, steps, first = record["planning"], record["steps_per_second"], record.get("first_call")
    sizes = f"{plan['observations']:,} observations × {plan['machine_states']} machine states, {plan['horizon']} steps"
    rows = [
        (str(run["threads"]), _between(run, 1e3, "{:.2f}"), f"{run['ns_per_state_and_step']:.2f}")
        for run in plan["runs"]
    ]
    speeds = between(steps["best"] / 1e6, steps["median"] / 1e6, "{:.1f}")
    fields: dict[str, object] = {"steps per second between plans": f"{speeds} million, one core"}
    for name, run in record["runs"].items():
        fields[f"a run of {name}"] = f"{_between(run, 1, '{:.3f}')} s with {plural(run['plans'], 'plan')}"
    for name, times in record["plan_seconds"].items():
        fields[f"a plan of {name}"] = f"{_between(times, 1e6, '{:.0f}')} µs"
    if first is not None:
        fields["import"] = f"{first['import_seconds']:.2f} s"
        fields["first run, compiling"] = f"{first['empty_cache_seconds']:.1f} s"
        fields["first run, compiled before"] = f"{first['full_cache_seconds']:.1f} s"
    table = Table(("threads", "ms", "ns per product state and step"), rows)
    return f"exact planning: {sizes}\n\n{table}\nin the 5 × 5 warehouse\n\n{fields_text(fields)}"


def between(best: float, median: float, form: str) -> str:
    """Write the best of several measurements, and the median if it is far from it, as on a busy machine."""
    noisy = abs(median - best) > NOISE * best
    return " … ".join(form.format(value) for value in ((best, median) if noisy else (best,)))


def _between(times: dict[str, float], scale: float, form: str) -> str:
    return between(scale * times["seconds"], scale * times["median_seconds"], form)


def exact_planning(side: int, num_machine_states: int, horizon: int) -> dict[str, Any]:
    """Measure exact planning in a large warehouse under a machine of any size, with one thread and with all."""
    from praemia.planning.backward import choose_threads
    from praemia.planning.exact import solve

    task = warehouse_task(side, num_machine_states, horizon)
    for threads in (1, 2):
        solve(warehouse_task(5, num_machine_states, 2), threads=threads)  # compiles
    return {
        "observations": task.num_observations,
        "machine_states": num_machine_states,
        "horizon": horizon,
        "runs": [_planning(task, threads) for threads in sorted({1, choose_threads(None, ENOUGH)})],
    }


def warehouse_task(side: int, num_machine_states: int, horizon: int) -> Task:
    """Make a warehouse in which the item is fetched and delivered again and again: a chain of machine states."""
    from praemia import MachineBuilder, envs

    builder = MachineBuilder(initial="0")
    for i in range(num_machine_states):
        on = "delivery" if i % 2 else "item"
        builder.edge(str(i), on, str((i + 1) % num_machine_states), probability=0.8, reward=i % 2)
        builder.edge(str(i), on, str(i), probability=0.2)
    return envs.warehouse(size=side, horizon=horizon).with_machine(builder.build())


def _planning(task: Task, threads: int, repeats: int = 5) -> dict[str, float]:
    from praemia.planning.exact import solve

    seconds = seconds_of(lambda: solve(task, keep_values=False, threads=threads), repeats)
    size = task.num_observations * task.num_machine_states * task.max_steps
    return {"threads": threads, **_best_and_median(seconds), "ns_per_state_and_step": 1e9 * min(seconds) / size}


def _best_and_median(seconds: list[float]) -> dict[str, float]:
    return {"seconds": min(seconds), "median_seconds": statistics.median(seconds)}


def steps_per_second(num_episodes: int, repeats: int = 5) -> dict[str, float]:
    """Measure playing a fixed policy in the 5 × 5 warehouse: drawing, moving, paying and counting, no plans."""
    from praemia import envs, learners
    from praemia.simulation.loop import run_loop
    from praemia.simulation.task_world import TaskWorld

    task = envs.make("warehouse-5")
    part = num_episodes // repeats
    player = learners.make("optimal")  # it plans once, but the loop still checks whether a plan is due
    world = TaskWorld(task, player, WARM_EPISODES + repeats * part, (0,), valued=False)
    run_loop(world, WARM_EPISODES)
    seconds = seconds_of(lambda: run_loop(world, world.played + part), repeats)
    speeds = sorted(part * task.max_steps / duration for duration in seconds)
    return {"best": speeds[-1], "median": statistics.median(speeds), "worst": speeds[0]}


def run_times(name: str, num_episodes: int, repeats: int = 5) -> dict[str, float]:
    """Measure whole runs in the 5 × 5 warehouse, with their plans and the exact value of each."""
    from praemia import envs, learners, simulate

    task, learner = envs.make("warehouse-5"), learners.make(name)
    plans = simulate(task, learner, num_episodes, 1).num_plans  # compiles
    seconds = seconds_of(lambda: simulate(task, learner, num_episodes, 1), repeats)
    return {**_best_and_median(seconds), "plans": plans}


def plan_times(task: Task, learner: Learner, num_episodes: int, repeats: int = 30) -> dict[str, float]:
    """Measure one plan of a learner, from what it knows after some episodes."""
    from praemia.simulation.loop import run_loop
    from praemia.simulation.task_world import TaskWorld

    world = TaskWorld(task, learner, num_episodes, (0,), valued=False)
    run_loop(world, num_episodes)
    world.replan()  # the first call loads what is compiled
    return _best_and_median(seconds_of(world.replan, repeats))


def first_call(learner: str = "ucbvi-prm") -> dict[str, float]:
    """Measure, in processes of their own, importing and a first short run: with an empty cache, then a full one."""
    command = [sys.executable, "-c", FIRST_CALL.format(learner=learner)]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        outputs = [
            subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout
            for _ in range(2)
        ]
    (imported, cold), (_, warm) = (map(float, output.split()) for output in outputs)
    return {"import_seconds": imported, "empty_cache_seconds": cold, "full_cache_seconds": warm}


def seconds_of(function: Callable[[], object], repeats: int) -> list[float]:
    """Call a function several times; return how long each call took."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - began)
    return seconds
