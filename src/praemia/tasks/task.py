"""Tasks: a labelled MDP, a machine and a horizon.

``Task`` is the whole truth; ``praemia.tasks.spec`` is the part that a learner is given. Both carry the machine as
tables over the labels that occur (``MachineTable``), so nothing ever grows with 2^propositions.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.displayed import Displayed
from praemia.errors import ModelError, PraemiaWarning, did_you_mean, require_flag, require_whole
from praemia.kernels.records import END
from praemia.machines.labels import format_label
from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.model import Model, exits_at_end
from praemia.tasks.spec import TaskSpec
from praemia.text_tables import plural

if TYPE_CHECKING:
    from praemia.pictures.show import PolicyDrawing, TaskDrawing

MAX_HORIZON = 1_000_000


@dataclass(frozen=True, eq=False)
class Task(Displayed):
    """A labelled MDP with a machine, played for episodes of ``horizon`` steps.

    With a ``discount`` γ below 1, a reward at step h counts γ^h times, and the horizon may be left out (or None):
    ``solve`` then finds the stationary optimum. ``max_steps`` is how long an episode is then: the horizon, or without
    one the fewest steps H with γ^H ≤ 1e-12.
    With ``until_done`` an episode ends once no further reward, positive or negative, is possible. No value changes.

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
        self._warn_of_absent(4)

    def _complete(self) -> None:
        """Check what was given, and fill in what follows from it."""
        if not isinstance(self.mdp, LabeledMDP):
            raise ModelError(f"mdp={self.mdp!r}; expected a LabeledMDP, such as LabeledMDP.from_dense(p)")
        require_machine(self.machine)
        object.__setattr__(self, "discount", require_discount(self.discount))
        if self.horizon is not None:
            object.__setattr__(self, "horizon", require_whole("horizon", self.horizon, 1, MAX_HORIZON, ModelError))
        object.__setattr__(self, "max_steps", self.horizon or effective_horizon(self.discount))
        require_flag("until_done", self.until_done, ModelError)
        self._validate_labels()
        object.__setattr__(self, "table", MachineTable.of(self.machine, self.mdp.label_sets))

    @cached_property
    def in_unit_range(self) -> Task:
        """The same task with rewards mapped into [0, 1], where learners and bounds work; itself, if they lie there."""
        machine = self.machine.in_unit_range
        return self if machine is self.machine else self.changed(machine=machine)

    def _validate_labels(self) -> None:
        propositions = self.machine.propositions
        for label in self.mdp.label_sets:
            for name in sorted(label.difference(propositions)):
                raise ModelError(
                    f"the label {format_label(label)} has the proposition {name!r}, which is not one of the "
                    f"machine's{did_you_mean(name, propositions)}"
                )

    def _warn_of_absent(self, stacklevel: int) -> None:
        """Warn of a proposition that the machine reads and no label has: it is probably misspelled."""
        occurring = frozenset().union(self.mdp.labelling.propositions() or (), *self.mdp.label_sets)
        for name in self.machine.propositions:
            if name not in occurring and name in self.machine.reads:
                message = f"{self.name}: the machine reads the proposition {name!r}, which no label has"
                guess = did_you_mean(name, sorted(occurring))
                warnings.warn(message + guess, PraemiaWarning, stacklevel=stacklevel)

    def changed(self, **changes: Any) -> Task:
        """Return the task with other parts; what was warned of when it was made is not warned of again."""
        other = object.__new__(Task)
        other.__dict__.update({item.name: getattr(self, item.name) for item in fields(self)}, **changes)
        other._complete()
        return other

    @property
    def num_observations(self) -> int:
        return self.mdp.num_observations

    @property
    def num_actions(self) -> int:
        return self.mdp.num_actions

    @property
    def num_machine_states(self) -> int:
        return self.machine.num_states

    @cached_property
    def done_states(self) -> frozenset[int]:
        """The machine states in which an episode is over: with ``until_done``, where every further reward is 0."""
        return self.machine.settled_states if self.until_done else frozenset()

    @cached_property
    def model(self) -> Model:
        """All that planning needs; the end of an episode is worth what an idle machine pays for the rest of it."""
        mdp = self.mdp
        return Model.of(
            indptr=mdp.indptr,
            successors=np.where(mdp.ends, np.int32(mdp.num_observations + END), mdp.successors),
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
        """What a learner may know. Its rewards are those of ``in_unit_range``."""
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

        A proposition that the machine reads and no label has is warned of; ``praemia check`` reports propositions that
        the machine never reads.
        """
        propositions = frozenset().union(*self.mdp.label_sets)
        other = self.changed(machine=machine.over(sorted(propositions)))
        other._warn_of_absent(3)
        return other

    def with_horizon(self, horizon: int | None) -> Task:
        """Return the same task with another horizon, or with none."""
        return self.changed(horizon=horizon)

    def with_discount(self, discount: float) -> Task:
        """Return the same task with another discount.

        Examples
        --------
        >>> import praemia
        >>> praemia.envs.warehouse(size=3).with_discount(0.9)
        Task('warehouse-3': 9 observations, 5 actions, 3 machine states, horizon 9, discount 0.9)
        """
        return self.changed(discount=discount)

    def with_until_done(self, until_done: bool = True) -> Task:
        """Return the same task with episodes that end when the machine is done, or that do not.

        Examples
        --------
        >>> import praemia
        >>> praemia.envs.warehouse(size=3).with_until_done()
        Task('warehouse-3': 9 observations, 5 actions, 3 machine states, horizon 9, until done)
        """
        return self.changed(until_done=until_done)

    def draw(self) -> TaskDrawing:
        """Draw the task: its map or, if it has none, a graph of its observations.

        Examples
        --------
        >>> import praemia
        >>> drawing = praemia.envs.warehouse(size=3).draw()  # a notebook displays it
        >>> print(str(drawing).splitlines()[3])
        | S   .   I |
        >>> drawing.save("warehouse.svg")  # or .png, .txt
        """
        from praemia.pictures.show import TaskDrawing

        return TaskDrawing(self)

    def show(self, policy: Any = None) -> PolicyDrawing:
        """Show what a policy does, the optimal one if none is given: as ``praemia.show``."""
        from praemia.pictures.show import show

        return show(self, policy)

    @property
    def sizes(self) -> list[str]:
        """How large the task is, in words."""
        return [
            plural(self.num_observations, "observation"),
            plural(self.num_actions, "action"),
            plural(self.num_machine_states, "machine state"),
            "no horizon" if self.horizon is None else f"horizon {self.horizon}",
            *([] if self.discount == 1.0 else [f"discount {self.discount:g}"]),
            *(["until done"] if self.until_done else []),
        ]

    def __repr__(self) -> str:
        return f"Task({self.name!r}: {', '.join(self.sizes)})"


def effective_horizon(discount: float) -> int:
    """Return the smallest H with γ^H ≤ 1e-12: what comes later hardly counts."""
    if discount == 1.0:
        raise ModelError("no horizon, and discount=1; give a horizon, or a discount below 1")
    weight, horizon = 1.0, 0
    while weight > 1e-12:
        if horizon == MAX_HORIZON:
            raise ModelError(
                f"no horizon, and discount={discount!r}: more than {MAX_HORIZON:,} steps count; give a horizon"
            )
        weight, horizon = weight * discount, horizon + 1
    return horizon


def require_discount(discount: object) -> float:
    """Return a discount, or say what is wrong with it."""
    if isinstance(discount, bool) or not isinstance(discount, (int, float)) or not 0.0 < discount <= 1.0:
        raise ModelError(f"discount={discount!r}; expected a number above 0 and at most 1")
    return float(discount)


def require_machine(machine: object) -> None:
    """Refuse what is not a machine."""
    if not isinstance(machine, RewardMachine):
        raise ModelError(f"machine={machine!r}; expected a RewardMachine, such as RewardMachine.from_ltlf('F item')")
