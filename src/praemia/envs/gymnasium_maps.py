"""The maps of Gymnasium's toy environments: FrozenLake, CliffWalking and Taxi are drawn as what they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from praemia.machines.labels import Label
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Segment, Spot

if TYPE_CHECKING:
    import gymnasium

LAKE_MOVES = ("left", "down", "right", "up")
CLIFF_MOVES = ("up", "right", "down", "left")
TAXI_MOVES = ("down", "up", "right", "left", "pick up", "drop off")
LAKE_MARKS = {
    "S": Mark("S", is_start=True),
    "H": Mark("H", "a hole, which ends the episode", role="danger"),
    "G": Mark("G", "the goal"),
}
TAXI_SIDE, TAXI_GAP, IN_TAXI = 5, 1, 4


class DrawnMap(NamedTuple):
    """A map that was drawn once."""

    drawn: Picture

    def picture(self) -> Picture:
        """Return the drawing."""
        return self.drawn


def with_own_map(mdp: LabeledMDP, env: gymnasium.Env[Any, Any]) -> LabeledMDP:
    """Give the MDP of an environment the environment's own map, if it is known to have one."""
    inner: Any = env.unwrapped
    kind = {base.__name__ for base in type(inner).__mro__}
    if "FrozenLakeEnv" in kind:
        letters = np.char.decode(np.asarray(inner.desc, dtype="S1"))
        drawn = _grid(letters, LAKE_MARKS, _labels(mdp), LAKE_MOVES)
    elif "CliffWalkingEnv" in kind:
        letters = np.where(inner._cliff, "C", ".")
        letters.flat[inner.start_state_index] = "S"
        marks = {"S": LAKE_MARKS["S"], "C": Mark("C", "the cliff: back to the start", role="danger")}
        drawn = _grid(letters, marks, _labels(mdp), CLIFF_MOVES)
    elif "TaxiEnv" in kind:
        drawn = taxi_picture(np.char.decode(np.asarray(inner.desc, dtype="S1")).tolist(), inner.locs)
    else:
        return mdp
    return mdp.with_map(DrawnMap(drawn)) if len(drawn.spots) == mdp.num_observations else mdp


def _labels(mdp: LabeledMDP) -> dict[int, Label]:
    """Return the propositions that are true whenever an observation is reached from another one."""
    labels: dict[int, Label] = {}
    sources = mdp.edge_pairs // mdp.num_actions
    for o, z, label in zip(sources.tolist(), mdp.successors.tolist(), mdp.labels.tolist(), strict=True):
        if o != z:
            labels[z] = labels.get(z, mdp.label_sets[label]) & mdp.label_sets[label]
    return labels


def _grid(letters: Any, marks: Mapping[str, Mark], labels: Mapping[int, Label], actions: tuple[str, ...]) -> Picture:
    """Draw a grid of letters str[R, C], in which every cell is an observation."""
    spots = []
    for o, letter in enumerate(letters.ravel().tolist()):
        row, column = divmod(o, letters.shape[1])
        mark, label = marks.get(letter), labels.get(o, frozenset())
        if label:
            bare = mark or Mark(min(label)[0])
            mark = bare._replace(label=label, meaning=", ".join(sorted(label)))
        spots.append(Spot(column + 0.5, row + 0.5, mark))
    return Picture(tuple(spots), walls=_frame(0, 0, *letters.shape), actions=actions)


def taxi_picture(desc: list[list[str]], places: list[tuple[int, int]]) -> Picture:
    """Draw the taxi's city once for each place of the passenger and each destination, in columns and rows."""
    spots: list[Spot] = []
    walls: list[Segment] = []
    letters = {place: desc[place[0] + 1][2 * place[1] + 1] for place in places}
    shift = TAXI_SIDE + TAXI_GAP
    for row, column, passenger, destination in np.ndindex(TAXI_SIDE, TAXI_SIDE, len(places) + 1, len(places)):
        mark = None
        if (row, column) == places[destination]:
            mark = Mark(letters[row, column], "the destination", role="goal")
        elif passenger != IN_TAXI and (row, column) == places[passenger]:
            mark = Mark(letters[row, column], "the passenger waits here", role="waypoint")
        x, y = float(passenger * shift + column), float(destination * shift + row)
        spots.append(Spot(x + 0.5, y + 0.5, mark))
        if column + 1 < TAXI_SIDE and desc[row + 1][2 * column + 2] == "|":
            walls.append((x + 1, y, x + 1, y + 1))
    for passenger, destination in np.ndindex(len(places) + 1, len(places)):
        walls += _frame(passenger * shift, destination * shift, TAXI_SIDE, TAXI_SIDE)
    names = ", ".join(letters[place] for place in places)
    caption = (
        f"from left to right: the passenger waits at {names} or is in the taxi; from top to bottom: the destination"
    )
    return Picture(tuple(spots), walls=tuple(walls), caption=caption, actions=TAXI_MOVES)


def _frame(x: int, y: int, rows: int, columns: int) -> tuple[Segment, ...]:
    """Return the outer walls of a grid, a segment for each cell at the rim."""
    level = ((x + c, y + r, x + c + 1, y + r) for c in range(columns) for r in (0, rows))
    upright = ((x + c, y + r, x + c, y + r + 1) for r in range(rows) for c in (0, columns))
    return (*level, *upright)
