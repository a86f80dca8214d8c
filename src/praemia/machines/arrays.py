"""A machine as dense arrays over all labels, to step many copies at once in NumPy, torch or JAX.

Only here are there 2^P labels for P propositions: everything else works on decision diagrams. So P is limited.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.errors import ModelError, ParameterError, SizeError
from praemia.machines.diagrams import LEAF
from praemia.machines.labels import distinct_names
from praemia.machines.machine import RewardMachine
from praemia.machines.state_diagrams import StateDiagrams

MAX_PROPOSITIONS = 16
MAX_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class DenseMachine:
    """A machine as arrays over M states, 2^P labels and at most K outcomes; ``machine.to_arrays`` makes it.

    A label is an integer: bit i is 1 if ``propositions[i]`` is true.

    Attributes
    ----------
    propositions, states : in the order of their indices.
    initial : the index of the initial state.
    targets : int64[M, 2^P, K], the next states.
    probs : float64[M, 2^P, K], their probabilities; outcomes beyond those of a label have probability 0.
    rewards : float64[M, 2^P, K], the mean reward of each outcome.
    done : bool[M], states from which every further reward is 0 (or the idle reward), whatever the labels.

    Examples
    --------
    >>> import numpy as np
    >>> import praemia
    >>> machine = praemia.RewardMachine.from_ltlf("F(item & X F delivery)")
    >>> arrays = machine.to_arrays(["item", "delivery"])
    >>> arrays.next.tolist()  # on the labels {}, {item}, {delivery}, {item, delivery}
    [[0, 1, 0, 1], [1, 1, 2, 2], [2, 2, 2, 2]]
    >>> states, rewards = arrays.step([0, 1, 1], [0b01, 0b01, 0b10], np.random.default_rng(0))
    >>> states.tolist(), rewards.tolist()
    ([1, 1, 2], [0.0, 0.0, 1.0])
    """

    propositions: tuple[str, ...]
    states: tuple[str, ...]
    initial: int
    targets: NDArray[np.int64]
    probs: NDArray[np.float64]
    rewards: NDArray[np.float64]
    done: NDArray[np.bool_]

    @property
    def next(self) -> NDArray[np.int64]:
        """The next state, int64[M, 2^P], of a deterministic machine."""
        if self.probs.shape[2] > 1:
            raise ModelError("the machine is not deterministic: use targets and probs, or step, in place of next")
        return self.targets[:, :, 0]

    @cached_property
    def reward(self) -> NDArray[np.float64]:
        """The expected reward, float64[M, 2^P]."""
        total = np.zeros(self.probs.shape[:2])
        for k in range(self.probs.shape[2]):
            total += self.probs[:, :, k] * self.rewards[:, :, k]
        return total

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        return np.cumsum(self.probs, axis=2)

    def step(
        self, states: ArrayLike, labels: ArrayLike, rng: np.random.Generator | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Step a batch of copies: return the next states and the mean rewards of the sampled outcomes.

        Parameters
        ----------
        states, labels : integers of one shape, or of shapes that broadcast.
        rng : samples the outcomes; a deterministic machine needs none.
        """
        m, label = np.broadcast_arrays(np.asarray(states), np.asarray(labels))
        for name, values, size in (("states", m, len(self.states)), ("labels", label, 1 << len(self.propositions))):
            if values.dtype.kind not in "iu" or (values.size and not 0 <= values.min() <= values.max() < size):
                raise ParameterError(f"{name} are not all integers from 0 to {size - 1:,}")
        outcome = np.zeros(m.shape, dtype=np.int64)
        if self.probs.shape[2] > 1:
            if rng is None:
                raise ParameterError("the machine is not deterministic: give rng=np.random.default_rng(seed)")
            sums = self._sums[m, label]
            outcome = np.sum(sums <= (rng.random(m.shape) * sums[..., -1])[..., None], axis=-1)
        return self.targets[m, label, outcome], self.rewards[m, label, outcome]


def dense(machine: RewardMachine, propositions: Iterable[str]) -> DenseMachine:
    """Return a machine as arrays over the labels of some propositions, which include all of the machine's."""
    names = distinct_names("proposition", propositions)
    values = machine.diagrams.values()
    most = max(map(len, values))
    _require_small(machine, names, most)
    # One row for each tuple of outcomes; its last outcomes have probability 0 and stay where the first leads.
    rows = [[(machine.index[out.target], out.probability, out.reward.mean) for out in outs] for outs in values]
    padded = np.array([row + [(row[0][0], 0.0, 0.0)] * (most - len(row)) for row in rows])
    row_of = np.zeros(len(machine.diagrams), dtype=np.int32)
    row_of[machine.diagrams.leaves()] = np.arange(len(values))
    at = _at_leaves(machine.diagrams, names, row_of)
    targets = padded[:, :, 0].astype(np.int64)[at]
    probs, rewards = padded[:, :, 1][at], padded[:, :, 2][at]
    done = np.zeros(machine.num_states, dtype=bool)
    done[list(machine.terminal_states)] = True
    arrays = (targets, probs, rewards, done)
    for array in arrays:
        array.flags.writeable = False
    return DenseMachine(names, machine.states, machine.index[machine.initial], *arrays)


def _require_small(machine: RewardMachine, names: tuple[str, ...], most: int) -> None:
    """Refuse lists of propositions that are not complete, or for which arrays of ``most`` outcomes are too large."""
    for name in sorted(machine.reads):
        if name not in names:
            raise ModelError(f"the machine reads the proposition {name!r}, which is not listed; add it")
    if len(names) > MAX_PROPOSITIONS:
        raise SizeError(
            f"arrays over {len(names)} propositions, with 2^{len(names)} labels; at most {MAX_PROPOSITIONS} are "
            "possible: leave out those that the machine does not need, or use machine.outcomes"
        )
    size = machine.num_states << len(names)
    if 24 * size * most > MAX_BYTES:
        raise SizeError(
            f"arrays of {machine.num_states:,} states, {1 << len(names):,} labels and {most} outcomes need "
            f"{24 * size * most / MAX_BYTES:.1f} GiB; the limit is 1 GiB: list fewer propositions, "
            "or use machine.outcomes"
        )


def _at_leaves(diagrams: StateDiagrams, names: tuple[str, ...], values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return a value of the leaf of each state on each label, int32[M, 2^P], given one for each diagram."""
    store = diagrams.store
    variable, itself = np.array(store.variable), np.arange(len(store))
    is_leaf = variable == LEAF
    low, high = (np.where(is_leaf, itself, children) for children in (store.low, store.high))
    bit_of = np.array([names.index(name) if name in names else 0 for name in diagrams.variables] or [0])
    shift = bit_of[np.where(is_leaf, 0, variable)]
    labels = np.arange(1 << len(names))
    found = np.empty((diagrams.num_states, len(labels)), dtype=np.int32)
    for state, root in enumerate(diagrams.roots):
        at = np.full(len(labels), root)
        while not is_leaf[at].all():
            at = np.where(labels >> shift[at] & 1, high[at], low[at])
        found[state] = values[at]
    return found
