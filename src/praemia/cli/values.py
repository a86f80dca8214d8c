"""``praemia solve`` and ``praemia bound``: the optimal value of a task, and the regret that the theory promises."""

from __future__ import annotations

import click

from praemia.cli.common import complete_tasks, episodes_option, json_option, print_fields, print_json, print_table
from praemia.cli.compiling import compiling_notice


@click.command("solve")
@click.argument("task", shell_complete=complete_tasks)
@json_option
def solve_command(task: str, as_json: bool) -> None:
    """Find the optimal value of TASK: the most that any policy earns per episode, on average."""
    from praemia.files import resolve_task
    from praemia.planning.exact import solve

    problem = resolve_task(task)
    with compiling_notice():
        value = solve(problem, keep_values=False).value
    record = {
        "task": problem.name,
        "value": value,
        "horizon": int(problem.horizon),
        "observations": problem.num_observations,
        "actions": problem.num_actions,
        "machine_states": problem.num_machine_states,
    }
    if as_json:
        print_json(record)
    else:
        print_fields({name.replace("_", " "): entry for name, entry in record.items()})


@click.command("bound")
@click.argument("task", shell_complete=complete_tasks)
@episodes_option(10_000)
@click.option(
    "--failure-prob", default=0.05, show_default=True, help="ρ: the probability with which the bound may fail."
)
@json_option
def bound_command(task: str, episodes: int, failure_prob: float, as_json: bool) -> None:
    """Print Theorem 1's bound on UCBVI-PRM's regret on TASK, term by term, and the lower bound."""
    from praemia.files import resolve_task
    from praemia.theory import regret_bound, regret_lower_bound

    problem = resolve_task(task)
    sizes = (problem.num_observations, problem.num_actions)
    span = problem.machine.reward_range.span
    bound = regret_bound(*sizes, problem.num_machine_states, problem.horizon, episodes, failure_prob, span)
    lower = regret_lower_bound(*sizes, problem.horizon, episodes, span)
    if as_json:
        terms = {"leading": bound.leading, "model_error": bound.model_error, "martingale": bound.martingale}
        more = {"total": bound.total, "trivial": bound.trivial, "lower": lower, "vacuous": bound.is_vacuous}
        print_json({"task": problem.name, "episodes": episodes, "failure_prob": failure_prob, **terms, **more})
        return
    click.echo(f"{problem.name}, {episodes:,} episodes, ρ = {failure_prob:g}\n")
    print_table(
        ("term", "formula", "value"),
        [
            ("leading", "72 ι √(HOAT)", f"{bound.leading:,.0f}"),
            ("model error", "2500 H² O² A^1.5 ι²", f"{bound.model_error:,.0f}"),
            ("martingale", "4 H √(Tι)", f"{bound.martingale:,.0f}"),
            ("Theorem 1", "their sum", f"{bound.total:,.0f}"),
            ("trivial", "H K", f"{bound.trivial:,.0f}"),
            ("lower bound", "√(HOAT), up to a constant", f"{lower:,.0f}"),
        ],
    )
    if span != 1.0:
        click.echo(f"\nRewards span {span:g}; each term is that for rewards in [0, 1], times {span:g}.")
    if bound.is_vacuous:
        click.echo("\nAt this length the theorem promises no more than the trivial bound.")
