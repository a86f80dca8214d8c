"""A policy as a page: for each machine state a map of where it goes and what it does, and the machine below them.

Darker places are visited more often in an episode in that machine state; grey ones never are. A policy may depend on
the time left: the arrow is the action of the step at which the place is visited most, among those at which it matters.
It is faint where every other action is always as good. If actions are not moves in the plane, their names stand in the
places. If cells are too small to read them, only the shading is drawn. An orange frame is where the policy loses more
than 1% of the optimal value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia.pictures.diagrams import machine_beside
from praemia.pictures.footprints import NEVER, Footprint, footprint, states_to_show
from praemia.pictures.layout import MARGIN, beside, flow, label, page, scaled, stack
from praemia.pictures.scene import GREY, INK, LINE, PAPER, Area, Item, Line, Scene, Text, arrow, place, text_width
from praemia.pictures.task_picture import COLOURS, MAX_SPOTS, fitted, ground, legend, task_picture
from praemia.planning.exact import evaluate, model_of, solve
from praemia.planning.policy import PolicyLike
from praemia.tasks.base import BaseTask
from praemia.tasks.picture import Axis, Picture
from praemia.tasks.task import Task
from praemia.text_tables import are, plural

MOVES = {"up": (0.0, -1.0), "right": (1.0, 0.0), "down": (0.0, 1.0), "left": (-1.0, 0.0), "stay": (0.0, 0.0)}
UNVISITED, LOSES = "#e3e5e8", "#d55e00"
DARKEST = (0, 79, 140)
DARK = 0.6  # of the darkest tint: what is written on darker ones is white
FAINT, FAINT_ON_DARK = "#b9c0c9", "#6c9ac2"
ARROW, LOWER = 0.3, 0.16  # half an arrow, and how far below the number of a round place it is, in cells
MAX_WIDTH, MAX_HEIGHT, MIN_WIDTH, GAP, PANEL_HEAD = 1150.0, 770.0, 440.0, 34.0, 24.0  # pixels
BAR, SHADES = (150.0, 12.0), 30  # of the scale of visits
HATCHES = tuple(Line(((x - 0.2, 0.2), (x + 0.2, -0.2)), "#8b94a0", 0.05) for x in (-0.25, 0.0, 0.25))
SMALLEST_CELL = 14.0  # pixels, for actions; in smaller cells only the shading is drawn


def has_map(task: Task) -> bool:
    """Tell whether a policy can be drawn with arrows: all actions are moves, and the task is not too large."""
    return task.num_observations <= MAX_SPOTS and _has_moves(task_picture(task))


def _has_moves(picture: Picture) -> bool:
    return all(name in MOVES for name in picture.actions)


@dataclass(frozen=True, eq=False)
class PolicyView:
    """A policy as it is shown.

    Attributes
    ----------
    picture : the picture of the task.
    value : the expected return of the policy, exact; optimal : whether the policy is the optimum that ``solve`` finds.
    states : the machine states to show; hidden : how many more are visited.
    """

    task: BaseTask
    picture: Picture
    value: float
    optimal: bool
    footprint: Footprint
    states: tuple[int, ...]
    hidden: int

    @classmethod
    def of(cls, task: BaseTask, policy: PolicyLike | None = None) -> PolicyView:
        """Compute where a policy goes; None is the optimal policy."""
        plan = solve(model_of(task))
        value = plan.value if policy is None else evaluate(task, policy, keep_values=False).value
        steps = footprint(task, plan, policy)
        return cls(task, task_picture(task), value, policy is None, steps, *states_to_show(task, steps.visits))

    @property
    def title(self) -> str:
        """What is shown, in a line."""
        whose = "the optimal policy" if self.optimal else "a policy"
        lacks = f", gap to optimum {self.footprint.lacks:.2g}" if self.footprint.lacks > NEVER else ""
        discount = f" at discount {self.task.discount:g}" if self.task.discount < 1.0 else ""
        return f"{self.task.name}: {whose}, value {self.value:.4g} per episode{discount}{lacks}"

    @property
    def left_out(self) -> str:
        """Say which machine states are not shown; nothing, if all are."""
        more = plural(self.hidden, "more machine state")
        return f"{more} {are(self.hidden)} visited, less often." if self.hidden else ""

    @property
    def darkest(self) -> float:
        """The most visits of a place that is shown."""
        return max(float(self.footprint.visits[list(self.states)].max(initial=0.0)), NEVER)

    @property
    def has_faint(self) -> bool:
        """Whether there are places that are visited and where every action is as good."""
        return bool(((self.footprint.actions >= 0) & ~self.footprint.matters)[list(self.states)].any())

    def action_name(self, m: int, o: int) -> str:
        """The name of the action in a place; empty where the policy never is, and where it was never tried."""
        action = self.footprint.actions[m, o]
        return self.picture.actions[action] if action >= 0 and not self.untried[m, o] else ""

    @property
    def unmet(self) -> NDArray[np.bool_]:
        """bool[O], in an estimated model the observations that were never met."""
        unmet: NDArray[np.bool_] = getattr(self.task, "unmet", np.zeros(self.task.num_observations, dtype=bool))
        return unmet

    @property
    def untried(self) -> NDArray[np.bool_]:
        """bool[M, O], in an estimated model the places where the policy's action was never tried."""
        actions, visits = self.footprint.actions, getattr(self.task, "pair_visits", None)
        if visits is None:
            return np.zeros(actions.shape, dtype=bool)
        return (actions >= 0) & (visits[np.arange(len(visits)), np.maximum(actions, 0)] == 0)


def page_of(view: PolicyView) -> Scene:
    """Draw what there is to see of a policy."""
    count, machine = len(view.states), view.task.machine
    # The columns that leave most room for a cell, within a page; of several, the most.
    cell, columns = max((_cell_size(view.picture, count, columns), columns) for columns in range(1, count + 1))
    panels = [
        stack([label(f"machine state {machine.states[m]!r}", 12.0), scaled(panel(view, m, cell), cell)], 6.0)
        for m in view.states
    ]
    maps = stack([beside(panels[i : i + columns], GAP) for i in range(0, count, columns)], GAP)
    width, notes = max(maps.width, MIN_WIDTH), view.left_out
    drawn = machine_beside(machine, MAX_WIDTH, MAX_HEIGHT)
    if drawn is None:
        notes = f"{notes} The machine has {machine.num_states:,} states: machine.draw() shows it.".strip()
        drawn = stack([])
    return page(view.title, maps, key(view, cell, width), drawn, label(notes, 11.0, GREY))


def _cell_size(picture: Picture, count: int, columns: int) -> float:
    """Return how large cells can be, in pixels, if so many maps stand in so many columns."""
    (across, down), rows = picture.extent, -(-count // columns)
    wide = (MAX_WIDTH - (columns - 1) * GAP) / columns / across
    high = (MAX_HEIGHT - rows * (PANEL_HEAD + GAP)) / rows / down
    return min(58.0 if _has_moves(picture) else 76.0, wide, high)


def panel(view: PolicyView, m: int, cell: float) -> Scene:
    """Draw the map of one machine state, with a cell of so many pixels as the unit."""
    picture, steps = view.picture, view.footprint
    shades = (steps.visits[m] / view.darkest).tolist()
    fills = [
        PAPER if unmet else UNVISITED if visits <= NEVER else tint(shade)
        for visits, shade, unmet in zip(steps.visits[m], shades, view.unmet, strict=True)
    ]
    items = ground(picture, fills)
    for o in np.flatnonzero(view.untried[m]).tolist():
        items += place(HATCHES, picture.spots[o].x, picture.spots[o].y)
    side = 0.82 if picture.is_round else 0.88
    for o in np.flatnonzero(steps.mistakes[m]).tolist():
        spot = picture.spots[o]
        items.append(Area(spot.x, spot.y, side, side, "", LOSES, 0.09, picture.is_round))
    items += _place_marks(picture, shades)
    known = (steps.actions[m] >= 0) & ~view.untried[m]
    for o in np.flatnonzero(known).tolist() if cell >= SMALLEST_CELL else ():
        spot, is_dark = picture.spots[o], shades[o] > DARK
        faint = FAINT_ON_DARK if is_dark else FAINT
        mark = _action_mark(view.action_name(m, o), picture, _ink(shades[o]) if steps.matters[m, o] else faint)
        items += place([mark], spot.x, spot.y)
    whole = Scene(*picture.extent, tuple(items))
    return with_axes(whole, picture.axes, cell) if picture.axes else whole


def with_axes(whole: Scene, axes: Sequence[Axis], cell: float) -> Scene:
    """Add axes to a map with a cell as the unit: what stands at some boundaries of cells, and titles."""
    (across, below), (up, beside_it) = axes
    size = 11.0 / cell
    widest = max(text_width(text, size) for text in beside_it)
    left, bottom = widest + 0.8 * size, 3.2 * size
    items = place(whole.items, left, 1.6 * size)
    foot = whole.height + 1.6 * size
    for i in _shown_ticks(below, 1.0 / max(text_width(text, size) + size for text in below)):
        items.append(Text(left + i, foot + 0.9 * size, below[i], size, GREY, anchor="middle"))
    for j in _shown_ticks(beside_it, 0.5 / size):
        items.append(Text(left - 0.4 * size, foot - j, beside_it[j], size, GREY, anchor="end"))
    items.append(Text(left + 0.5 * whole.width, foot + 2.4 * size, across, size, INK, anchor="middle"))
    items.append(Text(0.0, 0.6 * size, up, size, INK))
    return Scene(left + whole.width + widest / 2, foot + bottom, tuple(items))


def _shown_ticks(texts: Sequence[str], per_cell: float) -> range:
    """Return the boundaries that have room for what stands at them, that many texts fitting beside one cell."""
    return range(0, len(texts), max(1, int(np.ceil(1.0 / per_cell))))


def _action_mark(name: str, picture: Picture, colour: str) -> Item:
    """Draw an action in a place around (0, 0): an arrow for a move, a dot for staying, or else its name."""
    y = LOWER if picture.is_round else 0.0
    across, down = MOVES.get(name, (0.0, 0.0))
    if name not in MOVES:
        return fitted(0.0, y, name, 0.22, 0.7, colour)
    if across or down:
        return arrow((-ARROW * across, y - ARROW * down), (ARROW * across, y + ARROW * down), colour, 0.045)
    return Area(0.0, y, 0.13, 0.13, colour, is_round=True)


def _place_marks(picture: Picture, shades: list[float]) -> Iterator[Item]:
    """Draw the marks of places, in the colours that the machine gives them."""
    size = 0.25 if picture.is_round else max(0.22, max(picture.extent) / 60)  # legible in small cells too
    for spot, shade in zip(picture.spots, shades, strict=True):
        if spot.mark is None:
            continue
        if picture.is_round:
            yield fitted(spot.x, spot.y - LOWER, spot.mark.symbol, size, 0.6, _ink(shade), bold=True)
            continue
        # A tag at the top left, as wide as its text, within the cell where that can be.
        wide, high = max(0.3, text_width(spot.mark.symbol, 1.2 * size, bold=True)), max(0.3, 1.3 * size)
        has_role = spot.mark.role != "plain"
        x, y = spot.x - 0.49 + wide / 2, spot.y - 0.49 + high / 2
        if has_role:
            yield Area(x, y, wide, high, *COLOURS[spot.mark.role], 0.02)
        yield Text(x, y, spot.mark.symbol, size, INK if has_role else _ink(shade), True, "middle")


def tint(shade: float) -> str:
    """Return a colour from white (0) to dark blue (1)."""
    return "#" + "".join(f"{round(255 - shade * (255 - part)):02x}" for part in DARKEST)


def _ink(shade: float) -> str:
    """Return the colour of what is written on a tint."""
    return "#ffffff" if shade > DARK else INK


def key(view: PolicyView, cell: float, room: float) -> Scene:
    """Draw what explains the maps: the scale of the tints, signs and frames, and the marks of places."""
    width, height = BAR
    step = width / SHADES
    tints = (Area((i + 0.5) * step, height / 2, step + 0.5, height, tint((i + 0.5) / SHADES)) for i in range(SHADES))
    bar = Scene(width, height, (*tints, Area(width / 2, height / 2, width, height, "", LINE, 1.0)))
    parts = [beside([label("0", 11.0, GREY), bar, label(f"{view.darkest:.2g} visits per episode", 11.0, GREY)], 6.0)]
    swatches: dict[str, Item] = {"never visited": Area(14.0, 6.0, 28.0, height, UNVISITED, LINE, 1.0)}
    if cell >= SMALLEST_CELL and "stay" in view.picture.actions:
        swatches["stay"] = Area(14.0, 6.0, 8.0, 8.0, INK, is_round=True)
    if cell >= SMALLEST_CELL and view.has_faint:
        swatches["every action is as good"] = arrow((2.0, 6.0), (26.0, 6.0), FAINT, 2.4)
    if view.unmet.any():
        swatches["never met"] = Area(14.0, 6.0, 28.0, height, PAPER, LINE, 1.0)
    if view.untried.any():
        hatched = Scene(1.0, 0.5, tuple(place(HATCHES, 0.5, 0.25)))
        parts.append(beside([scaled(hatched, 28.0), label("its action was never tried", 11.0, GREY)], 6.0))
    if view.footprint.mistakes.any():
        swatches["loses value here"] = Area(14.0, 6.0, 28.0, height, "", LOSES, 2.2)
    for meaning, swatch in swatches.items():
        parts.append(beside([Scene(28.0, height, (swatch,)), label(meaning, 11.0, GREY)], 6.0))
    return stack([flow(parts, room, MARGIN), legend(view.picture, room)], 6.0)
