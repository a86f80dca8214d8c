"""Read traces: from Python or from a file with one episode per line, ``[[["item"], 0.0], [[], 1.0], …]``."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.limits import require_memory
from praemia.errors import FileError, ModelError, PraemiaError, SizeError
from praemia.files.atomic_io import open_to_read
from praemia.inference.traces import Steps, Traces, reward_key
from praemia.machines.labels import Label
from praemia.machines.rewards import LARGEST

MAX_REWARDS = 1_000  # distinct ones; more suggest rewards sampled from an interval
AFTER = -1  # the symbol of a step after the end of its episode
BYTES_PER_STEP = 64  # what the arrays of a step take while machines are tried on it


def as_traces(traces: Traces | Iterable[Steps]) -> Traces:
    """Check episodes of (label, reward) and turn them into arrays."""
    if isinstance(traces, Traces):
        return traces
    if isinstance(traces, str | bytes | Path) or not isinstance(traces, Iterable):
        raise ModelError(
            f"traces={traces!r}; expected a list of episodes, each a list of steps (label, reward), "
            "or load_traces('traces.jsonl')"
        )
    return _encode(enumerate(traces, 1), "episode ", ModelError)


def load_traces(path: str | Path) -> Traces:
    """Load traces from a file with one episode per line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from praemia.inference import load_traces
    >>> _ = Path("traces.jsonl").write_text('[[["item"], 0.0], [[], 1.0]]\\n')
    >>> load_traces("traces.jsonl").num_steps
    2
    """
    path = Path(path)
    try:
        with open_to_read(path) as data, io.TextIOWrapper(data, encoding="utf-8-sig") as file:
            require_memory(2 * os.fstat(file.fileno()).st_size, f"reading {path}")
            return _encode(_lines(file, path), f"{path}:", FileError)
    except UnicodeDecodeError:
        raise FileError(f"{path}: not a text file; expected one episode per line, such as [[[], 0.0]]") from None


def _lines(file: Iterable[str], path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                reason = "nested too deeply" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
                raise FileError(
                    f'{path}:{number}: not JSON ({reason}); expected an episode such as [[["item"], 0.0], [[], 1.0]]'
                ) from None


class _Symbols:
    """Numbers for pairs of a label and a reward, in the order in which they are met."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Label, float], int] = {}
        self.rewards: dict[float, float] = {}  # the first of the rewards that are read as one
        self._steps: dict[tuple[Any, ...], int] = {}  # steps as they were given

    def number(self, step: Any) -> int:
        """Return the number of a step, or raise a ValueError."""
        try:
            label, reward = step
        except (TypeError, ValueError):
            expected = 'expected a pair of a label and a reward, such as [["item"], 0.0]'
            raise ValueError(f"{_short_repr(step)}; {expected}") from None
        if isinstance(label, Iterable) and not isinstance(label, frozenset | str | bytes | Mapping):
            label = tuple(label)
        key = (label, reward, type(reward))
        try:
            known = self._steps.get(key)  # without this cache reading takes several times as long
        except TypeError:  # the checks name what cannot be hashed
            known = None
        if known is None:
            pair = (_checked_label(label), _checked_reward(reward))
            pair = (pair[0], self.rewards.setdefault(reward_key(pair[1]), pair[1]))
            known = self._steps[key] = self.numbers.setdefault(pair, len(self.numbers))
        return known


def _checked_label(label: Any) -> Label:
    if not isinstance(label, tuple | frozenset):
        raise ValueError(
            f'the label {_short_repr(label)}; expected a list of proposition names, such as ["item"] or []'
        )
    for name in label:
        if not isinstance(name, str) or not name:
            raise ValueError(
                f"the label {_short_repr(list(label))}, in which {_short_repr(name)} is no proposition name"
            )
    return frozenset(label)


def _checked_reward(reward: Any) -> float:
    number = reward.item() if isinstance(reward, np.generic) else reward
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise ValueError(f"the reward {_short_repr(reward)}; expected a finite number")
    if abs(number) > LARGEST:
        raise ValueError(f"the reward {_short_repr(reward)}; expected a number between -{LARGEST:g} and {LARGEST:g}")
    return float(number) + 0.0  # -0.0 is 0.0


def _short_repr(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _encode(episodes: Iterable[tuple[int, Any]], source: str, kind: type[PraemiaError]) -> Traces:
    """Number what occurs in episodes, each with its number; a mistake is shown with that number."""
    symbols = _Symbols()
    weights: dict[tuple[int, ...], int] = {}
    firsts: list[int] = []
    for number, episode in episodes:
        steps = _numbered(episode, symbols, f"{source}{number}", kind)
        if steps not in weights:
            weights[steps] = 0
            firsts.append(number)
        weights[steps] += 1
    if not weights:
        where = source.rstrip(":") if source.endswith(":") else "traces"
        raise kind(f"{where}: no episode; expected at least one")
    order = sorted(symbols.numbers, key=lambda pair: (len(pair[0]), sorted(pair[0]), pair[1]))
    labels, rewards = list(dict.fromkeys(label for label, _ in order)), sorted(symbols.rewards.values())
    padded, ranks = _padded(list(weights)), np.full(len(order) + 1, AFTER, dtype=np.int32)
    ranks[[symbols.numbers[pair] for pair in order]] = np.arange(len(order))
    return Traces(
        symbols=ranks[padded],  # the last of the ranks is that of AFTER
        lengths=np.count_nonzero(padded != AFTER, axis=1).astype(np.int64),
        weights=np.array(list(weights.values())),
        firsts=np.array(firsts),
        labels=tuple(labels),
        rewards=tuple(rewards),
        label_of=np.array([labels.index(label) for label, _ in order]),
        reward_of=np.array([rewards.index(reward) for _, reward in order]),
        source=source,
    )


def _padded(episodes: list[tuple[int, ...]]) -> NDArray[np.int32]:
    """Lay episodes of numbers out as an array, with ``AFTER`` after the end of each."""
    longest = max(map(len, episodes))
    size = f"{len(episodes):,} episodes of up to {longest:,} steps"
    try:
        require_memory(BYTES_PER_STEP * len(episodes) * longest, size)
    except SizeError as error:
        raise SizeError(f"{error}; infer from fewer or shorter episodes") from None
    padded = np.full((len(episodes), longest), AFTER, dtype=np.int32)
    for row, steps in enumerate(episodes):
        padded[row, : len(steps)] = steps
    return padded


def _numbered(episode: Any, symbols: _Symbols, where: str, kind: type[PraemiaError]) -> tuple[int, ...]:
    if isinstance(episode, str | bytes | dict) or not isinstance(episode, Iterable):
        raise kind(f"{where}: {_short_repr(episode)}; expected an episode, a list of steps [label, reward]")
    numbers = []
    for step_number, step in enumerate(episode, 1):
        try:
            numbers.append(symbols.number(step))
        except ValueError as error:
            raise kind(f"{where}: step {step_number}: {error}") from None
    if not numbers:
        raise kind(f"{where}: an episode without steps; leave it out")
    if len(symbols.rewards) > MAX_REWARDS:
        raise kind(
            f"{where}: more than {MAX_REWARDS:,} different rewards so far; machines are distinguished by rewards that "
            "occur again and again, so round them first"
        )
    return tuple(numbers)
