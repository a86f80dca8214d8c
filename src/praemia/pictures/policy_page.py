"""A policy as a page: for each machine state a map of where it goes and what it does, and the machine below them.

The arrow is the action of the step at which a place is visited most, among those at which it matters; it is faint where
every action is as good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from praemia._support.text_tables import are, plural
from praemia.pictures.colours import FAINT, FAINT_ON_DARK, GREY, INK, LINE, LOSES, PAPER, ROLES, SHADES, UNVISITED, tint
from praemia.pictures.diagrams import machine_beside
from praemia.pictures.scene import (
    MARGIN,
    Area,
    Item,
    Line,
    Scene,
    Text,
    arrow,
    beside,
    flow,
    label,
    page,
    place,
    scaled,
    stack,
    text_width,
)
from praemia.pictures.task_picture import fitted, ground, legend, task_picture, with_axes
from praemia.planning.exact import Plan, evaluate, losses, max_losses, model_of, occupancy, solve
from praemia.policies.arrays import PolicyLike, policy_for
from praemia.tasks.base import BaseTask
from praemia.tasks.model import step_weights
from praemia.tasks.picture import Picture

MOVES = {"up": (0.0, -1.0), "right": (1.0, 0.0), "down": (0.0, 1.0), "left": (-1.0, 0.0), "stay": (0.0, 0.0)}
NEVER = 1e-12  # visits, and shares of the largest stake
SMALL = 0.01  # of the optimal value: a place that loses less is not framed
MAX_PANELS = 6
DARK = 0.6  # of the darkest tint: what is written on darker ones is white
ARROW, LOWER = 0.3, 0.16  # half an arrow, and how far below the number of a round place it is, in cells
MAX_WIDTH, MAX_HEIGHT, MIN_WIDTH, GAP, PANEL_HEAD = 1150.0, 770.0, 440.0, 34.0, 24.0  # pixels
BAR = (150.0, 12.0)  # of the scale of visits
HATCH = [Line(((a, -b), (b, -a)), LINE, 0.03) for a, b in ((-0.45, 0.0), (-0.45, 0.45), (0.0, 0.45))]
SMALLEST_CELL = 14.0  # pixels, for actions; in smaller cells only the shading is drawn


@dataclass(frozen=True, eq=False)
class PolicyView:
    """Where a policy goes in an episode, what it does there, and where it loses value; all exact.

    Attributes
    ----------
    optimal : whether the policy is the optimum that ``solve`` finds.
    value : the expected return; gap : the optimal value minus this one.
    visits : float64[M, O], the expected number of steps in each machine state and observation.
    actions : int16[M, O], the action of the step with most visits, among those in which it matters if there are any; −1
        where the policy never is.
    matters : bool[M, O], whether another action would be worse in that step.
    mistakes : bool[M, O], where the policy loses more than a hundredth of the optimal value.
    states : the machine states to show; hidden : how many more are visited.
    untried : bool[M, O] or None, in an estimated model: where the action was never tried.
    """

    task: BaseTask
    picture: Picture
    optimal: bool
    value: float
    gap: float
    visits: NDArray[np.float64]
    actions: NDArray[np.int16]
    matters: NDArray[np.bool_]
    mistakes: NDArray[np.bool_]
    states: tuple[int, ...]
    hidden: int
    untried: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        task: BaseTask,
        policy: PolicyLike | None = None,
        plan: Plan | None = None,
        stakes: NDArray[np.float64] | None = None,
    ) -> PolicyView:
        """Compute where a policy goes; None is the optimal policy.

        ``plan`` is the optimal plan and ``stakes`` are ``max_losses(task, plan)``; both are computed unless given.
        """
        plan = solve(model_of(task)) if plan is None else plan
        stakes = max_losses(task, plan) if stakes is None else stakes
        table = plan.policy if policy is None else policy_for(model_of(task), policy)
        # A late visit is a visit, however little its reward counts.
        undiscounted = task if task.discount == 1.0 else task.changed(horizon=task.max_steps, discount=1.0)
        steps = occupancy(undiscounted, table).states[:-1]
        lost = np.zeros_like(steps[0])
        if policy is not None:
            lost = losses(task, table, plan, steps * step_weights(task.max_steps, task.discount)[:, None, None])
        matters = stakes > NEVER * stakes.max()
        most = np.where(matters, steps, NEVER * steps).argmax(axis=0)[None]
        chosen = table if table.ndim == 3 else table.argmax(axis=-1)
        visits, gap = steps.sum(axis=0), float(lost.sum())
        actions, matters = (np.take_along_axis(own, most, axis=0)[0] for own in (chosen, matters))
        actions = np.where(visits > NEVER, actions, -1).astype(np.int16)
        mistakes, states = lost > max(SMALL * abs(plan.value), NEVER * stakes.max()), states_to_show(task, visits)
        value = plan.value if policy is None else evaluate(task, table, keep_values=False).value
        facts = (policy is None, value, gap, visits, actions, matters, mistakes)
        tried = getattr(task, "pair_visits", None)  # of an estimated model
        untried = None
        if tried is not None:
            untried = (actions >= 0) & (tried[np.arange(len(tried)), np.maximum(actions, 0)] == 0)
        return cls(task, task_picture(task), *facts, *states, untried)

    @property
    def title(self) -> str:
        """What is shown, in a line."""
        whose = "the optimal policy" if self.optimal else "a policy"
        gap = f", gap to optimum {self.gap:.2g}" if self.gap > NEVER * (abs(self.value) + self.gap) else ""
        discount = f" at discount {self.task.discount:g}" if self.task.discount < 1.0 else ""
        return f"{self.task.name}: {whose}, value {self.value:.4g} per episode{discount}{gap}"

    @property
    def left_out(self) -> str:
        """How many machine states are visited and not shown; empty if all are shown."""
        more = plural(self.hidden, "more machine state")
        return f"{more} {are(self.hidden)} visited, less often." if self.hidden else ""

    @property
    def darkest(self) -> float:
        """The maximal number of visits of a place that is shown."""
        return max(float(self.visits[list(self.states)].max(initial=0.0)), NEVER)

    @property
    def has_faint(self) -> bool:
        """Whether some places are visited where every action is as good."""
        return bool(((self.actions >= 0) & ~self.matters)[list(self.states)].any())

    def action_name(self, m: int, o: int) -> str:
        """Return the name of the action in a place; empty where the policy never is."""
        action = self.actions[m, o]
        return self.picture.actions[action] if action >= 0 else ""


def states_to_show(task: BaseTask, visits: NDArray[np.float64]) -> tuple[tuple[int, ...], int]:
    """Return the machine states with most of the visits, float64[M, O], and how many more are visited.

    States after which there are no rewards are left out, if there are others.
    """
    visited = np.flatnonzero(visits.max(axis=1) > NEVER).tolist()
    lively = [m for m in visited if m not in task.machine.terminal_states]
    states = lively or [int(visits.sum(axis=1).argmax())]
    most = sorted(states, key=lambda m: -visits[m].sum())[:MAX_PANELS]
    return tuple(sorted(most)), len(states) - len(most)


def page_of(view: PolicyView) -> Scene:
    """Draw a policy: its maps, their key, and the machine."""
    count, machine = len(view.states), view.task.machine
    # The columns that leave most room for a cell, within a page; of several, the most.
    cell, columns = max((_cell_size(view.picture, count, columns), columns) for columns in range(1, count + 1))
    panels = [
        stack([label(f"machine state {machine.states[m]!r}", 12.0), scaled(panel(view, m, cell), cell)], 6.0)
        for m in view.states
    ]
    maps = stack([beside(panels[i : i + columns], GAP) for i in range(0, count, columns)], GAP)
    drawn, notes = machine_beside(machine, MAX_WIDTH, MAX_HEIGHT), view.left_out
    if drawn is None:
        notes = f"{notes} The machine has {machine.num_states:,} states: machine.draw() shows it.".strip()
    below = [key(view, cell, max(maps.width, MIN_WIDTH)), *([drawn] if drawn else []), label(notes, 11.0, GREY)]
    return page(view.title, maps, *below)


def _cell_size(picture: Picture, count: int, columns: int) -> float:
    """Return how large cells can be, in pixels, if so many maps stand in so many columns."""
    (across, down), rows = picture.extent, -(-count // columns)
    wide = (MAX_WIDTH - (columns - 1) * GAP) / columns / across
    high = (MAX_HEIGHT - rows * (PANEL_HEAD + GAP)) / rows / down
    return min(58.0 if MOVES.keys() >= {*picture.actions} else 76.0, wide, high)


def panel(view: PolicyView, m: int, cell: float) -> Scene:
    """Draw the map of one machine state, with a cell of so many pixels as the unit."""
    picture = view.picture
    shades = (view.visits[m] / view.darkest).tolist()
    items = ground(picture, [tint(shade) if shade > NEVER / view.darkest else UNVISITED for shade in shades])
    side = 0.82 if picture.is_round else 0.88
    for o in [] if view.untried is None else np.flatnonzero(view.untried[m]).tolist():
        items += place(HATCH, picture.spots[o].x, picture.spots[o].y)
    for o in np.flatnonzero(view.mistakes[m]).tolist():
        spot = picture.spots[o]
        items.append(Area(spot.x, spot.y, side, side, "", LOSES, 0.09, picture.is_round))
    items += _place_marks(picture, shades)
    has_action = (view.actions[m] >= 0) & (True if view.untried is None else ~view.untried[m])
    for o in np.flatnonzero(has_action).tolist() if cell >= SMALLEST_CELL else ():
        faint = FAINT_ON_DARK if shades[o] > DARK else FAINT
        mark = _action_mark(view.action_name(m, o), picture, _ink(shades[o]) if view.matters[m, o] else faint)
        items += place([mark], picture.spots[o].x, picture.spots[o].y)
    return with_axes(picture, items)


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
            yield Area(x, y, wide, high, *ROLES[spot.mark.role], 0.02)
        yield Text(x, y, spot.mark.symbol, size, INK if has_role else _ink(shade), True, "middle")


def _ink(shade: float) -> str:
    """Return the colour of what is written on a tint."""
    return PAPER if shade > DARK else INK


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
    if view.untried is not None and view.untried.any():
        swatches["never tried"] = Line(((8.0, 0.0), (20.0, height)), LINE, 1.5)
    if view.mistakes.any():
        swatches["loses value here"] = Area(14.0, 6.0, 28.0, height, "", LOSES, 2.2)
    for meaning, swatch in swatches.items():
        parts.append(beside([Scene(28.0, height, (swatch,)), label(meaning, 11.0, GREY)], 6.0))
    return stack([flow(parts, room, MARGIN), legend(view.picture, room)], 6.0)
