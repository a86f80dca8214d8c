"""Add up what was counted, and merge datasets: of one environment, with labels that agree, and independent.

Counts of several parts may be added up because the parts were played independently of each other. Explorations that
draw the same random numbers, by whatever method, would together count twice what happened once. What the environment is
called does not matter: all parts are of one environment, so what is known of their random numbers decides alone.

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
from praemia.machines.labels import RuleLabelling, SeenLabels
from praemia.simulation.loop import World
from praemia.simulation.run import seed_key

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

Column: TypeAlias = NDArray[np.int64]
TRANSITIONS = ("pairs", "successors", "ends", "counts")  # the columns that describe transitions

# What random numbers are for: the last part of the key of their stream, but for the target of a search.
SHARES, SEARCH, COLLECT, DIRECT = range(4)


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


def require_independent(sources: Iterable[Mapping[str, Any]], num_observations: int) -> None:
    """Refuse parts that may have drawn the same random numbers; appended episodes have no seed, and are the user's."""
    names: dict[bytes, str] = {}  # of the exploration that draws from a stream
    for source in sources:
        if "seed" not in source:
            continue
        name = f"in {source.get('task')!r} with seed {str(source['seed']).strip('[]')}"
        own = streams(source["seed"], num_observations)
        if shared := own & names.keys():
            raise ModelError(
                f"data explored {names[min(shared)]} and {name}; both draw the same random numbers, so they are not "
                "independent, and what happened once would count twice: use another seed"
            )
        names |= dict.fromkeys(own, name)


def streams(seed: Sequence[int], num_observations: int) -> set[bytes]:
    """Return the state of every random stream that an exploration with a seed may draw from, by whatever method.

    Keys of streams are not unique, their states are: the seed 2³² is the seed (0, 1), and (0, 1, 2) is the key with
    which seed 0 searches for observation 2, and with which seed (0, 1) collects.
    """
    key = seed_key(seed)
    keys = [(*key, COLLECT), (*key, DIRECT), *((*key, SEARCH, o) for o in range(num_observations))]
    return {np.random.SeedSequence(key, spawn_key=(0,)).generate_state(4).tobytes() for key in keys}


def merged(parts: Sequence[Dataset]) -> Dataset:
    """Merge datasets, or raise an error that says why they cannot be merged."""
    first = parts[0]
    for other in parts[1:]:
        _require_same(first, other)
    sources = tuple(source for part in parts for source in part.sources)
    require_independent(sources, first.num_observations)
    if not first.labels_known:
        _require_one_function(parts)
    rules = dict.fromkeys(rule for part in parts for rule in part.labelling.rules)
    episodes, recorded = [part.num_episodes for part in parts], _recorded_by_all(parts)
    return replace(
        first,
        **_together(parts),
        can_end=any(part.can_end for part in parts),
        first_counts=np.sum([part.first_counts for part in parts], axis=0),
        labelling=RuleLabelling(tuple(rules)),
        propositions=tuple(sorted({name for part in parts for name in part.propositions})),
        reachability=np.average([part.reachability for part in parts], axis=0, weights=episodes),
        sources=sources,
        fixed_machines=recorded,
        fixed_shares=max(part.fixed_shares for part in parts) if recorded else 0,
    )


def _require_one_function(parts: Iterable[Dataset]) -> None:
    """Refuse parts that label a transition in two ways."""
    seen = SeenLabels()
    for part in parts:
        o, a, z = part.transitions
        numbers, sets = part.labelling.of(o, a, z)
        for transition, number in zip(zip(*map(np.ndarray.tolist, (o, a, z)), strict=True), numbers, strict=True):
            seen.add(transition, sets[number])


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
