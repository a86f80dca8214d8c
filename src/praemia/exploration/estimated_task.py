"""The estimated model of a black box as a task: what can be planned in and shown where nothing is known but counts.

A pair never tried has the least value that the machine allows. Nothing here is exact but the arithmetic.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.text_tables import plural
from praemia.envs.black_box import BlackBox
from praemia.envs.box_cells import BoxCells
from praemia.envs.indexing import EncodedIndex
from praemia.errors import ModelError
from praemia.exploration.counted import count_episodes
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate
from praemia.machines.labels import Label
from praemia.planning.sampled import EPISODES, chooser, episode_seed, play
from praemia.policies.arrays import PolicyLike, policy_array
from praemia.policies.policy import Policy
from praemia.simulation.run import Run
from praemia.tasks.base import BaseTask
from praemia.tasks.model import Model
from praemia.tasks.picture import Axis, Mark, Picture, Spot

SHORT, LONG = 4, 40  # letters of a name that fits into a place, and into the legend
NAMED = 100  # observations whose names are in the legend, at most


class EstimatedTask(BaseTask):
    """A black box as the counts of a run estimate it.

    Observations are those that were met: ``dataset`` is that of the run among them, ``kept`` their indices in the run.
    """

    def __init__(self, box: BlackBox, source: object) -> None:
        """Take the estimate that a run has made of a black box, or that a policy makes in sampled episodes."""
        if not isinstance(source, Run | Policy):
            raise ModelError(
                f"{source!r} in {box!r}, which is known by what was counted alone; give a Run, such as simulate "
                "returns, or a Policy"
            )
        policy = source.policy if isinstance(source, Run) else source
        if policy is None or policy.machine != box.machine:
            raise ModelError(f"{source!r} was made with another machine than that of {box.name!r}")
        policy.for_box(box)
        data = source.dataset if isinstance(source, Run) else _sampled(box, policy)
        self.kept = np.setdiff1d(np.arange(data.num_observations), data.unreached)
        self.box, self.dataset = box, _among(data, self.kept)
        self.name = f"{box.name}, estimated from {plural(data.num_episodes, 'episode')}"
        for part in ("machine", "horizon", "discount", "until_done"):
            setattr(self, part, getattr(box, part))
        self._complete()

    def _complete(self) -> None:
        self._complete_length()

    @property
    def cells(self) -> BoxCells | None:
        """The cells, where observations are cells of two numbers."""
        encode = self.box.encode
        return encode if isinstance(encode, BoxCells) and len(encode.edges) == 2 else None

    @property
    def num_observations(self) -> int:
        return len(self.kept)

    @property
    def num_actions(self) -> int:
        return self.dataset.num_actions

    @property
    def pair_visits(self) -> NDArray[np.int64]:
        """int64[O, A], how often each pair was tried."""
        return self.dataset.visits

    def policy(self, policy: PolicyLike) -> NDArray[Any]:
        """Return a policy of the run as an array for the observations that are kept."""
        table = policy_array(policy)
        return table[:, :, self.kept] if table.ndim > 2 else table[:, self.kept]

    @cached_property
    def model(self) -> Model:
        """p̂ with the machine, in the user's units."""
        return Estimate(self.dataset, self.machine, self.max_steps, self.discount, unit=self.machine).model

    @property
    def action_names(self) -> tuple[str, ...]:
        return self.box.actions.names() or tuple(map(str, range(self.num_actions)))

    @cached_property
    def marks(self) -> list[Mark]:
        """A mark for each observation: its name, what holds whenever it is reached, whether episodes start there."""
        data, labels = self.dataset, dict[int, Label]()
        for o, number in set(zip(data.successors.tolist(), data.labels.tolist(), strict=True)):
            labels[o] = labels.get(o, data.label_sets[number]) & data.label_sets[number]
        found = [labels.get(o, Label()) for o in range(self.num_observations)]
        starts = (self.dataset.first_counts > 0).tolist()
        explained = [o for o, label in enumerate(found) if label or starts[o] or len(found) <= NAMED][:NAMED]
        return [
            Mark(self._symbol(o, label, starts[o]), self._meaning(o, label, o in explained), label, starts[o])
            for o, label in enumerate(found)
        ]

    def _symbol(self, o: int, label: Label, is_start: bool) -> str:
        """Return what stands in a place: in a cell what holds there, else a short name, or the index."""
        if self.cells is not None:
            return "".join(sorted({name[0] for name in label if name})) or ("S" if is_start else "")
        name = self.dataset.observation_name(o)
        return name if 0 < len(name) <= SHORT else str(self.kept[o])

    def _meaning(self, o: int, label: Label, is_explained: bool) -> str:
        """Return the line of a mark in the legend: the name of an observation whose place has its index; what holds."""
        name = self.dataset.observation_name(o)
        has_index = self.cells is None and len(name) > SHORT
        own = (name if len(name) <= LONG else f"{name[: LONG - 1]}…") if has_index and is_explained else ""
        return ": ".join(filter(None, (own, ", ".join(sorted(label)))))

    @property
    def links(self) -> list[tuple[int, int]]:
        """The pairs of observations between which a step was seen."""
        o, _, z = self.dataset.transitions
        pairs = zip(np.minimum(o, z).tolist(), np.maximum(o, z).tolist(), strict=True)
        return sorted({pair for pair in pairs if pair[0] != pair[1]})

    @property
    def map(self) -> Picture | None:
        """The cells of two numbers: the first goes to the right, the second up; None for other observations."""
        if self.cells is None:
            return None
        places = zip(*np.unravel_index(self.kept, self.cells.shape), self.marks, strict=True)
        up = self.cells.shape[1]
        spots = tuple(
            Spot(float(i) + 0.5, up - float(j) - 0.5, mark if mark.label or mark.is_start else None)
            for i, j, mark in places
        )
        return Picture(spots, actions=self.action_names, axes=(self._axis(0), self._axis(1)))

    def _axis(self, i: int) -> Axis:
        """Return an axis: a name with its unit, and the borders of the cells."""
        cells = self.cells
        assert cells is not None
        name = cells.axes[i] if cells.axes else f"observation[{i}]"
        unit = f" ({cells.units[i]})" if cells.units and cells.units[i] else ""
        low, high = cells.bounds[i]
        return Axis(name + unit, (low, *cells.edges[i].tolist(), high))


def _sampled(box: BlackBox, policy: Policy) -> Dataset:
    """Count what a policy meets in sampled episodes, with its own indices of observations."""
    index = policy.observations
    own = box.for_run(index.codes if isinstance(index, EncodedIndex) else None)
    choose = chooser(own, policy, deterministic=False, unseen="random")
    episodes = [
        [(step.observation, step.action, step.next_observation, {"label": step.label}) for step in episode]
        for episode in (play(own, choose, episode_seed(0, number)) for number in range(EPISODES))
    ]
    return count_episodes(episodes, own.changed(labels="label"))


def _among(data: Dataset, kept: NDArray[np.int64]) -> Dataset:
    """Return data with new indices: the positions of observations in ``kept``, which contains all that were met."""
    (o, a, z), names = data.transitions, data.observation_names
    return replace(
        data,
        num_observations=len(kept),
        pairs=np.searchsorted(kept, o) * data.num_actions + a,
        targets=np.searchsorted(kept, z) + len(kept) * data.ends,
        first_counts=data.first_counts[kept],
        labelling=None,
        observation_names=None if names is None else tuple(names[o] for o in kept.tolist()),
    )
