"""A machine as tables over indexed labels, to sample from and to fill continuation rows with.

``praemia.kernels`` says what continuation rows are, ``praemia.kernels.rows`` how they are filled.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.kernels.records import NUM_EXITS, REWARD, LayerArrays, Records, rows_of
from praemia.machines.labels import Label
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import RewardPiece

# A layer in which every machine state has its own target takes about so many times as long as one with a common target.
COST_OF_OWN_TARGETS = 3


@dataclass(frozen=True, eq=False)
class MachineTable:
    """A machine's τ and ν on numbered labels, sparse. Row ``label * num_states + state`` holds its edges.

    Attributes
    ----------
    indptr : int64[L·M + 1]; targets : int32[E]; probs, rewards : float64[E] (mean rewards) — the edges.
    law_indptr : int64[E + 1]; laws : REWARD[·] — the pieces of each edge's reward distribution.
    has_no_effect : bool[L] — labels that move no machine state and have reward 0.
    """

    num_states: int
    initial: int
    indptr: NDArray[np.int64]
    targets: NDArray[np.int32]
    probs: NDArray[np.float64]
    rewards: NDArray[np.float64]
    law_indptr: NDArray[np.int64]
    laws: Records
    has_no_effect: NDArray[np.bool_]
    _layers: dict[int, LayerArrays] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, machine: RewardMachine, label_sets: Sequence[Label]) -> MachineTable:
        """Tabulate a machine on labels, in their order; they may have propositions that it does not read."""
        machine = machine.over(frozenset().union(*label_sets))
        rows = [
            [(machine.index[out.target], out.probability, out.reward) for out in machine.outcomes(state, label)]
            for label in label_sets
            for state in machine.states
        ]
        edges = [edge for row in rows for edge in row]
        stays: NDArray[np.bool_] = np.array(
            [len(row) == 1 and row[0][0] == i % machine.num_states for i, row in enumerate(rows)]
        )
        pays = np.array([any(reward.mean != 0.0 for _, _, reward in row) for row in rows])
        shape = (len(label_sets), machine.num_states)
        law_indptr = offsets([len(reward.pieces) for _, _, reward in edges])
        return cls(
            num_states=machine.num_states,
            initial=machine.index[machine.initial],
            indptr=offsets([len(row) for row in rows]),
            targets=np.array([target for target, _, _ in edges], dtype=np.int32),
            probs=np.array([probability for _, probability, _ in edges]),
            rewards=np.array([reward.mean for _, _, reward in edges]),
            law_indptr=law_indptr,
            laws=_laws([piece for _, _, reward in edges for piece in reward.pieces], law_indptr),
            has_no_effect=np.all((stays & ~pays).reshape(shape), axis=1),
        )

    @classmethod
    def of_possible_moves(cls, num_states: int, initial: int, possible: NDArray[np.bool_]) -> MachineTable:
        """Return a table of the possible moves bool[L, M, M], equally likely and without rewards."""
        label, m, targets = np.nonzero(possible)
        lengths = possible.sum(axis=2).ravel()
        num_edges = len(targets)
        return cls(
            num_states=num_states,
            initial=initial,
            indptr=offsets(lengths),
            targets=targets.astype(np.int32),
            probs=1.0 / lengths[label * num_states + m],
            rewards=np.zeros(num_edges),
            law_indptr=np.arange(num_edges + 1, dtype=np.int64),
            laws=np.zeros(num_edges, dtype=REWARD),
            has_no_effect=np.zeros(len(possible), dtype=bool),
        )

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """int64[E], the row of each edge."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """The running sums of τ within each row, to sample from."""
        return running_sums(self.probs, self.indptr)

    @cached_property
    def _moves(self) -> list[tuple[list[float], list[tuple[int, list[float], list[tuple[float, float]]]]]]:
        """For each row the running sums of τ and the moves: the target, the running sums of ν, (value, width)."""
        pieces = list(zip(self.laws["value"].tolist(), self.laws["width"].tolist(), strict=True))
        piece_sums, ends = self.laws["sum"].tolist(), self.law_indptr.tolist()
        laws = [(piece_sums[i:j], pieces[i:j]) for i, j in pairwise(ends)]
        moves = [(target, *law) for target, law in zip(self.targets.tolist(), laws, strict=True)]
        sums = self.sums.tolist()
        return [(sums[i:j], moves[i:j]) for i, j in pairwise(self.indptr.tolist())]

    def draw(self, label: int, m: int, rng: np.random.Generator) -> tuple[int, float]:
        """Sample the next machine state from τ and the reward from ν, in machine state ``m`` on a numbered label."""
        sums, moves = self._moves[label * self.num_states + m]
        target, piece_sums, pieces = moves[bisect_right(sums, rng.random() * sums[-1])]
        r = bisect_right(piece_sums, rng.random() * piece_sums[-1]) if len(pieces) > 1 else 0
        value, width = pieces[r]
        return target, value + width * rng.random() if width > 0.0 else value

    def layers(self, width: int) -> LayerArrays:
        """τ and φ, as kernels fill continuation rows of a width with φ + W."""
        if width not in self._layers:
            edges = (self.indptr, self.targets, self.probs)
            self._layers[width] = build_layers(*edges, self.mean_rewards, width)
        return self._layers[width]

    def moves(self) -> NDArray[np.float64]:
        """Return τ as an array [L, M, M]: where each label moves each machine state."""
        probs = np.zeros((len(self.indptr) - 1, self.num_states))
        np.add.at(probs, (self.rows, self.targets), self.probs)
        return probs.reshape(-1, self.num_states, self.num_states)

    @cached_property
    def mean_rewards(self) -> NDArray[np.float64]:
        """φ as an array [L, M]: the mean reward of a step in a machine state on a label."""
        sums = np.zeros(len(self.indptr) - 1)
        np.add.at(sums, self.rows, self.probs * self.rewards)
        return sums.reshape(-1, self.num_states)


class MachineSampler:
    """Sample the steps of a machine on labels that are not known beforehand; each is tabulated when it first occurs."""

    def __init__(self, machine: RewardMachine) -> None:
        self.machine = machine
        self._tables: dict[Label, MachineTable] = {}

    def step(self, m: int, label: Label, rng: np.random.Generator) -> tuple[int, float]:
        """Sample the next machine state and the reward of a step in machine state ``m`` on a label."""
        if label not in self._tables:
            self._tables[label] = MachineTable.of(self.machine, [label])
        return self._tables[label].draw(0, m, rng)


def continuation_rows(
    labels: NDArray[np.int32], successors: NDArray[np.int32], acts: NDArray[np.bool_], num_observations: int
) -> tuple[NDArray[np.uint32], Records]:
    """Index the distinct (label, successor) of the edges whose label acts, after observations and exits.

    Any other edge continues with its successor's own row.
    """
    num_labels = int(labels.max(initial=0)) + 1
    # In the order of the successors, so that the successors of neighbours are near in memory.
    keys = successors[acts].astype(np.int64) * num_labels + labels[acts]
    distinct, numbers = np.unique(keys, return_inverse=True)
    rows = successors.astype(np.uint32)
    rows[acts] = num_observations + NUM_EXITS + numbers
    row_targets, row_labels = np.divmod(distinct, num_labels)
    return rows, rows_of(row_labels, row_targets)


def build_layers(
    indptr: NDArray[np.int64],
    targets: NDArray[np.int32],
    probs: NDArray[np.float64],
    mean_rewards: NDArray[np.float64],
    width: int,
) -> LayerArrays:
    """Lay out τ, whose row label · M + m holds the edges indptr[row] : indptr[row + 1], and φ[L, M].

    A label gets as many layers as one of its machine states has outcomes, or one for each target if that is less work.
    """
    num_labels, num_states = mean_rewards.shape
    lengths = np.diff(indptr)
    row = np.repeat(np.arange(len(lengths)), lengths)
    label, m = np.divmod(row, num_states)
    own_count = lengths.reshape(num_labels, num_states).max(axis=1)
    reached, number = np.unique(label * num_states + targets, return_inverse=True)
    common_count = np.bincount(reached // num_states, minlength=num_labels)
    shares = common_count < COST_OF_OWN_TARGETS * own_count

    starts = offsets(np.where(shares, common_count, own_count))
    place = np.where(shares[label], number - offsets(common_count)[label], np.arange(len(row)) - indptr[row])
    layer = starts[label] + place
    common = np.full(starts[-1], -1, dtype=np.int32)
    common[layer[shares[label]]] = targets[shares[label]]
    layer_targets = np.zeros(starts[-1] * width, dtype=np.uint32)
    layer_targets[layer * width + m] = targets
    layer_probs = np.zeros(starts[-1] * width)
    np.add.at(layer_probs, layer * width + m, probs)
    paid = np.pad(mean_rewards, [(0, 0), (0, width - num_states)])
    return LayerArrays(starts, common, layer_targets, layer_probs, paid.ravel())


def _laws(pieces: Sequence[RewardPiece], indptr: NDArray[np.int64]) -> Records:
    """Return the pieces of reward distributions as records to sample from."""
    laws = np.zeros(len(pieces), dtype=REWARD)
    for name in set(RewardPiece._fields) - {"probability"}:
        laws[name] = [getattr(piece, name) for piece in pieces]
    laws["sum"] = running_sums(np.array([piece.probability for piece in pieces]), indptr)
    return laws


def offsets(lengths: ArrayLike) -> NDArray[np.int64]:
    """Return where sparse rows of some lengths begin, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64)


def entries_of(rows: NDArray[np.int64], indptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of some sparse rows, row after row, and the place in ``rows`` that each belongs to."""
    lengths = np.diff(indptr)[rows]
    places = np.repeat(np.arange(len(rows)), lengths)
    return np.arange(len(places)) + (indptr[rows] - offsets(lengths)[:-1])[places], places


def running_sums(probs: NDArray[np.float64], indptr: NDArray[np.int64]) -> NDArray[np.float64]:
    """Sum probabilities up within each row."""
    sums = probs.copy()
    lengths = np.diff(indptr)
    for place in range(1, int(lengths.max(initial=0))):
        at = indptr[:-1][lengths > place] + place
        sums[at] += sums[at - 1]
    return sums
