"""``praemia bench``: how fast the package is on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from praemia.cli.common import json_option, print_fields, print_json, print_table
from praemia.cli.compiling import compiling_notice

RUNS = ("ucbvi-prm", "headroom")
EPISODES = 10_000
NOISE = 0.2  # a median this far above the best time is shown beside it


@click.command("bench")
@click.option("--quick", is_flag=True, help="Smaller sizes and no compiling, for a first look.")
@json_option
def bench_command(quick: bool, as_json: bool) -> None:
    """Measure planning, playing, whole runs and compiling on this machine; takes about a minute.

    A time is the best of several. Where the median is far from it, both are shown: best … median. Differences within
    such a range are noise.
    """
    with compiling_notice():
        record = {name: _tell(f"{title} …", make) for name, title, make in _parts(quick)}
    if as_json:
        print_json(record)
    else:
        _show(record)


def _parts(quick: bool) -> list[tuple[str, str, Callable[[], Any]]]:
    from praemia import benchmarking as measure
    from praemia import envs, learners

    task = envs.make("warehouse-5")

    def plans() -> dict[str, dict[str, float]]:
        chosen = RUNS if quick else learners.names()
        return {name: measure.plan_times(task, learners.make(name), 50 if quick else 300) for name in chosen}

    episodes = 1_000 if quick else EPISODES
    parts: list[tuple[str, str, Callable[[], Any]]] = [
        ("planning", "exact planning", lambda: measure.exact_planning(*((100, 8, 20) if quick else (200, 20, 40)))),
        ("steps_per_second", "playing", lambda: measure.steps_per_second(100_000 if quick else 400_000)),
        ("runs", "whole runs", lambda: {name: measure.run_times(name, episodes) for name in RUNS}),
        ("plan_seconds", "the learners' plans", plans),
    ]
    compiling: tuple[str, str, Callable[[], Any]] = ("first_call", "compiling", measure.first_call)
    return parts if quick else [*parts, compiling]


def _tell(title: str, make: Callable[[], Any]) -> Any:
    click.echo(title, err=True)
    return make()


def _show(record: dict[str, Any]) -> None:
    plan, steps, first = record["planning"], record["steps_per_second"], record.get("first_call")
    click.echo(
        f"exact planning: {plan['observations']:,} observations × {plan['machine_states']} machine states, "
        f"{plan['horizon']} steps\n"
    )
    print_table(("threads", "ms", "ns per product state and step", "% of the memory's speed", "GB/s"), _rows(plan))
    click.echo(f"\n{threads_compared(plan['runs'])}\n\nin the 5 × 5 warehouse\n")
    speeds = between(steps["best"] / 1e6, steps["median"] / 1e6, "{:.1f}")
    fields: dict[str, object] = {"steps per second between plans": f"{speeds} million, one core"}
    for name, run in record["runs"].items():
        fields[f"a run of {name}"] = f"{_between(run, 1, '{:.3f}')} s with {run['plans']} plans"
    for name, plan in record["plan_seconds"].items():
        fields[f"a plan of {name}"] = f"{_between(plan, 1e6, '{:.0f}')} µs"
    if first is not None:
        fields["import"] = f"{first['import_seconds']:.2f} s"
        fields["first run, compiling"] = f"{first['empty_cache_seconds']:.1f} s"
        fields["first run, compiled before"] = f"{first['full_cache_seconds']:.1f} s"
    print_fields(fields)


def _rows(plan: dict[str, Any]) -> list[tuple[str, ...]]:
    speeds = plan["bytes_per_second"]
    return [
        (
            str(run["threads"]),
            _between(run, 1e3, "{:.2f}"),
            f"{run['ns_per_state_and_step']:.2f}",
            f"{run['percent_of_bandwidth']:.0f}",
            f"{speeds[str(run['threads'])] / 1e9:.1f}",
        )
        for run in plan["runs"]
    ]


def between(best: float, median: float, form: str) -> str:
    """Write the best of several measurements, and the median if it is far from it, as on a busy machine."""
    noisy = abs(median - best) > NOISE * best
    return " … ".join(form.format(value) for value in ((best, median) if noisy else (best,)))


def _between(times: dict[str, float], scale: float, form: str) -> str:
    return between(scale * times["seconds"], scale * times["median_seconds"], form)


def threads_compared(runs: list[dict[str, Any]]) -> str:
    """Say whether several threads are faster than one, if the difference exceeds the noise."""
    if len(runs) < 2:
        return ""
    one, all_of_them = runs[0], runs[-1]
    count, gain = all_of_them["threads"], one["seconds"] / all_of_them["seconds"]
    if all_of_them["median_seconds"] < one["seconds"]:
        return f"{count} threads are {gain:.1f} × as fast as one"
    if one["median_seconds"] < all_of_them["seconds"]:
        return f"{count} threads are {1 / gain:.1f} × as slow as one"
    return f"one thread and {count} cannot be told apart from noise here"
