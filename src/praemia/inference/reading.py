"""Read traces: from Python or from a file with one episode per line, every step checked.

A line is ``[[["item"], 0.0], [[], 1.0], …]``: for each step the propositions of its label, and what it paid. A mistake
is shown with its episode or line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from praemia.errors import FileError, ModelError, PraemiaError, SizeError
from praemia.inference.traces import Episode, Floats, Ints, Traces, reward_key
from praemia.limits import require_memory
from praemia.machines.labels import Label
from praemia.machines.rewards import LARGEST

MAX_REWARDS = 1_000  # distinct ones; more are a sign of rewards drawn from an interval
AFTER = -1  # the symbol of a step after the end of its episode
BYTES_PER_STEP = 64  # what the arrays of a step take while machines are tried on it


def as_traces(traces: Traces | Iterable[Episode]) -> Traces:
    """Check episodes of (label, reward) and turn them into arrays."""
    if isinstance(traces, Traces):
        return traces
    if isinstance(traces, str | bytes | Path) or not isinstance(traces, Iterable):
        raise ModelError(
            f"traces={traces!r}; expected a list of episodes, each a list of steps (label, reward), "
            "or load_traces('traces.jsonl')"
        )
    return _encode(((number, episode) for number, episode in enumerate(traces, 1)), "episode ", ModelError)


def traces_from_arrays(labels: Ints, rewards: Floats, label_sets: Sequence[Label]) -> Traces:
    """Turn episodes, as label numbers and rewards [N, H], into traces; the label of a step after the end is −1."""
    values, reward_of = np.unique(rewards, return_inverse=True)
    alike: dict[float, int] = {}
    reward_of = np.array([alike.setdefault(reward_key(value), i) for i, value in enumerate(values)])[reward_of]
    symbols = np.where(labels < 0, AFTER, labels * len(values) + reward_of.reshape(labels.shape))
    rows, firsts, weights = np.unique(symbols, axis=0, return_index=True, return_counts=True)
    used, numbers = np.unique(rows, return_inverse=True)
    numbers, lengths = numbers.reshape(rows.shape), np.count_nonzero(rows != AFTER, axis=1)
    if used[0] == AFTER:
        used, numbers = used[1:], numbers - 1
    shown, label_of = np.unique(used // len(values), return_inverse=True)
    return Traces(
        numbers.astype(np.int32),
        lengths.astype(np.int64),
        weights.astype(np.int64),
        firsts.astype(np.int64) + 1,
        tuple(label_sets[number] for number in shown),
        tuple(values.tolist()),
        label_of,
        used % len(values),
    )


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
        require_memory(2 * path.stat().st_size, f"reading {path}")
        with open(path, encoding="utf-8-sig") as file:
            return _encode(_lines(file, path), f"{path}:", FileError)
    except UnicodeDecodeError:
        raise FileError(f"{path}: not a text file; expected one episode per line, such as [[[], 0.0]]") from None
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None


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


class _Codes:
    """Numbers for symbols, labels and rewards, in the order in which they are met."""

    def __init__(self) -> None:
        self.labels: dict[Label, int] = {}
        self.rewards: dict[float, int] = {}
        self._alike: dict[float, float] = {}  # the first of the rewards that are read as one
        self.symbols: dict[tuple[int, int], int] = {}
        self._known: dict[tuple[Any, ...], int] = {}

    def symbol(self, step: Any) -> int:
        """Return the number of a step; a ValueError says what is wrong with it."""
        try:  # asking for forgiveness: this is most of the time that reading takes
            given, reward = step
            key = (given if type(given) is frozenset else tuple(given), reward, type(given), type(reward))
            known = self._known.get(key)
        except (TypeError, ValueError):
            raise ValueError(_what_is_wrong(step)) from None
        if known is None:
            label, number = (
                _checked_label(given if isinstance(given, str | bytes | Mapping) else key[0]),
                _checked_reward(reward),
            )
            number = self._alike.setdefault(reward_key(number), number)
            pair = (self.labels.setdefault(label, len(self.labels)), self.rewards.setdefault(number, len(self.rewards)))
            self._known[key] = known = self.symbols.setdefault(pair, len(self.symbols))
        return known


def _what_is_wrong(step: Any) -> str:
    """Say why a step is not a pair of a label and a reward that can be looked up."""
    if isinstance(step, str | bytes) or not isinstance(step, Sequence) or len(step) != 2:
        return f'{_shown(step)}; expected a pair of a label and a reward, such as [["item"], 0.0]'
    try:
        _checked_label(step[0])
        _checked_reward(step[1])
    except ValueError as error:
        return str(error)
    return f"{_shown(step)}; expected a pair of a label and a reward"


def _checked_label(label: Any) -> Label:
    if isinstance(label, str | bytes | Mapping) or not isinstance(label, Iterable):
        raise ValueError(f'the label {_shown(label)}; expected a list of proposition names, such as ["item"] or []')
    names = list(label)
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"the label {_shown(label)}, in which {_shown(name)} is no proposition name")
    return frozenset(names)


def _checked_reward(reward: Any) -> float:
    number = reward.item() if isinstance(reward, np.generic) else reward
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise ValueError(f"the reward {_shown(reward)}; expected a finite number")
    if abs(number) > LARGEST:
        raise ValueError(f"the reward {_shown(reward)}; expected a number between -{LARGEST:g} and {LARGEST:g}")
    return float(number) + 0.0  # -0.0 is 0.0


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _encode(episodes: Iterable[tuple[int, Any]], source: str, kind: type[PraemiaError]) -> Traces:
    """Number what occurs in episodes, each with its number; a mistake is shown with that number."""
    codes = _Codes()
    weights: dict[tuple[int, ...], int] = {}
    firsts: list[int] = []
    for number, episode in episodes:
        key = _encoded(episode, codes, f"{source}{number}", kind)
        if key not in weights:
            weights[key] = 0
            firsts.append(number)
        weights[key] += 1
    if not weights:
        where = source.rstrip(":") if source.endswith(":") else "traces"
        raise kind(f"{where}: no episode; expected at least one")
    return _as_arrays(weights, firsts, codes, source)


def _encoded(episode: Any, codes: _Codes, where: str, kind: type[PraemiaError]) -> tuple[int, ...]:
    if isinstance(episode, str | bytes | dict) or not isinstance(episode, Iterable):
        raise kind(f"{where}: {_shown(episode)}; expected an episode, a list of steps [label, reward]")
    symbols = []
    for step_number, step in enumerate(episode, 1):
        try:
            symbols.append(codes.symbol(step))
        except ValueError as error:
            raise kind(f"{where}: step {step_number}: {error}") from None
    if not symbols:
        raise kind(f"{where}: an episode without steps; leave it out")
    if len(codes.rewards) > MAX_REWARDS:
        raise kind(
            f"{where}: more than {MAX_REWARDS:,} different rewards so far; machines are told apart by rewards that "
            "occur again and again, so round them first"
        )
    return tuple(symbols)


def _as_arrays(weights: dict[tuple[int, ...], int], firsts: list[int], codes: _Codes, source: str) -> Traces:
    lengths = np.array([len(key) for key in weights], dtype=np.int64)
    longest = int(lengths.max())
    try:
        require_memory(BYTES_PER_STEP * len(lengths) * longest, f"{len(lengths):,} episodes of up to {longest:,} steps")
    except SizeError as error:
        raise SizeError(f"{error}; infer from fewer or shorter episodes") from None
    symbols = np.full((len(lengths), longest), -1, dtype=np.int32)
    for row, key in enumerate(weights):
        symbols[row, : len(key)] = key
    labels = sorted(codes.labels, key=lambda label: (len(label), sorted(label)))
    rewards = sorted(codes.rewards)
    ranked = sorted(
        ((labels.index(label), rewards.index(reward)), codes.symbols[pair])
        for label, i in codes.labels.items()
        for reward, j in codes.rewards.items()
        if (pair := (i, j)) in codes.symbols
    )
    renumbered = np.empty(len(ranked) + 1, dtype=np.int32)
    renumbered[[old for _, old in ranked]] = np.arange(len(ranked))
    renumbered[-1] = AFTER
    pairs = np.array([pair for pair, _ in ranked], dtype=np.int64)
    return Traces(
        renumbered[symbols],
        lengths,
        np.array(list(weights.values()), dtype=np.int64),
        np.array(firsts, dtype=np.int64),
        tuple(labels),
        tuple(rewards),
        pairs[:, 0],
        pairs[:, 1],
        source,
    )
