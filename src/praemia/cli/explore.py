"""``praemia explore``: collect data without any reward."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from praemia.cli.common import complete_tasks, emit, episodes_option, file_option, json_option, seed_option
from praemia.cli.progress import display, say

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset
    from praemia.exploration.until import Check
    from praemia.machines.machine import RewardMachine

UNTIL_KEYS = ("until", "certify", "reached", "checks")
NOT_REACHED = 1  # the exit status when the episodes ran out before the loss was small enough


@click.command("explore")
@click.argument("task", shell_complete=complete_tasks)
@episodes_option(None, "N: episodes of data.  [default: 10000; with --until, at most 100000]")
@episodes_option(1_000, "N₀: EULER's episodes per observation.", "--policy-episodes")
@click.option(
    "--method",
    help="euler (Algorithm 3, the default) or uncertainty (one stage); with --until, directed or uncertainty.",
)
@click.option("--scale", type=float, help="The method's exploration coefficient.  [default: 0.01]")
@click.option("--keep-search", is_flag=True, help="Also keep the episodes in which EULER searched.")
@click.option(
    "--machine", "machines", multiple=True, type=click.Path(), help="A machine fixed in advance; may be repeated."
)
@click.option("--until", type=float, help="Stop when the plan of every --machine loses less than this.")
@click.option("--certify", help="What must be below --until: likely or proven.  [default: likely]")
@click.option("--append", is_flag=True, help="Add to the data already in the file.")
@seed_option
@file_option("--out", required=True, help="The file to write, such as data.npz.")
@json_option
def explore_command(
    task: str,
    episodes: int | None,
    policy_episodes: int,
    method: str | None,
    scale: float | None,
    keep_search: bool,
    machines: tuple[str, ...],
    until: float | None,
    certify: str | None,
    append: bool,
    seed: int,
    out: Path,
) -> int:
    """Explore TASK without using any reward, and save the data to a file.

    Machines named with --machine are recorded in the file before the first episode: certificates for them are tighter.
    With --until, exploration ends when their plans lose little enough; if the episodes run out first, the data is
    still written and the exit status is 1.

    \b
    praemia explore warehouse-5 --episodes 10000 --out data.npz
    praemia plan data.npz --machine other.yaml
    praemia explore warehouse-5 --until 0.02 --machine other.yaml --out data.npz
    """
    from praemia.errors import ParameterError
    from praemia.exploration import Dataset, explore
    from praemia.exploration.merging import require_independent
    from praemia.files import load_machine, resolve_task

    if until is not None and append:
        raise ParameterError("--until checks what it collects itself; leave --append out, or merge the data in Python")
    problem = resolve_task(task)
    before = Dataset.load(out) if append and out.exists() else None
    if before is not None:
        planned = {"task": problem.name, "seed": [seed]}
        require_independent([*before.sources, planned], before.num_observations)
    fixed = [load_machine(name) for name in machines]
    began = time.perf_counter()
    with display() as progress:
        collected = explore(
            problem,
            episodes=episodes if episodes is not None else 10_000 if until is None else 100_000,
            policy_episodes=policy_episodes,
            method=method,
            seed=seed,
            scale=scale,
            keep_search=keep_search,
            machines=fixed,
            until=until,
            certify=certify,
            on_progress=progress.count("episodes"),
            on_check=lambda check: say(_check_line(check, until, certify or "likely")),
        )
    dataset = collected if before is None else before.merge(collected)
    dataset.save(out)
    seconds = time.perf_counter() - began
    recorded = f"machines recorded as fixed in advance: {len(dataset.fixed_machines)}\n" if machines else ""
    ending = "" if until is None else _ending(collected, fixed) + "\n"
    emit(
        {
            "task": problem.name,
            "method": collected.sources[-1]["method"],
            "out": str(out),
            "seconds": seconds,
            **_record(dataset),
        },
        f"{dataset.coverage()}\n{recorded}{ending}{seconds:.1f} s; kept in {out}",
    )
    return 0 if collected.sources[-1].get("reached", True) else NOT_REACHED


def _check_line(check: Check, until: float | None, certify: str) -> str:
    loss = "not known yet" if check.loss == float("inf") else f"{check.loss:.4g}"
    return f"{check.episodes:,} episodes: {certify} loss {loss}, until {until:g}"


def _ending(collected: Dataset, machines: list[RewardMachine]) -> str:
    """Say how exploring until a loss ended, and what kind of number it is."""
    source = collected.sources[-1]
    kinds = {"likely": "likely loss (Bayesian, probability 0.95 under the posterior)", "proven": "proven bound"}
    (episodes, loss), until = source["checks"][-1], source["until"]
    largest = f"the largest {kinds[source['certify']]} of the machines' plans"
    if loss is None:
        read = frozenset[str]().union(*(machine.reads for machine in machines))
        unseen = sorted(read - collected.labelling.propositions())
        return f"not reached: after {episodes:,} episodes the machines read what was never seen: {', '.join(unseen)}"
    verdict = "reached" if source["reached"] else "not reached"
    return f"{verdict}: after {episodes:,} episodes {largest} is {loss:.4g}; asked for: below {until:g}"


def _record(dataset: Dataset) -> dict[str, object]:
    """Return what a dataset covers, as plain data."""
    visits = dataset.visits
    return {
        "episodes": dataset.num_episodes,
        "transitions": dataset.num_transitions,
        "pairs": int(visits.size),
        "pairs_visited": int((visits > 0).sum()),
        "fewest_visits": int(visits.min()),
        "never_reached": [dataset.observation_name(o) for o in dataset.unreached.tolist()],
        "reachability": dataset.reachability.tolist(),
        "fixed_machines": list(dataset.fixed_machines),
        **{key: dataset.sources[-1][key] for key in UNTIL_KEYS if key in dataset.sources[-1]},
    }
