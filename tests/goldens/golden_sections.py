"""The sections of the golden records: a name begins with its section's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from golden_commands import commands, sweeps
from golden_records import Record
from golden_runs import boxes, learn_machine, plans, runs, settings
from golden_texts import machine_files, meanings, task_files
from golden_values import exploration, inference, merging, planning, theory

PLAYED = (plans, runs, settings, learn_machine, boxes)
COMPUTED = (planning, theory, exploration, merging, inference)
WRITTEN = (task_files, machine_files, meanings, commands, sweeps)
SECTIONS: dict[str, Callable[[float], Iterator[Record]]] = {
    section.__name__: section for section in (*PLAYED, *COMPUTED, *WRITTEN)
}


def records(section: str, nudge: float = 0.0) -> Iterator[Record]:
    """Make the records of a section, with all coefficients of learners multiplied by 1 + ``nudge``."""
    return (record._replace(name=f"{section}/{record.name}") for record in SECTIONS[section](nudge))
