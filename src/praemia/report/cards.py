"""Cards: what a notebook shows of a task, a machine, a run or a table — its sizes, numbers and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch

from praemia._support.text_tables import Table, plural
from praemia.errors import MissingExtraError, SizeError
from praemia.machines.machine import RewardMachine
from praemia.pictures.drawing import Drawing
from praemia.planning.exact import solve
from praemia.report.figures import run_figure
from praemia.report.rendering import address, render_page
from praemia.simulation.run import Run
from praemia.tasks.task import Task

MAX_SOLVED = 10**8  # sums of a backward induction: about a second
NO_PICTURES: Mapping[str, Callable[[], Drawing]] = {}


def card(
    title: str,
    facts: Sequence[str] = (),
    pictures: Mapping[str, Callable[[], Drawing]] = NO_PICTURES,
    tables: Sequence[Table] = (),
    notes: Sequence[str] = (),
) -> str:
    """Return a card as a piece of HTML that needs nothing but itself; pictures are given by their descriptions.

    A picture that needs a package that is missing, or that would be too large, is replaced by the reason.
    """
    drawn, notes = [], [*notes]
    for alt, draw in pictures.items():
        try:
            drawn.append((alt, address(draw())))
        except (MissingExtraError, SizeError) as error:
            notes.append(f"no picture: {error}")
    return render_page("card.html.j2", title=title, facts=facts, pictures=drawn, tables=tables, notes=notes).decode()


@singledispatch
def card_of(item: object) -> str:
    """Return what a notebook shows of an object."""
    raise TypeError(f"a {type(item).__name__} has no card")


@card_of.register
def _task(task: Task) -> str:
    facts = task.sizes
    if task.max_steps * task.num_machine_states * len(task.mdp.probs) <= MAX_SOLVED:
        facts.append(f"optimal value {solve(task, keep_values=False).value:.4g}")
    pictures = {"the task": lambda: task.draw(), "its machine": lambda: task.machine.draw()}
    return card(task.name, facts, pictures)


@card_of.register
def _machine(machine: RewardMachine) -> str:
    kind, rewards = "deterministic" if machine.is_deterministic else "probabilistic", machine.mean_rewards
    facts = [*machine.sizes, f"mean rewards from {rewards[0]:.4g} to {rewards[-1]:.4g}"]
    return card(f"A {kind} reward machine", facts, {"the machine": lambda: machine.draw()})


@card_of.register
def _run(run: Run) -> str:
    facts = [plural(run.num_episodes, "episode"), plural(run.num_plans, "plan"), *results_of(run)]
    return card(f"{run.title} on {run.task}", facts, {"the run": lambda: run_figure(run)})


def results_of(run: Run) -> list[str]:
    """Return what a run came to, as facts."""
    if run.optimal_value is None:
        return [f"mean return {run.returns.mean():.4g}"]
    kind = "pathwise" if run.is_pathwise else "exact"
    last = f"last policy: value {run.plan_values[-1]:.4g} of {run.optimal_value:.4g}"
    return [f"total regret {run.regret[-1]:.4g} ({kind})", last]


@card_of.register
def _table(table: Table) -> str:
    return card("", tables=[table])
