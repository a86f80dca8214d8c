"""A policy as a page: for each machine state a map of where it goes and what it does, and the machine beside them.

Darker places are visited more often in an episode in that machine state; grey ones never are. The arrow is the action
that is taken there most often over the steps of an episode (a policy may change its mind with the time left). If
actions are not moves in the plane, their names stand in the places. An orange frame is where the policy loses value
against the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.pictures.machine_scene import MachineLayout
from praemia.pictures.policy_view import MOVES, NEVER, PolicyView
from praemia.pictures.scene import GREY, INK, LINE, Area, Arrow, Item, Scene, Text, text_width
from praemia.pictures.task_picture import ground
from praemia.planning.policy import PolicyLike
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task

UNVISITED, LOSES = "#e3e5e8", "#d55e00"
DARKEST = (0, 79, 140)
ARROW, LOWER = 0.3, 0.16  # half an arrow, and how far below the number of a round place it is, in cells
MARGIN, HEAD, PANEL_HEAD, GAP, FOOT = 24.0, 48.0, 28.0, 34.0, 72.0  # pixels
MAX_WIDTH, MAX_HEIGHT, MIN_PANEL = 1150.0, 770.0, 180.0
BAR, SHADES = (150.0, 12.0), 30  # of the scale of visits
MAX_MACHINE = 14  # states; larger machines have a drawing of their own
LEGIBLE = 0.75  # the smallest scale of a machine, in pixels for a point


def policy_scene(task: Task, policy: PolicyLike | None = None) -> Scene:
    """Draw a policy, the optimal one if none is given."""
    return page_of(PolicyView.of(task, policy))


def page_of(view: PolicyView) -> Scene:
    """Draw what there is to see of a policy."""
    layout = machine_layout(view.task)
    arrangement = _Arrangement.of(view, layout)
    darkest = max(float(view.visits[list(view.states)].max(initial=0.0)), NEVER)
    width = max(arrangement.size[0], text_width(view.title, 15) + 2 * MARGIN)
    items: list[Item] = [Text(MARGIN, 24.0, view.title, 15, bold=True)]
    for (x, y), m in zip(arrangement.corners(len(view.states)), view.states, strict=True):
        items.append(Text(x, y - 13.0, f"machine state {view.task.machine.states[m]!r}", 12))
        items += panel(view, m, darkest).placed(x, y, arrangement.cell)
    items += _key(HEAD + arrangement.panels[1] + 20.0, darkest, mistakes=bool(view.mistakes.any()))
    notes = [view.left_out]
    if layout is None:
        notes.append(f"The machine has {view.task.num_machine_states:,} states; `praemia draw` shows it.")
    else:
        items += layout.scene().placed(*arrangement.machine_corner, arrangement.scale)
    items.append(Text(MARGIN, arrangement.size[1] - 14.0, " ".join(notes).strip(), 11, GREY))
    return Scene(width, arrangement.size[1], tuple(items), view.title)


@dataclass(frozen=True)
class _Arrangement:
    """Where panels and machine go, in pixels from the top left.

    Attributes
    ----------
    cell : the size of a cell; columns : how many panels stand side by side.
    panel, panels, machine : widths and heights of a panel, of all of them, and of the machine.
    beside : whether the machine stands beside the panels, not below; scale : how large it is drawn.
    """

    cell: float
    columns: int
    panel: tuple[float, float]
    panels: tuple[float, float]
    machine: tuple[float, float]
    beside: bool
    scale: float

    @classmethod
    def of(cls, view: PolicyView, layout: MachineLayout | None) -> _Arrangement:
        across, down = view.picture.extent
        count = len(view.states)
        # The columns that leave most room for a cell, within a page; of several, the most.
        cell, columns = max((_cell_size(view, columns), columns) for columns in range(1, count + 1))
        panel = (max(across * cell, MIN_PANEL), down * cell + PANEL_HEAD)
        panels = (columns * (panel[0] + GAP) - GAP, -(-count // columns) * (panel[1] + GAP) - GAP)
        if layout is None:
            return cls(cell, columns, panel, panels, (0.0, 0.0), False, 1.0)
        scale = machine_scale(layout)
        size = scale * layout.width, scale * layout.height
        return cls(cell, columns, panel, panels, size, panels[0] + GAP + size[0] <= MAX_WIDTH, scale)

    @property
    def size(self) -> tuple[float, float]:
        below = 0.0 if self.beside else self.machine[1]
        width = self.panels[0] + GAP + self.machine[0] if self.beside else max(self.panels[0], self.machine[0])
        height = max(self.panels[1], self.machine[1] if self.beside else 0.0)
        return max(width, 440.0) + 2 * MARGIN, HEAD + height + FOOT + below + MARGIN

    def corners(self, count: int) -> Iterator[tuple[float, float]]:
        for i in range(count):
            row, column = divmod(i, self.columns)
            yield MARGIN + column * (self.panel[0] + GAP), HEAD + row * (self.panel[1] + GAP) + PANEL_HEAD

    @property
    def machine_corner(self) -> tuple[float, float]:
        if self.beside:
            return MARGIN + self.panels[0] + GAP, HEAD + max(0.0, (self.panels[1] - self.machine[1]) / 2)
        return MARGIN, HEAD + self.panels[1] + FOOT


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
    size = max(0.22, max(picture.extent) / 60)  # legible in small cells too
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
