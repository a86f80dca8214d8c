"""Labelled MDPs: observations, actions, sparse transition probabilities p(o'|o, a) and a label on every transition.

They are stored by rows. Row ``o * num_actions + a`` holds the successors of the pair (o, a):

    indptr[row] : indptr[row + 1]  ->  targets (increasing), probs (positive, summing to 1), labels (indices)

A target is the next observation o', or O + o' where the episode ends in it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia._support.limits import require_memory
from praemia._support.text_tables import plural
from praemia.errors import ModelError, require_distinct
from praemia.machines.labels import Label, Labelling, Labels, as_labelling
from praemia.tasks.mdp_input import (
    ROW_TOLERANCE,
    Start,
    as_numbers,
    require_rules,
    require_sizes,
    start_probs_of,
    transition_columns,
)
from praemia.tasks.picture import Map

Names: TypeAlias = Sequence[str] | None


@dataclass(frozen=True, eq=False)
class LabeledMDP:
    """A labelled Markov decision process, immutable and validated. Create one with a ``from_…`` method.

    Attributes
    ----------
    indptr : int64[O·A + 1]; targets : int32[N]; probs : float64[N]; labels : int32[N] — the transitions.
    successors : int32[N], o' of each transition; ends : bool[N], whether it ends the episode. The machine moves on it,
        and on nothing after it.
    label_sets : the labels that occur, by index.
    start_probs : float64[O], the distribution of the first observation.
    labelling : the label of every transition, including those with probability 0.
    map : the positions of observations in pictures; None if unknown.

    Examples
    --------
    >>> import praemia
    >>> rows = {(0, 0): {0: 0.5, 1: 0.5}, (1, 0): {1: 1.0}}  # rows[o, a] = {o': probability}
    >>> mdp = praemia.LabeledMDP.from_rows(2, 1, rows, labels=[praemia.LabelRule("there", target=1)], start=0)
    >>> mdp.to_dense()[0, 0].tolist()
    [0.5, 0.5]
    """

    num_observations: int
    num_actions: int
    indptr: NDArray[np.int64]
    targets: NDArray[np.int32]
    probs: NDArray[np.float64]
    start_probs: NDArray[np.float64]
    labelling: Labelling
    observation_names: tuple[str, ...] | None = None
    action_names: tuple[str, ...] | None = None
    map: Map | None = None
    successors: NDArray[np.int32] = field(init=False)
    ends: NDArray[np.bool_] = field(init=False)
    labels: NDArray[np.int32] = field(init=False)
    label_sets: tuple[Label, ...] = field(init=False)

    def __post_init__(self) -> None:
        size = np.int32(self.num_observations)
        self.__dict__.update(successors=self.targets % size, ends=self.targets >= size)
        self._validate_rows()
        self._validate_names("observation", self.observation_names, self.num_observations)
        self._validate_names("action", self.action_names, self.num_actions)
        require_rules(self.labelling, self.num_observations, self.num_actions)
        steps = (*np.divmod(self.edge_pairs, self.num_actions), self.successors.astype(np.int64))
        numbers, sets = self.labelling.of(*steps)
        used, compact = np.unique(numbers, return_inverse=True)
        self.__dict__.update(labels=compact.astype(np.int32), label_sets=tuple(sets[i] for i in used))
        for array in filter(lambda part: isinstance(part, np.ndarray), vars(self).values()):
            array.setflags(write=False)

    def _validate_rows(self) -> None:
        is_empty = np.diff(self.indptr) == 0
        if is_empty.any():
            raise ModelError(f"{self.describe(int(np.argmax(is_empty)))} has no successors; every pair needs a row")
        sums = np.add.reduceat(self.probs, self.indptr[:-1])
        off = ~(np.abs(sums - 1.0) <= ROW_TOLERANCE)
        if off.any():
            row = int(np.argmax(off))
            raise ModelError(f"{self.describe(row)}: probabilities sum to {sums[row]:.12g}; they must sum to 1")

    def _validate_names(self, kind: str, names: tuple[str, ...] | None, expected: int) -> None:
        if names is None:
            return
        if len(names) != expected:
            raise ModelError(f"{len(names)} {kind} names for {expected} {kind}s")
        require_distinct(kind, names)

    @cached_property
    def edge_pairs(self) -> NDArray[np.int64]:
        """int64[N], the pair o·A + a of each edge."""
        return np.repeat(np.arange(self.num_pairs), np.diff(self.indptr))

    def __repr__(self) -> str:
        sizes = {"observation": self.num_observations, "action": self.num_actions, "edge": len(self.probs)}
        return f"LabeledMDP({', '.join(plural(size, what) for what, size in sizes.items())})"

    @property
    def can_end(self) -> bool:
        """Whether some transition ends an episode."""
        return bool(self.ends.any())

    @property
    def num_pairs(self) -> int:
        return self.num_observations * self.num_actions

    def observation_name(self, o: int) -> str:
        return self.observation_names[o] if self.observation_names else str(o)

    def action_name(self, a: int) -> str:
        return self.action_names[a] if self.action_names else str(a)

    @property
    def arrival_labels(self) -> list[Label]:
        """For each observation the propositions that are true whenever it is reached from another one."""
        labels: dict[int, Label] = {}
        steps = np.stack((self.successors, self.labels), axis=1)[self.edge_pairs // self.num_actions != self.successors]
        for o, number in np.unique(steps, axis=0).tolist():
            labels[o] = labels.get(o, self.label_sets[number]) & self.label_sets[number]
        return [labels.get(o, Label()) for o in range(self.num_observations)]

    def describe(self, pair: int) -> str:
        """Return a pair o · A + a as text, for messages."""
        o, a = divmod(pair, self.num_actions)
        return f"observation {self.observation_name(o)}, action {self.action_name(a)}"

    @classmethod
    def from_dense(
        cls, transition_probs: ArrayLike, labels: Labels = (), start: Start = 0, **others: Any
    ) -> LabeledMDP:
        """Make an MDP from an array of shape [O, A, O]: transition_probs[o, a, o'] = p(o'|o, a).

        The other arguments, such as the names ``observations`` and ``actions``, are those of ``from_entries``.
        """
        dense = as_numbers(transition_probs, "transition_probs")
        if dense.ndim != 3 or dense.shape[0] != dense.shape[2]:
            raise ModelError(f"transition_probs has shape {dense.shape}; expected (O, A, O)")
        (num_observations, num_actions, _), (o, a, z) = dense.shape, np.nonzero(dense)
        return cls.from_entries(num_observations, num_actions, o, a, z, dense[o, a, z], labels, start, **others)

    @classmethod
    def from_sparse(cls, matrices: Sequence[Any], labels: Labels = (), start: Start = 0, **others: Any) -> LabeledMDP:
        """Make an MDP from one SciPy sparse matrix [O, O] for each action, rows = observations."""
        from scipy.sparse import coo_array

        coos = [coo_array(matrix) for matrix in matrices]
        shapes = {coo.shape for coo in coos}
        if len(shapes) != 1 or len(shape := shapes.pop()) != 2 or shape[0] != shape[1]:
            raise ModelError("matrices must be one or more square sparse matrices of one shape, one per action")
        columns = zip(*((*coo.coords, coo.data) for coo in coos), strict=True)
        o, z, probs = map(np.concatenate, columns)
        a = np.repeat(np.arange(len(coos)), [coo.nnz for coo in coos])
        return cls.from_entries(shape[0], len(coos), o, a, z, probs, labels, start, **others)

    @classmethod
    def from_rows(
        cls,
        num_observations: int,
        num_actions: int,
        rows: Mapping[tuple[int, int], Mapping[int, float]],
        labels: Labels = (),
        start: Start = 0,
        **others: Any,
    ) -> LabeledMDP:
        """Make an MDP from rows: rows[o, a] = {o': p(o'|o, a)}."""
        entries = [(o, a, z, p) for (o, a), row in rows.items() for z, p in row.items()]
        o, a, z, probs = map(np.array, zip(*entries, strict=True)) if entries else [np.zeros(0)] * 4
        return cls.from_entries(num_observations, num_actions, o, a, z, probs, labels, start, **others)

    @classmethod
    def from_entries(
        cls,
        num_observations: int,
        num_actions: int,
        o: ArrayLike,
        a: ArrayLike,
        z: ArrayLike,
        probs: ArrayLike,
        labels: Labels = (),
        start: Start = 0,
        *,
        ends: ArrayLike = False,
        observations: Names = None,
        actions: Names = None,
    ) -> Self:
        """Make an MDP from the arrays of a list of transitions; entries of one transition are added up.

        ``ends`` is a boolean for each entry, or for all: whether the transition ends the episode.
        """
        from scipy.sparse import coo_array

        require_sizes(num_observations, num_actions)
        o, a, z, probs = transition_columns(num_observations, num_actions, o, a, z, probs)
        over = np.asarray(ends, dtype=bool)
        if over.shape not in ((), z.shape):
            raise ModelError(f"ends have the shape {over.shape}; expected one value, or {len(z)}, one for each entry")
        shape = (num_observations * num_actions, 2 * num_observations)
        kernel = coo_array((probs, (o * num_actions + a, z + num_observations * over)), shape=shape).tocsr()
        kernel.sum_duplicates()
        kernel.eliminate_zeros()
        return cls(
            num_observations=num_observations,
            num_actions=num_actions,
            indptr=kernel.indptr.astype(np.int64),
            targets=kernel.indices.astype(np.int32),
            probs=kernel.data,
            start_probs=start_probs_of(start, num_observations),
            labelling=as_labelling(labels),
            observation_names=None if observations is None else tuple(observations),
            action_names=None if actions is None else tuple(actions),
        )

    def has_transitions_of(self, other: LabeledMDP) -> bool:
        """Return whether another MDP has the same observations, actions, transitions and start, whatever its labels."""
        arrays = ("indptr", "targets", "probs", "start_probs")
        names = (self.observation_names, self.action_names) == (other.observation_names, other.action_names)
        return names and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)

    def with_map(self, map: Map) -> Self:
        """Return the same MDP with a map to plot it by."""
        other = copy.copy(self)
        other.__dict__["map"] = map
        return other

    def to_dense(self) -> NDArray[np.float64]:
        """Return p as an array [O, A, O]; transitions that end an episode are among them."""
        shape = (self.num_observations, self.num_actions, self.num_observations)
        require_memory(8 * shape[0] * shape[1] * shape[2], "the dense transition probabilities")
        dense: NDArray[np.float64] = self._sparse().toarray()
        return dense.reshape(shape)

    def to_sparse(self) -> list[Any]:
        """Return p as one SciPy sparse array [O, O] for each action."""
        rows = self._sparse()
        return [rows[a :: self.num_actions] for a in range(self.num_actions)]

    def _sparse(self) -> Any:
        """Return p as a SciPy sparse array [O·A, O], whether or not the episode ends."""
        from scipy.sparse import csr_array

        shape = (self.num_pairs, self.num_observations)
        rows = csr_array((self.probs, self.successors, self.indptr), shape=shape, copy=True)
        rows.sum_duplicates()  # o' with and without an end
        return rows
