"""``praemia plan``: plan for machines from explored data."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.common import complete_tasks, emit, file_option, json_option, rho_option, seed_option, wrote
from praemia.cli.progress import Display, display
from praemia.text_tables import table_text

if TYPE_CHECKING:
    from praemia.exploration.what_if import MachineReport

EXCEEDS = "*"


@click.command("plan")
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--machine", "machines", multiple=True, type=click.Path(), help="A machine or task file; may be repeated."
)
@click.option("--task", shell_complete=complete_tasks, help="The true task, to compare with.")
@click.option("--horizon", type=click.IntRange(1), help="Steps per episode; by default as in the data.")
@rho_option(0.05, "the probability with which the certificates may fail.")
@click.option(
    "--fixed-in-advance", is_flag=True, help="You vouch that the machines were fixed before the data was collected."
)
@click.option("--draws", default=200, show_default=True, help="Environments drawn for the likely loss.")
@seed_option
@file_option("--out", help="Write the policy of the one machine, for show --policy.")
@file_option("--report", help="Write a page: coverage, machines, certificates.")
@json_option
def plan_command(
    data: Path,
    machines: tuple[str, ...],
    task: str | None,
    horizon: int | None,
    failure_prob: float,
    fixed_in_advance: bool,
    draws: int,
    seed: int,
    out: Path | None,
    report: Path | None,
) -> None:
    """Plan for machines from DATA, a file that ``praemia explore`` wrote, and bound what each plan can lose.

    Without --machine, a family of machines over the propositions of the data's labels is tried. The certificates are
    proven: they hold together with probability 1 − ρ, whatever the machines. They are tighter for machines that the
    data records, and with --fixed-in-advance, which divides ρ by the number of machines. The likely loss is Bayesian:
    with probability 0.95 under the posterior a plan loses at most this.
    """
    import numpy as np

    from praemia.errors import ParameterError
    from praemia.exploration import Dataset
    from praemia.exploration.what_if import machine_family, machine_reports
    from praemia.files import load_machine, resolve_task
    from praemia.planning.policy import Policy
    from praemia.report.exploration_page import write_page

    if out is not None and len(machines) != 1:
        raise ParameterError("--out writes the policy of one machine; give one --machine")
    dataset = Dataset.load(data)
    truth = None if task is None else resolve_task(task)
    chosen = {name: load_machine(name) for name in machines}
    family = chosen or machine_family(sorted(dataset.labelling.propositions()))
    with display() as progress:
        rows = machine_reports(
            dataset,
            family,
            truth,
            horizon=horizon,
            failure_prob=failure_prob,
            fixed_in_advance=fixed_in_advance,
            draws=draws,
            seed=seed,
            on_progress=_draw_progress(progress, len(family)),
        )
    if out is not None:
        Policy(np.asarray(rows[0].plan.policy), "" if truth is None else truth.name).save(out)
    if report is not None:
        write_page(dataset, rows, truth, report)
    wrote(out, report)
    record = {"data": str(data), "episodes": dataset.num_episodes, "machines": [_record(row) for row in rows]}
    emit(record, _text(rows))


def _draw_progress(display: Display, num_machines: int) -> Callable[[str], Callable[[int, int], None]]:
    """Return what to call with the name of each machine in turn; that gives what to call with its draws."""
    progress, machines_before = display.count("draws"), count()

    def start(machine: str) -> Callable[[int, int], None]:
        before = next(machines_before)
        return lambda done, total: progress(before * total + done, num_machines * total, f" ({machine})")

    return start


def _text(rows: list[MachineReport]) -> str:
    from praemia.exploration.what_if import SAYS_LITTLE

    is_truth_known = rows[0].optimum is not None
    header = (
        "machine",
        "value in p̂",
        "proven: loses ≤",
        "likely: loses ≤",
        "of at most",
        *(("optimum", "true value", "loss") if is_truth_known else ()),
    )
    table = [_cells(row) for row in rows]
    text = f"{rows[0].plan.dataset.coverage()}\n\n{table_text(header, table)}\n"
    text += "proven: certificates; likely: Bayesian, with probability 0.95 under the posterior\n"
    if any(EXCEEDS in cell for cells in table for cell in cells[2:4]):
        text += f"{EXCEEDS} exceeds the plan's own value: {SAYS_LITTLE}\n"
    worst = max(rows, key=lambda row: row.plan.certificate.share)
    return f"{text}\n{worst.name}\n{worst.text()}"


def _cells(row: MachineReport) -> tuple[str, ...]:
    certificate = row.plan.certificate
    proven = "vacuous" if certificate.is_vacuous else f"{certificate.bound:.4f}"
    likely = "none" if row.likely is None else f"{row.likely.loss:.4f}"
    marks = [
        EXCEEDS if bound is not None and row.exceeds_value(bound) else " "
        for bound in (certificate.bound, None if row.likely is None else row.likely.loss)
    ]
    value = f"{row.plan.value.value:.4f}"
    cells = (row.name, value, proven + marks[0], likely + marks[1], f"{certificate.largest:.4f}")
    if row.optimum is None or row.true_value is None:
        return cells
    return (*cells, f"{row.optimum:.4f}", f"{row.true_value:.4f}", f"{row.optimum - row.true_value:.6f}")


def _record(row: MachineReport) -> dict[str, Any]:
    """Return a machine's line as plain data."""
    certificate = row.plan.certificate
    record: dict[str, Any] = {
        "machine": row.name,
        "value": row.plan.value.value,
        "alpha": row.plan.alpha,
        "certificate": {
            "bound": certificate.bound,
            "largest": certificate.largest,
            "vacuous": certificate.is_vacuous,
            "exceeds_value": row.exceeds_value(certificate.bound),
            "failure_prob": certificate.failure_prob,
            "holds_for": certificate.scope.value,
            "optimistic": certificate.optimistic,
            "pessimistic": certificate.pessimistic,
            "simulation": certificate.simulation,
        },
        "likely_loss": _likely_record(row),
        "visit": [[item.observation, item.action, item.visits] for item in certificate.to_visit],
    }
    if row.optimum is not None and row.true_value is not None:
        record |= {"optimum": row.optimum, "true_value": row.true_value, "loss": row.optimum - row.true_value}
    return record


def _likely_record(row: MachineReport) -> dict[str, Any] | None:
    """Return a likely loss as plain data, with all that it depends on."""
    if row.likely is None:
        return None
    return {
        "kind": "Bayesian: with this probability under the posterior the plan loses at most this",
        "loss": row.likely.loss,
        "level": row.likely.level,
        "exceeds_value": row.exceeds_value(row.likely.loss),
        "draws": row.likely.draws,
        "seed": row.likely.seed,
        "monte_carlo": list(row.likely.monte_carlo),
        "mean": row.likely.mean,
        "labels_drawn": row.likely.labels_drawn,
        "never_seen": list(row.likely.never_seen),
    }
