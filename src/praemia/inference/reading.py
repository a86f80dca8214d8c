"""Read traces: from Python or from a file with one episode per line, every step checked.

A line is ``[[["item"], 0.0], [[], 1.0], …]``: for each step the propositions of its label, and what it paid. A mistake
is shown with its episode or line.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import FileError, ModelError, PraemiaError, SizeError
from praemia.files.atomic_io import open_to_read
from praemia.inference.traces import Floats, Ints, Steps, Traces, reward_key
from praemia.limits import require_memory
from praemia.machines.labels import Label
from praemia.machines.rewards import LARGEST

MAX_REWARDS = 1_000  # distinct ones; more are a sign of rewards drawn from an interval
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


def traces_from_arrays(labels: Ints, rewards: Floats, label_sets: Sequence[Label]) -> Traces:
    """Turn episodes, as label numbers and rewards [N, H], into traces; the label of a step after the end is −1."""
    values, reward_of = np.unique(rewards, return_inverse=True)
    alike: dict[float, int] = {}
    reward_of = np.array([alike.setdefault(reward_key(value), i) for i, value in enumerate(values)])[reward_of]
    codes = np.where(labels < 0, AFTER, labels * len(values) + reward_of.reshape(labels.shape))
    rows, firsts, weights = np.unique(codes, axis=0, return_index=True, return_counts=True)
    return _traces(rows, weights, firsts + 1, label_sets, values.tolist())


def _traces(
    codes: Ints,
    weights: Ints,
    firsts: Ints,
    labels: Sequence[Label],
    rewards: Sequence[float],
    source: str = "episode ",
) -> Traces:
    """Number the symbols of distinct episodes, given as label · R + reward of each step [N, L], or ``AFTER``."""
    number_of = np.full(len(labels) * len(rewards) + 1, AFTER, dtype=np.int32)  # the last place is that of AFTER
    is_used = np.zeros(len(number_of), dtype=bool)
    is_used[codes] = True
    used = np.flatnonzero(is_used[:-1])
    number_of[used] = np.arange(len(used))
    label_numbers, label_of = np.unique(used // len(rewards), return_inverse=True)
    return Traces(
        symbols=number_of[codes],
        lengths=np.count_nonzero(codes != AFTER, axis=1).astype(np.int64),
        weights=weights.astype(np.int64),
        firsts=firsts.astype(np.int64),
        labels=tuple(labels[number] for number in label_numbers),
        rewards=tuple(rewards),
        label_of=label_of,
        reward_of=used % len(rewards),
        source=source,
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
        """Return the number of a step; a ValueError says what is wrong with it."""
        try:  # asking for forgiveness: this is most of the time that reading takes
            raw_label, reward = step
        except (TypeError, ValueError):
            raise ValueError(
                f'{_short_repr(step)}; expected a pair of a label and a reward, such as [["item"], 0.0]'
            ) from None
        names, number = raw_label, None
        try:
            names = raw_label if type(raw_label) is frozenset else tuple(raw_label)
            key: tuple[Any, ...] = (names, reward, type(raw_label), type(reward))
            number = self._steps.get(key)
        except TypeError:  # what is no list of names or no number: the checks say so
            key = ()
        if number is None:
            label = _checked_label(raw_label if isinstance(raw_label, str | bytes | Mapping) else names)
            paid = _checked_reward(reward)
            pair = (label, self.rewards.setdefault(reward_key(paid), paid))
            self._steps[key] = number = self.numbers.setdefault(pair, len(self.numbers))
        return number


def _checked_label(label: Any) -> Label:
    if isinstance(label, str | bytes | Mapping) or not isinstance(label, Iterable):
        raise ValueError(
            f'the label {_short_repr(label)}; expected a list of proposition names, such as ["item"] or []'
        )
    names = list(label)
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"the label {_short_repr(label)}, in which {_short_repr(name)} is no proposition name")
    return frozenset(names)


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
    symbols_of = _padded(list(weights))
    labels = sorted({label for label, _ in symbols.numbers}, key=lambda label: (len(label), sorted(label)))
    rewards = sorted(symbols.rewards.values())
    code_of = [labels.index(label) * len(rewards) + rewards.index(reward) for label, reward in symbols.numbers]
    codes = np.array([*code_of, AFTER])[symbols_of]
    return _traces(codes, np.array(list(weights.values())), np.array(firsts), labels, rewards, source)


def _padded(episodes: list[tuple[int, ...]]) -> NDArray[np.int32]:
    """Lay episodes of numbers out as an array, with ``AFTER`` after the end of each."""
    longest = max(map(len, episodes))
    try:
        require_memory(
            BYTES_PER_STEP * len(episodes) * longest, f"{len(episodes):,} episodes of up to {longest:,} steps"
        )
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
            f"{where}: more than {MAX_REWARDS:,} different rewards so far; machines are told apart by rewards that "
            "occur again and again, so round them first"
        )
    return tuple(numbers)
