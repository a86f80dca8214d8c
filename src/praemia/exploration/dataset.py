"""Explored data: counts of transitions, without any reward, and how they were collected.

p̂(o'|o, a) = N(o, a, o')/N(o, a). The labels are stored with the data, because later machines read them; they are data
here, never code. Datasets of one environment can be merged, and you can append episodes of your own.

A dataset may record machines that were named before its first episode; their certificates are usually tighter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.displayed import Displayed
from praemia.errors import ModelError
from praemia.exploration.counts import Counted, add_up
from praemia.exploration.estimate import Estimate
from praemia.exploration.merging import merged
from praemia.files.arrays import ArchiveKind, ArrayType, DamageError
from praemia.files.atomic_io import read_bytes, write_whole
from praemia.limits import require_memory
from praemia.machines.labels import Labelling, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.tasks.mdp_input import whole_numbers
from praemia.tasks.model import Model
from praemia.tasks.task import Task, require_discount
from praemia.text_tables import plural

# Plain arrays with a JSON header, checked as they are read and never executed.
FILE = ArchiveKind(
    "praemia dataset",
    "a dataset",
    4,
    fields={
        **dict.fromkeys(("num_observations", "num_actions", "horizon", "fixed_shares"), (int,)),
        **dict.fromkeys(("observation_names", "action_names"), (list, type(None))),
        **dict.fromkeys(("propositions", "sources", "fixed_machines", "labels"), (list,)),
        **dict.fromkeys(("labels_known", "can_end"), (bool,)),
        "discount": (float,),
    },
    arrays={
        **dict.fromkeys(("pairs", "successors", "counts", "first_counts"), ArrayType("i")),
        "ends": ArrayType("b"),
        "reachability": ArrayType("f"),
    },
)
DTYPES = {"i": np.int64, "b": np.bool_, "f": np.float64}


@dataclass(frozen=True, eq=False)
class Dataset(Counted, Displayed):
    """Counts of the transitions of an environment.

    Attributes
    ----------
    pairs : int64[E], o · A + a; successors : int64[E]; ends : bool[E], whether the episode was over then; counts :
        int64[E], positive — the transitions seen, in order.
    first_counts : int64[O], how often an episode began in each observation.
    horizon, discount : of the task that was explored; plans have them unless they are given others.
    labelling : the labels as rules; labels_known : whether they hold for transitions never seen too.
    propositions : the names that a machine may read: those of the labels, and others that the explored task declared.
    reachability : float64[O], the estimate of max_π Σ_h μ^π_h(o) made while exploring, from all that was played.
    sources : how the data was collected, one entry for each part.
    fixed_machines : digests of the machines, each with labels, horizon and discount, that were fixed before the
        first episode.
    fixed_shares : S, the number of machines that share ρ₃; 0 if none is recorded.
    can_end : whether episodes may end before the horizon, whether or not one was seen to.

    Examples
    --------
    >>> import praemia
    >>> data = praemia.explore(praemia.envs.riverswim(), episodes=100, method="uncertainty", seed=0)
    >>> data.num_episodes, data.num_transitions  # of 10 steps each
    (100, 1000)
    >>> data.save("river.npz")
    >>> praemia.Dataset.load("river.npz").num_episodes
    100
    """

    horizon: int
    labelling: Labelling
    labels_known: bool
    reachability: NDArray[np.float64]
    propositions: tuple[str, ...] = ()
    observation_names: tuple[str, ...] | None = None
    action_names: tuple[str, ...] | None = None
    sources: tuple[dict[str, Any], ...] = field(default=())
    fixed_machines: tuple[str, ...] = ()
    fixed_shares: int = 0
    can_end: bool = False
    discount: float = 1.0

    def __post_init__(self) -> None:
        require_discount(self.discount)
        size, num_pairs = self.num_observations, self.num_observations * self.num_actions
        lengths = {len(self.pairs), len(self.successors), len(self.ends), len(self.counts)}
        per_observation = (self.first_counts, self.reachability)
        if len(lengths) != 1 or any(array.shape != (size,) for array in per_observation):
            raise ModelError("a dataset whose arrays have inconsistent sizes")
        if self.ends.any() and not self.can_end:
            raise ModelError("a dataset with episodes that ended, which says that none can")
        if not np.isfinite(self.reachability).all():
            raise ModelError("a dataset whose reachability is not finite everywhere")
        if self.fixed_shares < len(self.fixed_machines):
            raise ModelError(
                f"a dataset with {len(self.fixed_machines)} machines fixed in advance and {self.fixed_shares} shares; "
                "expected a share for each"
            )
        if self.horizon < 1 or self.num_episodes < 1:
            raise ModelError(
                f"a dataset of {self.num_episodes} episodes of {self.horizon} steps; expected at least one of each"
            )
        if len(self.pairs) and (
            self.pairs.min() < 0
            or self.pairs.max() >= num_pairs
            or self.successors.min() < 0
            or self.successors.max() >= size
            or self.counts.min() < 1
            or self.first_counts.min() < 0
            or np.any(np.diff(self.pairs * (2 * size) + self.targets) <= 0)
        ):
            shape = f"{size} observations and {self.num_actions} actions"
            raise ModelError(f"a dataset whose transitions are out of order or outside its {shape}")

    @property
    def num_successors(self) -> int:
        """How many successors a pair may have: all observations, and the end in each where episodes may end."""
        return 2 * self.num_observations if self.can_end else self.num_observations

    def model(self, machine: RewardMachine, horizon: int | None = None) -> Model:
        """Return p̂ with a machine as a model to plan in (``praemia.exploration.estimate``); rewards lie in [0, 1]."""
        return Estimate.of(self, machine, horizon).model

    @property
    def unreached(self) -> NDArray[np.int64]:
        """The observations that were never met."""
        is_met = self.first_counts > 0
        is_met[self.successors] = True
        return np.flatnonzero(~is_met)

    def merge(self, *others: Dataset) -> Dataset:
        """Merge datasets of one environment.

        They must be independent: parts whose seeds give the same random numbers are refused. The labels of black boxes
        must agree.
        """
        return merged((self, *others))

    def append(self, observations: Sequence[int], actions: Sequence[int], *, ended: bool = False) -> Dataset:
        """Return the dataset with one more episode: observations o_1 … o_{n+1}, actions a_1 … a_n.

        ``ended`` says whether the environment ended it with the last step. The labels of its transitions must be known
        already.
        """
        if len(observations) != len(actions) + 1 or not len(actions):
            sizes = f"{len(observations)} observations and {len(actions)} actions"
            raise ModelError(f"{sizes}; an episode has one observation more than actions, and at least one action")
        states = whole_numbers(observations, self.num_observations, "observation")
        choices = whole_numbers(actions, self.num_actions, "action")
        if not self.labels_known and set(zip(states[:-1], choices, states[1:], strict=True)) - self._seen():
            raise ModelError("an episode with transitions never seen before, whose labels this dataset does not know")
        first = np.bincount(states[:1], minlength=self.num_observations)
        pairs = states[:-1] * self.num_actions + choices
        ends = ended & (np.arange(len(choices)) == len(choices) - 1)
        columns = add_up(pairs, states[1:], ends, np.ones(len(choices), dtype=np.int64), self.num_observations)
        episode = {"method": "appended", "episodes": 1}
        own = replace(self, **columns, first_counts=first, can_end=self.can_end or ended, sources=(episode,))
        # The episode adds no labels, so fixed machines stay fixed.
        return replace(self.merge(own), fixed_machines=self.fixed_machines, fixed_shares=self.fixed_shares)

    def require_sizes_of(self, task: Task) -> None:
        """Refuse to compare the data with another task than its own."""
        if (self.num_observations, self.num_actions) != (task.num_observations, task.num_actions):
            raise ModelError(
                f"data of {self.num_observations} observations and {self.num_actions} actions; the task {task.name!r} "
                f"has {task.num_observations} and {task.num_actions}"
            )

    def _seen(self) -> set[tuple[int, int, int]]:
        return set(zip(*(column.tolist() for column in self.transitions), strict=True))

    def coverage(self) -> str:
        """Describe in a few lines what the data covers."""
        visits = self.visits
        never = int((visits == 0).sum())
        lines = [
            f"{plural(self.num_episodes, 'episode')} of {plural(self.horizon, 'step')}: "
            f"{plural(self.num_transitions, 'transition')}, "
            f"{len(self.counts):,} distinct",
            f"pairs visited: {visits.size - never:,} of {visits.size:,}",
        ]
        if never < visits.size:
            positive = visits[visits > 0]
            lines.append(f"visits to a visited pair: minimum {positive.min():,}, median {int(np.median(positive)):,}")
        if len(self.unreached):
            names = ", ".join(self.observation_name(o) for o in self.unreached[:10])
            more = f" and {len(self.unreached) - 10:,} more" if len(self.unreached) > 10 else ""
            lines.append(f"observations never reached: {names}{more}")
        return "\n".join(lines)

    def observation_name(self, o: int) -> str:
        return self.observation_names[o] if self.observation_names else str(o)

    def action_name(self, a: int) -> str:
        return self.action_names[a] if self.action_names else str(a)

    def save(self, path: str | Path) -> None:
        """Write the dataset to a file, whole or not at all."""
        write_whole(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """Return the dataset as a file's bytes; equal datasets give equal bytes."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return FILE.pack({**values, "labels": [rule.as_list() for rule in self.labelling.rules]})

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read a dataset from a file; anything but a whole one is a FileError."""
        with FILE.unpack(read_bytes(Path(path)), str(path)) as values:
            _check_lists(values)
            require_memory(8 * values["num_observations"] * values["num_actions"], f"reading {path}")
            labelling = _labelling(values.pop("labels"))
            header: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
            }
            arrays = {name: values[name].astype(DTYPES[kind.dtype_kinds]) for name, kind in FILE.arrays.items()}
            return cls(**header | arrays, labelling=labelling)

    def __repr__(self) -> str:
        sizes = f"{plural(self.num_observations, 'observation')}, {plural(self.num_actions, 'action')}"
        sizes += f", horizon {self.horizon}"
        sizes += f", discount {self.discount:g}" if self.discount < 1.0 else ""
        return f"Dataset({plural(self.num_episodes, 'episode')}: {sizes})"


def _check_lists(header: Mapping[str, Any]) -> None:
    for name in ("propositions", "fixed_machines", "observation_names", "action_names"):
        if not all(isinstance(item, str) for item in header[name] or ()):
            raise DamageError(f"its header has {name} that are not names")
    for names, size in (("observation_names", "num_observations"), ("action_names", "num_actions")):
        if header[size] < 1 or len(header[names] or ()) not in (0, header[size]):
            raise DamageError(f"its header has {size} = {header[size]} and {len(header[names] or ())} {names}")
    if not all(isinstance(source, dict) for source in header["sources"]):
        raise DamageError("its header does not say how the data was collected")


def _labelling(labels: list[Any]) -> Labelling:
    """Read the rules of a labelling: lists of propositions, source, action and target, each a number or none."""
    rules = []
    for label in labels:
        names, *place = label if isinstance(label, list) and len(label) == 4 else (None,)
        places_fit = all(number is None or type(number) is int for number in place)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not places_fit:
            raise DamageError(f"its header has a label {str(label)[:50]!r}")
        rules.append(LabelRule(frozenset(names), *place))
    return Labelling(tuple(rules))
