"""A policy as a page: for each machine state a map of where it goes and what it does, and the machine below them.

Darker places are visited more often in an episode in that machine state; grey ones never are. The arrow is the action
that is taken there most often over the steps of an episode (a policy may change its mind with the time left). If
actions are not moves in the plane, their names stand in the places. An orange frame is where the policy loses value
against the optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.pictures.machine_scene import MachineLayout
from praemia.pictures.policy_view import MOVES, NEVER, PolicyView
from praemia.pictures.scene import GREY, INK, LINE, Area, Arrow, Item, Scene, Text, place, text_width
from praemia.pictures.task_picture import ground
from praemia.planning.policy import PolicyLike
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task

UNVISITED, LOSES = "#e3e5e8", "#d55e00"
DARKEST = (0, 79, 140)
ARROW, LOWER = 0.3, 0.16  # half an arrow, and how far below the number of a round place it is, in cells
MARGIN, HEAD, PANEL_HEAD, GAP, FOOT = 24.0, 48.0, 28.0, 34.0, 72.0  # pixels
MAX_WIDTH, MAX_HEIGHT, MIN_PANEL, MIN_WIDTH = 1150.0, 770.0, 180.0, 440.0
BAR, SHADES = (150.0, 12.0), 30  # of the scale of visits
MAX_MACHINE = 14  # states; larger machines have a drawing of their own
LEGIBLE = 0.75  # the smallest scale of a machine, in pixels for a point


def policy_scene(task: Task, policy: PolicyLike | None = None) -> Scene:
    """Draw a policy, the optimal one if none is given."""
    return page_of(PolicyView.of(task, policy))


def page_of(view: PolicyView) -> Scene:
    """Draw what there is to see of a policy."""
    arrangement = _Arrangement.of(view)
    darkest = max(float(view.visits[list(view.states)].max(initial=0.0)), NEVER)
    items: list[Item] = [Text(MARGIN, 24.0, view.title, 15, bold=True)]
    for number, m in enumerate(view.states):
        x, y = arrangement.corner(number)
        items.append(Text(x, y - 13.0, f"machine state {view.task.machine.states[m]!r}", 12))
        items += place(panel(view, m, darkest).items, x, y, arrangement.cell)
    across, y = arrangement.panels[0], HEAD + arrangement.panels[1]
    items += _key(y + 20.0, darkest, mistakes=bool(view.mistakes.any()))
    y += FOOT
    notes = view.left_out
    layout = machine_layout(view.task)
    if layout is None:
        notes = f"{notes} The machine has {view.task.num_machine_states:,} states; `praemia draw` shows it.".strip()
    else:
        scale = machine_scale(layout)
        items += place(layout.scene().items, MARGIN, y, scale)
        across, y = max(across, scale * layout.width), y + scale * layout.height
    items.append(Text(MARGIN, y + 10.0, notes, 11, GREY))
    width = max(across, MIN_WIDTH, text_width(view.title, 15)) + 2 * MARGIN
    return Scene(width, y + MARGIN, tuple(items), view.title)


@dataclass(frozen=True)
class _Arrangement:
    """Where the panels go, in pixels: the size of a cell, the panels side by side, and the size of one and of all."""

    cell: float
    columns: int
    panel: tuple[float, float]
    panels: tuple[float, float]

    @classmethod
    def of(cls, view: PolicyView) -> _Arrangement:
        across, down = view.picture.extent
        count = len(view.states)
        # The columns that leave most room for a cell, within a page; of several, the most.
        cell, columns = max((_cell_size(view, columns), columns) for columns in range(1, count + 1))
        panel = (max(across * cell, MIN_PANEL), down * cell + PANEL_HEAD)
        panels = (columns * (panel[0] + GAP) - GAP, -(-count // columns) * (panel[1] + GAP) - GAP)
        return cls(cell, columns, panel, panels)

    def corner(self, number: int) -> tuple[float, float]:
        """Return the top left of the map in a panel."""
        row, column = divmod(number, self.columns)
        return MARGIN + column * (self.panel[0] + GAP), HEAD + row * (self.panel[1] + GAP) + PANEL_HEAD


def _cell_size(view: PolicyView, columns: int) -> float:
    across, down = view.picture.extent
    rows = -(-len(view.states) // columns)
    wide = (MAX_WIDTH - (columns - 1) * GAP) / columns / across
    high = (MAX_HEIGHT - rows * (PANEL_HEAD + GAP)) / rows / down
    return min(58.0 if view.has_map else 76.0, wide, high)


def machine_layout(task: Task) -> MachineLayout | None:
    """Lay the machine of a task out; None if it is too large to be legible beside a map."""
    if task.num_machine_states > MAX_MACHINE:
        return None
    layout = MachineLayout(task.machine)
    return layout if machine_scale(layout) >= LEGIBLE else None


def machine_scale(layout: MachineLayout) -> float:
    """Return how large a machine is drawn, in pixels for a point."""
    return min(1.1, MAX_WIDTH / layout.width, MAX_HEIGHT / layout.height)


def panel(view: PolicyView, m: int, darkest: float) -> Scene:
    """Draw the map of one machine state, with a cell as the unit; the most visits are ``darkest``."""
    picture, shade = view.picture, view.visits[m] / darkest
    items = shaded(picture, shade, view.visits[m] <= NEVER, view.mistakes[m])
    lower = LOWER if picture.is_round else 0.0
    for o in np.flatnonzero(view.actions[m] >= 0).tolist():
        x, y, colour = picture.spots[o].x, picture.spots[o].y + lower, ink(float(shade[o]))
        name = view.action_name(m, o)
        across, down = MOVES.get(name, (0.0, 0.0))
        if not view.has_map:
            items.append(Text(x, y, name, 0.22, colour, anchor="middle"))
        elif across or down:
            tail, tip = (x - ARROW * across, y - ARROW * down), (x + ARROW * across, y + ARROW * down)
            items.append(Arrow(tail, tip, colour, 0.045))
        else:
            items.append(Area(x, y, 0.13, 0.13, colour, is_round=True))
    return Scene(*picture.extent, tuple(items))


def shaded(
    picture: Picture, shade: NDArray[np.float64], never: NDArray[np.bool_], framed: NDArray[np.bool_] | None = None
) -> list[Item]:
    """Draw places darker the larger ``shade`` is, float64[O] in [0, 1], grey where ``never``, bool[O], some framed."""
    fills = [UNVISITED if grey else tint(level) for level, grey in zip(shade.tolist(), never.tolist(), strict=True)]
    items = ground(picture, fills)
    side = 0.82 if picture.is_round else 0.88
    for o in [] if framed is None else np.flatnonzero(framed).tolist():
        items.append(Area(picture.spots[o].x, picture.spots[o].y, side, side, "", LOSES, 0.09, picture.is_round))
    size = 0.25 if picture.is_round else max(0.22, max(picture.extent) / 60)  # legible in small cells too
    for spot, level in zip(picture.spots, shade.tolist(), strict=True):
        if spot.mark:
            x, y = (spot.x, spot.y - LOWER) if picture.is_round else (spot.x - 0.36, spot.y - 0.34)
            items.append(Text(x, y, spot.mark.symbol, size, ink(level), True, "middle"))
    return items


def tint(shade: float) -> str:
    """Return a colour from white (0) to dark blue (1)."""
    return "#" + "".join(f"{round(255 - shade * (255 - part)):02x}" for part in DARKEST)


def ink(shade: float) -> str:
    """Return the colour of what is written on a tint."""
    return "#ffffff" if shade > 0.6 else INK


def _key(y: float, darkest: float, *, mistakes: bool) -> Sequence[Item]:
    """Draw the scale of the tints, the grey and the frame, below the panels."""
    width, height = BAR
    step = width / SHADES
    for_shade = [tint((i + 0.5) / SHADES) for i in range(SHADES)]
    items: list[Item] = [Area(MARGIN + (i + 0.5) * step, y, step + 0.5, height, c) for i, c in enumerate(for_shade)]
    items.append(Area(MARGIN + width / 2, y, width, height, "", LINE, 1.0))
    for share, anchor in ((0.0, "start"), (1.0, "end")):
        items.append(Text(MARGIN + share * width, y + 16.0, f"{share * darkest:.2g}", 10, GREY, anchor=anchor))
    items.append(Text(MARGIN + width / 2, y + 30.0, "visits per episode", 11, GREY, anchor="middle"))
    x = MARGIN + width + 40.0
    items += [Area(x + 14.0, y, 28.0, height, UNVISITED, LINE, 1.0), Text(x + 36.0, y, "never visited", 11, GREY)]
    if mistakes:
        x += 150.0
        items += [Area(x + 14.0, y, 28.0, height, "", LOSES, 2.2), Text(x + 36.0, y, "loses value here", 11, GREY)]
    return items
