"""An episode to be watched: a GIF in which the agent moves and the machine's state is lit."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from praemia.drawing.machine_axes import LIT, POINTS, draw_layout
from praemia.drawing.maps import MARGIN, MAX_WIDTH, add_axes, draw_cells, machine_layout, machine_scale
from praemia.drawing.style import GREY, INK, blank_figure
from praemia.envs.grid import is_over
from praemia.envs.registry import picture
from praemia.errors import SizeError
from praemia.files.atomic_io import write_whole
from praemia.machines.labels import format_label
from praemia.simulation.rollout import Episode, Step
from praemia.tasks.task import Task

MAX_FRAMES = 1_000
FRAME, LAST = 500, 2_000  # milliseconds
DPI = 100
HEAD, STATUS, GAP = 0.5, 0.4, 0.3  # inches


class Scene(NamedTuple):
    """A moment of an episode: where the agent is, the machine's state, and a line about the step before."""

    observation: int
    machine_state: int
    line: str


def watched(episode: Episode) -> tuple[Step, ...]:
    """Return the steps up to the one after which nothing can happen any more."""
    over = [m for m, state in enumerate(episode.task.machine.states) if is_over(episode.task, state)]
    ends = [i for i, step in enumerate(episode) if step.next_machine_state in over]
    return episode.steps[: ends[0] + 1] if ends else episode.steps


def scenes(episode: Episode) -> Iterator[Scene]:
    """Yield the start of an episode and what each step leads to."""
    first, total = episode.steps[0], 0.0
    yield Scene(first.observation, first.machine_state, f"before step 1 of {episode.task.horizon}")
    for step in watched(episode):
        total += step.reward
        yield Scene(step.next_observation, step.next_machine_state, _line(episode.task, step, total))


def _line(task: Task, step: Step, total: float) -> str:
    label = f", {format_label(set(step.label))}" if step.label else ""
    paid = f", paid {step.reward:g}" if step.reward else ""
    return f"step {step.step + 1} of {task.horizon}: {task.mdp.action_name(step.action)}{label}{paid}; in all {total:g}"


def save_gif(episode: Episode, path: str | Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Write an episode as a GIF that plays for ever; ``progress`` is told how many frames of how many are drawn."""
    shown = list(scenes(episode))
    if len(shown) > MAX_FRAMES:
        raise SizeError(f"an episode of {len(shown):,} frames is too long for a GIF; at most {MAX_FRAMES:,} are drawn")
    stage = _Stage(episode)
    frames = []
    for scene in shown:
        frames.append(stage.image(scene))
        if progress:
            progress(len(frames), len(shown))
    buffer = io.BytesIO()
    times = [FRAME] * (len(frames) - 1) + [LAST]
    frames[0].save(buffer, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)
    write_whole(Path(path), buffer.getvalue())


class _Stage:
    """The figure, drawn once: an episode moves the agent, lights a machine state and changes a line."""

    def __init__(self, episode: Episode) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        task = episode.task
        self._shown = picture(task)
        across, down = self._shown.extent
        cell = min(0.6, MAX_WIDTH / across, 6.0 / down)
        layout = machine_layout(task)
        scale = machine_scale(layout) if layout else 1.0
        machine = (scale * layout.width / POINTS, scale * layout.height / POINTS) if layout else (0.0, 0.0)
        width, height = max(across * cell, machine[0], 4.6), down * cell + STATUS + GAP + machine[1]
        figure = blank_figure(width + 2 * MARGIN, HEAD + height + MARGIN)
        figure.set_dpi(DPI)
        self._canvas: Any = FigureCanvasAgg(figure)  # whose methods have no types
        title = f"{task.name}, seed {episode.seed}"
        bold: dict[str, Any] = {"fontsize": 11, "fontweight": "bold", "color": INK, "parse_math": False}
        across_page, down_page = figure.get_size_inches()
        figure.text(MARGIN / across_page, 1 - 0.3 / down_page, title, **bold)
        axes = add_axes(figure, MARGIN, HEAD, across * cell, down * cell)
        draw_cells(axes, self._shown, np.zeros(task.num_observations), cell=cell)
        (self._trail,) = axes.plot([], [], color="#0072B2", linewidth=1.6, alpha=0.5)
        (self._agent,) = axes.plot([], [], "o", color=LIT, markeredgecolor=INK, markersize=0.55 * cell * POINTS)
        below = 1 - (HEAD + down * cell + 0.28) / down_page
        self._line = figure.text(MARGIN / across_page, below, "", fontsize=9, color=GREY, parse_math=False)
        self._machines = []
        if layout:
            for m in range(task.num_machine_states):
                self._machines.append(add_axes(figure, MARGIN, HEAD + down * cell + STATUS + GAP, *machine))
                draw_layout(self._machines[-1], layout, scale, lit=m)
        self._path: list[tuple[float, float]] = []
        self._states = task.machine.states

    def image(self, scene: Scene) -> Any:
        """Return the figure as it is in a scene, with few colours, as a GIF has them."""
        from PIL import Image

        spot = self._shown.spots[scene.observation]
        self._path.append((spot.x, spot.y))
        self._agent.set_data([spot.x], [spot.y])
        self._trail.set_data(*zip(*self._path, strict=True))
        where = "" if self._machines else f" (machine state {self._states[scene.machine_state]})"
        self._line.set_text(scene.line + where)
        for m, axes in enumerate(self._machines):
            axes.set_visible(m == scene.machine_state)
        self._canvas.draw()
        return Image.fromarray(np.asarray(self._canvas.buffer_rgba())[..., :3]).quantize(128)
