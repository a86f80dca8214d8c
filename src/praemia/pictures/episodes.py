"""An episode to be watched: a GIF in which the agent moves and the machine's state is lit."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from praemia.errors import SizeError
from praemia.files.atomic_io import write_whole
from praemia.machines.machine import format_label
from praemia.pictures.machine_scene import LIT
from praemia.pictures.pixels import render_image
from praemia.pictures.policy_page import HEAD, MARGIN, MAX_WIDTH, machine_layout, machine_scale, shaded
from praemia.pictures.scene import GREY, INK, Area, Item, Line, Scene, Text, place, text_width
from praemia.pictures.task_picture import task_picture
from praemia.simulation.rollout import Episode, Step
from praemia.tasks.machine_sampler import settled_states
from praemia.tasks.picture import Point
from praemia.tasks.task import Task

MAX_FRAMES = 1_000
FRAME, LAST = 500, 2_000  # milliseconds
MAX_CELL, MAX_HEIGHT, STATUS, MIN_WIDTH = 60.0, 600.0, 56.0, 460.0  # pixels
COLOURS = 128  # of a GIF
TRAIL = "#7fb8d8"


class Moment(NamedTuple):
    """A moment of an episode: where the agent is, the machine's state, and a line about the step before."""

    observation: int
    machine_state: int
    line: str


def watched(episode: Episode) -> tuple[Step, ...]:
    """Return the steps up to the one after which nothing more can be paid."""
    settled = settled_states(episode.task.machine)
    ends = [i for i, step in enumerate(episode) if step.next_machine_state in settled]
    return episode.steps[: ends[0] + 1] if ends else episode.steps


def moments(episode: Episode) -> Iterator[Moment]:
    """Yield the start of an episode and what each step leads to."""
    first, total = episode.steps[0], 0.0
    yield Moment(first.observation, first.machine_state, f"before step 1 of {episode.task.horizon}")
    for step in watched(episode):
        total += step.reward
        yield Moment(step.next_observation, step.next_machine_state, _line(episode.task, step, total))


def _line(task: Task, step: Step, total: float) -> str:
    label = f", {format_label(set(step.label))}" if step.label else ""
    paid = f", paid {step.reward:g}" if step.reward else ""
    so_far = f"; {total:g} so far" if total else ""
    return f"step {step.step + 1} of {task.horizon}: {task.mdp.action_name(step.action)}{label}{paid}{so_far}"


def save_gif(episode: Episode, path: str | Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Write an episode as a GIF that plays for ever; ``progress`` is told how many frames of how many are drawn."""
    shown = list(moments(episode))
    if len(shown) > MAX_FRAMES:
        raise SizeError(f"an episode of {len(shown):,} frames is too long for a GIF; at most {MAX_FRAMES:,} are drawn")
    images = []
    for scene in frames(episode):
        images.append(render_image(scene).quantize(COLOURS))
        if progress:
            progress(len(images), len(shown))
    buffer = io.BytesIO()
    times = [FRAME] * (len(images) - 1) + [LAST]
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0)
    write_whole(Path(path), buffer.getvalue())


def frames(episode: Episode) -> Iterator[Scene]:
    """Yield a scene for each moment of an episode: the map with the agent and its trail, a line, and the machine."""
    task = episode.task
    picture, layout = task_picture(task), machine_layout(task)
    across, down = picture.extent
    cell = min(MAX_CELL, MAX_WIDTH / across, MAX_HEIGHT / down)
    scale = machine_scale(layout) if layout else 0.0
    machine = (scale * layout.width, scale * layout.height) if layout else (0.0, 0.0)
    title = f"{task.name}, seed {episode.seed}"
    lines = [moment.line for moment in moments(episode)]
    width = max(across * cell, machine[0], MIN_WIDTH, text_width(title, 15), *(text_width(line, 12) for line in lines))
    below = HEAD + down * cell
    everywhere = np.zeros(task.num_observations)
    ground = place(shaded(picture, everywhere, everywhere > 0.0), MARGIN, HEAD, cell)
    trail: list[Point] = []
    for moment in moments(episode):
        spot = picture.spots[moment.observation]
        trail.append((spot.x, spot.y))
        moving: list[Item] = [Line(tuple(trail), TRAIL, 0.05)] if len(trail) > 1 else []
        moving.append(Area(spot.x, spot.y, 0.55, 0.55, LIT, INK, 0.03, is_round=True))
        name = "" if layout else f" (machine state {task.machine.states[moment.machine_state]})"
        items: list[Item] = [Text(MARGIN, 24.0, title, 15, bold=True), *ground, *place(moving, MARGIN, HEAD, cell)]
        items.append(Text(MARGIN, below + 24.0, moment.line + name, 12, GREY))
        if layout:
            items += layout.scene(moment.machine_state).placed(MARGIN, below + STATUS, scale)
        yield Scene(width + 2 * MARGIN, below + STATUS + machine[1] + MARGIN, tuple(items), title)
