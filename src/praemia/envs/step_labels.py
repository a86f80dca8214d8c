"""Labels of the steps of an environment, and episodes of labels and rewards to infer machines from.

An episode is one line of JSON, ``[[["item"], 0.0], [[], 1.0], …]``: for each step its sorted propositions, and its
reward.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeAlias

from praemia.errors import FileError, ModelError, ParameterError
from praemia.machines.labels import Label, as_label
from praemia.machines.machine import RewardMachine

StepLabels: TypeAlias = Callable[[Any, Any, Any, dict[str, Any]], str | Iterable[str]]
NextLabels: TypeAlias = Mapping[Any, str | Iterable[str]]
RecordTo: TypeAlias = str | Path | list[Any] | None


def as_step_labels(labels: StepLabels | NextLabels) -> StepLabels:
    """Return a function (observation, action, next observation, info) → propositions."""
    if isinstance(labels, Mapping):
        table = dict(labels)

        def label(o: Any, a: Any, o_next: Any, info: dict[str, Any]) -> str | Iterable[str]:
            try:
                return table.get(o_next, ())
            except TypeError:
                raise ModelError(
                    f"labels by next observation, and {brief(o_next)} is not hashable; give a function (o, a, o', info)"
                ) from None

        return label
    if not callable(labels):
        raise ModelError(
            f"labels={labels!r}; expected a function (o, a, o', info) -> propositions, or a dictionary from next "
            "observations to propositions"
        )
    return labels


def step_label(labels: StepLabels, machine: RewardMachine, step: tuple[Any, Any, Any], info: dict[str, Any]) -> Label:
    """Return the label of a step (o, a, o'), checked against the machine's propositions."""
    propositions = labels(*step, info)
    if isinstance(propositions, set | frozenset) and propositions.issubset(machine.propositions):
        return frozenset(propositions)
    return as_label(propositions, f"the label of ({', '.join(map(brief, step))})", machine.propositions)


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
