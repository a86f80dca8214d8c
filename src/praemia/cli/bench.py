"""``praemia bench``: how fast the package is on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from praemia.cli.output import json_option, print_fields, print_json, print_table

RUNS = ("ucbvi-prm", "headroom")
EPISODES = 10_000


@click.command("bench")
@click.option("--quick", is_flag=True, help="Smaller sizes, and no compiling: seconds instead of a minute.")
@json_option
def command(quick: bool, as_json: bool) -> None:
    """Measure planning, playing, whole runs and compiling on this machine; takes about a minute."""
    record = {name: _tell(f"{title} …", make) for name, title, make in _parts(quick)}
    if as_json:
        print_json(record)
    else:
        _show(record)


def _parts(quick: bool) -> list[tuple[str, str, Callable[[], Any]]]:
    from praemia import envs, learners
    from praemia.benchmarking import measure

    task = envs.make("warehouse-5")

    def plans() -> dict[str, float]:
        measured = (1, 20) if quick else (30, 300)
        makers = {name: learners.make(name) for name in (RUNS if quick else learners.names())}
        return {
            name: min(measure.plan_seconds(task, learner, measured[1], measured[0])) for name, learner in makers.items()
        }

    episodes = 100 if quick else EPISODES
    parts: list[tuple[str, str, Callable[[], Any]]] = [
        ("planning", "exact planning", lambda: measure.exact_planning(*((20, 4, 5) if quick else (200, 20, 40)))),
        ("steps_per_second", "playing", lambda: measure.steps_per_second(1_000 if quick else 400_000)),
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
    print_table(("threads", "s", "ns per product state and step", "% of the memory's speed", "GB/s"), _rows(plan))
    click.echo("\nin the 5 × 5 warehouse\n")
    fields: dict[str, object] = {"steps per second between plans": f"{steps['best'] / 1e6:.1f} million, one core"}
    for name, run in record["runs"].items():
        fields[f"a run of {name}"] = f"{run['seconds']:.3f} s with {run['plans']} plans"
    for name, seconds in record["plan_seconds"].items():
        fields[f"a plan of {name}"] = f"{1e6 * seconds:.0f} µs"
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
            f"{run['seconds']:.3f}",
            f"{run['ns_per_state_and_step']:.2f}",
            f"{run['percent_of_bandwidth']:.0f}",
            f"{speeds[str(run['threads'])] / 1e9:.1f}",
        )
        for run in plan["runs"]
    ]
