"""An episode as a GIF in which the agent moves and the machine's state is highlighted."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from praemia.errors import SizeError
from praemia.files.atomic_io import write_whole
from praemia.machines.labels import format_label
from praemia.pictures.colours import GREY, INK, LIT, TRAIL
from praemia.pictures.diagrams import WAYS, machine_beside
from praemia.pictures.policy_page import GAP, MAX_WIDTH
from praemia.pictures.renderers import render_image
from praemia.pictures.scene import Area, Line, Scene, beside, label, page, scaled, stack
from praemia.pictures.task_picture import map_scene, task_picture
from praemia.planning.sampled import Step
from praemia.simulation.rollout import Episode
from praemia.tasks.model import step_weights
from praemia.tasks.picture import Point
from praemia.tasks.task import require_task

MAX_FRAMES = 1_000
FRAME, LAST = 500, 2_000  # milliseconds
MAX_CELL, MAX_HEIGHT, MIN_WIDTH = 72.0, 600.0, 460.0  # pixels
COLOURS = 128  # of a GIF


class Moment(NamedTuple):
    """A moment of an episode: where the agent is, the machine's state, and a line about the step before."""

    observation: int
    machine_state: int
    line: str


def watched(episode: Episode) -> tuple[Step, ...]:
    """Return the steps up to the one after which there are no more rewards."""
    settled = episode.task.machine.terminal_states
    ends = [i for i, step in enumerate(episode) if step.next_machine_state in settled]
    return episode.steps[: ends[0] + 1] if ends else episode.steps


def story_of(episode: Episode) -> Iterator[Moment]:
    """Yield the start of an episode and the outcome of each step."""
    task, first, total = require_task(episode.task, "a moving map"), episode.steps[0], 0.0
    yield Moment(first.observation, first.machine_state, f"before step 1 of {task.max_steps}")
    weights = step_weights(len(episode), task.discount).tolist()
    for step in watched(episode):
        discounted = weights[step.step] * step.reward
        total += discounted
        parts = [task.mdp.action_name(step.action), format_label(set(step.label)) if step.label else ""]
        parts.append(f"reward {step.reward:g}" if step.reward else "")
        parts.append(f"discounted {discounted:.3g}" if discounted != step.reward else "")
        so_far = f"; return {total:{'g' if task.discount == 1.0 else '.3g'}} so far" if total else ""
        line = f"step {step.step + 1} of {task.max_steps}: {', '.join(filter(None, parts))}{so_far}"
        yield Moment(step.next_observation, step.next_machine_state, line)


def save_gif(episode: Episode, path: str | Path, on_progress: Callable[[int, int], None] | None = None) -> None:
    """Write an episode as a GIF that repeats; ``on_progress`` is called with the frames done and all frames."""
    count = len(watched(episode)) + 1
    if count > MAX_FRAMES:
        raise SizeError(f"an episode of {count:,} frames is too long for a GIF; at most {MAX_FRAMES:,} are rendered")
    images = []
    for frame in frames(episode):
        images.append(render_image(frame).quantize(COLOURS))
        if on_progress:
            on_progress(len(images), count)
    save_images(images, path, 1000 / FRAME)


def save_images(images: Sequence[Any], path: str | Path, fps: float) -> None:
    """Write images as a GIF that repeats."""
    buffer = io.BytesIO()
    times = [max(20, round(1000 / fps))] * (len(images) - 1) + [LAST]
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0)
    write_whole(Path(path), buffer.getvalue())


def frames(episode: Episode) -> Iterator[Scene]:
    """Yield a page for each moment: the map with the agent and its trail, a line, and the machine with its state lit.

    The machine stands beside the map if there is room, else below it.
    """
    task, story, picture = episode.task, list(story_of(episode)), task_picture(episode.task)
    machine, (across, down) = task.machine, picture.extent
    cell, bare = min(MAX_CELL, MAX_WIDTH / across, MAX_HEIGHT / down), map_scene(picture)
    room: tuple[float, float, Sequence[str]] = (MAX_WIDTH - across * cell - GAP, down * cell + GAP, ("TB",))
    join = beside
    if machine_beside(machine, *room) is None:
        room, join = (MAX_WIDTH, MAX_HEIGHT, WAYS), stack
    width = max(MIN_WIDTH if join is stack else 0.0, *(label(moment.line, 12.0).width for moment in story))
    trail: list[Point] = []
    for observation, machine_state, line in story:
        spot, state = picture.spots[observation], machine.states[machine_state]
        trail.append((spot.x, spot.y))
        agent = Area(spot.x, spot.y, 0.55, 0.55, LIT, INK, 0.03, is_round=True)
        moving = scaled(replace(bare, items=(*bare.items, Line(tuple(trail), TRAIL, 0.05), agent)), cell)
        lit = machine_beside(machine, *room, lit=state)
        status = label(line if lit else f"{line} (machine state {state})", 12.0, GREY)
        scene = stack([moving, replace(status, width=width)], 10.0)
        yield page(f"{task.name}, seed {episode.seed}", join([scene, lit], GAP) if lit else scene)
