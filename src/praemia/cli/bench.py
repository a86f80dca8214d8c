"""``praemia bench``: how fast the package is on this computer. A time is the best of several repeats."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.output import emit, fields_text, json_option
from praemia.cli.progress import display, say
from praemia.text_tables import Table, plural

if TYPE_CHECKING:
    from praemia.learners.base import Learner
    from praemia.tasks.task import Task

RUNS = ("ucbvi-prm", "headroom")
NOISE = 0.2  # a median this far above the best time is shown beside it
ENOUGH = 1 << 62  # an amount of work per step that is always worth sharing among threads
WARM_EPISODES = 2_000
REPEATS, MANY_REPEATS = 5, 30


@click.command("bench")
@click.option("--quick", is_flag=True, help="Smaller sizes, for a first look.")
@json_option
def bench_command(quick: bool) -> None:
    """Measure planning, playing and whole runs on this computer; takes about a minute.

    A time is the best of several. Where the median is far from it, both are shown: best … median. Differences within
    such a range are noise.
    """
    from praemia import envs, learners

    task = envs.make("warehouse-5")
    num_plays, episodes, played = (20_000, 1_000, 50) if quick else (80_000, 10_000, 300)
    sizes = (100, 8, 20) if quick else (200, 20, 40)
    players = {name: learners.make(name) for name in (RUNS if quick else learners.names())}
    parts: dict[str, Callable[[], Any]] = {
        "planning": lambda: exact_planning(*sizes),
        "steps_per_second": lambda: steps_per_second(task, num_plays),
        "runs": lambda: {name: run_times(task, players[name], episodes) for name in RUNS},
        "plan_seconds": lambda: {name: plan_times(task, player, played) for name, player in players.items()},
    }
    record = {}
    with display():
        for name, measure in parts.items():
            say(f"{name.replace('_', ' ')} …")
            record[name] = measure()
    emit(record, _text(record))


def _text(record: dict[str, Any]) -> str:
    plan, steps = record["planning"], record["steps_per_second"]
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
    size = task.num_observations * num_machine_states * horizon
    runs = []
    for threads in sorted({1, choose_threads(None, ENOUGH)}):
        solve(warehouse_task(5, num_machine_states, 2), threads=threads)  # compiles
        seconds = seconds_of(partial(solve, task, keep_values=False, threads=threads), REPEATS)
        per_step = 1e9 * min(seconds) / size
        runs.append({"threads": threads, **_best_and_median(seconds), "ns_per_state_and_step": per_step})
    sizes = {"observations": task.num_observations, "machine_states": num_machine_states, "horizon": horizon}
    return {**sizes, "runs": runs}


def warehouse_task(side: int, num_machine_states: int, horizon: int) -> Task:
    """Make a warehouse in which the item is fetched and delivered again and again: a chain of machine states."""
    from praemia import MachineBuilder, envs

    builder = MachineBuilder(initial="0")
    for i in range(num_machine_states):
        on = "delivery" if i % 2 else "item"
        builder.edge(str(i), on, str((i + 1) % num_machine_states), probability=0.8, reward=i % 2)
        builder.edge(str(i), on, str(i), probability=0.2)
    return envs.warehouse(size=side, horizon=horizon).with_machine(builder.build())


def steps_per_second(task: Task, num_episodes: int) -> dict[str, float]:
    """Measure playing a fixed policy, some episodes at a time: drawing, moving, paying and counting, no plans."""
    from praemia import learners
    from praemia.simulation.loop import run_loop
    from praemia.simulation.task_world import TaskWorld

    player = learners.make("optimal")  # it plans once, but the loop still checks whether a plan is due
    world = TaskWorld(task, player, WARM_EPISODES + REPEATS * num_episodes, (0,), valued=False)
    run_loop(world, WARM_EPISODES)
    seconds = seconds_of(lambda: run_loop(world, world.played + num_episodes), REPEATS)
    speeds = sorted(num_episodes * task.max_steps / duration for duration in seconds)
    return {"best": speeds[-1], "median": statistics.median(speeds), "worst": speeds[0]}


def run_times(task: Task, learner: Learner, num_episodes: int) -> dict[str, float]:
    """Measure whole runs, with their plans and the exact value of each."""
    from praemia import simulate

    plans = simulate(task, learner, num_episodes, 1).num_plans  # compiles
    seconds = seconds_of(lambda: simulate(task, learner, num_episodes, 1), REPEATS)
    return {**_best_and_median(seconds), "plans": plans}


def plan_times(task: Task, learner: Learner, num_episodes: int) -> dict[str, float]:
    """Measure one plan of a learner, from what it knows after some episodes."""
    from praemia.simulation.loop import run_loop
    from praemia.simulation.task_world import TaskWorld

    world = TaskWorld(task, learner, num_episodes, (0,), valued=False)
    run_loop(world, num_episodes)
    world.replan()  # the first call loads what is compiled
    return _best_and_median(seconds_of(world.replan, MANY_REPEATS))


def _best_and_median(seconds: list[float]) -> dict[str, float]:
    return {"seconds": min(seconds), "median_seconds": statistics.median(seconds)}


def seconds_of(function: Callable[[], object], repeats: int) -> list[float]:
    """Call a function several times; return how long each call took."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - began)
    return seconds
