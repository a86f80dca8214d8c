"""Cards: what a notebook shows of a task, a machine, a run or another result — its numbers, tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, TypeAlias

from praemia.errors import MissingExtraError, SizeError
from praemia.exploration.dataset import Dataset
from praemia.exploration.plan_from import ExploredPlan
from praemia.inference.answer import Inference
from praemia.machines.machine import RewardMachine
from praemia.pictures.episodes import frames
from praemia.pictures.inferred import inference_drawing
from praemia.pictures.scene import Scene
from praemia.pictures.show import show
from praemia.planning.acting import Policy
from praemia.planning.exact import Plan, solve
from praemia.report.figures import run_figure
from praemia.report.rendering import address, render_page
from praemia.report.tables import summary_table
from praemia.simulation.rollout import Episode
from praemia.simulation.run import Run
from praemia.statistics.frames import StoredRuns
from praemia.statistics.series import Series, group, told_apart
from praemia.tasks.task import Task
from praemia.text_tables import Table, plural

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_SOLVED = 10**8  # sums of a backward induction: about a second
MAX_STEPS = 20  # of an episode, in its table
MAX_RUNS = 1_000  # read from a folder for its table

Draw: TypeAlias = "Callable[[], Figure | Scene]"


@dataclass(frozen=True)
class Card:
    """What is shown of an object: a title, facts, tables, and pictures under what they show.

    A picture that needs a package that is missing, or that would be too large, is replaced by the reason.
    """

    title: str
    facts: Sequence[str]
    pictures: dict[str, Draw]
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
    if _is_solved_soon(task):
        facts.append(f"optimal value {solve(task, keep_values=False).value:.4g}")
    return Card(task.name, facts, {"the task": lambda: task.draw().scene, "its machine": _machine_scene(task.machine)})


def _is_solved_soon(task: Task) -> bool:
    return task.max_steps * task.num_machine_states * len(task.mdp.probs) <= MAX_SOLVED


@card_of.register
def _machine(machine: RewardMachine) -> Card:
    kind = "deterministic" if machine.is_deterministic else "probabilistic"
    rewards = machine.mean_rewards
    facts = f"mean rewards from {rewards[0]:.4g} to {rewards[-1]:.4g}"
    return Card(f"A {kind} reward machine", [*machine.sizes, facts], {"the machine": _machine_scene(machine)})


def _machine_scene(machine: RewardMachine) -> Draw:
    return lambda: machine.draw().scene


@card_of.register
def _inference(inference: Inference) -> Card:
    first, *others = inference.lines()
    facts = [plural(inference.num_steps, "step")]
    pictures: dict[str, Draw] = {"the machine": lambda: inference_drawing(inference).scene}
    return Card(first[:1].upper() + first[1:], facts, pictures, notes=others)


@card_of.register
def _run(run: Run) -> Card:
    facts = [plural(run.num_episodes, "episode"), plural(run.num_plans, "plan")]
    if run.optimal_value is None:
        facts.append(f"mean return {run.returns.mean():.4g}")
    else:
        last = f"last policy worth {run.plan_values[-1]:.4g} of {run.optimal_value:.4g}"
        kind = "regret of the paths taken" if run.is_pathwise else "regret"
        facts += [f"{kind} {run.regret[-1]:.4g}", last]
    return Card(f"{run.title} on {run.task}", facts, {"the run": lambda: run_figure(run)})


@card_of.register
def _plan(plan: Plan) -> Card:
    facts = [f"value {plan.value:.6g}", _sizes(plan.policy.shape)]
    task = plan.task
    if task is None or not _is_solved_soon(task):
        return Card("An optimal policy", facts, {}, notes=["praemia.show(task, plan) draws it"])
    return Card(f"An optimal policy of {task.name}", facts, {"the policy": lambda: show(task).scene})


@card_of.register
def _policy(policy: Policy) -> Card:
    kind = "randomised" if policy.table.ndim == 4 else "deterministic"
    title = f"A {kind} policy" + (f" for {policy.task}" if policy.task else "")
    return Card(title, [_sizes(policy.table.shape[:3])], {}, notes=["praemia.show(task, policy) draws it"])


def _sizes(shape: tuple[int, ...]) -> str:
    steps = f"{plural(shape[0], 'step')} × " if len(shape) == 3 else "the same at every step: "
    return f"{steps}{plural(shape[-2], 'machine state')} × {plural(shape[-1], 'observation')}"


@card_of.register
def _explored_plan(plan: ExploredPlan) -> Card:
    sure = plan.certificate
    facts = [
        f"value {plan.value} in the estimate",
        f"loses at most {sure.bound:.4g} with probability {1.0 - sure.failure_prob:g}",
        plural(plan.dataset.num_episodes, "episode"),
    ]
    if plan.never_seen:
        facts.insert(1, f"the data never saw {', '.join(plan.never_seen)}")
    machine = plan.reward if isinstance(plan.reward, RewardMachine) else None
    return Card("A plan from explored data", facts, {"its machine": _machine_scene(machine)} if machine else {})


@card_of.register
def _dataset(dataset: Dataset) -> Card:
    return Card("Explored data", dataset.coverage().splitlines(), {})


@card_of.register
def _episode(episode: Episode) -> Card:
    header, *rows = episode.rows()
    num_more = len(rows) - MAX_STEPS
    return Card(
        f"An episode of {episode.task.name}, seed {episode.seed}",
        [plural(len(rows), "step"), f"return {episode.total_reward:g}"],
        {"its path": lambda: list(frames(episode))[-1]} if isinstance(episode.task, Task) else {},
        [Table(header, rows[:MAX_STEPS])],
        [f"and {plural(num_more, 'more step')}; print(episode) lists all"] if num_more > 0 else [],
    )


@card_of.register
def _table(table: Table) -> Card:
    return Card("", [], {}, [table])


@card_of.register
def _stored_runs(runs: StoredRuns) -> Card:
    facts = [plural(len(runs), "run")]
    if not 0 < len(runs) <= MAX_RUNS:
        return Card(str(runs.store.folder), facts, {})
    known = group(run for run in runs if run.optimal_value is not None)
    names = told_apart([series.task for series in known], [series.first.task_text for series in known])
    rows: dict[str, list[Series]] = {}
    for name, series in zip(names, known, strict=True):
        rows.setdefault(name, []).append(series)
    return Card(str(runs.store.folder), facts, {}, [summary_table(rows)])
