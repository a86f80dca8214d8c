"""The list of file formats: what is on it can be loaded, saved and converted, and is documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from praemia import envs
from praemia.cli.files import convert_command
from praemia.errors import FileError
from praemia.files.load_save import (
    FORMATS,
    MACHINE_FORMATS,
    SUFFIXES,
    load,
    load_machine,
    load_task,
    save_machine,
    save_task,
)
from praemia.machines.builder import MachineBuilder

REFERENCE = Path(__file__).parents[2] / "docs/reference/machine-formats.md"
WORDS = ([], ["a"], ["a", "b"], ["b", "a", "b", "b"], ["a", "a", "b"])


@pytest.mark.parametrize("name", MACHINE_FORMATS)
def test_a_machine_in_any_format_pays_what_it_paid(tmp_path: Path, name: str) -> None:
    machine = MachineBuilder("0", ("a", "b")).edge("0", "a", "1").edge("1", "b", "0", reward=1).build()
    save_machine(machine, tmp_path / "machine", format=name)
    again = load_machine(tmp_path / "machine", format=name)
    for word in WORDS:
        labels = [{letter} for letter in word]
        assert list(again.expected_rewards(labels)) == list(machine.expected_rewards(labels))


@pytest.mark.parametrize("suffix", [suffix for suffix, format in SUFFIXES.items() if format.write_task])
def test_a_task_is_saved_in_every_format_that_has_tasks(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"task{suffix}"
    save_task(envs.make("warehouse-3"), path)
    if SUFFIXES[suffix].read is None:
        with pytest.raises(FileError, match="can be written but not read"):
            load(path)
    else:
        assert load_task(path).machine == envs.make("warehouse-3").machine


def test_every_ending_and_name_of_a_format_is_in_the_reference() -> None:
    reference = REFERENCE.read_text(encoding="utf-8")
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in reference] == []
    assert [name for name, format in FORMATS.items() if not format.suffixes and f"`{name}`" not in reference] == []


def test_the_help_of_convert_and_load_machine_names_every_format() -> None:
    text = convert_command.help or ""
    first_suffixes = [(format.suffixes or (f"--to {name}",))[0] for name, format in FORMATS.items()]
    assert [suffix for suffix in first_suffixes if suffix not in text] == []
    assert [name for name in MACHINE_FORMATS if f'"{name}"' not in (load_machine.__doc__ or "")] == []


def test_a_task_that_names_a_task_as_its_machine_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "task.yaml"
    path.write_text("environment: {name: warehouse}\nmachine: task.yaml\n")
    with pytest.raises(FileError, match=r"task\.yaml:1:1: unknown key 'environment'"):
        load_task(path)
