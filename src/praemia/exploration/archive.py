"""Datasets as files: a zip of plain arrays with a JSON header, read without pickle."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from praemia.errors import FileError
from praemia.files.whole import other_format, pack_arrays, unpack_arrays
from praemia.models.labels import LabelRule, RuleLabelling

Made = TypeVar("Made")

FORMAT = 3
KIND = "praemia dataset"
_ARRAYS = ("pairs", "successors", "counts", "first_counts", "absorbing", "reachability")
_DTYPES = {"absorbing": np.bool_, "reachability": np.float64}
_PLAIN = (
    "num_observations",
    "num_actions",
    "horizon",
    "labels_known",
    "observation_names",
    "action_names",
    "propositions",
    "sources",
    "fixed_machines",
    "fixed_shares",
)


def encode(fields: Mapping[str, Any]) -> bytes:
    """Write the fields of a dataset as bytes; equal fields give equal bytes."""
    header = {name: fields[name] for name in _PLAIN} | {"kind": KIND, "format": FORMAT}
    rules = fields["labelling"].rules
    header["labels"] = [[sorted(rule.propositions), rule.source, rule.action, rule.target] for rule in rules]
    text = json.dumps(header, sort_keys=True).encode()
    arrays: dict[str, NDArray[Any]] = {"header": np.frombuffer(text, dtype=np.uint8)}
    return pack_arrays(arrays | {name: fields[name] for name in _ARRAYS})


def read(path: Path, make: Callable[..., Made]) -> Made:
    """Read a file and make a dataset from its fields; anything but a whole one is a FileError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return make(**_decode(data, str(path)))
    except FileError:
        raise
    except Exception as error:  # a damaged zip can fail in any way
        raise FileError(f"{path}: damaged, or not a dataset of praemia's ({error})") from None


def _decode(data: bytes, where: str) -> dict[str, Any]:
    """Read the fields of a dataset from bytes."""
    arrays = unpack_arrays(data)
    header = json.loads(arrays["header"].tobytes())
    if header["kind"] != KIND:
        raise FileError(f"{where}: a {header['kind']}; expected a {KIND}")
    if header["format"] != FORMAT:
        raise FileError(f"{where}: {other_format('a dataset', header['format'], FORMAT)}")
    rules = tuple(LabelRule(frozenset(names), *place) for names, *place in header["labels"])
    return {
        **{name: arrays[name].astype(_DTYPES.get(name, np.int64)) for name in _ARRAYS},
        "num_observations": int(header["num_observations"]),
        "num_actions": int(header["num_actions"]),
        "horizon": int(header["horizon"]),
        "labelling": RuleLabelling(rules),
        "labels_known": bool(header["labels_known"]),
        "propositions": tuple(header["propositions"]),
        "observation_names": _names(header["observation_names"]),
        "action_names": _names(header["action_names"]),
        "sources": tuple(dict(source) for source in header["sources"]),
        "fixed_machines": tuple(header["fixed_machines"]),
        "fixed_shares": int(header["fixed_shares"]),
    }


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
