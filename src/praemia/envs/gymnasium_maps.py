"""The maps of FrozenLake and CliffWalking."""

from __future__ import annotations

from typing import Any

import numpy as np

from praemia.machines.labels import Label
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.picture import Mark, Picture, Spot

ACTIONS = {"FrozenLakeEnv": ("left", "down", "right", "up"), "CliffWalkingEnv": ("up", "right", "down", "left")}
MARKS = {
    "S": Mark("S", is_start=True),
    "H": Mark("H", "a hole, which ends the episode", role="danger"),
    "G": Mark("G", "the goal"),
    "C": Mark("C", "the cliff: back to the start", role="danger"),
}


def picture_of(env: Any, mdp: LabeledMDP) -> Picture | None:
    """Return the map of an environment, with the labels of an MDP, if it is known to have one."""
    kind = next((base.__name__ for base in type(env).__mro__ if base.__name__ in ACTIONS), None)
    if kind is None:
        return None
    if kind == "FrozenLakeEnv":
        letters = np.char.decode(np.asarray(env.desc, dtype="S1"))
    else:
        letters = np.full(env.shape, ".")
        letters[-1, 0], letters[-1, 1:-1] = "S", "C"
    rows, columns = letters.shape
    labels, spots = _labels(mdp), []
    for o, letter in enumerate(letters.ravel().tolist()):
        mark, label = MARKS.get(letter), labels.get(o, frozenset())
        if label:
            mark = (mark or Mark(min(label)[0]))._replace(label=label, meaning=", ".join(sorted(label)))
        spots.append(Spot(o % columns + 0.5, o // columns + 0.5, mark))
    walls = [(c, r, c + 1, r) for c in range(columns) for r in (0, rows)]
    walls += [(c, r, c, r + 1) for r in range(rows) for c in (0, columns)]
    return (
        Picture(tuple(spots), walls=tuple(walls), actions=ACTIONS[kind]) if len(spots) == mdp.num_observations else None
    )


def _labels(mdp: LabeledMDP) -> dict[int, Label]:
    """Return the propositions that are true whenever an observation is reached from another one."""
    labels: dict[int, Label] = {}
    sources = mdp.edge_pairs // mdp.num_actions
    for o, z, label in zip(sources.tolist(), mdp.successors.tolist(), mdp.labels.tolist(), strict=True):
        if o != z:
            labels[z] = labels.get(z, mdp.label_sets[label]) & mdp.label_sets[label]
    return labels
