"""Traces: episodes of (label, reward), as arrays.

Equal episodes are kept once, with a weight. Rewards that agree in twelve digits, such as 0.3 and 0.1 + 0.2, are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia.machines.labels import Label, format_label

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Steps: TypeAlias = Iterable[Sequence[Any]]  # of one episode, each a label and a reward


@dataclass(frozen=True, eq=False)
class Traces:
    """Episodes as arrays. A *symbol* is a pair of a label and a reward that occurs.

    Attributes
    ----------
    symbols : int32[N, L], the steps of the N distinct episodes, −1 after the end; lengths : int64[N].
    weights : int64[N], how often each occurred; firsts : the number of the first such episode, from 1.
    labels, rewards : those that occur; label_of, reward_of : int64[S], the numbers of a symbol's label and reward.
    source : what comes before an episode's number in messages, such as ``traces.jsonl:``.
    """

    symbols: NDArray[np.int32]
    lengths: Ints
    weights: Ints
    firsts: Ints
    labels: tuple[Label, ...]
    rewards: tuple[float, ...]
    label_of: Ints
    reward_of: Ints
    source: str = "episode "

    @property
    def num_episodes(self) -> int:
        return int(self.weights.sum())

    @property
    def num_steps(self) -> int:
        return int(self.weights @ self.lengths)

    @property
    def num_symbols(self) -> int:
        return len(self.label_of)

    @cached_property
    def propositions(self) -> tuple[str, ...]:
        return tuple(sorted(frozenset().union(*self.labels)))

    @cached_property
    def histories(self) -> Ints:
        """int64[N, L], a number for the steps before each step, equal where these are; −1 after the end."""
        return number_histories(self.symbols)

    @cached_property
    def symbol_counts(self) -> Ints:
        """int64[S], how often each symbol occurs."""
        inside = np.arange(self.symbols.shape[1]) < self.lengths[:, None]
        weights = np.broadcast_to(self.weights[:, None], inside.shape)[inside]
        return np.bincount(self.symbols[inside], weights, self.num_symbols).astype(np.int64)

    @cached_property
    def base_rates(self) -> Floats:
        """float64[labels, R], how often each reward came with each label over all traces; no entry is 0."""
        table = np.full((len(self.labels), len(self.rewards)), 0.5 / len(self.rewards))
        np.add.at(table, (self.label_of, self.reward_of), self.symbol_counts)
        rates: Floats = table / table.sum(axis=1, keepdims=True)
        return rates

    def label_totals(self, counts: Floats) -> Floats:
        """Return float64[M, S], how often the label of each symbol came in each state, from counts [M, S]."""
        totals = np.zeros((len(counts), len(self.labels)))
        np.add.at(totals.T, self.label_of, counts.T)
        return totals[:, self.label_of]

    def probabilities(self, counts: Floats) -> Floats:
        """Estimate [M, S], the probability of each reward on its label; with little data, that of all states."""
        base = self.base_rates[self.label_of, self.reward_of]
        estimate: Floats = (counts + base) / (self.label_totals(counts) + 1.0)
        return estimate

    def cells(self, counts: Floats) -> Floats:
        """Arrange counts [M, S] of symbols as cells [M · labels, R]: the rewards of a label in a state."""
        table = np.zeros((len(counts), len(self.labels), len(self.rewards)))
        table[:, self.label_of, self.reward_of] = counts
        return table.reshape(-1, len(self.rewards))

    def where(self, row: int) -> str:
        """Name a distinct episode in a message."""
        return f"{self.source}{self.firsts[row]}"

    def split(self, share: float, rng: np.random.Generator) -> tuple[Traces, Traces]:
        """Return two parts of the episodes at random, the second of about a share of them."""
        out = rng.binomial(self.weights, share)
        return self._weighted(self.weights - out), self._weighted(out)

    def _weighted(self, weights: Ints) -> Traces:
        """Return the distinct episodes with other weights, without those of weight 0."""
        kept = weights > 0
        lengths = self.lengths[kept]
        symbols = self.symbols[kept][:, : lengths.max(initial=0)]
        return replace(self, symbols=symbols, lengths=lengths, weights=weights[kept], firsts=self.firsts[kept])

    def without(self, left_out: Ints) -> Traces:
        """Return the episodes without the steps of some symbols, whose numbers stay; equal episodes become one."""
        symbols = keep_steps(self.symbols, ~np.isin(self.symbols, left_out))
        rows, first, inverse = np.unique(symbols, axis=0, return_index=True, return_inverse=True)
        weights = np.bincount(inverse.ravel(), self.weights).astype(np.int64)
        lengths = (rows >= 0).sum(axis=1)
        return replace(self, symbols=rows, lengths=lengths, weights=weights, firsts=self.firsts[first])

    def summary(self) -> dict[str, Any]:
        """Return what is in the traces as plain data."""
        by_label = np.bincount(self.label_of, self.symbol_counts, len(self.labels)).astype(int)
        by_reward = np.bincount(self.reward_of, self.symbol_counts, len(self.rewards)).astype(int)
        order = np.argsort(-by_label, kind="stable")
        return {
            "episodes": self.num_episodes,
            "distinct_episodes": len(self.weights),
            "steps": self.num_steps,
            "shortest": int(self.lengths.min()),
            "longest": int(self.lengths.max()),
            "propositions": list(self.propositions),
            "labels": [{"label": sorted(self.labels[i]), "steps": int(by_label[i])} for i in order],
            "rewards": [{"reward": reward, "steps": int(n)} for reward, n in zip(self.rewards, by_reward, strict=True)],
        }


def keep_steps(symbols: NDArray[np.int32], kept: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Return the steps [N, L] that are kept, moved together; −1 after the last of them."""
    kept = kept & (symbols >= 0)
    order = np.argsort(~kept, axis=1, kind="stable")[:, : kept.sum(axis=1).max(initial=0)]
    return np.take_along_axis(np.where(kept, symbols, -1), order, axis=1)


def number_histories(symbols: NDArray[np.int32]) -> Ints:
    """Return int64[N, L], a number for the steps before each step, equal where these are; −1 after the end."""
    numbers = np.full(symbols.shape, -1, dtype=np.int64)
    rows, history = np.arange(len(symbols)), np.zeros(len(symbols), dtype=np.int64)
    num_symbols, first = int(symbols.max(initial=0)) + 1, 0
    for step in range(symbols.shape[1]):
        inside = symbols[rows, step] >= 0
        rows, history = rows[inside], history[inside]
        numbers[rows, step] = history + first
        first += int(history.max(initial=-1)) + 1
        _, history = np.unique(history * num_symbols + symbols[rows, step], return_inverse=True)
    return numbers


def reward_key(reward: float) -> float:
    """Return a number that rewards which differ by no more than the noise of arithmetic share: twelve digits."""
    return float(f"{reward:.12g}")


def label_text(label: Label) -> str:
    """Write a label for a message: nothing is ``nothing``."""
    return format_label(label) if label else "nothing"
