"""The form of files as JSON Schema: it takes every valid file, and its strict form whatever is written out in full."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError
from task_texts import TASK, spoil

from praemia import envs
from praemia.cli import execute
from praemia.experiments.schema import ExperimentPart
from praemia.files.schema import FormulaPart, MachinePart, TaskFile
from praemia.files.source import parse_source
from praemia.files.writing import dump

ROOT = Path(__file__).parents[2]
FORMS: dict[str, Any] = {"task": TaskFile, "machine": MachinePart | FormulaPart, "experiment": ExperimentPart}
KEYS = {
    "task": {"mdp", "grid", "environment", "gymnasium"},
    "experiment": {"learners", "groups"},
    "machine": {"states", "ltlf", "regex"},
}


def texts() -> dict[str, str]:
    """Return the files of the examples and of the package, the blocks of the pages, and what is written of tasks."""
    files = [*ROOT.glob("examples/*.yaml"), *ROOT.glob("src/praemia/experiments/data/*.yaml")]
    found = {path.name: path.read_text(encoding="utf-8") for path in files} | {"TASK": TASK}
    for path in (ROOT / "docs").rglob("*.md"):
        page = path.read_text(encoding="utf-8")
        for place, text in enumerate(re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)):
            found[f"{path.name} {place}"] = text
    for name in envs.names():
        task = envs.make(name)
        found[name], found[f"{name}, machine"] = dump(task), dump(task.machine)
    return found


def data_of(text: str) -> Any:
    """Return a file's data as JSON has it: keys are text."""
    return json.loads(json.dumps(parse_source(text, "here").data))


def kind_of(data: Any) -> str | None:
    for kind, keys in KEYS.items():
        if isinstance(data, dict) and not keys.isdisjoint(data):
            return kind
    return None


@pytest.fixture(scope="module")
def valid() -> list[tuple[str, str, Any]]:
    """Return all valid files, as name, kind and data."""
    found = []
    for name, text in texts().items():
        try:
            data = data_of(text)
            kind = kind_of(data)
            if kind is not None:
                TypeAdapter(FORMS[kind]).validate_python(data)
                found.append((name, kind, data))
        except (ValidationError, yaml.YAMLError):
            continue  # a part of a file, in a page
    kinds = [kind for _, kind, _ in found]
    assert min(map(kinds.count, FORMS)) >= 5
    return found


def form(kind: str, capsys: pytest.CaptureFixture[str], *options: str) -> Draft202012Validator:
    assert execute(["schema", kind, *options]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("kind", FORMS)
def test_the_schema_takes_every_valid_file_and_the_strict_one_its_long_form(
    kind: str, valid: list[tuple[str, str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    loose, strict = form(kind, capsys), form(kind, capsys, "--strict")
    adapter = TypeAdapter(FORMS[kind])
    for name, own, data in valid:
        if own == kind:
            assert not list(loose.iter_errors(data)), name
            part = adapter.validate_python(data)
            long = json.loads(part.model_dump_json(by_alias=True, exclude_none=True))
            assert not list(strict.iter_errors(long)), name
            assert adapter.validate_python(long) == part, name
            assert not loose.is_valid({**data, "colour": "red"}), name


def test_short_forms_are_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    machine: dict[str, Any] = {"states": [0, "b"], "initial": 0, "propositions": ["p"]}
    machine["transitions"] = [{"from": 0, "when": "p", "to": "b", "reward": 1}]
    assert form("machine", capsys).is_valid(machine)
    assert not form("machine", capsys, "--strict").is_valid(machine)


def test_mistakes_of_form_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    validator = form("task", capsys)
    for name in ("unknown key", "unknown key within", "key is missing", "row is short"):
        assert not validator.is_valid(data_of(spoil(name))), name
