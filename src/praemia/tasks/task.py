"""Tasks: a labelled MDP, a machine and a horizon.

``Task`` is the whole truth; ``praemia.tasks.spec`` is the part that a learner is given. Both carry the machine as
tables over the labels that occur (``MachineTable``), so nothing ever grows with 2^propositions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.displayed import Displayed
from praemia.errors import ModelError, did_you_mean
from praemia.kernels.records import END
from praemia.machines.labels import format_label
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import BaseTask, require_machine
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.model import Model, exits_at_end
from praemia.tasks.spec import TaskSpec

if TYPE_CHECKING:
    from praemia.pictures.drawing import Drawing


@dataclass(frozen=True, eq=False, repr=False)
class Task(BaseTask, Displayed):
    """A labelled MDP with a machine, played in episodes of ``max_steps`` steps.

    Parameters
    ----------
    mdp : the environment with its labels.
    machine : the reward machine.
    horizon : the steps of an episode. With a discount it may be None: ``max_steps`` is the smallest H with γ^H ≤ 1e-12.
    name : names the task in tables and files.
    discount : γ; a reward at step h counts γ^h times.
    until_done : whether an episode ends once no further reward, positive or negative, is possible. No value changes.

    Examples
    --------
    >>> import praemia
    >>> warehouse = praemia.envs.warehouse(size=3)
    >>> praemia.Task(warehouse.mdp, warehouse.machine, horizon=20, name="longer")
    Task('longer': 9 observations, 5 actions, 3 machine states, horizon 20)
    >>> warehouse.with_horizon(20).horizon
    20
    """

    mdp: LabeledMDP
    machine: RewardMachine
    horizon: int | None = None
    name: str = "task"
    discount: float = 1.0
    until_done: bool = False
    max_steps: int = field(init=False)
    table: MachineTable = field(init=False)

    def __post_init__(self) -> None:
        self._complete()
        self.warn_of_absent(self.propositions, "has", 4)

    def _complete(self) -> None:
        if not isinstance(self.mdp, LabeledMDP):
            raise ModelError(f"mdp={self.mdp!r}; expected a LabeledMDP, such as LabeledMDP.from_dense(p)")
        self._complete_length()
        propositions = self.machine.propositions
        for label in self.mdp.label_sets:
            for name in sorted(label.difference(propositions)):
                raise ModelError(
                    f"the label {format_label(label)} has the proposition {name!r}, which is not one of the "
                    f"machine's{did_you_mean(name, propositions)}"
                )
        object.__setattr__(self, "table", MachineTable.of(self.machine, self.mdp.label_sets))

    @cached_property
    def in_unit_range(self) -> Task:
        """The same task with its range of rewards mapped onto [0, 1], where learners work; itself, if that is it."""
        machine = self.machine.in_unit_range
        return self if machine is self.machine else self.changed(machine=machine)

    @property
    def propositions(self) -> frozenset[str]:
        """The propositions that some label has."""
        return frozenset().union(self.mdp.labelling.propositions() or (), *self.mdp.label_sets)

    @property
    def num_observations(self) -> int:
        return self.mdp.num_observations

    @property
    def num_actions(self) -> int:
        return self.mdp.num_actions

    @cached_property
    def model(self) -> Model:
        """The arrays that planning needs. The end of an episode has the value of idle rewards for the steps left."""
        mdp = self.mdp
        return Model.of(
            indptr=mdp.indptr,
            successors=np.minimum(mdp.targets, np.int32(mdp.num_observations + END)),
            probs=mdp.probs,
            labels=mdp.labels,
            table=self.table,
            start_probs=mdp.start_probs,
            exits=exits_at_end(self.max_steps, self.num_machine_states, self.machine.idle_reward.mean, self.discount),
            discount=self.discount,
        )

    @property
    def starts(self) -> NDArray[np.int64]:
        """The observations that an episode can start with."""
        return self.model.starts

    @cached_property
    def spec(self) -> TaskSpec:
        """The part of the task that a learner knows. Its rewards are those of ``in_unit_range``."""
        unit = self.in_unit_range
        return TaskSpec(
            num_observations=self.num_observations,
            num_actions=self.num_actions,
            horizon=self.max_steps,
            machine=unit.machine,
            labelling=self.mdp.labelling,
            label_sets=self.mdp.label_sets,
            table=unit.table,
            can_end=self.mdp.can_end,
            discount=self.discount,
            done_states=self.done_states,
        )

    def values_from_unit(self, values: Any) -> Any:
        """Convert values at the start from the unit range to the user's units."""
        return self.machine.reward_range.values_from_unit(values, self.max_steps, self.discount)

    def with_machine(self, machine: RewardMachine) -> Task:
        """Return the task of the same MDP and horizon under another machine.

        A warning names the propositions that the machine reads but no label contains; ``praemia check`` also reports
        those that the machine never reads.
        """
        require_machine(machine)
        propositions = frozenset().union(*self.mdp.label_sets)
        other = self.changed(machine=machine.over(sorted(propositions)))
        other.warn_of_absent(other.propositions, "has", 3)
        return other

    def draw(self) -> Drawing:
        """Draw the task: its map or, if it has none, a graph of its observations.

        Examples
        --------
        >>> import praemia
        >>> drawing = praemia.envs.warehouse(size=3).draw()  # a notebook displays it
        >>> print(str(drawing).splitlines()[3])
        | S   .   I |
        >>> drawing.save("warehouse.svg")  # or .png, .txt
        """
        from praemia.pictures.show import draw_task

        return draw_task(self)

    def show(self, policy: Any = None) -> Drawing:
        """Show what a policy does, by default the optimal one, as ``praemia.show`` does."""
        from praemia.pictures.show import show

        return show(self, policy)


def require_task(task: object, purpose: str) -> Task:
    """Return a task; refuse anything else, and a black box because the purpose needs a transition model."""
    if isinstance(task, Task):
        return task
    if isinstance(task, BaseTask):
        raise ModelError(
            f"{purpose} needs a transition model, which {task!r} does not have; learn in it with simulate, or explore "
            "it and plan from the data with explore and plan_from"
        )
    raise ModelError(f"task={task!r}; expected a Task, such as envs.make('warehouse-4') or load_task(path)")
