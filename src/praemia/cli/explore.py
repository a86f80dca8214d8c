"""``praemia explore`` and ``praemia plan``: collect data without any reward, then plan for machines from it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import praemia
from praemia._support.activity import OnProgress, display, say
from praemia._support.text_tables import Table, plural
from praemia.cli.common import code_option, complete_tasks, episodes_option, file_option, rho_option, seed_option
from praemia.cli.output import emit, json_option, report_written
from praemia.errors import ParameterError, PraemiaError, SizeError

if TYPE_CHECKING:
    from praemia.exploration import ExploredPlan, LikelyLoss
    from praemia.exploration.explore import Check
    from praemia.tasks.base import BaseTask


UNTIL_KEYS = ("until", "reached", "checks")
NOT_REACHED = 1  # the exit status when the episodes ran out before the loss was small enough
EXCEEDS = "*"  # marks a bound that is more than the plan's value


@click.command("explore")
@click.argument("task", shell_complete=complete_tasks)
@episodes_option(None, "Number of episodes to collect.  [default: 10000; with --until, at most 100000]")
@click.option("--method", default="uncertainty", show_default=True, help="uncertainty, or euler (Algorithm 3).")
@episodes_option(None, "N₀: EULER's further episodes for each observation.  [default: 1000]", "--policy-episodes")
@click.option("--scale", default=0.01, show_default=True, help="The method's exploration coefficient.")
@click.option("--until", type=float, help="Stop when the plan of every --machine loses less than this.")
@click.option("--machine", "machines", multiple=True, type=click.Path(), help="For --until; may be repeated.")
@click.option("--append", is_flag=True, help="Add to the data already in the file.")
@code_option
@seed_option
@file_option("--out", required=True, help="The file to write, such as data.npz.")
@json_option
def explore_command(
    task: str,
    episodes: int | None,
    until: float | None,
    machines: tuple[str, ...],
    append: bool,
    allow_code: bool,
    seed: int,
    out: Path,
    **settings: Any,
) -> int:
    """Explore TASK without using any reward, and save the data to a file.

    With --until, exploration ends when the plans of the machines lose little enough; if the episodes run out first, the
    data is still written and the exit status is 1.

    \b
    praemia explore warehouse-5 --episodes 10000 --out data.npz
    praemia plan data.npz --machine other.yaml
    praemia explore warehouse-5 --until 0.02 --machine other.yaml --out data.npz
    """
    from praemia.exploration.counted import about
    from praemia.files.resolving import resolve_task

    if until is not None and append:
        raise ParameterError("--until checks what it collects itself; leave --append out, or merge the data in Python")
    problem = resolve_task(task, allow_code=allow_code)
    before = praemia.Dataset.load(out) if append and out.exists() else None
    if before is not None:  # before anything is played
        before.require_kind(about(problem), [(seed,)])
    named = [praemia.load_machine(name) for name in machines]
    began = time.perf_counter()
    try:
        with display() as progress:
            collected = praemia.explore(
                problem,
                num_episodes=episodes if episodes is not None else 10_000 if until is None else 100_000,
                until=until,
                machines=named,
                seed=seed,
                on_progress=progress.count("episodes"),
                on_check=lambda check: say(_check_line(check, until)),
                **settings,
            )
    except PraemiaError as error:
        if error.dataset is not None:
            _merged(before, error.dataset).save(out)
            raise type(error)(f"{error}; what was explored until then is kept in {out}") from error
        raise
    dataset = _merged(before, collected)
    dataset.save(out)
    seconds = time.perf_counter() - began
    ending = "" if until is None else _ending(collected, named) + "\n"
    how = {"task": problem.name, "method": settings["method"], "out": str(out), "seconds": seconds}
    emit(how | _coverage_record(dataset), f"{dataset.coverage()}\n{ending}{seconds:.1f} s; kept in {out}")
    return 0 if collected.sources[-1].get("reached", True) else NOT_REACHED


def _merged(before: praemia.Dataset | None, collected: praemia.Dataset) -> praemia.Dataset:
    return collected if before is None else before.merge(collected)


def _check_line(check: Check, until: float | None) -> str:
    loss = "not known yet" if check.loss == float("inf") else f"{check.loss:.4g}"
    return f"{plural(check.episodes, 'episode')}: likely loss {loss}, target loss {until:g}"


def _ending(collected: praemia.Dataset, machines: list[praemia.RewardMachine]) -> str:
    """Say whether exploration reached the target loss, and what kind of number that is."""
    source = collected.sources[-1]
    (episodes, loss), until = source["checks"][-1], source["until"]
    after = f"after {plural(episodes, 'episode')}"
    if loss is None:
        read = frozenset[str]().union(*(machine.reads for machine in machines))
        unseen = sorted(read - collected.seen_propositions)
        return f"not reached: {after} the machines read what was never seen: {', '.join(unseen)}"
    verdict = "reached" if source["reached"] else "not reached"
    largest = "the largest likely loss (Bayesian, probability 0.95 under the posterior) of the machines' plans"
    return f"{verdict}: {after} {largest} is {loss:.4g}; the target loss is {until:g}"


def _coverage_record(dataset: praemia.Dataset) -> dict[str, object]:
    """Return what a dataset covers, as plain data."""
    visits = dataset.visits
    return {
        "episodes": dataset.num_episodes,
        "transitions": dataset.num_transitions,
        "pairs": int(visits.size),
        "pairs_visited": int((visits > 0).sum()),
        "fewest_visits": int(visits.min()),
        "never_reached": [dataset.observation_name(o) for o in dataset.unreached.tolist()],
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
@code_option
@rho_option(0.05, "the probability with which the certificates may fail.")
@click.option("--draws", default=200, show_default=True, help="Environments sampled for the likely loss.")
@seed_option
@file_option("--out", help="Write the policy of the one machine, for show --policy.")
@json_option
def plan_command(
    data: Path,
    machines: tuple[str, ...],
    task: str | None,
    allow_code: bool,
    draws: int,
    seed: int,
    out: Path | None,
    **how: Any,
) -> None:
    """Plan for machines from DATA, a file that praemia explore wrote, and bound what each plan can lose.

    Without --machine, the plan is for the machine of --task. The certificates are proven: they hold together with
    probability 1 − ρ, whatever the machines. The likely loss is Bayesian: with probability 0.95 under the posterior a
    plan loses at most this.
    """
    import numpy as np

    from praemia.exploration.likely_loss import require_draws
    from praemia.files.resolving import resolve_task

    if out is not None and len(machines) > 1:
        raise ParameterError("--out writes the policy of one machine; give one --machine")
    dataset = praemia.Dataset.load(data)
    if not machines and task is None:
        raise ParameterError("nothing to plan for; give --machine, or --task for the machine of that task")
    require_draws(draws)
    truth = None if task is None else resolve_task(task, allow_code=allow_code)
    if truth is not None:
        dataset.require_sizes_of(truth)
    named = {name: praemia.load_machine(name) for name in machines}
    if truth is not None and not named:
        named = {truth.name: truth.machine}
    plans = {name: praemia.plan_from(dataset, machine, **how) for name, machine in named.items()}
    with display() as progress:
        likely = [_likely(plan, draws, seed, progress.count(f"draws ({name})")) for name, plan in plans.items()]
        records = [_record(*own, truth, loss) for own, loss in zip(plans.items(), likely, strict=True)]
    if out is not None:
        (plan,) = plans.values()
        praemia.Policy(np.asarray(plan.policy), "" if truth is None else truth.name).save(out)
    report_written(out)
    record = {"data": str(data), "episodes": dataset.num_episodes, "machines": records}
    emit(record, _text(records, [*plans.values()], likely))


def _likely(plan: ExploredPlan, draws: int, seed: int, report: OnProgress) -> LikelyLoss | None:

    try:
        return plan.likely(draws=draws, seed=seed, on_progress=report)
    except SizeError:  # the plan and its certificate need far less memory, and are there
        return None


def _record(name: str, plan: ExploredPlan, truth: BaseTask | None, likely: LikelyLoss | None) -> dict[str, Any]:
    """Return a machine's line as plain data; ``likely`` is None if memory is too small for it."""

    sure, minimum = plan.certificate, float(plan.estimate.values_from_unit(0.0))  # type: ignore[union-attr]
    numbers = ("bound", "largest", "failure_prob", "optimistic", "pessimistic")
    record: dict[str, Any] = {
        "machine": name,
        "value": plan.value,
        "never_seen": list(plan.never_seen),
        "certificate": {
            **{key: getattr(sure, key) for key in numbers},
            "vacuous": sure.is_vacuous,
            "exceeds_value": sure.bound > plan.value - minimum,
        },
        "likely_loss": None,
    }
    if likely is not None:
        names = ("loss", "level", "draws", "seed", "monte_carlo", "mean", "labels_sampled", "never_seen")
        record["likely_loss"] = {
            "kind": "Bayesian: with this probability under the posterior the plan loses at most this",
            **{key: getattr(likely, key) for key in names},
            "exceeds_value": likely.loss > plan.value - minimum,
        }
    if isinstance(truth, praemia.Task):
        optimum, value = plan.optimum(truth), plan.true_value(truth)
        record |= {"optimum": optimum, "true_value": value, "loss": optimum - value}
    return record


def _text(records: list[dict[str, Any]], plans: list[ExploredPlan], likely: list[LikelyLoss | None]) -> str:
    header = ("machine", "value in p̂", "proven: loses ≤", "likely: loses ≤", "of at most")
    truth = ("optimum", "true value", "loss") if "optimum" in records[0] else ()
    table = Table((*header, *truth), list(map(_cells, records)))
    text = f"{plans[0].dataset.coverage()}\n\n{table}\n"
    text += "proven: certificates; likely: Bayesian, with probability 0.95 under the posterior\n"
    if any(EXCEEDS in cell for cells in table.rows for cell in cells[2:4]):
        text += f"{EXCEEDS} exceeds the plan's value: it is uninformative for this plan\n"
    for record in records:
        if record["never_seen"]:
            text += (
                f"{record['machine']}: the data never saw {', '.join(record['never_seen'])}, which the machine reads\n"
            )
    worst = max(range(len(plans)), key=lambda place: plans[place].certificate.share)
    text += f"\n{records[worst]['machine']}\n{plans[worst].certificate.text()}\n"
    sample = likely[worst]
    no_memory = "no likely loss: there is not enough memory for a label of every (o, a, o')"
    return text + (no_memory if sample is None else sample.text())


def _cells(record: dict[str, Any]) -> tuple[str, ...]:
    sure, likely = record["certificate"], record["likely_loss"]
    proven = "vacuous" if sure["vacuous"] else f"{sure['bound']:.4g}"
    cells = [
        record["machine"],
        f"{record['value']:.4g}",
        proven + (EXCEEDS if sure["exceeds_value"] else " "),
        "none " if likely is None else f"{likely['loss']:.4g}" + (EXCEEDS if likely["exceeds_value"] else " "),
        f"{sure['largest']:.4g}",
    ]
    if "optimum" in record:
        cells += [f"{record['optimum']:.4g}", f"{record['true_value']:.4g}", f"{record['loss']:.4g}"]
    return tuple(cells)
