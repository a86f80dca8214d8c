"""See a learner learn: one HTML page with a slider over the plans of a run.

At most 60 plans are shown, close together at first: learners change most in their first episodes. Each is drawn as
``show`` plots a policy; the page carries the drawings compressed, and a script puts one after the other into place.
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
from numpy.typing import NDArray

from praemia import learners
from praemia._support.text_tables import plural
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError, visible
from praemia.experiments.jobs import Job
from praemia.exploration.estimated_task import EstimatedTask
from praemia.files.atomic_io import write_whole
from praemia.learners import Learner
from praemia.pictures import policy_page
from praemia.pictures.policy_page import PolicyView
from praemia.pictures.renderers import svg_element
from praemia.pictures.scene import scaled
from praemia.pictures.task_picture import task_picture
from praemia.planning.exact import max_losses, solve
from praemia.report.cards import results_of
from praemia.report.chart_svg import BOTTOM, HEIGHT, LEFT, TOP, chart_axes, plots
from praemia.report.charts import Chart, Curve, moving_mean, return_chart, thinned
from praemia.report.rendering import picture, render_page, resource
from praemia.report.styles import STYLES, styles
from praemia.simulation import Run, simulate
from praemia.simulation.replay import replay
from praemia.simulation.run import Seed
from praemia.tasks.base import BaseTask
from praemia.tasks.task import Task, require_task

MAX_PLANS = 60
MAX_PLACES = 120_000  # in all maps of all plans: with less than 15 bytes for each, a page stays below 2 MB
PANEL, WIDEST = 460.0, 1040.0  # pixels, of a map; wide maps may be wider, for their cells to be legible
LARGEST_CELL, LEGIBLE_CELL = 64.0, 24.0
FRAME_HEIGHT = 900  # pixels, in a notebook


class ShownPlan(NamedTuple):
    """A plan of a run: its number and first episode, from 0, the regret before it, and what it does.

    In a black box ``regret`` is the mean return of the last episodes before it.
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
        task = played if isinstance(played, Task) else EstimatedTask(played, run)
        so_far = run.regret if isinstance(task, Task) else moving_mean(run.returns)
        best, regret = solve(task.model), np.concatenate(([0.0], so_far))
        stakes, chosen = max_losses(task, best), plans_to_show(task, run.plan_episodes)
        policies = replay(played, learner, run, chosen, on_progress)
        shown = policies if isinstance(task, Task) else map(task.policy, policies)
        views = [PolicyView.of(task, own, best, stakes) for own in shown]
        states, hidden = policy_page.states_to_show(task, np.mean([view.visits for view in views], axis=0))
        views = [replace(view, states=states, hidden=hidden) for view in views]
        episodes = run.plan_episodes[chosen].tolist()
        plans = zip(chosen, episodes, regret[episodes].tolist(), views, strict=True)
        return cls(task, run, tuple(ShownPlan(*plan) for plan in plans))

    @property
    def title(self) -> str:
        """What is shown, in a line."""
        return f"{self.run.title} learns {self.task.name}"

    @cached_property
    def html(self) -> str:
        """The whole page."""
        charts, first, is_exact = _charts(self), self.plans[0].view, isinstance(self.task, Task)
        style_of = styles([("plan", self.run.learner)]) | ({"optimum": STYLES["optimal"]} if is_exact else {})
        across, _ = first.picture.extent
        cell = min(LARGEST_CELL, max(PANEL, min(WIDEST, LEGIBLE_CELL * across)) / across)
        data = {"plans": [_plan_data(plan, cell, charts[0]) for plan in self.plans], "marker": [TOP, HEIGHT - BOTTOM]}
        return render_page(
            "watch.html.j2",
            title=self.title,
            facts=self._facts,
            data=base64.b64encode(zlib.compress(json.dumps(data).encode(), 9)).decode(),
            panel_width=round(cell * across),
            num_plans=len(self.plans),
            notes=[note for note in (first.left_out, first.picture.caption) if note],
            so_far="regret before it" if is_exact else "mean return before it",
            basis="exact" if is_exact else "those of the model that the whole run estimates",
            curves=plots(charts, style_of),
            machine=picture(self.task.machine),
            scripts=[resource("report.js"), resource("watch.js")],
            own_style=resource("watch.css"),
        ).decode()

    @property
    def _facts(self) -> list[str]:
        run = self.run
        part = "" if len(self.plans) == run.num_plans else f", {len(self.plans)} of them shown"
        facts = [plural(run.num_episodes, "episode"), f"seed {'-'.join(map(str, run.seed))}"]
        facts += [f"discount {run.discount:g}"] if run.discount < 1.0 else []
        return [*facts, f"{plural(run.num_plans, 'plan')}{part}", *results_of(run)]

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
    num_episodes : 1,000 unless given; seed : that of the run, by default that of the first run of ``praemia run``.
    on_progress : called with the episodes played and all to be played: a run is played again to see its plans.

    Examples
    --------
    >>> import praemia
    >>> page = praemia.watch(praemia.envs.riverswim(3), "ucbvi-prm", num_episodes=100)
    >>> page.save("riverswim.html")  # open it in a browser
    """
    if not isinstance(task, BlackBox):
        task_picture(require_task(task, "watch"))  # a task that is too large is refused before the work
    if isinstance(learner, Run):
        if num_episodes is not None:
            raise ParameterError(f"num_episodes={num_episodes} with a run; it is played again as it was")
        run, total, before = learner, learner.num_episodes, 0
        player = run._player or Job.of(run).learner.make()
    else:
        before = 1_000 if num_episodes is None else num_episodes
        player, total = learners.make(learner) if isinstance(learner, str) else learner, 2 * before
        run = simulate(task, player, before, seed, on_progress=_progress(on_progress, 0, total))
    return LearningPage.of(task, player, run, _progress(on_progress, before, total))


def _progress(on_progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int], None] | None:
    return None if on_progress is None else lambda played: on_progress(before + played, total)


def plans_to_show(task: BaseTask, plan_episodes: NDArray[np.int64]) -> list[int]:
    """Return the indices of the plans to show: all, or those in force at episodes that are evenly spaced in log."""
    panels = min(policy_page.MAX_PANELS, max(1, task.num_machine_states - len(task.machine.terminal_states)))
    most = max(2, min(MAX_PLANS, MAX_PLACES // (panels * task.num_observations)))
    if len(plan_episodes) <= most:
        return list(range(len(plan_episodes)))
    episodes = np.rint(np.geomspace(1, plan_episodes[-1] + 1, most)).astype(np.int64) - 1
    return [int(number) for number in np.unique(np.searchsorted(plan_episodes, episodes, side="right") - 1)]


def _plan_data(plan: ShownPlan, cell: float, chart: Chart) -> dict[str, Any]:
    """Return a plan as the page takes it: numbers as texts, its maps, their key, and its place on the curves."""
    view, (across, _) = plan.view, chart_axes(chart)
    return {
        "number": f"{plan.number + 1:,}",
        "episode": f"{plan.episode + 1:,}",
        "value": f"{view.value:.4g}",
        "gap": f"{view.gap:.2g}",
        "regret": f"{plan.regret:.4g}",
        "x": round(LEFT + float(across.places(np.array(plan.episode + 1.0))), 1),
        "maps": "".join(_map(view, m, cell) for m in view.states),
        "key": svg_element(policy_page.key(view, cell, policy_page.MIN_WIDTH)),
    }


def _map(view: PolicyView, m: int, cell: float) -> str:
    steps, state = view.visits[m].sum(), html.escape(visible(view.task.machine.states[m]))
    caption = f"<figcaption>machine state <b>{state}</b>, {steps:.2f} steps per episode</figcaption>"
    return f"<figure>{caption}{svg_element(scaled(policy_page.panel(view, m, cell), cell))}</figure>"


def _charts(page: LearningPage) -> list[Chart]:
    """Return the value of the plans over the episodes, with the optimum; and the regret, in a black box the returns."""
    run = page.run
    if not isinstance(page.task, Task):
        starts = np.array([plan.episode for plan in page.plans])
        ends = np.column_stack((starts + 1, np.append(starts[1:], run.num_episodes))).ravel().astype(float)
        estimate = Curve("plan", run.learner, ends, np.repeat([plan.view.value for plan in page.plans], 2))
        chart = Chart("Value in the estimate", "", "episodes", "value", [estimate], is_log_across=True)
        return [chart, replace(return_chart(replace(run, title="plan")), title="Return", is_log_across=True)]
    episodes = thinned(run.num_episodes)
    plans, x = np.searchsorted(run.plan_episodes, episodes - 1, side="right") - 1, episodes.astype(float)
    values = Curve("plan", run.learner, x, run.plan_values[plans])
    optimum = Curve("optimum", "optimal", x[[0, -1]], np.full(2, run.optimal_value))
    regret = Curve("plan", run.learner, x, run.regret[episodes - 1])
    panels = {"value": ("Value of the plan", [values, optimum]), "regret": ("Regret so far", [regret])}
    return [Chart(title, "", "episodes", up, curves, is_log_across=True) for up, (title, curves) in panels.items()]
