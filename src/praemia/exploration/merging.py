"""Add up what was counted, and merge datasets: of one environment, with labels that agree, and independent.

Counts of several parts may be added up because the parts were played independently of each other. Explorations of one
task with the same seed draw the same random numbers, by whatever method, so together they would count twice what
happened once.

Merged data records the machines that all parts record: whichever part came first, they were fixed before it. But which
of its machines the later parts record again may depend on what was seen, so ρ₃ is shared among as many as any part
records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError
from praemia.machines.labels import Indices, Label, Labelling, RuleLabelling, format_label
from praemia.simulation.loop import World

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

Column: TypeAlias = NDArray[np.int64]
Sources = Sequence[Mapping[str, Any]]
Transition = tuple[int, int, int]
TRANSITIONS = ("pairs", "successors", "ends", "counts")  # the columns that describe transitions


@dataclass(frozen=True, eq=False)
class Counted:
    """The transitions of some episodes.

    Attributes
    ----------
    pairs : int64[E], o · A + a; successors : int64[E]; ends : bool[E], whether the episode was over then; counts :
        int64[E], positive — in order, each pair's together.
    first_counts : int64[O], how often an episode began in each observation.
    """

    pairs: Column
    successors: Column
    ends: NDArray[np.bool_]
    counts: Column
    first_counts: Column

    @classmethod
    def of(cls, world: World) -> Counted:
        """Read out what was counted in a world whose learner ``uses_steps``."""
        experience = world.experience()
        seen, size = experience.transitions, experience.spec.num_observations
        pairs = seen.observations * experience.spec.num_actions + seen.actions
        columns = add_up(pairs, seen.successors, seen.ends, seen.counts, size)
        return cls(**columns, first_counts=experience.step_visits[0].astype(np.int64))

    @property
    def num_episodes(self) -> int:
        return int(self.first_counts.sum())

    def __add__(self, other: Counted) -> Counted:
        return Counted(**_together((self, other)), first_counts=self.first_counts + other.first_counts)


def add_up(
    pairs: Column, successors: Column, ends: NDArray[np.bool_], counts: Column, num_observations: int
) -> dict[str, Any]:
    """Add up the counts of equal transitions; return the columns by name, in order."""
    keys, places = np.unique((pairs * 2 + ends) * num_observations + successors, return_inverse=True)
    rest, targets = np.divmod(keys, num_observations)
    added = np.bincount(places, counts, len(keys)).astype(np.int64)
    return {"pairs": rest // 2, "successors": targets, "ends": rest % 2 > 0, "counts": added}


def _together(parts: Sequence[Counted | Dataset]) -> dict[str, Any]:
    """Add up the transitions of several parts."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in TRANSITIONS}
    return add_up(**columns, num_observations=len(parts[0].first_counts))


def require_other_seeds(sources: Sources, others: Sources) -> None:
    """Refuse parts that were played in one task with the same seed; appended episodes have no seed."""
    known = {_stream(source) for source in sources if "seed" in source}
    for source in others:
        if "seed" in source and _stream(source) in known:
            raise ModelError(
                f"both parts of the data were explored in {source.get('task')!r} with seed "
                f"{str(source['seed']).strip('[]')}; they are not independent, and what happened once would count "
                "twice: use another seed"
            )


def _stream(source: Mapping[str, Any]) -> tuple[str, str]:
    return str(source.get("task")), str(source["seed"])


class SeenLabels:
    """The labels of transitions that were seen; they must be a function of (o, a, o')."""

    def __init__(self) -> None:
        self._labels: dict[Transition, Label] = {}

    def add(self, transition: Transition, label: Label) -> None:
        """Note a label; refuse one that contradicts what was seen before."""
        known = self._labels.setdefault(transition, label)
        if known != label:
            raise ModelError(
                f"the transition {transition} was labelled {format_label(known)} once and {format_label(label)} "
                "another time; labels must be a function of (o, a, o')"
            )

    def __getitem__(self, transition: Transition) -> Label:
        return self._labels[transition]


def require_one_function(parts: Iterable[tuple[Labelling, Indices, Indices, Indices]]) -> None:
    """Refuse parts that label a transition in two ways; a part is a labelling and the transitions that it labels."""
    seen = SeenLabels()
    for labelling, o, a, z in parts:
        numbers, sets = labelling.of(o, a, z)
        for *place, number in zip(o.tolist(), a.tolist(), z.tolist(), numbers.tolist(), strict=True):
            seen.add((place[0], place[1], place[2]), sets[number])


def merged(first: Dataset, others: Sequence[Dataset]) -> Dataset:
    """Merge datasets, or raise an error that says why they cannot be merged."""
    parts = (first, *others)
    for number, other in enumerate(others, start=1):
        _require_same(first, other)
        for part in parts[:number]:
            require_other_seeds(part.sources, other.sources)
    if not first.labels_known:
        require_one_function((part.labelling, *part.transitions) for part in parts)
    episodes = np.array([part.num_episodes for part in parts], dtype=np.float64)
    rules = dict.fromkeys(rule for part in parts for rule in part.labelling.rules)
    recorded = _recorded_by_all(parts)
    return replace(
        first,
        **_together(parts),
        can_end=any(part.can_end for part in parts),
        first_counts=np.sum([part.first_counts for part in parts], axis=0),
        labelling=RuleLabelling(tuple(rules)),
        propositions=tuple(sorted({name for part in parts for name in part.propositions})),
        reachability=np.average([part.reachability for part in parts], axis=0, weights=episodes),
        sources=tuple(source for part in parts for source in part.sources),
        fixed_machines=recorded,
        fixed_shares=max(part.fixed_shares for part in parts) if recorded else 0,
    )


def _recorded_by_all(parts: Sequence[Dataset]) -> tuple[str, ...]:
    """Return the machines that all parts record.

    Labels found by playing cannot be compared where the parts saw different transitions, so nothing is kept with them.
    """
    if len(parts) > 1 and not parts[0].labels_known:
        return ()
    common = set.intersection(*(set(part.fixed_machines) for part in parts))
    return tuple(sorted(common))


def _require_same(first: Dataset, second: Dataset) -> None:
    """Refuse to merge what does not belong together."""
    for name in ("num_observations", "num_actions", "horizon", "observation_names", "action_names", "labels_known"):
        mine, its = getattr(first, name), getattr(second, name)
        if mine != its:
            raise ModelError(
                f"datasets with {name.replace('_', ' ')} {mine} and {its}; only data of one environment merges"
            )
    if first.labels_known and set(first.labelling.rules) != set(second.labelling.rules):
        raise ModelError("datasets with different labels; only data of one environment merges")
