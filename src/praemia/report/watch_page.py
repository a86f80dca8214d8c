"""See a learner learn: one HTML page with a slider over the plans of a run.

At most 60 plans are shown, close together at first: learners change most in their first episodes. There are fewer on
large maps, so that the size of a page is bounded. Each plan is drawn as ``show`` draws a policy; the page carries the
drawings compressed, and a small script (``watch.js``) puts one after the other into place. It needs nothing but itself.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from praemia import learners
from praemia.envs.black_box import BlackBox
from praemia.errors import MissingExtraError, ParameterError
from praemia.experiments.jobs import Job
from praemia.exploration.estimated_task import EstimatedTask
from praemia.files.atomic_io import write_whole
from praemia.learners import Learner
from praemia.pictures.diagrams import machine_beside
from praemia.pictures.footprints import MAX_PANELS, footprint, states_to_show
from praemia.pictures.layout import scaled
from praemia.pictures.policy_page import MAX_HEIGHT, MAX_WIDTH, MIN_WIDTH, PolicyView, key, panel
from praemia.pictures.renderers import render_svg
from praemia.pictures.task_picture import task_picture
from praemia.planning.exact import evaluate, max_losses, solve
from praemia.report.chart_svg import BOTTOM, HEIGHT, LEFT, TOP, Axis, chart_axes, plots
from praemia.report.charts import GREEN, Chart, Curve, moving_mean, return_chart, styles
from praemia.report.rendering import render_page, resource
from praemia.simulation import Run, simulate
from praemia.simulation.replay import replay
from praemia.simulation.run import Seed
from praemia.tasks.base import BaseTask
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task
from praemia.text_tables import plural

MAX_PLANS = 60
MAX_PLACES = 120_000  # in all maps of all plans: with less than 15 bytes for each, a page stays below 2 MB
PANEL, WIDEST = 460.0, 1040.0  # pixels, of a map; wide maps may be wider, for their cells to be legible
LARGEST_CELL, LEGIBLE_CELL = 64.0, 24.0
MAX_POINTS = 400  # of a curve
SO_FAR = {True: "regret before it", False: "mean return before it"}
BASIS = {True: "exact", False: "those of the model that the whole run estimates"}
FRAME_HEIGHT = 900  # pixels, in a notebook


class ShownPlan(NamedTuple):
    """A plan of a run.

    Attributes
    ----------
    number : among all plans of the run, from 0; episode : the first in which it is played.
    regret : of the episodes before it; in a black box the mean return of the last of them.
    view : its value, where it goes, and what it does there.
    """

    number: int
    episode: int
    regret: float
    view: PolicyView


@dataclass(frozen=True, eq=False)
class LearningPage:
    """A run to be watched: in a notebook as it is, or saved as one HTML file that needs no network."""

    task: Task | EstimatedTask
    run: Run
    plans: tuple[ShownPlan, ...]

    @classmethod
    def of(
        cls, played: Task | BlackBox, learner: Learner, run: Run, on_progress: Callable[[int], None] | None = None
    ) -> LearningPage:
        """Play a run again and look at its plans: in the task, or in what the whole run estimates of a black box."""
        task = played if isinstance(played, Task) else EstimatedTask.of(played, run)
        best, picture = solve(task.model), task_picture(task)
        so_far = np.concatenate(([0.0], run.regret if isinstance(task, Task) else moving_mean(run.returns)))
        stakes, numbers = max_losses(task, best), plans_to_show(run.plan_episodes, most_plans(task))
        policies = list(replay(played, learner, run, numbers, on_progress))
        values = [float(run.plan_values[number]) for number in numbers]
        if isinstance(task, EstimatedTask):
            policies = [task.policy(policy) for policy in policies]
            values = [evaluate(task.model, policy, keep_values=False).value for policy in policies]
        steps = [footprint(task, best, policy, stakes) for policy in policies]
        states = states_to_show(task, np.mean([own.visits for own in steps], axis=0))
        plans = []
        for number, value, own in zip(numbers, values, steps, strict=True):
            episode, view = int(run.plan_episodes[number]), PolicyView(task, picture, value, False, own, *states)
            plans.append(ShownPlan(number, episode, float(so_far[episode]), view))
        return cls(task, run, tuple(plans))

    @property
    def title(self) -> str:
        """What is shown, in a line."""
        return f"{self.run.title} learns {self.task.name}"

    @cached_property
    def html(self) -> str:
        """The whole page."""
        charts, first = _charts(self), self.plans[0].view
        cell = _cell_size(first.picture)
        across, _ = chart_axes(charts[0])
        data = {"plans": [_plan_data(plan, cell, across) for plan in self.plans], "marker": [TOP, HEIGHT - BOTTOM]}
        packed = base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()
        return render_page(
            "watch.html.j2",
            title=self.title,
            facts=self._facts,
            data=packed,
            panel_width=round(cell * first.picture.extent[0]),
            num_plans=len(self.plans),
            so_far=SO_FAR[isinstance(self.task, Task)],
            basis=BASIS[isinstance(self.task, Task)],
            notes=[note for note in (first.left_out, first.picture.caption) if note],
            curves=plots(charts, {**styles([("plan", self.run.learner)]), "optimum": GREEN}),
            machine=_machine(self.task),
            scripts=[resource("report.js"), resource("watch.js")],
            own_style=resource("watch.css"),
        ).decode()

    @property
    def _facts(self) -> list[str]:
        run = self.run
        part = "" if len(self.plans) == run.num_plans else f", {len(self.plans)} of them shown"
        return [
            plural(run.num_episodes, "episode"),
            f"seed {'-'.join(map(str, run.seed))}",
            *([f"discount {run.discount:g}"] if run.discount < 1.0 else []),
            f"{plural(run.num_plans, 'plan')}{part}",
            *self._results,
        ]

    @property
    def _results(self) -> list[str]:
        run = self.run
        if run.optimal_value is None:
            return [f"mean return {run.returns.mean():.4g}"]
        kind = "pathwise" if run.is_pathwise else "exact"
        return [f"optimal value {run.optimal_value:.4g}", f"total regret {run.regret[-1]:.4g} ({kind})"]

    def save(self, path: str | Path) -> None:
        """Write the page to a file, .html."""
        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise ParameterError(f"cannot write {str(path)!r}; expected a file .html")
        write_whole(Path(path), self.html.encode())

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {FRAME_HEIGHT}px; border: 0"
        return f'<iframe srcdoc="{html.escape(self.html)}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return f"LearningPage({self.title}: {len(self.plans)} of {plural(self.run.num_plans, 'plan')})"


def watch(
    task: Task | BlackBox,
    learner: str | Learner | Run = "headroom",
    num_episodes: int | None = None,
    seed: Seed = (0, 0),
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> LearningPage:
    """Play a learner on a task and return a page that shows it learn, plan by plan.

    In a black box plans are shown in the model that the whole run estimates, and values are those of the estimate.

    Parameters
    ----------
    learner : a name, a learner, or a ``Run`` on this task: it is played again, as it was.
    num_episodes : 1,000 unless given; seed : that of the run, by default of the first one that ``praemia run`` plays.
    on_progress : called with the number of episodes played so far, and of all that are to be played: the run is played
        twice, first to know its plans, then to see the chosen ones.

    Examples
    --------
    >>> import praemia
    >>> page = praemia.watch(praemia.envs.riverswim(3), "ucbvi-prm", num_episodes=100)
    >>> page.save("riverswim.html")  # open it in a browser
    >>> run = praemia.simulate(praemia.envs.riverswim(3), praemia.Headroom(), num_episodes=100)
    >>> praemia.watch(praemia.envs.riverswim(3), run).title
    'headroom learns riverswim-3'
    """
    if not isinstance(task, Task | BlackBox):
        raise ParameterError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4'), or a BlackBox")
    if isinstance(task, Task):
        task_picture(task)  # a task that is too large is refused before the work
    if isinstance(learner, Run):
        if num_episodes is not None:
            raise ParameterError(f"num_episodes={num_episodes} with a run; it is played again as it was")
        run, player = learner, Job.of(learner).learner.make()
        return LearningPage.of(task, player, run, _progress(on_progress, 0, run.num_episodes))
    player = learners.make(learner) if isinstance(learner, str) else learner
    episodes = 1_000 if num_episodes is None else num_episodes
    run = simulate(task, player, episodes, seed, on_progress=_progress(on_progress, 0, 2 * episodes))
    return LearningPage.of(task, player, run, _progress(on_progress, episodes, 2 * episodes))


def _progress(on_progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int], None] | None:
    return None if on_progress is None else lambda played: on_progress(before + played, total)


def most_plans(task: BaseTask) -> int:
    """Return how many plans of a task can be shown."""
    panels = min(MAX_PANELS, max(1, task.num_machine_states - len(task.machine.settled_states)))
    return max(2, min(MAX_PLANS, MAX_PLACES // (panels * task.num_observations)))


def plans_to_show(plan_episodes: NDArray[np.int64], most: int = MAX_PLANS) -> list[int]:
    """Return the numbers of the plans to show: all, or those in force at episodes 1, …, the last, spaced evenly in log.

    Examples
    --------
    >>> plans_to_show(np.array([0, 3, 7]))
    [0, 1, 2]
    >>> numbers = plans_to_show(np.arange(10_000))
    >>> numbers[:4], numbers[-1], len(numbers) <= 60
    ([0, 1, 2, 3], 9999, True)
    """
    if len(plan_episodes) <= most:
        return list(range(len(plan_episodes)))
    episodes = np.rint(np.geomspace(1, plan_episodes[-1] + 1, most)).astype(np.int64) - 1
    return [int(number) for number in np.unique(np.searchsorted(plan_episodes, episodes, side="right") - 1)]


def _cell_size(picture: Picture) -> float:
    """Return how wide a place is, in pixels on a page that is wide enough."""
    across, _ = picture.extent
    return min(LARGEST_CELL, max(PANEL, min(WIDEST, LEGIBLE_CELL * across)) / across)


def _plan_data(plan: ShownPlan, cell: float, across: Axis) -> dict[str, Any]:
    """Return a plan as the page takes it: numbers as texts, its maps, their key, and its place on the curves."""
    view = plan.view
    return {
        "number": f"{plan.number + 1:,}",
        "episode": f"{plan.episode + 1:,}",
        "value": f"{view.value:.4g}",
        "gap": f"{view.footprint.lacks:.2g}",
        "regret": f"{plan.regret:.4g}",
        "x": round(LEFT + float(across.places(np.array([plan.episode + 1.0]))[0]), 1),
        "maps": "".join(_map(view, m, cell) for m in view.states),
        "key": render_svg(key(view, cell, MIN_WIDTH)),
    }


def _map(view: PolicyView, m: int, cell: float) -> str:
    steps, state = view.footprint.visits[m].sum(), html.escape(view.task.machine.states[m])
    caption = f"<figcaption>machine state <b>{state}</b>, {steps:.2f} steps per episode</figcaption>"
    return f"<figure>{caption}{render_svg(scaled(panel(view, m, cell), cell))}</figure>"


def _charts(page: LearningPage) -> tuple[Chart, Chart]:
    """Return the value of each plan over the episodes, with the optimum; and the regret, in a black box the returns."""
    run = page.run
    if isinstance(page.task, EstimatedTask):
        starts = np.array([plan.episode for plan in page.plans])
        ends = np.column_stack((starts + 1, np.append(starts[1:], run.num_episodes))).ravel().astype(float)
        values = Curve("plan", run.learner, ends, np.repeat([plan.view.value for plan in page.plans], 2))
        chart = Chart("Value of the plan in the estimate", "", "episodes", "value", [values], is_log_across=True)
        returns = return_chart(replace(run, title="plan"))
        return chart, replace(returns, title="Return", is_log_across=True)
    few = np.unique(np.geomspace(1, run.num_plans, MAX_POINTS).astype(int) - 1)
    starts = run.plan_episodes[few]
    ends = np.column_stack((starts + 1, np.append(starts[1:], run.num_episodes))).ravel().astype(float)
    values = Curve("plan", run.learner, ends, run.plan_values[few].repeat(2))
    optimum = Curve("optimum", "optimal", ends[[0, -1]], np.full(2, run.optimal_value))
    episodes = np.unique(np.rint(np.geomspace(1, run.num_episodes, MAX_POINTS)).astype(int))
    regret = Curve("plan", run.learner, episodes.astype(float), run.regret[episodes - 1])
    return (
        Chart("Value of the plan", "", "episodes", "value", [values, optimum], is_log_across=True),
        Chart("Regret so far", "", "episodes", "regret", [regret], is_log_across=True),
    )


def _machine(task: BaseTask) -> Markup:
    """Draw the machine; nothing if it is too large or Graphviz is missing."""
    try:
        scene = machine_beside(task.machine, MAX_WIDTH, MAX_HEIGHT)
    except MissingExtraError:
        scene = None
    return Markup() if scene is None else Markup(render_svg(scene))
