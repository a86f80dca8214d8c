"""Policies that act: an array of actions, with all that it takes to read observations and to write actions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import draw
from praemia._support.text_tables import plural
from praemia.envs.black_box import BlackBox
from praemia.envs.indexing import (
    EncodedIndex,
    FiniteIndex,
    Index,
    index_as_data,
    index_from_data,
    require_same,
    space_as_data,
    space_from_data,
)
from praemia.errors import FileError, ModelError, ParameterError, did_you_mean, require_whole, visible
from praemia.files.arrays import ArchiveKind, ArrayType, DamageError
from praemia.files.atomic_io import read_bytes, write_whole
from praemia.machines.machine import RewardMachine
from praemia.policies.arrays import policy_array
from praemia.tasks.base import BaseTask
from praemia.tasks.task import Task

if TYPE_CHECKING:
    from praemia.envs.step_labels import LabelsOfSteps
    from praemia.policies.controller import Controller

FIELDS = {"task": (str,), "machine": (str, type(None)), "observations": (dict,), "actions": (dict,)}
FILE = ArchiveKind(
    "praemia policy",
    "a policy",
    2,
    fields=FIELDS,
    arrays={"table": ArrayType("iuf", (2, 3, 4)), "met": ArrayType("b", is_optional=True)},
)


@dataclass(frozen=True, eq=False)
class Policy:
    """A policy in terms of the environment's observations and actions, which can be saved and used elsewhere.

    An array will do wherever a policy is expected; this class adds saving, loading and acting.

    Parameters
    ----------
    table : integers [H, M, O], the actions, or [M, O] where they are the same at every step; or float [H, M, O, A], the
        probability of each; or a ``Plan`` or a ``Run``, for its policy.
    task : the task of the policy, or its name. With a name alone, observations, machine states and actions are
        integers.
    met : bool[O], the observations met while learning; ``act`` has a rule for the others. None: all.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=4)
    >>> praemia.Policy(praemia.solve(task), task).save("best.npz")
    >>> policy = praemia.Policy.load("best.npz")
    >>> f"{praemia.evaluate(task, policy).value:.4f}"
    '0.8158'
    >>> policy.act(observation=0, machine_state="empty", step=0)  # right, to the item
    1
    """

    table: NDArray[Any]
    task: Any = ""  # its name, once it exists
    machine: RewardMachine | None = field(default=None, kw_only=True)
    observations: Index | None = field(default=None, kw_only=True)  # None: the environment shows their indices
    actions: FiniteIndex | None = field(default=None, kw_only=True)  # None: it takes their indices
    action_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    labels: LabelsOfSteps | None = field(default=None, kw_only=True, repr=False)
    met: NDArray[np.bool_] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        table = policy_array(self.table)
        if table.ndim not in (2, 3, 4) or table.dtype.kind not in ("iuf" if table.ndim == 4 else "iu"):
            raise ModelError(
                f"a policy of shape {table.shape} and type {table.dtype}; expected integers [H, M, O], or "
                "probabilities [H, M, O, A]"
            )
        if not np.all(table >= 0):
            raise ModelError("a policy with a number below 0, or NaN; expected actions from 0 on, or probabilities")
        if isinstance(self.task, BaseTask):
            self.__dict__.update(_parts_of(self.task))
        elif not isinstance(self.task, str):
            raise ModelError(f"task={self.task!r}; expected a task, or the name of one")
        met = None if self.met is None else np.asarray(self.met, dtype=bool)
        self.__dict__.update(table=table, met=met)
        self._require_sizes()

    def _require_sizes(self) -> None:
        num_states, size = _sizes(self.table)
        found_sizes = [] if self.observations is None else [self.observations.size]
        found_sizes += [] if self.met is None else [len(self.met)]
        for found in found_sizes:
            if found != size:
                raise ModelError(f"a policy for {size} observations; {self.task or 'its task'} has {found}")
        if self.machine is not None and self.machine.num_states != num_states:
            raise ModelError(f"a policy for {num_states} machine states; its machine has {self.machine.num_states}")
        highest = self.table.shape[3] if self.table.ndim == 4 else int(self.table.max(initial=0)) + 1
        if self.actions is not None and highest > self.actions.size:
            raise ModelError(f"a policy with {highest} actions or more; its environment has {self.actions.size}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.table, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        kind = "randomised" if self.table.ndim == 4 else "deterministic"
        steps = "the same at every step" if self.table.ndim == 2 else plural(self.table.shape[0], "step")
        return visible(f"Policy({kind}, {steps}" + (f", for {self.task})" if self.task else ")"))

    def __getstate__(self) -> dict[str, Any]:
        index = self.observations  # functions of the user's may not be copied to another process
        if isinstance(index, EncodedIndex) and index.cells is None:
            index = EncodedIndex(None, index.size, index.codes)
        return {**vars(self), "labels": None, "observations": index}

    @cached_property
    def is_stationary(self) -> bool:
        """Whether it is the same at every step."""
        return self.table.ndim == 2 or bool((self.table == self.table[:1]).all())

    @cached_property
    def deterministic(self) -> Policy:
        """The policy that takes the most probable action; itself, if it is deterministic."""
        return replace(self, table=self.table.argmax(axis=-1)) if self.table.ndim == 4 else self

    def act(
        self,
        observation: Any,
        machine_state: int | str,
        step: int | None = None,
        rng: np.random.Generator | None = None,
        *,
        unseen: Any = "error",
    ) -> Any:
        """Return the action for an observation as the environment shows it, in the environment's own terms.

        Parameters
        ----------
        machine_state : the index or the name of the machine's state.
        step : counted from 0; may be left out where the policy is the same at every step.
        rng : samples the actions of a randomised policy.
        unseen : what to do where the observation was never met while learning and no cell that was is near: an action,
            "random", or "error".
        """
        o, m = self._observation(observation), self._state(machine_state)
        if o is None:
            return self._unseen(observation, unseen, rng)
        table = self.table
        entry = table[m, o] if table.ndim == 2 else table[self._step(step), m, o]
        if table.ndim < 4:
            return self._element(int(entry))
        if rng is None:
            raise ParameterError("a randomised policy samples its actions; give it a generator: rng=…")
        return self._element(draw(np.cumsum(entry, dtype=np.float64), rng))

    @cached_property
    def _met(self) -> NDArray[np.int64]:
        return np.flatnonzero(self.met)  # type: ignore[arg-type]

    def _observation(self, observation: Any) -> int | None:
        """Return the index of an observation, in place of one never met the nearest cell; None where there is none."""
        index = self.observations
        if index is None:
            o: int | None = require_whole("observation", observation, 0, _sizes(self.table)[1] - 1)
        else:
            o = index.find(observation)
        if o is None or self.met is None or self.met[o]:
            return o
        cells = index.cells if isinstance(index, EncodedIndex) else None
        return cells.nearest(o, self._met) if cells is not None and len(self._met) else None

    def _step(self, step: int | None) -> int:
        if step is None and self.is_stationary:
            return 0
        if step is None:
            raise ParameterError("step is missing: what this policy does depends on the step, counted from 0")
        return require_whole("step", step, 0, len(self.table) - 1)

    def _state(self, machine_state: int | str) -> int:
        if not isinstance(machine_state, str):
            return require_whole("machine_state", machine_state, 0, _sizes(self.table)[0] - 1)
        if self.machine is None:
            raise ParameterError(f"machine_state={machine_state!r}; this policy has no machine: give the state's index")
        if machine_state not in self.machine.index:
            hint = did_you_mean(machine_state, self.machine.states)
            raise ParameterError(f"machine_state={machine_state!r} is not a state of the machine{hint}")
        return self.machine.index[machine_state]

    def _unseen(self, observation: Any, unseen: Any, rng: np.random.Generator | None) -> Any:
        if not isinstance(unseen, str):
            return unseen if self.actions is None else self.actions.element(self.actions.number(unseen))
        if unseen == "random":
            if rng is None:
                raise ParameterError('unseen="random" samples an action; give a generator: rng=…')
            return self._element(int(rng.integers(self.num_actions)))
        if unseen == "error":
            raise ModelError(
                f"the observation {brief(observation)} was never met while learning; learn for more episodes, or give "
                'unseen=, an action or "random"'
            )
        raise ParameterError(f'unseen={unseen!r}; expected an action, "random" or "error"')

    @property
    def num_actions(self) -> int:
        """The number of actions: the environment's, where it is known."""
        if self.actions is not None:
            return self.actions.size
        known = self.table.shape[3] if self.table.ndim == 4 else int(self.table.max(initial=0)) + 1
        return max(known, len(self.action_names or ()))

    def _element(self, a: int) -> Any:
        return a if self.actions is None else self.actions.element(a)

    def for_box(self, box: BlackBox) -> Policy:
        """Return the policy for a black box; raise an error if it was made for another."""
        if _sizes(self.table)[0] != box.num_machine_states or self.machine not in (None, box.machine):
            raise ModelError(f"this policy was made for another machine than that of {box.name!r}")
        if self.num_actions > box.num_actions or (self.actions is not None and self.actions.space != box.actions.space):
            raise ModelError(
                f"this policy was made for {plural(self.num_actions, 'action')}; {box.name!r} has {box.actions.space}"
            )
        if self.table.ndim > 2 and len(self.table) < box.max_steps:
            raise ModelError(f"a policy of {plural(len(self.table), 'step')}; {box.name!r} has {box.max_steps}")
        mine = self.observations
        require_same("this policy", mine, _sizes(self.table)[1], box.observations, repr(box.name))
        if mine is None:
            mine = box.observations
        elif isinstance(mine, EncodedIndex) and mine.encode is None:
            mine = EncodedIndex(box.encode, mine.size, mine.codes)
        return replace(self, observations=mine, actions=box.actions, machine=box.machine, labels=box.labels)

    def controller(self, labels: LabelsOfSteps | None = None, seed: int = 0, *, unseen: Any = "error") -> Controller:
        """Return the policy with a tracker of the machine's state, for a robot or another library.

        ``labels`` are those of steps, in any form that ``BlackBox`` takes. They may be omitted if the machine's state
        is given at each step, and in the process that learned the policy.
        """
        from praemia.policies.controller import Controller

        return Controller(self, self.labels if labels is None else labels, seed, unseen)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file (.npz), completely or not at all."""
        write_whole(Path(path), FILE.pack({**self.as_data(), "table": self.table, "met": self.met}))

    def as_data(self, *, with_machine: bool = True) -> dict[str, Any]:
        """Return all but its arrays as plain data."""
        from praemia.files.writing import dump_as_json  # which takes long to import

        machine = dump_as_json(self.machine) if with_machine and self.machine is not None else None
        actions = {"names": self.action_names}
        if self.actions is not None:
            actions["space"] = space_as_data(self.actions.space)  # type: ignore[assignment]
        observations = index_as_data(self.observations, _sizes(self.table)[1])
        return {"task": self.task, "machine": machine, "observations": observations, "actions": actions}

    @classmethod
    def load(cls, path: str | Path, *, encode: Callable[[Any], Hashable] | None = None) -> Policy:
        """Read a policy from a file; raise a FileError if it is damaged or of another kind.

        ``encode`` is the function that observations were encoded with, if it was one of the user's: files hold no code.
        """
        with FILE.unpack(read_bytes(Path(path)), str(path)) as values:
            policy = cls.from_data(values, values["table"], values["met"])
        index = policy.observations
        if encode is None:
            return policy
        if not isinstance(index, EncodedIndex) or index.cells is not None:
            raise ParameterError("encode= for a policy that needs none: it knows how its observations are indexed")
        if not callable(encode):
            raise ParameterError(f"encode={encode!r}; expected the function from observations that it was learned with")
        return replace(policy, observations=EncodedIndex(encode, index.size, index.codes))

    @classmethod
    def from_data(cls, data: dict[str, Any], table: NDArray[Any], met: NDArray[np.bool_] | None) -> Policy:
        """Return the policy from the result of ``as_data`` and its arrays."""
        from praemia.files.building import read_task_file

        try:
            machine = None if data["machine"] is None else read_task_file(data["machine"], "machine.json")
        except FileError as error:
            raise DamageError(f"its machine is not one: {error}") from None
        if not isinstance(machine, RewardMachine | None):
            raise DamageError("its machine is a task")
        names, space = data["actions"].get("names"), data["actions"].get("space")
        if names is not None and not all(isinstance(name, str) for name in names):
            raise DamageError("its actions have names that are no texts")
        if data["observations"]["size"] != _sizes(table)[1]:
            raise DamageError(f"it is for {_sizes(table)[1]} observations, and says {data['observations']['size']}")
        return cls(
            table,
            data["task"],
            machine=machine,
            observations=index_from_data(data["observations"]),
            met=met,
            actions=None if space is None else FiniteIndex(space_from_data(space)),
            action_names=None if names is None else tuple(names),
        )


def _sizes(table: NDArray[Any]) -> tuple[int, int]:
    """Return M and O."""
    return table.shape[-2:] if table.ndim < 4 else table.shape[1:3]


def _parts_of(task: BaseTask) -> dict[str, Any]:
    """Return what a policy takes from its task."""
    parts: dict[str, Any] = {"task": task.name, "machine": task.machine}
    if isinstance(task, BlackBox):
        index = task.observations
        index = index.for_run(index.codes) if isinstance(index, EncodedIndex) else index
        own = {"observations": index, "actions": task.actions, "action_names": task.actions.names()}
        return {**parts, **own, "labels": task.labels}
    assert isinstance(task, Task)
    return {**parts, "action_names": task.mdp.action_names}
