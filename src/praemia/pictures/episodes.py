"""An episode to be watched: a GIF in which the agent moves and the machine's state is lit."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from praemia.errors import SizeError
from praemia.files.atomic_io import write_whole
from praemia.machines.labels import format_label
from praemia.pictures.diagrams import LIT, machine_beside
from praemia.pictures.policy_page import GAP, HEAD, MAX_WIDTH
from praemia.pictures.renderers import FINER, paint
from praemia.pictures.scene import GREY, INK, Area, Item, Line, Scene, Text, place, text_width
from praemia.pictures.task_picture import MARGIN, map_scene, task_picture
from praemia.simulation.rollout import Episode, Step
from praemia.tasks.model import step_weights
from praemia.tasks.picture import Point
from praemia.tasks.task import Task

MAX_FRAMES = 1_000
FRAME, LAST = 500, 2_000  # milliseconds
MAX_CELL, MAX_HEIGHT, STATUS, MIN_WIDTH = 72.0, 600.0, 56.0, 460.0  # pixels
COLOURS = 128  # of a GIF
TRAIL = "#7fb8d8"


class Moment(NamedTuple):
    """A moment of an episode: where the agent is, the machine's state, and a line about the step before."""

    observation: int
    machine_state: int
    line: str


def watched(episode: Episode) -> tuple[Step, ...]:
    """Return the steps up to the one after which nothing more can be paid."""
    settled = episode.task.machine.settled_states
    ends = [i for i, step in enumerate(episode) if step.next_machine_state in settled]
    return episode.steps[: ends[0] + 1] if ends else episode.steps


def moments(episode: Episode) -> Iterator[Moment]:
    """Yield the start of an episode and what each step leads to."""
    first, total = episode.steps[0], 0.0
    yield Moment(first.observation, first.machine_state, f"before step 1 of {episode.task.max_steps}")
    weights = step_weights(len(episode), episode.task.discount).tolist()
    for step in watched(episode):
        counts = weights[step.step] * step.reward
        total += counts
        yield Moment(step.next_observation, step.next_machine_state, _line(episode.task, step, counts, total))


def _line(task: Task, step: Step, counts: float, total: float) -> str:
    label = f", {format_label(set(step.label))}" if step.label else ""
    paid = f", paid {step.reward:g}" if step.reward else ""
    if counts != step.reward:
        paid += f", which counts {counts:.3g}"
    so_far = f"; {total:{'g' if task.discount == 1.0 else '.3g'}} so far" if total else ""
    return f"step {step.step + 1} of {task.max_steps}: {task.mdp.action_name(step.action)}{label}{paid}{so_far}"


def save_gif(episode: Episode, path: str | Path, progress: Callable[[int, int], None] | None = None) -> None:
    """Write an episode as a GIF that plays for ever; ``progress`` is told how many frames of how many are drawn."""
    story = list(moments(episode))
    if len(story) > MAX_FRAMES:
        raise SizeError(f"an episode of {len(story):,} frames is too long for a GIF; at most {MAX_FRAMES:,} are drawn")
    stage = Stage(episode, story)
    ground = paint(stage.ground)
    images = []
    for frame in stage.frames():
        images.append(paint(frame, ground=ground).reduce(FINER).quantize(COLOURS))
        if progress:
            progress(len(images), len(story))
    buffer = io.BytesIO()
    times = [FRAME] * (len(images) - 1) + [LAST]
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=times, loop=0)
    write_whole(Path(path), buffer.getvalue())


def path_scene(episode: Episode) -> Scene:
    """Draw the path of an episode, with the agent where it ends."""
    story = list(moments(episode))
    stage = Stage(episode, story)
    *_, last = stage.frames()
    return replace(stage.ground, items=(*stage.ground.items, *last.items))


class Stage:
    """Where an episode is played: the ground stays; each frame adds the agent, its trail, a line and a lit state."""

    def __init__(self, episode: Episode, story: Sequence[Moment]) -> None:
        task = episode.task
        self._story, self._machine, self._picture = story, task.machine, task_picture(task)
        across, down = self._picture.extent
        self._cell = min(MAX_CELL, MAX_WIDTH / across, MAX_HEIGHT / down)
        self._below = HEAD + down * self._cell
        right = MARGIN + across * self._cell
        # The machine stands beside the map if there is room, else below it.
        self._corner, self._room = (right + GAP, HEAD), (MAX_WIDTH - right - GAP, self._below + STATUS - HEAD, "TB")
        inset = machine_beside(task.machine, *self._room)
        if inset is None:
            self._corner, self._room = (MARGIN, self._below + STATUS), (MAX_WIDTH, MAX_HEIGHT, "LR")
            inset = machine_beside(task.machine, *self._room)
        self._has_machine = inset is not None
        title = f"{task.name}, seed {episode.seed}"
        texts = [text_width(title, 15, bold=True), *(text_width(moment.line, 12) for moment in story)]
        width = max(right, MARGIN + max(MIN_WIDTH, *texts), self._corner[0] + inset.width if inset else 0.0)
        height = max(self._below + STATUS, self._corner[1] + inset.height if inset else 0.0)
        self._size = (width + MARGIN, height + MARGIN)
        ground = place(map_scene(self._picture).items, MARGIN, HEAD, self._cell)
        self.ground = Scene(*self._size, (Text(MARGIN, 24.0, title, 15, bold=True), *ground), title)

    @cache  # noqa: B019 (a stage lives for one film)
    def _lit(self, machine_state: int) -> list[Item]:
        """Draw the machine with a state lit."""
        inset = machine_beside(self._machine, *self._room, lit=self._machine.states[machine_state])
        return place([inset], *self._corner) if inset else []

    def frames(self) -> Iterator[Scene]:
        """Yield what each moment adds to the ground."""
        trail: list[Point] = []
        for observation, machine_state, line in self._story:
            spot = self._picture.spots[observation]
            trail.append((spot.x, spot.y))
            moving: list[Item] = [Line(tuple(trail), TRAIL, 0.05)] if len(trail) > 1 else []
            moving.append(Area(spot.x, spot.y, 0.55, 0.55, LIT, INK, 0.03, is_round=True))
            name = "" if self._has_machine else f" (machine state {self._machine.states[machine_state]})"
            items = place(moving, MARGIN, HEAD, self._cell)
            items.append(Text(MARGIN, self._below + 24.0, line + name, 12, GREY))
            yield Scene(*self._size, (*items, *self._lit(machine_state)))
