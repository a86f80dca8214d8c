"""A policy as a page: for each machine state a map of where it goes and what it does, and the machine below them.

Darker places are visited more often in an episode in that machine state; grey ones never are. A policy may depend on
the time left: the arrow is the action of the step at which the place is visited most. If actions are not moves in the
plane, their names stand in the places. If there are too many places to read them, only the shading is drawn. An orange
frame is where the policy loses value against the optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.pictures.machine_layout import fitting_layout
from praemia.pictures.scene import GREY, INK, LINE, Area, Arrow, Item, Scene, Text, place, text_width
from praemia.pictures.task_picture import FILL, MAX_SPOTS, OUTLINE, ROW, ground, legend_line, task_picture
from praemia.planning.exact import Plan, evaluate, losses, model_of, occupancy, solve
from praemia.planning.policy import PolicyLike, policy_for
from praemia.tasks.model import step_weights
from praemia.tasks.picture import Picture
from praemia.tasks.task import Task
from praemia.text_tables import are, plural

NEVER = 1e-12
MAX_PANELS = 6
MISTAKE = 0.01
MOVES = {"up": (0.0, -1.0), "right": (1.0, 0.0), "down": (0.0, 1.0), "left": (-1.0, 0.0), "stay": (0.0, 0.0)}
UNVISITED, LOSES = "#e3e5e8", "#d55e00"
DARKEST = (0, 79, 140)
ARROW, LOWER = 0.3, 0.16  # half an arrow, and how far below the number of a round place it is, in cells
MARGIN, HEAD, PANEL_HEAD, GAP, FOOT = 24.0, 48.0, 28.0, 34.0, 72.0  # pixels
MAX_WIDTH, MAX_HEIGHT, MIN_PANEL, MIN_WIDTH = 1150.0, 770.0, 180.0, 440.0
BAR, SHADES = (150.0, 12.0), 30  # of the scale of visits
SMALLEST_CELL = 11.0  # pixels, for actions; in smaller cells only the shading is drawn
MAX_MARKED = 2_500  # places with actions; arrows in more are a texture that hides the shading


def has_map(task: Task) -> bool:
    """Tell whether a policy can be drawn with arrows: all actions are moves, and the task is not too large."""
    return task.num_observations <= MAX_SPOTS and _has_moves(task_picture(task))


def _has_moves(picture: Picture) -> bool:
    return all(name in MOVES for name in picture.actions)


def shows_actions(picture: Picture, cell: float) -> bool:
    """Tell whether actions can be read in the places of a picture whose cells have so many pixels."""
    return cell >= SMALLEST_CELL and len(picture.spots) <= MAX_MARKED


class Footprint(NamedTuple):
    """Where a policy goes in an episode, and what it does there.

    Attributes
    ----------
    visits : float64[M, O], the expected number of steps in each machine state and place.
    actions : int16[M, O], the action of the step at which the place is visited most; −1 where the policy never is.
    mistakes : bool[M, O], where the policy loses at least a hundredth of all that it lacks.
    lacks : how much less the policy is worth than the optimum.
    """

    visits: NDArray[np.float64]
    actions: NDArray[np.int16]
    mistakes: NDArray[np.bool_]
    lacks: float


@dataclass(frozen=True, eq=False)
class PolicyView:
    """A policy as it is shown.

    Attributes
    ----------
    picture : the picture of the task.
    value : the expected return of the policy, exact; optimal : whether the policy is the optimum that ``solve`` finds.
    states : the machine states to show, those visited most; left out are states from which nothing more is
        paid, if there are others.
    hidden : how many more are visited.
    """

    task: Task
    picture: Picture
    value: float
    optimal: bool
    footprint: Footprint
    states: tuple[int, ...]
    hidden: int

    @classmethod
    def of(cls, task: Task, policy: PolicyLike | None = None) -> PolicyView:
        """Find where a policy goes; None is the optimal policy."""
        plan = solve(model_of(task))
        value = plan.value if policy is None else evaluate(task, policy, keep_values=False).value
        steps = footprint(task, plan, policy)
        return cls(task, task_picture(task), value, policy is None, steps, *states_to_show(task, steps.visits))

    @property
    def has_map(self) -> bool:
        """Whether actions are moves in the plane, so that arrows tell them."""
        return _has_moves(self.picture)

    @property
    def title(self) -> str:
        """What is shown, in a line."""
        whose = "the optimal policy" if self.optimal else "a policy"
        lacks = f", {self.footprint.lacks:.2g} less than the optimum" if self.footprint.lacks > NEVER else ""
        discount = f" at discount {self.task.discount:g}" if self.task.discount < 1.0 else ""
        return f"{self.task.name}: {whose}, worth {self.value:.4g} per episode{discount}{lacks}"

    @property
    def left_out(self) -> str:
        """Say what is not shown; nothing, if all is."""
        return (
            f"{plural(self.hidden, 'more machine state')} {are(self.hidden)} visited, less often."
            if self.hidden
            else ""
        )

    def action_name(self, m: int, o: int) -> str:
        """The name of the action shown in a place; empty where the policy never is."""
        action = self.footprint.actions[m, o]
        return self.picture.actions[action] if action >= 0 else ""


def footprint(task: Task, plan: Plan, policy: PolicyLike | None = None) -> Footprint:
    """Find what a policy does in a task with a horizon, beside the optimal plan; None is that plan itself."""
    table = plan.policy if policy is None else policy_for(task.model, policy)
    steps = occupancy(task, table).states[:-1]
    lost = np.zeros_like(steps[0]) if policy is None else losses(task, table, plan, steps)
    if task.discount < 1.0:
        steps = steps / step_weights(task.max_steps, task.discount)[:, None, None]  # a late visit is a visit
    visits, lacks = steps.sum(axis=0), float(lost.sum())
    actions = np.where(visits > NEVER, _main_actions(table, steps), np.int16(-1))
    return Footprint(visits, actions, lost > max(NEVER, MISTAKE * lacks), lacks)


def states_to_show(task: Task, visits: NDArray[np.float64]) -> tuple[tuple[int, ...], int]:
    """Return the machine states with most of the visits, float64[M, O], and how many more are visited.

    States from which nothing more is paid are left out, if there are others.
    """
    visited = np.flatnonzero(visits.max(axis=1) > NEVER).tolist()
    lively = [m for m in visited if m not in task.machine.settled_states]
    states = lively or [int(visits.sum(axis=1).argmax())]
    most = sorted(states, key=lambda m: -visits[m].sum())[:MAX_PANELS]
    return tuple(sorted(most)), len(states) - len(most)


def _main_actions(policy: NDArray[Any], visits: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return the action at the step of most visits, int16[M, O], from a policy [H, M, O(, A)] and visits [H, M, O]."""
    most_likely = policy if policy.ndim == 3 else policy.argmax(axis=-1)
    busiest = visits.argmax(axis=0)[None, :, :]
    actions: NDArray[np.int16] = np.take_along_axis(most_likely, busiest, axis=0)[0].astype(np.int16)
    return actions


def page_of(view: PolicyView) -> Scene:
    """Draw what there is to see of a policy."""
    arrangement = _Arrangement.of(view)
    darkest = max(float(view.footprint.visits[list(view.states)].max(initial=0.0)), NEVER)
    with_actions = shows_actions(view.picture, arrangement.cell)
    items: list[Item] = [Text(MARGIN, 24.0, view.title, 15, bold=True)]
    for number, m in enumerate(view.states):
        x, y = arrangement.corner(number)
        items.append(Text(x, y - 13.0, f"machine state {view.task.machine.states[m]!r}", 12))
        map_of_state = panel(view, m, darkest, with_actions=with_actions)
        items += place(map_of_state.items, x, y, arrangement.cell)
    across, y = arrangement.panels[0], HEAD + arrangement.panels[1]
    items += _key(view, y + 20.0, darkest, with_actions=with_actions)
    places, y = _places(view.picture, y + FOOT, max(across, MIN_WIDTH))
    items += places
    notes = view.left_out
    layout = fitting_layout(view.task.machine, MAX_WIDTH, MAX_HEIGHT)
    if layout is None:
        notes = f"{notes} The machine has {view.task.num_machine_states:,} states: praemia draw shows it.".strip()
    else:
        items += place(layout.scene.items, MARGIN, y)
        across, y = max(across, layout.scene.width), y + layout.scene.height
    items.append(Text(MARGIN, y + 10.0, notes, 11, GREY))
    width = max(across, MIN_WIDTH, text_width(view.title, 15, bold=True)) + 2 * MARGIN
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


def panel(view: PolicyView, m: int, darkest: float, *, with_actions: bool = True) -> Scene:
    """Draw the map of one machine state, with a cell as the unit; the most visits are ``darkest``."""
    picture, steps = view.picture, view.footprint
    shade = steps.visits[m] / darkest
    items = shaded(picture, shade, steps.actions[m] < 0, steps.mistakes[m])
    for o in np.flatnonzero(steps.actions[m] >= 0).tolist() if with_actions else ():
        spot = picture.spots[o]
        items += place([action_mark(view.action_name(m, o), picture, ink(float(shade[o])))], spot.x, spot.y)
    return Scene(*picture.extent, tuple(items))


def action_mark(name: str, picture: Picture, colour: str) -> Item:
    """Draw an action in a place around (0, 0): an arrow for a move, a dot for staying, or else its name."""
    y = LOWER if picture.is_round else 0.0
    across, down = MOVES.get(name, (0.0, 0.0))
    if name not in MOVES:
        return Text(0.0, y, name, 0.22, colour, anchor="middle")
    if across or down:
        return Arrow((-ARROW * across, y - ARROW * down), (ARROW * across, y + ARROW * down), colour, 0.045)
    return Area(0.0, y, 0.13, 0.13, colour, is_round=True)


def loss_mark(picture: Picture) -> Item:
    """Draw the frame of a place around (0, 0) where a policy loses value."""
    side = 0.82 if picture.is_round else 0.88
    return Area(0.0, 0.0, side, side, "", LOSES, 0.09, picture.is_round)


def shaded(
    picture: Picture, shade: NDArray[np.float64], never: NDArray[np.bool_], framed: NDArray[np.bool_] | None = None
) -> list[Item]:
    """Draw places darker the larger ``shade`` is, float64[O] in [0, 1], grey where ``never``, bool[O], some framed."""
    fills = [UNVISITED if grey else tint(level) for level, grey in zip(shade.tolist(), never.tolist(), strict=True)]
    items = ground(picture, fills)
    for o in [] if framed is None else np.flatnonzero(framed).tolist():
        items += place([loss_mark(picture)], picture.spots[o].x, picture.spots[o].y)
    return [*items, *place_marks(picture, [ink(level) for level in shade.tolist()])]


def place_marks(picture: Picture, inks: Sequence[str]) -> Iterator[Item]:
    """Draw the marks of places, each in its ink unless the machine gives it a colour."""
    size = 0.25 if picture.is_round else max(0.22, max(picture.extent) / 60)  # legible in small cells too
    for spot, own_ink in zip(picture.spots, inks, strict=True):
        if spot.mark is None:
            continue
        x, y = (spot.x, spot.y - LOWER) if picture.is_round else (spot.x - 0.34, spot.y - 0.34)
        has_role = spot.mark.role != "plain" and not picture.is_round
        if has_role:
            tag = max(0.3, text_width(spot.mark.symbol, 1.3 * size))
            yield Area(x, y, tag, max(0.3, 1.3 * size), FILL[spot.mark.role], OUTLINE[spot.mark.role], 0.02)
        yield Text(x, y, spot.mark.symbol, size, INK if has_role else own_ink, True, "middle")


def _places(picture: Picture, y: float, width: float) -> tuple[list[Item], float]:
    """Draw the key to the marks, several in a row; return it and where it ends."""
    items: list[Item] = []
    x = MARGIN
    for meaning, marks in picture.legend.items():
        line = legend_line(meaning, marks, picture.is_round)
        if x > MARGIN and x + line.width > width:
            x, y = MARGIN, y + line.height
        items += place(line.items, x, y)
        x += line.width + GAP
    return items, y + (ROW if items else 0.0)


def tint(shade: float) -> str:
    """Return a colour from white (0) to dark blue (1)."""
    return "#" + "".join(f"{round(255 - shade * (255 - part)):02x}" for part in DARKEST)


def ink(shade: float) -> str:
    """Return the colour of what is written on a tint."""
    return "#ffffff" if shade > 0.6 else INK


def _key(view: PolicyView, y: float, darkest: float, *, with_actions: bool) -> Sequence[Item]:
    """Draw the scale of the tints, the grey, the frame and the dot, below the panels."""
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
    if with_actions and "stay" in view.picture.actions:
        x += 150.0
        items += [Area(x + 14.0, y, 8.0, 8.0, INK, is_round=True), Text(x + 30.0, y, "stay", 11, GREY)]
    if view.footprint.mistakes.any():
        x += 150.0
        items += [Area(x + 14.0, y, 28.0, height, "", LOSES, 2.2), Text(x + 36.0, y, "loses value here", 11, GREY)]
    return items
