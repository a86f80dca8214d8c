"""Explored data: counts of transitions, without any reward, and how they were collected.

p̂(o'|o, a) = N(o, a, o')/N(o, a). Each transition is stored with its label, because later machines read it; and where
the labels of all transitions are known, so are their rules. Datasets of one environment can be merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.text_tables import plural
from praemia.errors import ModelError
from praemia.exploration.dataset_file import FILE, arguments, check_counts
from praemia.files.atomic_io import read_bytes, write_whole
from praemia.machines.labels import Label, Labelling, Labels, as_labelling
from praemia.tasks.base import BaseTask, require_discount
from praemia.tasks.mdp_input import require_rules

if TYPE_CHECKING:
    from praemia.envs.black_box import BlackBox
    from praemia.tasks.task import Task

# What datasets must have in common to be merged.
_SIZES, _NAMES = ("num_observations", "num_actions", "horizon", "discount"), ("observation_names", "action_names")
KIND = (*_SIZES, *_NAMES, "encoding", "labelling")
Column: TypeAlias = NDArray[np.int64]
Part: TypeAlias = tuple[Column, Column, Column, Sequence[Label], Column]  # pairs, targets, labels, label_sets, counts


@dataclass(frozen=True, eq=False)
class Dataset:
    """Counts of the transitions of an environment.

    Attributes
    ----------
    pairs : int64[E], o · A + a; targets : int64[E], o', or O + o' where the episode was over then; labels : int64[E],
        indices into ``label_sets``; counts : int64[E], positive — the transitions seen, in order. One (o, a, o') may
        have several labels, as in a black box with ``encode``.
    first_counts : int64[O], how often an episode began in each observation.
    horizon, discount : those of the explored task, and the defaults of plans.
    labelling : the labels of all transitions, seen or not, as rules; None where only playing reveals them.
    propositions : the names that a machine may read: those of the labels, and others that the explored task declared.
    sources : how the data was collected, one entry for each part.
    can_end : whether episodes may end before the horizon, even if none in the data did.
    encoding : how a black box indexes its observations, as plain data.

    Examples
    --------
    >>> import praemia
    >>> data = praemia.explore(praemia.envs.riverswim(), num_episodes=100, seed=0)
    >>> data.num_episodes, data.num_transitions  # of 10 steps each
    (100, 1000)
    >>> data.save("river.npz")
    >>> praemia.Dataset.load("river.npz").num_episodes
    100
    """

    num_observations: int
    num_actions: int
    pairs: Column
    targets: Column
    labels: Column
    counts: Column
    label_sets: tuple[Label, ...]
    first_counts: Column
    horizon: int
    labelling: Labelling | None = None
    propositions: tuple[str, ...] = ()
    observation_names: tuple[str, ...] | None = None
    action_names: tuple[str, ...] | None = None
    sources: tuple[dict[str, Any], ...] = ()
    can_end: bool = False
    discount: float = 1.0
    encoding: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        require_discount(self.discount)
        size, num_pairs = self.num_observations, self.num_observations * self.num_actions
        lengths = {len(column) for column in (self.pairs, self.targets, self.labels, self.counts)}
        if len(lengths) != 1 or self.first_counts.shape != (size,):
            raise ModelError("a dataset whose arrays have inconsistent sizes")
        if self.first_counts.min() < 0 or self.horizon < 1 or self.num_episodes < 1:
            raise ModelError(
                f"a dataset of {self.num_episodes} episodes of {self.horizon} steps; expected at least one of each"
            )
        if len(self.pairs) and (
            self.pairs.min() < 0
            or self.pairs.max() >= num_pairs
            or self.targets.min() < 0
            or self.targets.max() >= 2 * size
            or self.labels.min() < 0
            or self.labels.max() >= len(self.label_sets)
            or self.counts.min() < 1
            or np.any(np.diff((self.pairs * (2 * size) + self.targets) * len(self.label_sets) + self.labels) <= 0)
        ):
            shape = f"{size} observations and {self.num_actions} actions"
            raise ModelError(f"a dataset whose transitions are out of order or outside its {shape}")
        if self.ends.any() and not self.can_end:
            raise ModelError("a dataset with episodes that ended, which says that none can")

    @property
    def num_episodes(self) -> int:
        return int(self.first_counts.sum())

    @property
    def num_transitions(self) -> int:
        return int(self.counts.sum())

    @property
    def num_successors(self) -> int:
        """How many successors a pair may have: all observations, and the end in each where episodes may end."""
        return 2 * self.num_observations if self.can_end else self.num_observations

    @cached_property
    def successors(self) -> Column:
        """int64[E], o' of each transition seen."""
        return self.targets % self.num_observations

    @property
    def ends(self) -> NDArray[np.bool_]:
        """bool[E], whether the transition ended the episode."""
        return self.targets >= self.num_observations

    @cached_property
    def has_one_label_each(self) -> bool:
        """Whether each (o, a, o') that was seen has one label."""
        steps = self.pairs * self.num_observations + self.successors
        return len(np.unique(steps)) == len(np.unique(steps * len(self.label_sets) + self.labels))

    @property
    def seen_propositions(self) -> Label:
        """The propositions of the labels, as far as they are known."""
        rules = () if self.labelling is None else self.labelling.rules
        return frozenset().union(*self.label_sets, *(rule.propositions for rule in rules))

    @property
    def transitions(self) -> tuple[Column, Column, Column]:
        """The transitions seen as o, a, o', each int64[E]."""
        return (*np.divmod(self.pairs, self.num_actions), self.successors)

    @cached_property
    def visits(self) -> Column:
        """int64[O, A], N(o, a)."""
        flat = np.bincount(self.pairs, self.counts, self.num_observations * self.num_actions)
        return flat.astype(np.int64).reshape(self.num_observations, self.num_actions)

    @cached_property
    def probs(self) -> NDArray[np.float64]:
        """float64[E], p̂ of each transition seen."""
        return self.counts / self.visits.ravel()[self.pairs]

    @property
    def indptr(self) -> Column:
        """int64[O·A + 1]: pair i holds the entries indptr[i] : indptr[i + 1]."""
        return np.searchsorted(self.pairs, np.arange(self.visits.size + 1)).astype(np.int64)

    @cached_property
    def kernel(self) -> Any:
        """p̂ as a SciPy sparse array [O·A, 2·O]: column O + o' is the end in o'; empty rows for pairs never visited."""
        from scipy.sparse import csr_array

        shape = (self.visits.size, 2 * self.num_observations)
        return csr_array((self.probs, self.targets, self.indptr), shape=shape)

    @cached_property
    def start_probs(self) -> NDArray[np.float64]:
        """float64[O], how often episodes began in each observation."""
        return self.first_counts / self.num_episodes

    @property
    def unreached(self) -> Column:
        """The observations that were never met."""
        is_met = self.first_counts > 0
        is_met[self.successors] = True
        return np.flatnonzero(~is_met)

    def require_kind(self, other: Mapping[str, Any], seeds: Iterable[Sequence[int]]) -> None:
        """Raise an error if the other data is of another environment, or shares a seed with this data."""
        for name in KIND:
            own, found = (
                frozenset(part.rules) if isinstance(part, Labelling) else part
                for part in (getattr(self, name), other[name])
            )
            if own != found:
                what = "labels" if name == "labelling" else name.removeprefix("num_").replace("_", " ")
                both = "" if name == "labelling" else f": {own} and {found}"
                raise ModelError(f"data with different {what}{both}; only data of one environment merges")
        used = [list(source["seed"]) for source in self.sources if "seed" in source]
        for seed in seeds:
            if list(seed) in used:
                raise ModelError(
                    f"two parts explored with seed {', '.join(map(str, seed))}: they are not independent, and what "
                    "happened once would count twice; use another seed"
                )

    @classmethod
    def from_episodes(cls, episodes: Iterable[Iterable[Sequence[Any]]], task: Task | BlackBox) -> Dataset:
        """Count episodes recorded elsewhere, such as those of a log.

        Parameters
        ----------
        episodes : each a list of steps (observation, action, next observation), in the environment's own terms, from
            ``reset`` on; with the step's ``info``, where labels need it, and whether it terminated the episode.
        task : the black box or task of the episodes; it provides the labels and the indices of observations and
            actions.

        Examples
        --------
        >>> import praemia
        >>> data = praemia.Dataset.from_episodes([[(0, 1, 1), (1, 1, 2)]], praemia.envs.riverswim(3))
        >>> data.num_episodes, data.num_transitions
        (1, 2)
        """
        from praemia.exploration.counted import from_episodes

        return from_episodes(episodes, task)

    def with_labels(self, labels: Labels) -> Dataset:
        """Return the data with other labels, which are known on all transitions, seen or not.

        They are rules, a function (o, a, o') → propositions, or a dictionary from next observations to propositions.

        Examples
        --------
        >>> import praemia
        >>> data = praemia.explore(praemia.envs.riverswim(), num_episodes=100).with_labels({2: "middle"})
        >>> round(praemia.plan_from(data, praemia.RewardMachine.from_ltlf("F middle")).value, 2) > 0.5
        True
        """
        labelling = as_labelling(labels)
        require_rules(labelling, self.num_observations, self.num_actions)
        numbers, sets = labelling.of(*self.transitions)
        part = (self.pairs, self.targets, numbers.astype(np.int64), sets, self.counts)
        columns, rules = add_up(self.num_observations, [part]), labelling.tabulated(*self.visits.shape)
        return replace(self, **columns, labelling=rules, propositions=())

    def merge(self, *others: Dataset) -> Dataset:
        """Merge datasets of one environment, which must be independent: explored with different seeds."""
        merged = self
        for other in others:
            merged.require_kind(vars(other), [source["seed"] for source in other.sources if "seed" in source])
            merged = replace(
                merged,
                **add_up(self.num_observations, [merged._part, other._part]),
                can_end=merged.can_end or other.can_end,
                first_counts=merged.first_counts + other.first_counts,
                propositions=tuple(sorted({*merged.propositions, *other.propositions})),
                sources=(*merged.sources, *other.sources),
            )
        return merged

    @property
    def _part(self) -> Part:
        return self.pairs, self.targets, self.labels, self.label_sets, self.counts

    def require_sizes_of(self, task: BaseTask) -> None:
        """Raise an error if a task does not have the sizes of the data."""
        sizes = (task.num_observations, task.num_actions)
        if (self.num_observations, self.num_actions) != sizes:
            raise ModelError(
                f"data of {self.num_observations} observations and {self.num_actions} actions; {task.name!r} has "
                f"{sizes[0]} and {sizes[1]}"
            )

    def coverage(self) -> str:
        """Describe the coverage of the data in a few lines."""
        never, total = int((self.visits == 0).sum()), f"{len(self.counts):,} distinct"
        lines = [
            f"{plural(self.num_episodes, 'episode')} of {plural(self.horizon, 'step')}: "
            f"{plural(self.num_transitions, 'transition')}, {total}",
            f"pairs visited: {self.visits.size - never:,} of {self.visits.size:,}",
        ]
        if never < self.visits.size:
            positive = self.visits[self.visits > 0]
            lines.append(f"visits to a visited pair: minimum {positive.min():,}, median {int(np.median(positive)):,}")
        if len(self.unreached):
            names = ", ".join(self.observation_name(o) for o in self.unreached[:10])
            more = f" and {len(self.unreached) - 10:,} more" if len(self.unreached) > 10 else ""
            lines.append(f"observations never reached: {names}{more}")
        return "\n".join(lines)

    def observation_name(self, o: int) -> str:
        return self.observation_names[o] if self.observation_names else str(o)

    def save(self, path: str | Path) -> None:
        """Write the dataset to a file, completely or not at all."""
        write_whole(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the dataset as a file's bytes; equal datasets give equal bytes."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        rules = None if self.labelling is None else [rule.as_list() for rule in self.labelling.rules]
        return FILE.pack({**values, "rules": rules, "label_sets": [sorted(label) for label in self.label_sets]})

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read a dataset from a file; raise a FileError if it is damaged or of another kind."""
        return cls.from_bytes(read_bytes(Path(path)), str(path))

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Dataset:
        """Read a dataset from the bytes of its file; ``where`` names the place in messages."""
        with FILE.unpack(data, where) as values:
            dataset = cls(**arguments(values, where))
            check_counts(dataset)
            return dataset

    def __repr__(self) -> str:
        sizes = f"{plural(self.num_observations, 'observation')}, {plural(self.num_actions, 'action')}"
        sizes += f", horizon {self.horizon}"
        sizes += f", discount {self.discount:g}" if self.discount < 1.0 else ""
        return f"Dataset({plural(self.num_episodes, 'episode')}: {sizes})"


def add_up(num_observations: int, parts: Sequence[Part]) -> dict[str, Any]:
    """Add up the counts of equal transitions, in any order; return them as a dataset has them.

    The labels are those that occur, in the order of the transitions, after the empty one.
    """
    pairs, targets, counts = (np.concatenate([part[i] for part in parts]) for i in (0, 1, 4))
    label_sets = [label for part in parts for label in part[3]]
    firsts = accumulate((len(part[3]) for part in parts[:-1]), initial=0)
    labels = np.concatenate([part[2] + first for part, first in zip(parts, firsts, strict=True)])
    occurring, first = np.unique(labels[np.lexsort((labels, targets, pairs))], return_index=True)
    in_order = occurring[np.argsort(first, kind="stable")].tolist()
    sets = tuple(dict.fromkeys([Label(), *(label_sets[i] for i in in_order)]))
    number_of = {label: number for number, label in enumerate(sets)}
    numbers = np.array([number_of.get(label, 0) for label in label_sets], dtype=np.int64)
    keys = (pairs * (2 * num_observations) + targets) * len(sets) + numbers[labels]
    keys, places = np.unique(keys, return_inverse=True)
    added = np.zeros(len(keys), dtype=np.int64)
    np.add.at(added, places, counts)
    steps, labels = np.divmod(keys, len(sets))
    pairs, targets = np.divmod(steps, 2 * num_observations)
    return {"pairs": pairs, "targets": targets, "labels": labels, "label_sets": sets, "counts": added}
