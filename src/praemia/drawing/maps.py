"""Maps of a task: where the optimal policy spends its time, and what it does there.

There is a panel for each machine state that matters. The darker a place, the more often it is visited in an episode in
that machine state. The arrow is the action taken there most often, since the policy may change with the time left. Only
tasks whose actions are moves in the plane have a map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from praemia.drawing.style import INK, new_figure
from praemia.envs.pictures import Picture
from praemia.envs.registry import picture
from praemia.errors import PraemiaError
from praemia.models.task import Task
from praemia.planning.exact import occupancy, solve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ARROWS = {"up": (0.0, -1.0), "right": (1.0, 0.0), "down": (0.0, 1.0), "left": (-1.0, 0.0), "stay": (0.0, 0.0)}
NEVER = 1e-12
MAX_PANELS = 6
WALL = "#454C57"
LENGTH = 0.3  # half an arrow, in cells


def has_map(task: Task) -> bool:
    """Tell whether a task can be drawn as a map: its actions are moves, and it has a picture."""
    if not all(task.mdp.action_name(a) in ARROWS for a in range(task.num_actions)):
        return False
    try:
        return bool(picture(task).spots)
    except PraemiaError:
        return False


def policy_map(task: Task) -> Figure:
    """Draw the optimal policy and its occupancy."""
    plan = solve(task)
    visits = occupancy(task, plan.policy).states[:-1]
    shown = picture(task)
    total = visits.sum(axis=0)
    states = [m for m in range(task.num_machine_states) if total[m].max() > NEVER and plan.values[0, m].max() > 0.0]
    states = states[:MAX_PANELS]
    across, down = shown.extent
    stacked = across > 3 * down
    figure = new_figure(
        *_size(across, down, len(states), stacked), f"{task.name}: the optimal policy, and where it goes"
    )
    brightest = float(total[states].max())
    for place, m in enumerate(states):
        layout = (len(states), 1, place + 1) if stacked else (1, len(states), place + 1)
        axes = figure.add_subplot(*layout)
        shade = total[m] / brightest
        draw_cells(axes, shown, shade)
        actions = _favourite(plan.policy[:, m], visits[:, m], task.num_actions)
        for o in np.flatnonzero(actions >= 0).tolist():
            way, spot = ARROWS[task.mdp.action_name(int(actions[o]))], shown.spots[o]
            _arrow(axes, spot.x, spot.y, way, ink(shade[o]))
        axes.set_title(f"machine state {task.machine.states[m]!r}", fontsize=9, loc="left", color=INK)
    _colour_bar(figure, brightest, stacked)
    return figure


def _size(across: float, down: float, panels: int, stacked: bool) -> tuple[float, float]:
    cell = min(0.62, 9.0 / max(across, 1.0))
    width, height = across * cell, down * cell
    if stacked:
        return max(4.6, width + 1.4), (height + 0.45) * panels + 0.6
    return max(4.6, (width + 0.4) * panels + 1.0), height + 1.1


def _favourite(policy: NDArray[np.int16], visits: NDArray[np.float64], num_actions: int) -> NDArray[np.int64]:
    """Return the action taken most often at each place, −1 where the policy never is; both arguments are [H, O]."""
    weights = np.stack([(visits * (policy == a)).sum(axis=0) for a in range(num_actions)])
    best: NDArray[np.int64] = weights.argmax(axis=0)
    return np.where(weights.sum(axis=0) > NEVER, best, -1)


def draw_cells(axes: Axes, shown: Picture, shade: NDArray[np.float64]) -> None:
    """Draw the cells of a picture with their walls and marks, the darker the larger ``shade``, float64[O] in [0, 1]."""
    from matplotlib.patches import Rectangle

    width, height = shown.extent
    axes.set(xlim=(-0.05, width + 0.05), ylim=(height + 0.05, -0.05), aspect="equal")
    axes.axis("off")
    for x, y in shown.blocks:
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=WALL))
    for spot, level in zip(shown.spots, shade.tolist(), strict=True):
        corner = (spot.x - 0.5, spot.y - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, facecolor=tint(level), edgecolor="#AEB6C0", linewidth=0.8))
        if spot.mark and spot.mark.role != "plain":
            axes.text(spot.x - 0.42, spot.y - 0.26, spot.mark.symbol, fontsize=7, fontweight="bold", color=ink(level))
    for x0, y0, x1, y1 in shown.walls:
        axes.plot([x0, x1], [y0, y1], color=WALL, linewidth=1.8, solid_capstyle="round")


def _arrow(axes: Axes, x: float, y: float, way: tuple[float, float], colour: str) -> None:
    dx, dy = way
    if (dx, dy) == (0.0, 0.0):
        axes.plot([x], [y], "o", color=colour, markersize=4)
        return
    tip, tail = (x + LENGTH * dx, y + LENGTH * dy), (x - LENGTH * dx, y - LENGTH * dy)
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=tip, xytext=tail, arrowprops=look)


def tint(shade: float) -> tuple[float, float, float]:
    """Return a colour from white (0) to dark blue (1)."""
    red, green, blue = (1.0 - shade * (1.0 - part) for part in (0.0, 0.31, 0.55))
    return red, green, blue


def ink(shade: float) -> str:
    """Return the colour of what is written on a tint."""
    return "white" if shade > 0.6 else INK


def _colour_bar(figure: Figure, brightest: float, stacked: bool) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    colours = LinearSegmentedColormap.from_list("visits", [tint(0.0), tint(1.0)])
    bar = figure.colorbar(ScalarMappable(Normalize(0.0, brightest), colours), ax=figure.axes, shrink=0.85, aspect=14)
    bar.set_label("visits per episode", fontsize=8)
    bar.ax.tick_params(labelsize=7)
