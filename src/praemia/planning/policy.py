"""Policies: arrays, checked before they are evaluated or played, and ``Policy``, which can be saved to a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as brief
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.arithmetic import draw, ordered_sum
from praemia.displayed import Displayed
from praemia.errors import ModelError, ParameterError, require_whole
from praemia.files.arrays import ArchiveKind, ArrayType
from praemia.files.atomic_io import read_bytes, write_whole
from praemia.kernels.records import action_type
from praemia.tasks.model import Model
from praemia.tasks.spec import TaskSpec
from praemia.text_tables import plural

PROBABILITY_TOLERANCE = 1e-9
ROUNDED_TOLERANCE = 1e-3  # for probabilities of less than double precision
FILE = ArchiveKind("praemia policy", "a policy", 1, {"task": (str,)}, {"table": ArrayType("iuf", (3, 4))})


class HasPolicy(Protocol):
    """What planning returns: a ``Plan``, or one like it."""

    @property
    def policy(self) -> NDArray[Any]:
        """The policy, [H, M, O] or [H, M, O, A]."""


class HasLearnedPolicy(Protocol):
    """What learning returns: a ``Run``."""

    @property
    def learned_policy(self) -> NDArray[Any] | None:
        """What was learned, [H, M, O] or [H, M, O, A]; None if it was not kept."""


PolicyLike: TypeAlias = ArrayLike | HasPolicy | HasLearnedPolicy


def policy_array(policy: PolicyLike) -> NDArray[Any]:
    """Return the array of a policy: of a ``Policy``, a ``Plan``, what a ``Run`` has learned, or an array itself."""
    table = getattr(policy, "learned_policy", getattr(policy, "policy", policy))
    if table is None and policy is not None:
        raise ModelError(f"{policy!r} was kept without its policy (--no-policies)")
    try:
        array = np.asarray(table)
    except ValueError:
        raise ModelError("a policy whose rows differ in length; expected an array") from None
    if array.ndim == 0 and array.dtype.kind not in "biufc":
        raise ModelError(
            f"{brief(policy)} as a policy; expected an array [H, M, O] of actions or [H, M, O, A] of probabilities, "
            "a Policy, a Plan or a Run"
        )
    return array


def policy_for(task: TaskSpec | Model, policy: PolicyLike) -> NDArray[Any]:
    """Return the array of a policy, [H, M, O] or [H, M, O, A]; an array [M, O] is the same at every step."""
    array = policy_array(policy)
    expected = (task.horizon, task.num_machine_states, task.num_observations)
    if array.shape == expected[1:]:
        return np.broadcast_to(array, expected)
    if array.shape in (expected, (*expected, task.num_actions)):
        return array
    raise ModelError(
        f"a policy of shape {array.shape}; expected {expected} (horizon, machine states, observations), "
        f"or {(*expected, task.num_actions)} with a probability for each action"
    )


def validate_policy(task: TaskSpec | Model, policy: PolicyLike) -> NDArray[Any]:
    """Check a policy and return it as the kernels take it: int8 or int16[H, O, M], or float64[H, O, M, A]."""
    array = policy_for(task, policy)
    return _deterministic(array, task.num_actions) if array.ndim == 3 else _randomised(array)


def _deterministic(array: NDArray[Any], num_actions: int) -> NDArray[Any]:
    if not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"a deterministic policy of type {array.dtype}; expected whole numbers, the actions")
    if array.min() < 0 or array.max() >= num_actions:
        raise ModelError(f"a policy with actions {array.min()} … {array.max()}; expected 0 … {num_actions - 1}")
    return np.ascontiguousarray(array.transpose(0, 2, 1), dtype=action_type(num_actions))


def _randomised(array: NDArray[Any]) -> NDArray[np.float64]:
    if not (np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)):
        raise ModelError(f"a randomised policy of type {array.dtype}; expected action probabilities")
    weights = np.ascontiguousarray(array.transpose(0, 2, 1, 3), dtype=np.float64)
    if array.dtype in (np.float32, np.float16):  # from a deep learner: normalise away rounding errors
        sums = ordered_sum(weights)[..., None]
        weights = np.where(np.abs(sums - 1.0) <= ROUNDED_TOLERANCE, weights / np.where(sums > 0.0, sums, 1.0), weights)
    if not (np.abs(ordered_sum(weights) - 1.0) <= PROBABILITY_TOLERANCE).all() or weights.min(initial=0.0) < 0.0:
        raise ModelError("a randomised policy whose action probabilities are not all ≥ 0 with sum 1")
    return weights


@dataclass(frozen=True, eq=False)
class Policy(Displayed):
    """A policy that can be saved: an action, or a probability for each, at every step, machine state and observation.

    An array is a policy too, wherever one is asked for; this class adds a file and a way to play it.

    Attributes
    ----------
    table : whole numbers [H, M, O], the actions; or float [H, M, O, A], the probability of each.
    task : the name of the task it is for.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=4)
    >>> praemia.Policy(praemia.solve(task).policy, task.name).save("best.npz")
    >>> policy = praemia.Policy.load("best.npz")
    >>> f"{praemia.evaluate(task, policy).value:.4f}"
    '0.8158'
    >>> policy.action(step=0, machine_state=0, observation=0)  # right, to the item
    1
    """

    table: NDArray[Any]
    task: str = ""

    def __post_init__(self) -> None:
        table = policy_array(self.table)
        if table.ndim not in (3, 4) or table.dtype.kind not in ("iu" if table.ndim == 3 else "iuf"):
            raise ModelError(
                f"a policy of shape {table.shape} and type {table.dtype}; expected whole numbers [H, M, O], or "
                "probabilities [H, M, O, A]"
            )
        if not np.all(table >= 0):
            raise ModelError("a policy with a number below 0, or NaN; expected actions from 0 on, or probabilities")
        if not isinstance(self.task, str):
            raise ModelError(f"task={self.task!r}; expected the name of a task, such as task.name")
        object.__setattr__(self, "table", table)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.table, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        kind = "deterministic" if self.table.ndim == 3 else "randomised"
        return f"Policy({kind}, {plural(self.table.shape[0], 'step')}" + (f", for {self.task})" if self.task else ")")

    def action(self, step: int, machine_state: int, observation: int, random: np.random.Generator | None = None) -> int:
        """Return the action at a step, counted from 0; a randomised policy draws it from ``random``."""
        places = {"step": step, "machine_state": machine_state, "observation": observation}
        sizes = self.table.shape[:3]
        at = [require_whole(name, i, 0, size - 1) for (name, i), size in zip(places.items(), sizes, strict=True)]
        entry = self.table[tuple(at)]
        if self.table.ndim == 3:
            return int(entry)
        if random is None:
            raise ParameterError("a randomised policy draws its actions; give it a generator: random=…")
        return draw(np.cumsum(entry, dtype=np.float64), random)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file (.npz), whole or not at all."""
        write_whole(Path(path), FILE.pack(vars(self)))

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a file; anything else is a FileError."""
        with FILE.unpack(read_bytes(Path(path)), str(path)) as values:
            return cls(**values)
