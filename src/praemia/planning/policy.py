"""Policies to keep and to play: an array, the task it is for, and a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as brief
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from praemia.displayed import Displayed
from praemia.errors import ModelError, ParameterError, require_whole
from praemia.files.arrays import ArchiveKind, ArrayType
from praemia.files.atomic_io import read_bytes, write_whole

FILE = ArchiveKind("praemia policy", "a policy", 1, {"task": (str,)}, {"table": ArrayType("iuf", (3, 4))})


class HasPolicy(Protocol):
    """What planning returns: a ``Plan``, or one like it."""

    @property
    def policy(self) -> NDArray[Any]:
        """The policy, [H, M, O] or [H, M, O, A]."""


class HasFinalPolicy(Protocol):
    """What learning returns: a ``Run``."""

    @property
    def final_policy(self) -> NDArray[Any] | None:
        """The last policy, [H, M, O] or [H, M, O, A]; None if it was not kept."""


PolicyLike: TypeAlias = ArrayLike | HasPolicy | HasFinalPolicy


def policy_array(policy: PolicyLike) -> NDArray[Any]:
    """Return the array of a policy: of a ``Policy``, of a ``Plan``, of a ``Run`` its last one, or an array itself."""
    held = getattr(policy, "final_policy", getattr(policy, "policy", policy))
    if held is None and policy is not None:
        raise ModelError(f"{policy!r} was kept without its policy (--no-policies)")
    try:
        array = np.asarray(held)
    except ValueError:
        raise ModelError("a policy whose rows differ in length; expected an array") from None
    if array.ndim == 0 and array.dtype.kind not in "biufc":
        raise ModelError(
            f"{brief(policy)} as a policy; expected an array [H, M, O] of actions or [H, M, O, A] of probabilities, "
            "a Policy, a Plan or a Run"
        )
    return array


@dataclass(frozen=True, eq=False)
class Policy(Displayed):
    """A policy to keep: an action, or a probability for each, at every step, machine state and observation.

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
        return f"Policy({kind}, {self.table.shape[0]} steps" + (f", for {self.task})" if self.task else ")")

    def action(self, step: int, machine_state: int, observation: int, random: np.random.Generator | None = None) -> int:
        """Return the action at a step, counted from 0; a randomised policy draws it from ``random``."""
        places = {"step": step, "machine_state": machine_state, "observation": observation}
        sizes = self.table.shape[:3]
        at = [require_whole(name, i, 0, size - 1) for (name, i), size in zip(places.items(), sizes, strict=True)]
        chosen = self.table[tuple(at)]
        if self.table.ndim == 3:
            return int(chosen)
        if random is None:
            raise ParameterError("a randomised policy draws its actions; give it a generator: random=…")
        cumulative = np.cumsum(chosen, dtype=np.float64)
        return int(np.searchsorted(cumulative, random.random() * cumulative[-1], side="right"))

    def save(self, path: str | Path) -> None:
        """Write the policy to a file (.npz), whole or not at all."""
        write_whole(Path(path), FILE.pack(vars(self)))

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a file; anything else is a FileError."""
        with FILE.unpack(read_bytes(Path(path)), str(path)) as values:
            return cls(**values)
