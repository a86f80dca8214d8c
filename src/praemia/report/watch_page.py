"""See a learner learn: one HTML page with a slider over the plans of a run.

The maps and marks are scenes, written as SVG once, and the curves are charts. A small script (``watch.js``) shades the
places and puts the actions into them, plan by plan, from data that the page carries compressed. The page needs nothing
but itself.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from praemia import learners
from praemia.envs.black_box import BlackBox
from praemia.errors import MissingExtraError, ModelError, ParameterError
from praemia.experiments.jobs import Job
from praemia.files.atomic_io import write_whole
from praemia.learners import Learner
from praemia.pictures.diagrams import machine_beside
from praemia.pictures.footprints import NEVER
from praemia.pictures.learning import LearningView, ShownPlan
from praemia.pictures.policy_page import (
    MAX_HEIGHT,
    MAX_WIDTH,
    SMALLEST_CELL,
    action_mark,
    loss_mark,
    place_marks,
)
from praemia.pictures.renderers import render_svg, svg_elements
from praemia.pictures.scene import INK, Item, Scene
from praemia.pictures.task_picture import beneath, cells, legend_line, task_picture, thin_walls
from praemia.report.chart_svg import BOTTOM, HEIGHT, LEFT, TOP, Axis, chart_axes, plots
from praemia.report.charts import GREEN, Chart, Curve, styles
from praemia.report.rendering import render_page, resource
from praemia.simulation import Run, simulate
from praemia.simulation.run import Seed
from praemia.tasks.picture import Mark, Picture
from praemia.tasks.task import Task
from praemia.text_tables import plural

PANEL, WIDEST = 460.0, 1040.0  # pixels, of a map; wide maps may be wider, for their cells to be legible
LARGEST_CELL, LEGIBLE_CELL = 64.0, 24.0
LEVELS = 32  # of visits
ZERO = 35  # the character that stands for 0 in data
MAX_POINTS = 400  # of a curve
FRAME_HEIGHT = 900  # pixels, in a notebook


@dataclass(frozen=True, eq=False)
class LearningPage:
    """A run to be watched: in a notebook as it is, or saved as one HTML file that needs no network."""

    view: LearningView

    @property
    def title(self) -> str:
        """What is shown, in a line."""
        return f"{self.view.run.title} learns {self.view.task.name}"

    @cached_property
    def html(self) -> str:
        """The whole page."""
        return _page(self.view, self.title)

    def save(self, path: str | Path) -> None:
        """Write the page to a file, .html."""
        if Path(path).suffix.lower() not in (".html", ".htm"):
            raise ParameterError(f"cannot write {str(path)!r}; expected a file .html")
        write_whole(Path(path), self.html.encode())

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {FRAME_HEIGHT}px; border: 0"
        return f'<iframe srcdoc="{html.escape(self.html)}" style="{style}"></iframe>'

    def __repr__(self) -> str:
        run = self.view.run
        return f"LearningPage({self.title}: {len(self.view.plans)} of {plural(run.num_plans, 'plan')})"


def watch(
    task: Task,
    learner: str | Learner | Run = "headroom",
    num_episodes: int | None = None,
    seed: Seed = (0, 0),
    *,
    on_progress: Callable[[int, int], None] | None = None,
) -> LearningPage:
    """Play a learner on a task and return a page that shows it learn, plan by plan.

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
    if isinstance(task, BlackBox):
        raise ModelError(f"{task!r} does not show its kernel, so the value of a plan in it is not known")
    if not isinstance(task, Task):
        raise ParameterError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4')")
    task_picture(task)  # a task that is too large is refused before the work
    if isinstance(learner, Run):
        if num_episodes is not None:
            raise ParameterError(f"num_episodes={num_episodes} with a run; it is played again as it was")
        run, player = learner, Job.of(learner).learner.make()
        progress = _progress(on_progress, 0, run.num_episodes)
        return LearningPage(LearningView.of(task, player, run, progress))
    player = learners.make(learner) if isinstance(learner, str) else learner
    episodes = 1_000 if num_episodes is None else num_episodes
    run = simulate(task, player, episodes, seed, on_progress=_progress(on_progress, 0, 2 * episodes))
    return LearningPage(LearningView.of(task, player, run, _progress(on_progress, episodes, 2 * episodes)))


def _progress(on_progress: Callable[[int, int], None] | None, before: int, total: int) -> Callable[[int], None] | None:
    return None if on_progress is None else lambda played: on_progress(before + played, total)


def _page(view: LearningView, title: str) -> str:
    run, picture = view.run, view.picture
    width, height = picture.extent
    charts = _charts(run)
    across, _ = chart_axes(charts[0])
    data = {
        "map": _map(picture),
        "marks": [svg_elements([mark]) for mark in _glyphs(view)],
        "places": [(spot.x, spot.y) for spot in picture.spots],
        "states": [view.task.machine.states[m] for m in view.states],
        "plans": [_plan_data(view, plan, across) for plan in view.plans],
        "marker": [TOP, HEIGHT - BOTTOM],
        "episodes": run.num_episodes,
        "zero": ZERO,
        "levels": LEVELS,
        "arrows": _cell_size(picture) >= SMALLEST_CELL,
    }
    packed = base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 9)).decode()
    return render_page(
        "watch.html.j2",
        title=title,
        facts=_facts(view),
        data=packed,
        cell_size=f"{width:g} {height:g}",
        panel_width=round(_cell_size(picture) * width),
        num_plans=len(view.plans),
        has_stay="stay" in picture.actions,
        key=[_key_line(*entry, picture.is_round) for entry in picture.legend.items()],
        caption=picture.caption,
        is_round=picture.is_round,
        hidden=view.hidden,
        curves=plots(charts, {**styles([("plan", run.learner)]), "optimum": GREEN}),
        machine=_machine(view.task),
        scripts=[resource("report.js"), resource("watch.js")],
        own_style=resource("watch.css"),
    ).decode()


def _cell_size(picture: Picture) -> float:
    """Return how wide a place is, in pixels on a page that is wide enough."""
    across, _ = picture.extent
    return min(LARGEST_CELL, max(PANEL, min(WIDEST, LEGIBLE_CELL * across)) / across)


def _facts(view: LearningView) -> list[str]:
    run = view.run
    part = "" if len(view.plans) == run.num_plans else f", {len(view.plans)} of them shown"
    kind = "regret along its paths" if run.is_pathwise else "exact regret"
    return [
        plural(run.num_episodes, "episode"),
        f"seed {'-'.join(map(str, run.seed))}",
        *([f"discount {run.discount:g}"] if run.discount < 1.0 else []),
        f"{plural(run.num_plans, 'plan')}{part}",
        f"optimal value {run.optimal_value:.4g}",
        f"{kind} {run.regret[-1]:.4g} in all",
    ]


def _map(picture: Picture) -> str:
    """Draw the map as layers: what lies below the places, the places, their losses and actions, and what lies above."""
    layers: dict[str, Sequence[Item]] = {
        "beneath": list(beneath(picture)),
        "cells": list(cells(picture, [""] * len(picture.spots))),
        "walls": list(thin_walls(picture)),
        "losses": [],
        "actions": [],
        "marks": list(place_marks(picture, [INK] * len(picture.spots))),
    }
    return "".join(f'<g class="{name}">{svg_elements(items)}</g>' for name, items in layers.items())


def _glyphs(view: LearningView) -> Iterator[Item]:
    """Draw the frame of a loss, and then each action, around (0, 0)."""
    yield loss_mark(view.picture)
    for name in view.picture.actions:
        yield action_mark(name, view.picture, "currentColor")


def _plan_data(view: LearningView, plan: ShownPlan, across: Axis) -> dict[str, Any]:
    """Return a plan as the page takes it: numbers, and for each machine state two texts with a character per place.

    ``actions`` holds the action plus 1, 0 where none is shown; ``levels`` the visits, from 1 to ``LEVELS`` − 1, 0 where
    the plan never is, plus ``LEVELS`` where the plan loses value.
    """
    states = list(view.states)
    visits, actions, mistakes = (part[states] for part in plan.footprint[:3])
    darkest = float(visits.max())
    shades = 1 + np.rint(visits / (darkest or 1.0) * (LEVELS - 2)).astype(np.int64)
    levels = np.where(visits > NEVER, shades, 0) + LEVELS * mistakes
    return {
        "number": plan.number + 1,
        "episode": plan.episode + 1,
        "value": f"{plan.value:.4g}",
        "lacks": f"{plan.footprint.lacks:.2g}",
        "regret": f"{plan.regret:.4g}",
        "darkest": f"{darkest:.3g}",
        "x": round(LEFT + float(across.places(np.array([plan.episode + 1.0]))[0]), 1),
        "steps": [f"{steps:.2f}" for steps in visits.sum(axis=1).tolist()],
        "actions": [_text(row) for row in actions + 1],
        "levels": [_text(row) for row in levels],
    }


def _text(numbers: NDArray[Any]) -> str:
    return "".join(map(chr, (numbers + ZERO).tolist()))


def _charts(run: Run) -> tuple[Chart, Chart]:
    """Return the exact value of each plan over the episodes, with the optimum; and the regret."""
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


def _machine(task: Task) -> Markup:
    """Draw the machine; nothing if it is too large or Graphviz is missing."""
    try:
        scene = machine_beside(task.machine, MAX_WIDTH, MAX_HEIGHT)
    except MissingExtraError:
        scene = None
    return Markup() if scene is None else _svg(scene)


def _key_line(meaning: str, marks: Sequence[Mark], is_round: bool) -> Markup:
    return _svg(legend_line(meaning, marks, is_round))


def _svg(scene: Scene) -> Markup:
    return Markup(render_svg(scene))
