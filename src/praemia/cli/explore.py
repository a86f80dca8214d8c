"""``praemia explore`` and ``praemia plan``: collect data without any reward, then plan for machines from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.common import complete_tasks, episodes_option, file_option, rho_option, seed_option
from praemia.cli.output import emit, json_option, report_written
from praemia.cli.progress import Display, display, say
from praemia.text_tables import Table, plural

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset
    from praemia.exploration.plan_from import MachineReport
    from praemia.exploration.until import Check
    from praemia.machines.machine import RewardMachine


UNTIL_KEYS = ("until", "certify", "reached", "checks")
NOT_REACHED = 1  # the exit status when the episodes ran out before the loss was small enough


@click.command("explore")
@click.argument("task", shell_complete=complete_tasks)
@episodes_option(None, "N: number of episodes to collect.  [default: 10000; with --until, at most 100000]")
@episodes_option(None, "N₀: EULER's episodes per observation.  [default: 1000]", "--policy-episodes")
@click.option(
    "--method",
    help="euler (Algorithm 3, the default) or uncertainty (one stage); with --until, directed or uncertainty.",
)
@click.option("--scale", type=float, help="The method's exploration coefficient.  [default: 0.01]")
@click.option("--keep-search", is_flag=True, default=None, help="Also keep the episodes in which EULER searched.")
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
    method: str | None,
    machines: tuple[str, ...],
    until: float | None,
    certify: str | None,
    append: bool,
    seed: int,
    out: Path,
    **settings: Any,
) -> int:
    """Explore TASK without using any reward, and save the data to a file.

    Machines named with --machine are recorded in the file before the first episode: their certificates are usually
    tighter. With --until, exploration ends when their plans lose little enough; if the episodes run out first, the data
    is still written and the exit status is 1.

    \b
    praemia explore warehouse-5 --episodes 10000 --out data.npz
    praemia plan data.npz --machine other.yaml
    praemia explore warehouse-5 --until 0.02 --machine other.yaml --out data.npz
    """
    from praemia.errors import ParameterError
    from praemia.exploration import Dataset, explore
    from praemia.exploration.merging import require_independent
    from praemia.files.load_save import load_machine
    from praemia.files.resolving import resolve_task

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
            method=method,
            seed=seed,
            machines=fixed,
            until=until,
            certify=certify,
            on_progress=progress.count("episodes"),
            on_check=lambda check: say(_check_line(check, until, certify or "likely")),
            **settings,
        )
    dataset = collected if before is None else before.merge(collected)
    dataset.save(out)
    seconds = time.perf_counter() - began
    recorded = f"machines recorded as fixed in advance: {len(dataset.fixed_machines)}\n" if machines else ""
    ending = "" if until is None else _ending(collected, fixed) + "\n"
    how = {"task": problem.name, "method": collected.sources[-1]["method"], "out": str(out), "seconds": seconds}
    emit(how | _coverage_record(dataset), f"{dataset.coverage()}\n{recorded}{ending}{seconds:.1f} s; kept in {out}")
    return 0 if collected.sources[-1].get("reached", True) else NOT_REACHED


def _check_line(check: Check, until: float | None, certify: str) -> str:
    loss = "not known yet" if check.loss == float("inf") else f"{check.loss:.4g}"
    return f"{plural(check.episodes, 'episode')}: {certify} loss {loss}, until {until:g}"


def _ending(collected: Dataset, machines: list[RewardMachine]) -> str:
    """Say how exploring until a loss ended, and what kind of number it is."""
    source = collected.sources[-1]
    kinds = {"likely": "likely loss (Bayesian, probability 0.95 under the posterior)", "proven": "proven bound"}
    (episodes, loss), until = source["checks"][-1], source["until"]
    after = f"after {plural(episodes, 'episode')}"
    largest = f"the largest {kinds[source['certify']]} of the machines' plans"
    if loss is None:
        read = frozenset[str]().union(*(machine.reads for machine in machines))
        unseen = sorted(read - collected.labelling.propositions())
        return f"not reached: {after} the machines read what was never seen: {', '.join(unseen)}"
    verdict = "reached" if source["reached"] else "not reached"
    return f"{verdict}: {after} {largest} is {loss:.4g}; asked for: below {until:g}"


def _coverage_record(dataset: Dataset) -> dict[str, object]:
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


@click.command("plan")
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--machine", "machines", multiple=True, type=click.Path(), help="A machine or task file; may be repeated."
)
@click.option("--task", shell_complete=complete_tasks, help="The true task, to compare with.")
@click.option("--horizon", type=click.IntRange(1), help="Steps per episode; by default as in the data.")
@click.option("--discount", type=float, help="A reward at step h counts γ^h times; by default as in the data.")
@rho_option(0.05, "the probability with which the certificates may fail.")
@click.option(
    "--fixed-in-advance", is_flag=True, help="You vouch that the machines were fixed before the data was collected."
)
@click.option("--draws", default=200, show_default=True, help="Environments drawn for the likely loss.")
@seed_option
@file_option("--out", help="Write the policy of the one machine, for show --policy.")
@json_option
def plan_command(data: Path, machines: tuple[str, ...], task: str | None, out: Path | None, **how: Any) -> None:
    """Plan for machines from DATA, a file that praemia explore wrote, and bound what each plan can lose.

    Without --machine, the plan is for the machine of --task. The certificates are proven: they hold together with
    probability 1 − ρ, whatever the machines. They are usually tighter for machines that the data records, and with
    --fixed-in-advance, which divides ρ by the number of machines. The likely loss is Bayesian: with probability 0.95
    under the posterior a plan loses at most this.
    """
    import numpy as np

    from praemia.errors import ParameterError
    from praemia.exploration import Dataset
    from praemia.exploration.plan_from import machine_reports
    from praemia.files.load_save import load_machine
    from praemia.files.resolving import resolve_task
    from praemia.planning.policy import Policy

    if out is not None and len(machines) > 1:
        raise ParameterError("--out writes the policy of one machine; give one --machine")
    dataset = Dataset.load(data)
    if not machines and task is None:
        raise ParameterError("nothing to plan for; give --machine, or --task for the machine of that task")
    truth = None if task is None else resolve_task(task)
    named = {name: load_machine(name) for name in machines}
    if truth is not None and not named:
        named = {truth.name: truth.machine}
    with display() as progress:
        report_draws = _draw_progress(progress, len(named))
        rows = machine_reports(dataset, named, truth, on_progress=report_draws, **how)
    if out is not None:
        Policy(np.asarray(rows[0].plan.policy), "" if truth is None else truth.name).save(out)
    report_written(out)
    record = {"data": str(data), "episodes": dataset.num_episodes, "machines": [_machine_record(row) for row in rows]}
    emit(record, _text(rows))


EXCEEDS = "*"  # marks a bound that is more than the plan's value


def _draw_progress(display: Display, num_machines: int) -> Callable[[str], Callable[[int, int], None]]:
    """Return what to call with the name of each machine in turn; that gives what to call with its draws."""
    progress, machines_before = display.count("draws"), count()

    def start(machine: str) -> Callable[[int, int], None]:
        before = next(machines_before)
        return lambda done, total: progress(before * total + done, num_machines * total, f" ({machine})")

    return start


def _text(rows: list[MachineReport]) -> str:
    from praemia.exploration.plan_from import SAYS_LITTLE

    table = _table(rows)
    text = f"{rows[0].plan.dataset.coverage()}\n\n{table}\n"
    text += "proven: certificates; likely: Bayesian, with probability 0.95 under the posterior\n"
    if any(EXCEEDS in cell for cells in table.rows for cell in cells[2:4]):
        text += f"{EXCEEDS} exceeds the plan's own value: {SAYS_LITTLE}\n"
    worst = max(rows, key=lambda row: row.plan.certificate.share)
    return f"{text}\n{worst.name}\n{worst.text()}"


def _table(rows: list[MachineReport]) -> Table:
    """Tabulate what is proven and what is likely of each machine's plan; ``EXCEEDS`` marks bounds that say little."""
    header = ("machine", "value in p̂", "proven: loses ≤", "likely: loses ≤", "of at most")
    truth = ("optimum", "true value", "loss") if rows[0].optimum is not None else ()
    return Table((*header, *truth), list(map(_machine_cells, rows)))


def _machine_cells(row: MachineReport) -> tuple[str, ...]:
    sure, likely = row.plan.certificate, row.likely
    proven = "vacuous" if sure.is_vacuous else f"{sure.bound:.4f}"
    proven += EXCEEDS if row.exceeds_value(sure.bound) else " "
    probable = (
        "none " if likely is None else f"{likely.loss:.4f}" + (EXCEEDS if row.exceeds_value(likely.loss) else " ")
    )
    cells = (row.name, f"{row.plan.value.value:.4f}", proven, probable, f"{sure.largest:.4f}")
    if row.optimum is None or row.true_value is None:
        return cells
    return (*cells, f"{row.optimum:.4f}", f"{row.true_value:.4f}", f"{row.optimum - row.true_value:.6f}")


def _machine_record(row: MachineReport) -> dict[str, Any]:
    """Return a machine's line as plain data."""
    sure = row.plan.certificate
    numbers = ("bound", "largest", "failure_prob", "optimistic", "pessimistic", "simulation")
    record: dict[str, Any] = {
        "machine": row.name,
        "value": row.plan.value.value,
        "alpha": row.plan.alpha,
        "certificate": {
            **{name: getattr(sure, name) for name in numbers},
            "vacuous": sure.is_vacuous,
            "exceeds_value": row.exceeds_value(sure.bound),
            "holds_for": sure.scope.value,
        },
        "likely_loss": _likely_record(row),
        "visit": [[item.observation, item.action, item.visits] for item in sure.to_visit],
    }
    if row.optimum is not None and row.true_value is not None:
        record |= {"optimum": row.optimum, "true_value": row.true_value, "loss": row.optimum - row.true_value}
    return record


def _likely_record(row: MachineReport) -> dict[str, Any] | None:
    """Return a likely loss as plain data, with all that it depends on."""
    if row.likely is None:
        return None
    names = ("loss", "level", "draws", "seed", "monte_carlo", "mean", "labels_drawn", "never_seen")
    return {
        "kind": "Bayesian: with this probability under the posterior the plan loses at most this",
        **{name: getattr(row.likely, name) for name in names},
        "exceeds_value": row.exceeds_value(row.likely.loss),
    }
