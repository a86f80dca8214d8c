"""The base of tasks with a transition model (``Task``) and without one (``BlackBox``)."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection
from copy import copy
from functools import cached_property
from typing import Any, Self

from praemia._support.text_tables import plural
from praemia.errors import ModelError, PraemiaWarning, did_you_mean, require_flag, require_whole
from praemia.machines.machine import RewardMachine

MAX_HORIZON = 1_000_000


class BaseTask(ABC):
    """A machine, played for episodes of ``horizon`` steps among finitely many observations and actions.

    A subclass is a frozen dataclass with the fields ``machine``, ``horizon``, ``name``, ``discount`` and
    ``until_done``, which ``_complete_length`` checks.

    Attributes
    ----------
    max_steps : the length of an episode: the horizon, or without one the smallest H with γ^H ≤ 1e-12.
    """

    machine: RewardMachine
    horizon: int | None
    name: str
    discount: float
    until_done: bool
    max_steps: int

    @property
    @abstractmethod
    def num_observations(self) -> int: ...

    @property
    @abstractmethod
    def num_actions(self) -> int: ...

    @abstractmethod
    def _complete(self) -> None:
        """Check the fields, and fill in those that follow from others."""

    def _complete_length(self) -> None:
        """Check the parts that every task has, and fill in ``max_steps``."""
        require_machine(self.machine)
        require_flag("until_done", self.until_done, ModelError)
        discount, horizon = require_discount(self.discount), self.horizon
        if horizon is not None:
            horizon = require_whole("horizon", horizon, 1, MAX_HORIZON, ModelError)
        max_steps = horizon or effective_horizon(discount)
        self.__dict__.update(discount=discount, horizon=horizon, max_steps=max_steps)

    @property
    def num_machine_states(self) -> int:
        return self.machine.num_states

    @cached_property
    def done_states(self) -> frozenset[int]:
        """The terminal machine states: with ``until_done``, those from which every further reward is 0."""
        return self.machine.terminal_states if self.until_done else frozenset()

    def changed(self, **changes: Any) -> Self:
        """Return the task with other fields, without repeating the warnings of its making."""
        other = copy(self)
        for name in [name for name in vars(self) if isinstance(getattr(type(self), name, None), cached_property)]:
            del other.__dict__[name]
        other.__dict__.update(changes)
        other._complete()
        return other

    def with_horizon(self, horizon: int | None) -> Self:
        """Return the same task with another horizon, or with none."""
        return self.changed(horizon=horizon)

    def with_discount(self, discount: float) -> Self:
        """Return the same task with another discount.

        Examples
        --------
        >>> import praemia
        >>> praemia.envs.warehouse(size=3).with_discount(0.9)
        Task('warehouse-3': 9 observations, 5 actions, 3 machine states, horizon 9, discount 0.9)
        """
        return self.changed(discount=discount)

    def with_until_done(self, until_done: bool = True) -> Self:
        """Return the same task with episodes that end in terminal machine states, or that do not.

        Examples
        --------
        >>> import praemia
        >>> praemia.envs.warehouse(size=3).with_until_done()
        Task('warehouse-3': 9 observations, 5 actions, 3 machine states, horizon 9, until done)
        """
        return self.changed(until_done=until_done)

    def warn_of_absent(self, occurring: Collection[str], where: str, stacklevel: int) -> None:
        """Warn of a proposition that the machine reads and no label has: it is probably misspelled."""
        for name in self.machine.propositions:
            if name not in occurring and name in self.machine.reads:
                message = f"{self.name}: the machine reads the proposition {name!r}, which no label {where}"
                guess = did_you_mean(name, sorted(occurring))
                warnings.warn(message + guess, PraemiaWarning, stacklevel=stacklevel)

    @property
    def sizes(self) -> list[str]:
        """The sizes of the task in words."""
        return [
            plural(self.num_observations, "observation"),
            plural(self.num_actions, "action"),
            plural(self.num_machine_states, "machine state"),
            "no horizon" if self.horizon is None else f"horizon {self.horizon}",
            *([] if self.discount == 1.0 else [f"discount {self.discount:g}"]),
            *(["until done"] if self.until_done else []),
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {', '.join(self.sizes)})"


def effective_horizon(discount: float) -> int:
    """Return the smallest H with γ^H ≤ 1e-12."""
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
    """Return a discount in (0, 1]; refuse anything else."""
    if isinstance(discount, bool) or not isinstance(discount, (int, float)) or not 0.0 < discount <= 1.0:
        raise ModelError(f"discount={discount!r}; expected a number above 0 and at most 1")
    return float(discount)


def require_machine(machine: object) -> None:
    """Refuse anything but a machine."""
    if not isinstance(machine, RewardMachine):
        raise ModelError(f"machine={machine!r}; expected a RewardMachine, such as RewardMachine.from_ltlf('F item')")
