"""The file of a dataset: a zip of plain arrays with a JSON header, checked as it is read and never executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from praemia.files.arrays import DamageError, PackedArrays, damage_named, pack_arrays, require_fields, require_kind
from praemia.files.atomic_io import read_bytes
from praemia.limits import require_memory
from praemia.machines.labels import LabelRule, RuleLabelling

Made = TypeVar("Made")

FORMAT = 3
KIND = "praemia dataset"
# Each array's kinds of NumPy's types, and the type that it has in a dataset.
_ARRAYS: dict[str, tuple[str, type[np.generic]]] = {
    **dict.fromkeys(("pairs", "successors", "counts", "first_counts"), ("i", np.int64)),
    "absorbing": ("b", np.bool_),
    "reachability": ("f", np.float64),
}
_HEADER: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("num_observations", "num_actions", "horizon", "fixed_shares"), (int,)),
    **dict.fromkeys(("observation_names", "action_names"), (list, type(None))),
    **dict.fromkeys(("propositions", "sources", "fixed_machines", "labels"), (list,)),
    "labels_known": (bool,),
}


def encode(fields: Mapping[str, Any]) -> bytes:
    """Write the fields of a dataset as bytes; equal fields give equal bytes."""
    rules = fields["labelling"].rules
    labels = [[sorted(rule.propositions), rule.source, rule.action, rule.target] for rule in rules]
    header = {**fields, "labels": labels}
    return pack_arrays(
        {"kind": KIND, "format": FORMAT, **{name: header[name] for name in _HEADER}},
        {name: fields[name] for name in _ARRAYS},
    )


def read(path: Path, make: Callable[..., Made]) -> Made:
    """Read a file and make a dataset from its fields; anything but a whole one is a FileError."""
    data = read_bytes(path)
    with damage_named(str(path), "a dataset of praemia's"):
        return make(**_decode(data, str(path)))


def _decode(data: bytes, where: str) -> dict[str, Any]:
    """Read the fields of a dataset from bytes."""
    packed = PackedArrays(data, where)
    header = packed.header()
    require_kind(header, where, KIND, FORMAT, "a dataset")
    require_fields(header, _HEADER)
    packed.require_names(set(_ARRAYS), set())
    _check_lists(header)
    require_memory(8 * header["num_observations"] * header["num_actions"], f"reading {where}")
    arrays = {name: packed.array(name, kinds, (1,)).astype(dtype) for name, (kinds, dtype) in _ARRAYS.items()}
    labelling = _labelling(header.pop("labels"))
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in header.items()}
    return {**plain, **arrays, "labelling": labelling}


def _check_lists(header: Mapping[str, Any]) -> None:
    for name in ("propositions", "fixed_machines", "observation_names", "action_names"):
        if not all(isinstance(item, str) for item in header[name] or ()):
            raise DamageError(f"its header has {name} that are not names")
    for names, size in (("observation_names", "num_observations"), ("action_names", "num_actions")):
        if header[size] < 1 or len(header[names] or ()) not in (0, header[size]):
            raise DamageError(f"its header has {size} = {header[size]} and {len(header[names] or ())} {names}")
    if not all(isinstance(source, dict) for source in header["sources"]):
        raise DamageError("its header does not say how the data was collected")


def _labelling(labels: list[Any]) -> RuleLabelling:
    """Read the rules of a labelling: lists of propositions, source, action and target, each a number or none."""
    rules = []
    for label in labels:
        names, *place = label if isinstance(label, list) and len(label) == 4 else (None,)
        places_fit = all(number is None or type(number) is int for number in place)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not places_fit:
            raise DamageError(f"its header has a label {str(label)[:50]!r}")
        rules.append(LabelRule(frozenset(names), *place))
    return RuleLabelling(tuple(rules))
