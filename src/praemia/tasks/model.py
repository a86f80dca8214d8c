"""What planning needs: sparse transition probabilities with exits, a machine on indexed labels, a horizon, a start.

Tasks, estimates from data and samples from a posterior are planned in as models. An edge leads to an observation, or it
takes an exit (``praemia.kernels``): the episode is over, or its successor is not known. ``exits`` are the terminal
values at each step, in each machine state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import steps_left
from praemia._support.text_tables import plural
from praemia.errors import ModelError
from praemia.kernels.records import END, NUM_EXITS, UNKNOWN, ModelArrays
from praemia.tasks.machine_table import MachineTable, continuation_rows, offsets

if TYPE_CHECKING:
    from praemia.tasks.spec import TaskSpec


@dataclass(frozen=True, eq=False)
class Model:
    """Transition probabilities, a machine and a horizon to plan in.

    Attributes
    ----------
    arrays : the edges, with the continuation row of each. A successor from O on is an exit.
    table : the machine on the labels of the edges.
    start_probs : float64[O].
    exits : float64[H + 1, NUM_EXITS, M], the terminal value of leaving before step h, discounted to the step that left.
        That of the exit UNKNOWN includes the reward of that step, which is not known either.
    discount : γ; what follows a step counts γ times as much as the step.
    """

    arrays: ModelArrays
    table: MachineTable
    start_probs: NDArray[np.float64]
    exits: NDArray[np.float64]
    discount: float = 1.0

    def __post_init__(self) -> None:
        # Kernels are compiled for a type, and arrays that can be written to are another type.
        object.__setattr__(self, "arrays", ModelArrays(*(read_only(array) for array in self.arrays)))

    def __repr__(self) -> str:
        return (
            f"Model({plural(self.num_observations, 'observation')}, {plural(self.num_actions, 'action')}, "
            f"{plural(self.num_machine_states, 'machine state')}, horizon {self.horizon})"
        )

    @property
    def num_observations(self) -> int:
        return len(self.start_probs)

    @property
    def num_actions(self) -> int:
        return (len(self.arrays.indptr) - 1) // self.num_observations

    @property
    def num_machine_states(self) -> int:
        return self.table.num_states

    @property
    def horizon(self) -> int:
        return len(self.exits) - 1

    @property
    def num_rows(self) -> int:
        """The rows of a table of values: those of the observations, of the exits, and the extra ones."""
        return self.num_observations + NUM_EXITS + len(self.arrays.extra_rows)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The observations that an episode can start with."""
        return np.flatnonzero(self.start_probs)

    @classmethod
    def of(
        cls,
        indptr: NDArray[np.int64],
        successors: NDArray[np.int32],
        probs: NDArray[np.float64],
        labels: NDArray[np.int32],
        table: MachineTable,
        start_probs: NDArray[np.float64],
        **others: Any,
    ) -> Model:
        """Return the model of edges in the order of their pairs."""
        size = len(start_probs)
        acts = ~table.has_no_effect[labels] & (successors != size + UNKNOWN)
        rows = continuation_rows(labels, successors, acts, size)
        return cls(ModelArrays(indptr, successors, probs, labels, *rows), table, start_probs, **others)

    @classmethod
    def of_estimate(
        cls,
        spec: TaskSpec,
        pairs: NDArray[np.int64],
        targets: NDArray[np.int64],
        counts: NDArray[np.int64],
        labels: NDArray[np.integer[Any]],
        table: MachineTable,
        start_probs: NDArray[np.float64],
        least: NDArray[np.float64] | None,
    ) -> Model:
        """Return p̂ as a model, from the transitions seen in the order of their pairs.

        A target is o', or O + o' where the episode ended. A pair never visited leaves by the exit UNKNOWN, one edge in
        its place among the others; that exit has the value least[h, m], the smallest return from step h on.
        """
        size, exits = spec.num_observations, spec.exits.copy()
        visits = np.bincount(pairs, counts, size * spec.num_actions)
        never = visits == 0
        places = np.searchsorted(pairs, np.flatnonzero(never))
        if least is not None:
            exits[1:, UNKNOWN] = least[:-1]
        return cls.of(
            indptr=offsets(np.bincount(pairs, minlength=len(visits)) + never),
            successors=np.insert(np.minimum(targets, size + END), places, size + UNKNOWN).astype(np.int32),
            probs=np.insert(counts / visits[pairs], places, 1.0),
            labels=np.insert(labels, places, 0).astype(np.int32),
            table=table,
            start_probs=start_probs,
            exits=exits,
            discount=spec.discount,
        )

    def with_probs(self, probs: NDArray[np.float64]) -> Model:
        """Return the model with other probabilities on the same edges, a contiguous array of float64."""
        expected, found = self.arrays.probs, np.asarray(probs)
        if (found.dtype, found.shape) != (expected.dtype, expected.shape) or not found.flags.c_contiguous:
            strided = "" if found.flags.c_contiguous else ", not contiguous"
            raise ModelError(
                f"probabilities of type {found.dtype} and shape {found.shape}{strided}; expected {expected.dtype} of "
                f"shape {expected.shape}, contiguous: one for each edge, as numpy.ascontiguousarray returns them"
            )
        return replace(self, arrays=self.arrays._replace(probs=found))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be written to."""
    view = array.view()
    view.setflags(write=False)
    return view


def padded_exits(exits: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Return exits[H + 1, NUM_EXITS, M] as [H + 1, NUM_EXITS·W], as they lie in a table of a width."""
    padded = np.zeros((*exits.shape[:2], width))
    padded[:, :, : exits.shape[2]] = exits
    return padded.reshape(len(exits), -1)


def exits_at_end(horizon: int, num_states: int, idle_reward: float, discount: float) -> NDArray[np.float64]:
    """Return exits: an end has an idle reward for every step left, the unknown has value 0.

    They are discounted, as what follows the step that leaves.
    """
    exits = np.zeros((horizon + 1, NUM_EXITS, num_states))
    exits[:, END] = discount * idle_reward * steps_left(horizon, discount)[:, None]
    return exits


def step_weights(horizon: int, discount: float) -> NDArray[np.float64]:
    """Return γ^h for h = 0 … H − 1, the weight of a reward at each step."""
    weights = np.ones(horizon)
    for h in range(1, horizon):
        weights[h] = discount * weights[h - 1]
    return weights
