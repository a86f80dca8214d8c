"""The picture of a task: its map or a graph of its observations; colours say what labels do, and symbols too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from praemia.errors import ModelError, SizeError
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome
from praemia.pictures.colours import AGENT, GREY, INK, LINE, ROLES, WALL
from praemia.pictures.scene import (
    BOLD_LETTER,
    MARGIN,
    Area,
    Item,
    Line,
    Scene,
    Text,
    beside,
    flow,
    label,
    page,
    place,
    scaled,
    text_width,
)
from praemia.tasks.base import BaseTask
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Role, Spot
from praemia.tasks.task import Task

MAX_SPOTS = 10_000
MAX_RING = 24
MAX_SWATCHES = 6  # in a line of the legend
MAX_TICKS = 6  # of an axis
MIN_WIDTH, SWATCH = 320.0, 18.0  # of a page, and of a mark in its legend, in pixels


def task_picture(task: BaseTask) -> Picture:
    """Return where a task's observations lie, what their labels do to its machine, and what actions are called."""
    if task.num_observations > MAX_SPOTS:
        raise SizeError(
            f"{task.num_observations:,} observations are too many for a picture; at most {MAX_SPOTS:,} are drawn"
        )
    bare = _bare_picture(task)
    if len(bare.spots) != task.num_observations:
        raise ModelError(
            f"the map of {task.name!r} has {len(bare.spots):,} places for {task.num_observations:,} observations; "
            "it must have one for each"
        )
    effects: dict[Label, tuple[Role, str]] = {frozenset(): ("plain", "")}
    for true in {spot.mark.label for spot in bare.spots if spot.mark} - effects.keys():
        effects[true] = _effect(task.machine, true.intersection(task.machine.propositions))
    spots = [
        spot._replace(mark=_explained(spot.mark, *effects[spot.mark.label])) if spot.mark else spot
        for spot in bare.spots
    ]
    return replace(bare, spots=tuple(spots))


def _bare_picture(task: Any) -> Picture:
    """Return the picture of a task, or of the estimate of one, as it is without a machine."""
    if not isinstance(task, Task):
        return replace(task.map or graph_picture(task.marks, task.links), actions=task.action_names)
    mdp = task.mdp
    bare = _graph(mdp) if mdp.map is None else mdp.map.picture()
    return replace(bare, actions=bare.actions or tuple(map(mdp.action_name, range(mdp.num_actions))))


def _explained(mark: Mark, role: Role, effect: str) -> Mark:
    """Give a mark its colour, and add to its line in the legend what the machine does there."""
    meaning = ": ".join(filter(None, (mark.meaning, effect)))
    if role == "waypoint" and not meaning:
        meaning = "on the way"
    if mark.is_start:
        meaning = "; ".join(filter(None, (meaning, "episodes start here")))
    usual: Role = "start" if mark.is_start else mark.role
    return mark._replace(meaning=meaning, role=usual if role == "plain" else role)


def _effect(machine: RewardMachine, label: Label) -> tuple[Role, str]:
    """Return the strongest effect of a label in any state: a reward, a cost, an end of rewards, a move, or none.

    The effects of a step without propositions do not count.
    """
    rewards, costs, moves, ends = [], [], [], False
    for m, state in enumerate(machine.states):
        idle = sum(out.probability * out.reward.mean for out in machine.outcomes(state, frozenset()))
        for out in machine.outcomes(state, label):
            rewards += [out] if out.reward.mean > max(0.0, idle) else []
            costs += [out] if out.reward.mean < min(0.0, idle) else []
            moves += [out] if out.target != state else []
            settled = machine.terminal_states
            ends |= m not in settled and machine.index[out.target] in settled
    if rewards:
        return "goal", _reward_text(max(rewards, key=lambda out: out.reward.mean))
    if costs:
        return "danger", _reward_text(min(costs, key=lambda out: out.reward.mean))
    if ends:
        return "danger", "no reward afterwards"
    unsure = [out.probability for out in moves if out.probability < 1.0]
    return ("waypoint" if moves else "plain"), f"counts with probability {max(unsure):.3g}" if unsure else ""


def _reward_text(outcome: Outcome) -> str:
    mean = "" if outcome.reward.is_constant else "mean "
    chance = f" with probability {outcome.probability:.3g}" if outcome.probability < 1.0 else ""
    return f"{mean}reward {outcome.reward.mean:.3g}{chance}".replace("-", "−")


def _graph(mdp: LabeledMDP) -> Picture:
    """Draw an MDP without a map."""
    marks = [
        Mark(str(o), ", ".join(sorted(reached)), reached, is_start)
        for o, (reached, is_start) in enumerate(zip(mdp.arrival_labels, mdp.start_probs > 0.0, strict=True))
    ]
    rows = (mdp.edge_pairs // mdp.num_actions).tolist()
    pairs = {(min(o, z), max(o, z)) for o, z in zip(rows, mdp.successors.tolist(), strict=True) if o != z}
    return graph_picture(marks, sorted(pairs))


def graph_picture(marks: Sequence[Mark], links: Iterable[tuple[int, int]]) -> Picture:
    """Draw observations on a circle with their edges or, if there are many, in rows by number."""
    if len(marks) > MAX_RING:
        columns = math.ceil(math.sqrt(2 * len(marks)))
        spots = [Spot(o % columns + 0.5, o // columns + 0.5, mark) for o, mark in enumerate(marks)]
        return Picture(tuple(spots), is_round=True)
    radius, turn = max(1.0, 0.24 * len(marks)), 2 * math.pi / len(marks)
    spots = [
        Spot(radius * (1 + math.sin(turn * o)) + 0.5, radius * (1 - math.cos(turn * o)) + 0.5, mark)
        for o, mark in enumerate(marks)
    ]
    return Picture(tuple(spots), links=tuple(links), is_round=True)


def ground(picture: Picture, fills: Sequence[str], outlines: Sequence[str] | None = None) -> list[Item]:
    """Return walls and places as items, with a cell as the unit; places have a fill each, and perhaps an outline."""
    items: list[Item] = [Area(x, y, 1.0, 1.0, WALL, WALL, 0.02) for x, y in picture.blocks]
    if picture.axes:
        across, down = picture.extent
        items.append(Area(across / 2, down / 2, across, down, "", LINE, 0.02))
    thickness = 0.035 if len(picture.links) < 2 * len(picture.spots) else 0.01
    for i, j in picture.links:
        a, b = picture.spots[i], picture.spots[j]
        items.append(Line(((a.x, a.y), (b.x, b.y)), LINE, thickness))
    size = 0.8 if picture.is_round else 1.0
    for o, spot in enumerate(picture.spots):
        strong = outlines is not None and spot.mark is not None and spot.mark.role != "plain"
        outline = outlines[o] if outlines is not None else LINE
        side = size - 0.06 if strong and not picture.is_round else size  # keeps clear of the neighbours' lines
        items.append(Area(spot.x, spot.y, side, side, fills[o], outline, 0.035 if strong else 0.02, picture.is_round))
    return [*items, *(Line(((x0, y0), (x1, y1)), WALL, 0.055) for x0, y0, x1, y1 in picture.walls)]


def fitted(x: float, y: float, text: str, size: float, width: float, colour: str, *, bold: bool = False) -> Text:
    """Write a text around a point: of a size, or smaller if it would be wider than ``width``."""
    return Text(x, y, text, size * min(1.0, width / text_width(text, size, bold=bold)), colour, bold, "middle")


def map_scene(picture: Picture, here: int | None = None) -> Scene:
    """Draw the map of a task, with a cell as the unit; ``here`` is the observation that the agent is in."""
    roles: list[Role] = [spot.mark.role if spot.mark else "plain" for spot in picture.spots]
    items = ground(picture, *zip(*(ROLES[role] for role in roles), strict=True))
    largest = 0.42 if picture.is_round else max(0.42, max(picture.extent) / 90)  # legible in small cells too
    room = max(0.66 if picture.is_round else 0.86, BOLD_LETTER * largest)
    for spot in picture.spots:
        if spot.mark:
            items.append(fitted(spot.x, spot.y, spot.mark.symbol, largest, room, INK, bold=True))
    if here is not None:
        spot = picture.spots[here]
        items.append(Area(spot.x, spot.y, 0.6, 0.6, AGENT, INK, 0.04, is_round=True))
    return with_axes(picture, items)


def with_axes(picture: Picture, items: Sequence[Item]) -> Scene:
    """Return a map as a scene; one whose cells are ranges of two numbers has axes at its left and below it."""
    width, height = picture.extent
    if picture.axes is None:
        return Scene(width, height, tuple(items))
    (across, up), size = picture.axes, max(0.25, max(width, height) / 45)
    left, top = 4.0 * size, 1.6 * size
    texts = [Text(0.0, 0.5 * size, f"↑ {up.name}", size, GREY)]
    texts.append(Text(left + width, top + height + 2.4 * size, f"{across.name} →", size, GREY, anchor="end"))
    for i in range(0, len(across.borders), math.ceil(width / MAX_TICKS)):
        texts.append(Text(left + i, top + height + size, f"{across.borders[i]:.3g}", size, GREY, anchor="middle"))
    for i in range(0, len(up.borders), math.ceil(height / MAX_TICKS)):
        texts.append(Text(left - 0.4 * size, top + height - i, f"{up.borders[i]:.3g}", size, GREY, anchor="end"))
    page_size = (left + width + 2.0 * size, top + height + 3.2 * size)
    return Scene(*page_size, (*place(items, left, top), *texts))


def frame_scene(picture: Picture, here: int | None = None) -> Scene:
    """Draw the map of a task in pixels, about 480 of them, with the agent on it and nothing else."""
    bare = map_scene(picture, here)
    cell = max(4, min(48, int(480 / max(bare.width, bare.height))))
    return Scene(cell * bare.width + 2, cell * bare.height + 2, tuple(place(bare.items, 1, 1, cell)))


def page_scene(picture: Picture, title: str) -> Scene:
    """Draw a page: the map of a task below its title and above its legend."""
    whole = scaled(map_scene(picture), min(46.0, max(12.0, 760.0 / max(picture.extent))))
    return page(title, whole, legend(picture, max(MIN_WIDTH, whole.width)), label(picture.caption, 12.0, GREY))


def legend(picture: Picture, width: float) -> Scene:
    """Draw the key to the marks, as many in a row as fit: those that share a meaning, and what it is."""
    lines = []
    for meaning, marks in picture.legend.items():
        swatches = []
        for mark in marks[:MAX_SWATCHES]:
            area = Area(11.0, 12.0, SWATCH, SWATCH, *ROLES[mark.role], 1.5, picture.is_round)
            symbol = fitted(11.0, 12.0, mark.symbol, 11.0, 15.0, INK, bold=True)
            swatches.append(Scene(SWATCH + 4.0, SWATCH + 6.0, (area, symbol)))
        lines.append(beside([*swatches, label(meaning, 13.0)], 4.0))
    return flow(lines, width, MARGIN)
