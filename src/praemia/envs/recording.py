"""Record what was played: for each episode the labels and rewards of its steps, to learn machines from.

An episode is one line of JSON, ``[[["item"], 0.0], [[], 1.0], …]``: for each step the sorted names of its label, and
what it paid.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from praemia.errors import FileError, ParameterError
from praemia.machines.labels import Label

RecordTo: TypeAlias = str | Path | list[Any] | None


class TraceRecorder:
    """Collect the steps of an episode, and add the episode to a list or, as a line, to a file.

    Parameters
    ----------
    record : a list, the path of a file that is made or added to, or None to record nothing.
    """

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
        if not episode or self.record is None:
            return
        if isinstance(self.record, list):
            self.record.append(episode)
            return
        try:
            # One write per line: processes may share the file.
            with open(self.record, "a", encoding="utf-8") as file:
                file.write(json.dumps(episode) + "\n")
        except OSError as error:
            raise FileError(f"{self.record}: cannot be written: {error.strerror}") from None
