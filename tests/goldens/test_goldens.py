"""What the package computes is what it computed before: whoever changes a number regenerates it, with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from golden_records import differences, portable_forms
from golden_sections import SECTIONS, records

import praemia

GOLDENS = json.loads(Path(__file__).with_name("goldens.json").read_text(encoding="utf-8"))
REMEDY = "if the change is meant, run `make goldens` and say why in the commit"


def golden(section: str) -> dict[str, Any]:
    """Return the golden records of a section."""
    return {name: form for name, form in GOLDENS.items() if name.partition("/")[0] == section}


# Learners of the machine are compiled for nothing else; their plans are compared with formulas elsewhere.
LATER = {"learn_machine": [pytest.mark.slow]}


@pytest.mark.parametrize(
    "section", [pytest.param(section, marks=LATER.get(section, [])) for section in SECTIONS if golden(section)]
)
def test_results_are_what_they_were(section: str) -> None:
    changed = list(differences(golden(section), portable_forms(records(section)), additions=False))
    assert not changed, "\n".join([f"{len(changed)} results differ; {REMEDY}", *changed])


def test_every_golden_record_belongs_to_a_section() -> None:
    assert {name.partition("/")[0] for name in GOLDENS} <= SECTIONS.keys()


@pytest.mark.parametrize("learner", praemia.learners.names())
def test_every_learner_is_recorded(learner: str) -> None:
    assert any(name.startswith(f"runs/{learner}/") for name in GOLDENS), REMEDY
