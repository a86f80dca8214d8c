"""The file of a dataset: plain arrays with a JSON header, checked as it is read and never executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from praemia.files.arrays import ArchiveKind, ArrayType, DamageError
from praemia.files.atomic_io import read_bytes
from praemia.limits import require_memory
from praemia.machines.labels import LabelRule, RuleLabelling

Made = TypeVar("Made")

FILE = ArchiveKind(
    "praemia dataset",
    "a dataset",
    4,
    fields={
        **dict.fromkeys(("num_observations", "num_actions", "horizon", "fixed_shares"), (int,)),
        **dict.fromkeys(("observation_names", "action_names"), (list, type(None))),
        **dict.fromkeys(("propositions", "sources", "fixed_machines", "labels"), (list,)),
        **dict.fromkeys(("labels_known", "can_end"), (bool,)),
    },
    arrays={
        **dict.fromkeys(("pairs", "successors", "counts", "first_counts"), ArrayType("i")),
        "ends": ArrayType("b"),
        "reachability": ArrayType("f"),
    },
)
_DTYPES = {"i": np.int64, "b": np.bool_, "f": np.float64}


def encode(fields: Mapping[str, Any]) -> bytes:
    """Write the fields of a dataset as bytes; equal fields give equal bytes."""
    rules = fields["labelling"].rules
    labels = [[sorted(rule.propositions), rule.source, rule.action, rule.target] for rule in rules]
    return FILE.pack({**fields, "labels": labels})


def read(path: Path, make: Callable[..., Made]) -> Made:
    """Read a file and make a dataset from its fields; anything but a whole one is a FileError."""
    with FILE.unpack(read_bytes(path), str(path)) as values:
        _check_lists(values)
        require_memory(8 * values["num_observations"] * values["num_actions"], f"reading {path}")
        labelling = _labelling(values.pop("labels"))
        fields = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
        arrays = {name: values[name].astype(_DTYPES[kind.dtype_kinds]) for name, kind in FILE.arrays.items()}
        return make(**fields | arrays, labelling=labelling)


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
