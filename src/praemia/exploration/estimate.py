"""The estimate p̂ with a machine, labels, a horizon and a discount, for plans, certificates and samples.

A pair never visited has no p̂: it takes the exit UNKNOWN, whose value is the smallest return of the machine from its
state on. So no plan is drawn to the unknown, and none is charged more than the machine can still charge. Plans are made
with rewards mapped into [0, 1] (``RewardMachine.in_unit_range``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError, did_you_mean, require_whole
from praemia.machines.labels import Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.tasks.base import MAX_HORIZON, require_discount
from praemia.tasks.extremes import extremes
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.mdp_input import require_rules
from praemia.tasks.model import Model
from praemia.tasks.spec import TaskSpec

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Estimate:
    """Explored data with what is planned for in it: ``unit``, the machine with rewards in [0, 1] unless it is given."""

    dataset: Dataset
    machine: RewardMachine
    horizon: int
    discount: float
    unit: RewardMachine = None  # type: ignore[assignment]  # filled in below

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", self.unit or self.machine.in_unit_range)

    @classmethod
    def of(
        cls, dataset: Dataset, machine: RewardMachine, horizon: int | None = None, discount: float | None = None
    ) -> Estimate:
        """Check what is planned for; a horizon or discount that is left out is the data's own."""
        steps = require_whole("horizon", dataset.horizon if horizon is None else horizon, 1, MAX_HORIZON)
        factor = require_discount(dataset.discount if discount is None else discount)
        if dataset.labelling is not None:  # a file may hold any
            require_rules(dataset.labelling, dataset.num_observations, dataset.num_actions)
        produced = dataset.seen_propositions
        require_readable(machine, produced, produced.union(dataset.propositions))
        return cls(dataset, machine, steps, factor)

    @property
    def never_seen(self) -> tuple[str, ...]:
        """The propositions that the machine reads and no transition of the data has."""
        return tuple(sorted(self.machine.reads.difference(*self.dataset.label_sets)))

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """float64[H + 1, M], the largest mean return of the machine from each step on, in the unit range."""
        return extremes(self.spec)

    @cached_property
    def model(self) -> Model:
        """p̂ with the machine as a model to plan in, in the unit range."""
        data, least = self.dataset, extremes(self.spec, sign=-1.0)
        table, columns = (
            MachineTable.of(self.unit, data.label_sets),
            (data.pairs, data.targets, data.counts, data.labels),
        )
        return Model.of_estimate(self.spec, *columns, table, data.start_probs, least)

    @cached_property
    def spec(self) -> TaskSpec:
        """The environment without p; labels that are not known may be any."""
        data = self.dataset
        return TaskSpec(
            data.num_observations,
            data.num_actions,
            self.horizon,
            self.unit,
            data.labelling or Labelling(),
            (),
            MachineTable.of(self.unit, [frozenset()]),
            unseen_labels="any" if data.labelling is None else "computed",
            can_end=data.can_end,
            discount=self.discount,
        )

    def values_from_unit(self, values: Any) -> Any:
        """Convert values at the start from the unit range to the user's units."""
        return self.machine.reward_range.values_from_unit(values, self.horizon, self.discount)


def require_readable(machine: RewardMachine, produced: Label, vocabulary: Label) -> None:
    """Refuse a machine that reads names outside the vocabulary, or none of those that the labels produce."""
    read, outside = machine.reads, sorted(machine.reads - vocabulary)
    if outside:
        raise ModelError(
            f"the machine reads {outside[0]!r}, which the labels of this data never produce"
            f"{did_you_mean(outside[0], sorted(vocabulary))}"
        )
    if read and not read & produced:
        raise ModelError(
            f"the machine reads {', '.join(sorted(read))}; the labels of this data never produce any of it"
        )
