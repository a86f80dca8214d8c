"""A policy as a figure: for each machine state a map of where it goes and what it does, and the machine beside them.

A place is the darker, the more often it is visited in an episode in that machine state, and grey where it never is. The
arrow is the action that is taken there most often over the steps of an episode (a policy may change its mind with the
time left). Where actions are no moves in the plane, their names stand in the places. An orange frame is where the
policy loses value against the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.drawing.machine_axes import POINTS, MachineLayout, draw_layout
from praemia.drawing.policy_view import MOVES, NEVER, PolicyView
from praemia.drawing.style import GREY, INK, blank_figure
from praemia.envs.pictures import Picture
from praemia.envs.registry import picture
from praemia.errors import PraemiaError
from praemia.planning.policy import PolicyLike
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WALL, LINE, UNVISITED, LOSES = "#454C57", "#AEB6C0", "#E3E5E8", "#D55E00"
ARROW, LOWER = 0.3, 0.16  # half an arrow, and how far below the number of a round place it is, in cells
MARGIN, HEAD, PANEL_HEAD, GAP, FOOT = 0.25, 0.5, 0.3, 0.35, 0.75  # inches
LETTER = 0.1  # the width of one in the title, inches
MAX_WIDTH, MAX_HEIGHT, MIN_PANEL = 12.0, 8.0, 1.9
MAX_MACHINE = 14  # states; larger machines have a drawing of their own
LEGIBLE = 0.55  # the smallest scale of a machine
DENSE = 2  # links for each place, from which on they are drawn thin


def has_map(task: Task) -> bool:
    """Tell whether a task can be drawn as a map: its actions are moves, and it has a picture."""
    if not all(task.mdp.action_name(a) in MOVES for a in range(task.num_actions)):
        return False
    try:
        return bool(picture(task).spots)
    except PraemiaError:
        return False


def policy_map(task: Task, policy: PolicyLike | None = None) -> Figure:
    """Draw a policy, the optimal one if none is given."""
    return draw_view(PolicyView.of(task, policy))


@dataclass(frozen=True)
class _Page:
    """Where panels and machine go, in inches from the top left."""

    cell: float
    columns: int
    panel: tuple[float, float]
    panels: tuple[float, float]
    machine: tuple[float, float]
    beside: bool
    scale: float

    @classmethod
    def of(cls, view: PolicyView, layout: MachineLayout | None) -> _Page:
        across, down = view.shown.extent
        count = len(view.states)
        # The columns that leave most room for a cell, within a page; of several, the most.
        cell, columns = max((_cell_size(view, columns), columns) for columns in range(1, count + 1))
        panel = (max(across * cell, MIN_PANEL), down * cell + PANEL_HEAD)
        panels = (columns * (panel[0] + GAP) - GAP, -(-count // columns) * (panel[1] + GAP) - GAP)
        if layout is None:
            return cls(cell, columns, panel, panels, (0.0, 0.0), False, 1.0)
        scale = machine_scale(layout)
        size = scale * layout.width / POINTS, scale * layout.height / POINTS
        return cls(cell, columns, panel, panels, size, panels[0] + GAP + size[0] <= MAX_WIDTH, scale)

    @property
    def size(self) -> tuple[float, float]:
        below = 0.0 if self.beside else self.machine[1]
        width = self.panels[0] + GAP + self.machine[0] if self.beside else max(self.panels[0], self.machine[0])
        height = max(self.panels[1], self.machine[1] if self.beside else 0.0)
        return max(width, 4.6) + 2 * MARGIN, HEAD + height + FOOT + below + MARGIN


def _cell_size(view: PolicyView, columns: int) -> float:
    across, down = view.shown.extent
    rows = -(-len(view.states) // columns)
    wide = (MAX_WIDTH - (columns - 1) * GAP) / columns / across
    high = (MAX_HEIGHT - rows * (PANEL_HEAD + GAP)) / rows / down
    return min(0.62 if view.has_map else 0.8, wide, high)


def machine_layout(task: Task) -> MachineLayout | None:
    """Lay the machine of a task out; None if it is too large to be legible beside a map."""
    if task.num_machine_states > MAX_MACHINE:
        return None
    layout = MachineLayout.of(task.machine)
    return layout if machine_scale(layout) >= LEGIBLE else None


def machine_scale(layout: MachineLayout) -> float:
    return min(0.85, MAX_WIDTH * POINTS / layout.width, MAX_HEIGHT * POINTS / layout.height)


def draw_view(view: PolicyView) -> Figure:
    """Draw what there is to see of a policy."""
    layout = machine_layout(view.task)
    page = _Page.of(view, layout)
    width, height = max(page.size[0], LETTER * len(view.title) + 2 * MARGIN), page.size[1]
    figure = blank_figure(width, height)
    figure.text(
        MARGIN / width, 1 - 0.3 / height, view.title, fontsize=11, fontweight="bold", color=INK, parse_math=False
    )
    brightest = max(float(view.visits[list(view.states)].max(initial=0.0)), NEVER)
    across, down = view.shown.extent
    for place, m in enumerate(view.states):
        row, column = divmod(place, page.columns)
        left, top = MARGIN + column * (page.panel[0] + GAP), HEAD + row * (page.panel[1] + GAP) + PANEL_HEAD
        name = f"machine state {view.task.machine.states[m]!r}"
        figure.text(left / width, 1 - (top - 0.09) / height, name, fontsize=9, color=INK, parse_math=False)
        draw_panel(add_axes(figure, left, top, across * page.cell, down * page.cell), view, m, brightest, page.cell)
    _legend(figure, page, brightest, mistakes=bool(view.mistakes.any()))
    notes = [view.left_out]
    if layout is None:
        notes.append(f"The machine has {view.task.num_machine_states:,} states; `praemia draw` shows it.")
    else:
        _place_machine(figure, page, layout)
    figure.text(MARGIN / width, 0.1 / height, " ".join(notes).strip(), fontsize=8, color=GREY)
    return figure


def add_axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes of a size in inches, at a distance from the top left."""
    across, down = figure.get_size_inches()
    return figure.add_axes((left / across, 1 - (top + height) / down, width / across, height / down))


def draw_panel(axes: Axes, view: PolicyView, m: int, brightest: float, cell: float) -> None:
    """Draw the map of one machine state, with cells of so many inches."""
    shade = view.visits[m] / brightest
    draw_cells(axes, view.shown, shade, view.visits[m] <= NEVER, cell)
    for o in np.flatnonzero(view.mistakes[m]).tolist():
        _frame(axes, view.shown, o, cell)
    colours = [ink(level) for level in shade[view.actions[m] >= 0].tolist()]
    if view.has_map:
        _arrows(axes, view, m, colours, cell)
        return
    for o, colour in zip(np.flatnonzero(view.actions[m] >= 0).tolist(), colours, strict=True):
        spot, name, size = view.shown.spots[o], view.action_name(m, o), max(5.0, 9.0 * cell)
        axes.text(spot.x, spot.y + LOWER, name, ha="center", va="center", fontsize=size, color=colour, parse_math=False)


def draw_cells(
    axes: Axes, shown: Picture, shade: NDArray[np.float64], never: NDArray[np.bool_] | None = None, cell: float = 0.62
) -> None:
    """Draw the places of a picture with walls and marks, the darker the larger ``shade``, float64[O] in [0, 1].

    Where ``never``, bool[O], holds, they are grey. Cells have a size of ``cell`` inches.
    """
    from matplotlib.patches import Circle, Rectangle

    width, height = shown.extent
    axes.set(xlim=(-0.05, width + 0.05), ylim=(height + 0.05, -0.05), aspect="equal")
    axes.axis("off")
    for x, y in shown.blocks:
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=WALL, edgecolor=WALL))
    thickness = 0.8 if len(shown.links) < DENSE * len(shown.spots) else 0.2
    for i, j in shown.links:
        a, b = shown.spots[i], shown.spots[j]
        axes.plot([a.x, b.x], [a.y, b.y], color=LINE, linewidth=thickness, zorder=0)
    for o, (spot, level) in enumerate(zip(shown.spots, shade.tolist(), strict=True)):
        colour = UNVISITED if never is not None and never[o] else tint(level)
        corner, centre = (spot.x - 0.5, spot.y - 0.5), (spot.x, spot.y)
        place = Circle(centre, 0.42) if shown.round else Rectangle(corner, 1, 1)
        place.set(facecolor=colour, edgecolor=LINE, linewidth=0.8)
        axes.add_patch(place)
        if spot.mark and (shown.round or spot.mark.meaning or spot.mark.role != "plain"):
            x, y = (spot.x, spot.y - 0.16) if shown.round else (spot.x - 0.34, spot.y - 0.3)
            text: dict[str, Any] = {
                "fontsize": max(5.0, 11.0 * cell),
                "fontweight": "bold",
                "color": ink(level),
                "parse_math": False,
            }
            axes.text(x, y, spot.mark.symbol, ha="center", va="center", **text)
    for x0, y0, x1, y1 in shown.walls:
        axes.plot([x0, x1], [y0, y1], color=WALL, linewidth=3.0 * cell, solid_capstyle="round")


def _frame(axes: Axes, shown: Picture, o: int, cell: float) -> None:
    """Frame a place in which value is lost."""
    from matplotlib.patches import Circle, Rectangle

    spot = shown.spots[o]
    frame = Circle((spot.x, spot.y), 0.42) if shown.round else Rectangle((spot.x - 0.44, spot.y - 0.44), 0.88, 0.88)
    frame.set(facecolor="none", edgecolor=LOSES, linewidth=4.5 * cell)
    axes.add_patch(frame)


def _arrows(axes: Axes, view: PolicyView, m: int, colours: list[str], cell: float) -> None:
    """Draw the moves of all places that are visited, at once: thousands of single arrows would take long."""
    visited = np.flatnonzero(view.actions[m] >= 0).tolist()
    spots = [view.shown.spots[o] for o in visited]
    lower = LOWER if view.shown.round else 0.0
    x, y = np.array([spot.x for spot in spots]), np.array([spot.y + lower for spot in spots])
    across, down = 2 * ARROW * np.array([MOVES[view.action_name(m, o)] for o in visited]).T
    moves, shades = (across != 0.0) | (down != 0.0), np.array(colours)
    axes.scatter(x[~moves], y[~moves], s=45.0 * cell**2, c=shades[~moves], zorder=3)
    head: dict[str, Any] = {"headwidth": 4.5, "headlength": 5.0, "headaxislength": 5.0, "minlength": 0.0}
    scale: dict[str, Any] = {
        "angles": "xy",
        "scale_units": "xy",
        "scale": 1.0,
        "units": "xy",
        "width": 0.045,
        "pivot": "mid",
    }
    axes.quiver(x[moves], y[moves], across[moves], down[moves], color=shades[moves], zorder=3, **scale, **head)


def tint(shade: float) -> tuple[float, float, float]:
    """Return a colour from white (0) to dark blue (1)."""
    red, green, blue = (1.0 - shade * (1.0 - part) for part in (0.0, 0.31, 0.55))
    return red, green, blue


def ink(shade: float) -> str:
    """Return the colour of what is written on a tint."""
    return "white" if shade > 0.6 else INK


def _legend(figure: Figure, page: _Page, brightest: float, *, mistakes: bool) -> None:
    """Draw the scale of the tints, the grey and the frame, below the panels."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Rectangle

    top = HEAD + page.panels[1] + 0.2
    colours = LinearSegmentedColormap.from_list("visits", [tint(0.0), tint(1.0)])
    bar = add_axes(figure, MARGIN, top, 1.6, 0.12)
    scale = figure.colorbar(ScalarMappable(Normalize(0.0, brightest), colours), cax=bar, orientation="horizontal")
    scale.set_label("visits per episode", fontsize=8, color=GREY)
    scale.ax.tick_params(labelsize=7, colors=GREY)
    scale.outline.set_edgecolor(LINE)
    keys = add_axes(figure, MARGIN + 2.0, top - 0.02, 4.0, 0.16)
    keys.set(xlim=(0, 4.0), ylim=(-0.02, 0.14))
    keys.axis("off")
    keys.add_patch(Rectangle((0, 0), 0.3, 0.12, facecolor=UNVISITED, edgecolor=LINE))
    keys.text(0.38, 0.05, "never visited", fontsize=8, color=GREY, va="center")
    if mistakes:
        keys.add_patch(Rectangle((1.3, 0), 0.3, 0.12, facecolor="none", edgecolor=LOSES, linewidth=1.8))
        keys.text(1.68, 0.05, "loses value here", fontsize=8, color=GREY, va="center")


def _place_machine(figure: Figure, page: _Page, layout: MachineLayout) -> None:
    width, height = page.machine
    if page.beside:
        left, top = MARGIN + page.panels[0] + GAP, HEAD + max(0.0, (page.panels[1] - height) / 2)
    else:
        left, top = MARGIN, HEAD + page.panels[1] + FOOT
    draw_layout(add_axes(figure, left, top, width, height), layout, page.scale)
