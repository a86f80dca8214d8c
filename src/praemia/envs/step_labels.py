"""Labels of the steps of an environment, and episodes of labels and rewards to infer machines from.

An episode is one line of JSON, ``[[["item"], 0.0], [[], 1.0], …]``: for each step its sorted propositions, and its
reward.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeAlias

import numpy as np

from praemia.envs.indexing import FiniteIndex
from praemia.errors import FileError, ModelError, ParameterError, located
from praemia.labels import Predicates
from praemia.machines.labels import Label, as_label, read_labels
from praemia.machines.machine import RewardMachine

StepLabels: TypeAlias = Callable[[Any, Any, Any, dict[str, Any]], str | Iterable[str]]
NextLabels: TypeAlias = Mapping[Any, str | Iterable[str]]
LabelsOfSteps: TypeAlias = StepLabels | NextLabels | Mapping[str, Callable[..., object]] | str
RecordTo: TypeAlias = str | Path | list[Any] | None


class StepLabeller:
    """The label of every step of an environment, checked against the propositions of a machine.

    ``labels`` is in one of the forms that ``BlackBox`` lists; ``observations`` and ``actions`` are spaces, if known.
    ``declared`` are the propositions that labels can have, where that is known beforehand; ``met`` are the labels so
    far.
    """

    def __init__(
        self, labels: LabelsOfSteps, machine: RewardMachine, observations: Any = None, actions: Any = None
    ) -> None:
        given, self.declared = read_labels(labels)
        self._propositions, self.met = machine.propositions, {frozenset[str]()}
        if isinstance(labels, Predicates):
            self.declared = labels.propositions
            if observations is not None:
                labels.require_spaces(observations, actions)
        self._function = _by_next(given, observations) if isinstance(given, Mapping) else given
        as_label(sorted(self.declared or ()), "labels: their dictionary", self._propositions)

    def __call__(self, o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> Label:
        """Return the label of a step."""
        found = self._function(o, a, o_next, info)
        try:
            label: Any = frozenset((found,) if isinstance(found, str) else found)
            if label in self.met and not isinstance(found, Mapping):
                return label  # type: ignore[no-any-return]
        except TypeError:  # not several names: refused below
            label = found
        step = ", ".join(map(brief, (o, a, o_next)))
        given = label if isinstance(found, Iterator) else found
        label = as_label(given, f"the label of ({step})", self._propositions)
        self.met.add(label)
        return label  # type: ignore[no-any-return]


def _by_next(table: Mapping[Any, Label], space: Any) -> Callable[..., Label]:
    """Return labels by next observation as a function; refuse observations that a finite space does not have."""
    nothing, by_index = frozenset[str](), dict[int, Label]()
    try:
        index = FiniteIndex(space)
    except ModelError:  # not finite: anything may be observed
        index = None
    if index is not None:
        with located("labels"):
            by_index = {index.number(o): label for o, label in table.items()}

    def label(o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> Label:
        try:
            return table.get(o_next, nothing)
        except TypeError:
            if index is not None:
                return by_index.get(index.number(o_next), nothing)
            raise ModelError(
                f"labels by next observation, and {brief(o_next)} is not hashable; give a function (o, a, o', info)"
            ) from None

    return label


def copied(observed: Any) -> Any:
    """Return an observation that the environment, which may show the same array again, cannot overwrite."""
    return observed.copy() if type(observed) is np.ndarray else deepcopy(observed)


class TraceRecorder:
    """Collect the labels and rewards of episodes in a list or, as lines, in a file; nothing if ``record`` is None."""

    def __init__(self, record: RecordTo) -> None:
        if record is not None and not isinstance(record, str | Path | list):
            raise ParameterError(f"record={record!r}; expected the path of a file, or a list")
        if isinstance(record, str | Path) and not Path(record).absolute().parent.is_dir():
            raise FileError(f"{record}: its folder does not exist; make it first")
        self.record = record
        self._steps: list[list[Any]] = []

    def add(self, label: Label, reward: float) -> None:
        """Note a step."""
        if self.record is not None:
            self._steps.append([sorted(label), float(reward)])

    def end_episode(self) -> None:
        """Keep the steps noted since the last episode, if there are any."""
        episode, self._steps = self._steps, []
        if isinstance(self.record, list) and episode:
            self.record.append(episode)
        elif self.record is not None and episode:
            try:
                with open(self.record, "a", encoding="utf-8") as file:  # type: ignore[arg-type]
                    file.write(json.dumps(episode) + "\n")  # one write per line: processes may share the file
            except OSError as error:
                raise FileError(f"{self.record}: cannot be written: {error.strerror}") from None
