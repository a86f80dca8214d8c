"""Cards: what a notebook shows of a task, a machine, a run or a table — its sizes, numbers and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Card:
    """What is shown of an object: a title, facts, tables, and pictures by their descriptions.

    A picture that needs a package that is missing, or that would be too large, is replaced by the reason.
    """

    title: str
    facts: Sequence[str] = ()
    pictures: Mapping[str, Callable[[], Drawing]] = field(default_factory=dict)
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()

    @property
    def html(self) -> str:
        """The card as a piece of HTML that needs nothing but itself."""
        pictures, notes = [], list(self.notes)
        for alt, draw in self.pictures.items():
            try:
                pictures.append((alt, address(draw())))
            except (MissingExtraError, SizeError) as error:
                notes.append(f"no picture: {error}")
        parts = {"title": self.title, "facts": self.facts, "tables": self.tables}
        return render_page("card.html.j2", **parts, pictures=pictures, notes=notes).decode()


@singledispatch
def card_of(item: object) -> Card:
    """Return what a notebook shows of an object."""
    raise TypeError(f"a {type(item).__name__} has no card")


@card_of.register
def _task(task: Task) -> Card:
    facts = task.sizes
    if task.max_steps * task.num_machine_states * len(task.mdp.probs) <= MAX_SOLVED:
        facts.append(f"optimal value {solve(task, keep_values=False).value:.4g}")
    pictures = {"the task": lambda: task.draw(), "its machine": lambda: task.machine.draw()}
    return Card(task.name, facts, pictures)


@card_of.register
def _machine(machine: RewardMachine) -> Card:
    kind, rewards = "deterministic" if machine.is_deterministic else "probabilistic", machine.mean_rewards
    facts = [*machine.sizes, f"mean rewards from {rewards[0]:.4g} to {rewards[-1]:.4g}"]
    return Card(f"A {kind} reward machine", facts, {"the machine": lambda: machine.draw()})


@card_of.register
def _run(run: Run) -> Card:
    facts = [plural(run.num_episodes, "episode"), plural(run.num_plans, "plan")]
    if run.optimal_value is None:
        facts.append(f"mean return {run.returns.mean():.4g}")
    else:
        facts.append(f"total regret {run.regret[-1]:.4g} ({'pathwise' if run.is_pathwise else 'exact'})")
        facts.append(f"last policy: value {run.plan_values[-1]:.4g} of {run.optimal_value:.4g}")
    return Card(f"{run.title} on {run.task}", facts, {"the run": lambda: run_figure(run)})


@card_of.register
def _table(table: Table) -> Card:
    return Card("", tables=[table])
