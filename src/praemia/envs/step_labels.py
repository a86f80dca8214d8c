"""Labels of the steps of an environment, and episodes of labels and rewards to infer machines from.

An episode is one line of JSON, ``[[["item"], 0.0], [[], 1.0], …]``: for each step its sorted propositions, and its
reward.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeAlias

from praemia.envs.indexing import FiniteIndex
from praemia.errors import FileError, ModelError, ParameterError, did_you_mean, located
from praemia.labels import Predicates
from praemia.machines.labels import Label, as_label, by_proposition
from praemia.machines.machine import RewardMachine

StepLabels: TypeAlias = Callable[[Any, Any, Any, dict[str, Any]], str | Iterable[str]]
NextLabels: TypeAlias = Mapping[Any, str | Iterable[str]]
LabelsOfSteps: TypeAlias = StepLabels | NextLabels | Mapping[str, Callable[..., object]] | str
RecordTo: TypeAlias = str | Path | list[Any] | None


class StepLabeller:
    """The label of every step of an environment, checked against the propositions of a machine.

    ``labels`` is in one of the forms that ``BlackBox`` lists. ``declared`` are the propositions that labels can have,
    where that is known beforehand; ``met`` are the labels so far.
    """

    def __init__(self, labels: LabelsOfSteps, machine: RewardMachine, env: Any = None) -> None:
        self._function = _function_of(labels)
        self._propositions, self.met = machine.propositions, {frozenset[str]()}
        self.declared: Label | None = None
        if isinstance(labels, Predicates):
            if env is not None:
                labels.require_spaces(env.observation_space, env.action_space)
            self.declared = labels.propositions
        elif isinstance(labels, Mapping):
            functions = by_proposition(labels)
            if functions is None and env is not None:
                _require_elements(labels, env.observation_space)
            values = labels if functions else labels.values()
            self.declared = frozenset().union(*(as_label(value, "a label") for value in values))
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


def _function_of(labels: LabelsOfSteps) -> StepLabels:
    """Return labels of any form as a function (observation, action, next observation, info) → propositions."""
    if isinstance(labels, str):
        return partial(_from_info, labels)
    if isinstance(labels, Mapping):
        return by_proposition(labels) or partial(_from_table, dict(labels))
    if not callable(labels):
        raise ModelError(
            f"labels={labels!r}; expected a function (o, a, o', info) -> propositions, a dictionary from next "
            "observations to propositions or from propositions to functions, praemia.labels.predicates, or the key of "
            "info that holds them"
        )
    return labels


def _require_elements(observations: Iterable[Any], space: Any) -> None:
    """Refuse an observation that a finite space does not have: its label would never occur."""
    try:
        index = FiniteIndex(space)
    except ModelError:  # not finite: anything may be observed
        return
    with located("labels"):
        for observation in observations:
            index.number(observation)


def _from_table(table: dict[Any, Any], o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> str | Iterable[str]:
    try:
        return table.get(o_next, ())  # type: ignore[no-any-return]
    except TypeError:
        raise ModelError(
            f"labels by next observation, and {brief(o_next)} is not hashable; give a function (o, a, o', info)"
        ) from None


def _from_info(key: str, o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> str | Iterable[str]:
    if key not in info:
        raise ModelError(f"labels={key!r}, and the info of a step has no such entry{did_you_mean(key, info)}")
    return info[key]  # type: ignore[no-any-return]


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
