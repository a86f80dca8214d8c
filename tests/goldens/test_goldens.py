"""What the package computes is what it computed before: whoever changes a number regenerates it, with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_records import differences, recorded, records
from golden_sections import SECTIONS

import praemia

GOLDENS = json.loads(Path(__file__).with_name("goldens.json").read_text(encoding="utf-8"))
REMEDY = "if the change is meant, run `make goldens` and say why in the commit"


@pytest.mark.parametrize("section", SECTIONS)
def test_results_are_what_they_were(section: str) -> None:
    golden = {name: form for name, form in GOLDENS.items() if name.partition("/")[0] == section}
    changed = list(differences(golden, records(section)))
    assert golden
    assert not changed, "\n".join([f"{len(changed)} results differ; {REMEDY}", *changed])


def test_every_section_and_every_learner_is_recorded() -> None:
    assert {name.partition("/")[0] for name in GOLDENS} == set(SECTIONS), REMEDY
    assert {name.split("/")[1] for name in GOLDENS if name.startswith("runs/")} == set(praemia.learners.names()), REMEDY


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (0.1, 0.1 + 1e-8),
        ("a" * 500, "a" * 499 + "b"),
        (np.arange(5), np.arange(5)[::-1]),
        (np.arange(6.0), np.arange(6.0)[::-1]),
        (np.arange(6.0), np.arange(6.0).reshape(2, 3)),
        (np.array([0.0, np.nan]), np.array([np.nan, 0.0])),
        ({"part": 1}, {"other": 1}),
    ],
)
def test_a_record_notices_what_changed_and_forgives_a_last_bit(value: Any, other: Any) -> None:
    assert list(differences({"name": recorded(value)}, {"name": recorded(other)}))
    if isinstance(value, float) or getattr(value, "dtype", np.dtype(int)).kind == "f":
        assert not list(differences({"name": recorded(value)}, {"name": recorded(np.nextafter(value, 1.0))}))
