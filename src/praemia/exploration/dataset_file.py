"""The file of a dataset: plain arrays with a JSON header, checked as they are read and never executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from praemia._support.limits import require_memory
from praemia.files.arrays import ArchiveKind, ArrayType, DamageError
from praemia.machines.labels import Labelling, LabelRule

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

FILE = ArchiveKind(
    "praemia dataset",
    "a dataset",
    8,
    fields={
        **dict.fromkeys(("num_observations", "num_actions", "horizon"), (int,)),
        **dict.fromkeys(("observation_names", "action_names", "rules"), (list, type(None))),
        **dict.fromkeys(("propositions", "sources", "label_sets"), (list,)),
        "encoding": (dict, type(None)),
        "can_end": (bool,),
        "discount": (float,),
    },
    arrays=dict.fromkeys(("pairs", "targets", "labels", "counts", "first_counts"), ArrayType("i")),
)


def arguments(values: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the arguments of a dataset from the fields and arrays of a file."""
    _check_header(values)
    require_memory(8 * values["num_observations"] * values["num_actions"], f"reading {where}")
    rules, sets = values.pop("rules"), values.pop("label_sets")
    if not all(isinstance(label, list) and all(isinstance(name, str) for name in label) for label in sets):
        raise DamageError("its header has labels that are not lists of names")
    header = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    arrays = {name: values[name].astype(np.int64) for name in FILE.arrays}
    labelling = None if rules is None else _labelling(rules)
    return {**header, **arrays, "labelling": labelling, "label_sets": tuple(map(frozenset, sets))}


def _check_header(header: Mapping[str, Any]) -> None:
    for name in ("propositions", "observation_names", "action_names"):
        if not all(isinstance(item, str) for item in header[name] or ()):
            raise DamageError(f"its header has {name} that are not names")
    for names, size in (("observation_names", "num_observations"), ("action_names", "num_actions")):
        if header[size] < 1 or len(header[names] or ()) not in (0, header[size]):
            raise DamageError(f"its header has {size} = {header[size]} and {len(header[names] or ())} {names}")
    sources = header["sources"]
    seeds = [source.get("seed", []) if isinstance(source, dict) else None for source in sources]
    if not all(isinstance(seed, list) and all(type(number) is int for number in seed) for seed in seeds):
        raise DamageError("its header does not say how the data was collected")


def check_counts(dataset: Dataset) -> None:
    """Refuse counts that no episodes can have: who leaves an observation came there or began there."""
    size, counts = dataset.num_observations, dataset.counts.astype(np.float64)  # a sum cannot overflow then
    most, stays = float(dataset.first_counts.astype(np.float64).sum()) * dataset.horizon, ~dataset.ends
    entered = dataset.first_counts + np.bincount(dataset.successors[stays], counts[stays], size)
    left = np.bincount(dataset.pairs // dataset.num_actions, counts, size)
    if counts.sum() > most:
        raise DamageError(f"it counts {counts.sum():.17g} transitions; its episodes have {most:.17g} steps at most")
    if dataset.num_episodes > counts.sum() + len(dataset.sources):  # an error may have ended each source in a start
        raise DamageError(f"it counts {dataset.num_episodes:,} episodes and {counts.sum():.17g} transitions")
    if np.any(left > entered):
        o = dataset.observation_name(int(np.argmax(left > entered)))
        raise DamageError(f"its episodes leave observation {o} more often than they reach it")


def _labelling(labels: list[Any]) -> Labelling:
    """Read the rules of a labelling: lists of propositions, source, action and target, each a number or none."""
    rules = []
    for label in labels:
        names, *place = label if isinstance(label, list) and len(label) == 4 else (None,)
        places_fit = all(number is None or type(number) is int for number in place)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not places_fit:
            raise DamageError(f"its header has a label {str(label)[:50]!r}")
        rules.append(LabelRule(frozenset(names), *place))
    return Labelling(tuple(rules))
