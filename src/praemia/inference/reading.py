"""Read traces: from Python or from a file with one episode per line, ``[[["item"], 0.0], [[], 1.0], …]``."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.limits import require_memory
from praemia.errors import FileError, ModelError, SizeError, located
from praemia.files.atomic_io import open_to_read
from praemia.inference.traces import Steps, Traces, reward_key
from praemia.machines.labels import Label, as_label
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
    return _encode(enumerate(traces, 1), "episode ")


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
            return _encode(_lines(file, path), f"{path}:")
    except UnicodeDecodeError:
        raise FileError(f"{path}: not a text file; expected one episode per line, such as [[[], 0.0]]") from None


def _lines(file: Iterable[str], path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(file, 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                expected = 'expected an episode such as [[["item"], 0.0], [[], 1.0]]'
                raise FileError(f"{path}:{number}: not JSON; {expected}") from None


class _Symbols:
    """Numbers for pairs of a label and a reward, in the order in which they are met."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Label, float], int] = {}
        self.rewards: dict[float, float] = {}  # the first of the rewards that are read as one
        self._steps: dict[tuple[Any, ...], int] = {}  # steps as they were given

    def number(self, step: Any) -> int:
        """Return the number of a step, or raise a ModelError."""
        try:
            label, reward = step
        except (TypeError, ValueError):
            expected = 'expected a pair of a label and a reward, such as [["item"], 0.0]'
            raise ModelError(f"{brief(step)}; {expected}") from None
        if isinstance(label, Iterable) and not isinstance(label, frozenset | str | bytes | Mapping):
            label = tuple(label)
        key = (label, reward, type(reward))
        try:
            known = self._steps.get(key)  # without this cache reading takes several times as long
        except TypeError:  # the checks name what cannot be hashed
            known = None
        if known is None:
            number = _checked_reward(reward)
            pair = (as_label(label, "the label"), self.rewards.setdefault(reward_key(number), number))
            known = self._steps[key] = self.numbers.setdefault(pair, len(self.numbers))
        return known


def _checked_reward(reward: Any) -> float:
    number = reward.item() if isinstance(reward, np.generic) else reward
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST:
        raise ModelError(f"the reward {brief(reward)}; expected a number between -{LARGEST:g} and {LARGEST:g}")
    return float(number) + 0.0  # -0.0 is 0.0


def _encode(episodes: Iterable[tuple[int, Any]], source: str) -> Traces:
    """Number what occurs in episodes, each with its number; a mistake is shown with that number."""
    symbols = _Symbols()
    weights: dict[tuple[int, ...], int] = {}
    firsts: list[int] = []
    for number, episode in episodes:
        with located(f"{source}{number}"):
            steps = _numbered(episode, symbols)
        if steps not in weights:
            weights[steps] = 0
            firsts.append(number)
        weights[steps] += 1
    if not weights:
        raise ModelError(f"{source.strip(': ')}: no episode; expected at least one")
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


def _numbered(episode: Any, symbols: _Symbols) -> tuple[int, ...]:
    if isinstance(episode, str | bytes | Mapping) or not isinstance(episode, Iterable):
        raise ModelError(f"{brief(episode)}; expected an episode, a list of steps [label, reward]")
    numbers: list[int] = []
    with located(lambda: f"step {len(numbers) + 1}"):
        for step in episode:
            numbers.append(symbols.number(step))
    if not numbers:
        raise ModelError("an episode without steps; leave it out")
    if len(symbols.rewards) > MAX_REWARDS:
        raise ModelError(
            f"more than {MAX_REWARDS:,} different rewards so far; machines are distinguished by rewards that occur "
            "again and again, so round them first"
        )
    return tuple(numbers)
