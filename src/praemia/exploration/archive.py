"""Datasets as files: a zip of plain arrays with a JSON header, read without pickle and written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import FileError
from praemia.exploration.dataset import Dataset
from praemia.files.whole import pack_arrays, unpack_arrays, write_whole
from praemia.models.labels import LabelRule, RuleLabelling

FORMAT = 1
KIND = "praemia dataset"
_ARRAYS = ("pairs", "successors", "counts", "first_counts", "absorbing", "reachability")
_DTYPES = {"absorbing": np.bool_, "reachability": np.float64}


def save(dataset: Dataset, path: Path) -> None:
    """Write a dataset under a temporary name, flush it to the disk and rename it."""
    write_whole(path, encode(dataset))


def load(path: Path) -> Dataset:
    """Read a dataset; anything but a whole one is a FileError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    return decode(data, str(path))


def encode(dataset: Dataset) -> bytes:
    """Write a dataset as bytes; equal datasets give equal bytes."""
    header = {
        "kind": KIND,
        "format": FORMAT,
        "num_observations": dataset.num_observations,
        "num_actions": dataset.num_actions,
        "horizon": dataset.horizon,
        "labels_known": dataset.labels_known,
        "observation_names": dataset.observation_names,
        "action_names": dataset.action_names,
        "propositions": dataset.propositions,
        "sources": dataset.sources,
        "labels": [
            [sorted(rule.propositions), rule.source, rule.action, rule.target] for rule in dataset.labelling.rules
        ],
    }
    text = json.dumps(header, sort_keys=True).encode()
    arrays: dict[str, NDArray[Any]] = {"header": np.frombuffer(text, dtype=np.uint8)}
    arrays.update({name: getattr(dataset, name) for name in _ARRAYS})
    return pack_arrays(arrays)


def decode(data: bytes, where: str) -> Dataset:
    """Read a dataset from bytes."""
    try:
        arrays = unpack_arrays(data)
        header = json.loads(arrays["header"].tobytes())
        if header["kind"] != KIND or header["format"] != FORMAT:
            raise FileError(f"{where}: a {header['kind']} of format {header['format']}; expected {KIND}, {FORMAT}")
        rules = tuple(LabelRule(frozenset(names), *place) for names, *place in header["labels"])
        return Dataset(
            num_observations=int(header["num_observations"]),
            num_actions=int(header["num_actions"]),
            horizon=int(header["horizon"]),
            **{name: arrays[name].astype(_DTYPES.get(name, np.int64)) for name in _ARRAYS},
            labelling=RuleLabelling(rules),
            labels_known=bool(header["labels_known"]),
            propositions=tuple(header["propositions"]),
            observation_names=_names(header["observation_names"]),
            action_names=_names(header["action_names"]),
            sources=tuple(dict(source) for source in header["sources"]),
        )
    except FileError:
        raise
    except Exception as error:  # a damaged zip can fail in any way
        raise FileError(f"{where}: damaged, or not a dataset of praemia's ({error})") from None


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
