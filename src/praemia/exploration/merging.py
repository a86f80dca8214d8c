"""Merge datasets: of one environment, with labels that agree, and independent.

Counts of several parts may be added up because the parts were played independently of each other. Explorations that
draw the same random numbers, by whatever method, would together count twice what happened once. What the environment is
called does not matter: all parts are of one environment, so what is known of their random numbers decides alone.

Merged data records the machines that all parts record: whichever part came first, they were fixed before it. But which
of its machines the later parts record again may depend on what was seen, so ρ₃ is shared among as many as any part
records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from praemia.errors import ModelError
from praemia.exploration.counts import together
from praemia.machines.labels import Labelling, SeenLabels
from praemia.simulation.run import seed_key

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

# What random numbers are for: the last part of the key of their stream, but for the target of a search.
SHARES, SEARCH, COLLECT, DIRECT = range(4)


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
        **together(parts),
        can_end=any(part.can_end for part in parts),
        first_counts=np.sum([part.first_counts for part in parts], axis=0),
        labelling=Labelling(tuple(rules)),
        propositions=tuple(sorted({name for part in parts for name in part.propositions})),
        reachability=np.average([part.reachability for part in parts], axis=0, weights=episodes),
        sources=sources,
        fixed_machines=recorded,
        fixed_shares=max(part.fixed_shares for part in parts) if recorded else 0,
    )


def _require_one_function(parts: Iterable[Dataset]) -> None:
    """Refuse parts that label a transition in two ways."""
    labels = SeenLabels()
    for part in parts:
        o, a, z = part.transitions
        numbers, sets = part.labelling.of(o, a, z)
        for transition, number in zip(zip(*map(np.ndarray.tolist, (o, a, z)), strict=True), numbers, strict=True):
            labels.add(transition, sets[number])


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
    names = ("observation_names", "action_names", "labels_known")
    for name in ("num_observations", "num_actions", "horizon", "discount", *names):
        one, other = getattr(first, name), getattr(second, name)
        if one != other:
            raise ModelError(
                f"datasets with {name.replace('_', ' ')} {one} and {other}; only data of one environment merges"
            )
    if first.labels_known and set(first.labelling.rules) != set(second.labelling.rules):
        raise ModelError("datasets with different labels; only data of one environment merges")
