"""What the package computes is what it computed before: whoever changes a number regenerates it, with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_records import differences, recorded
from make import SECTIONS, records

import praemia

GOLDENS = json.loads(Path(__file__).with_name("goldens.json").read_text(encoding="utf-8"))
REMEDY = "if the change is meant, run `make goldens` and say why in the commit"
# Learners of the machine are compiled for nothing else; their plans are compared with formulas elsewhere.
LATER = {"learn_machine": [pytest.mark.slow]}


@pytest.mark.parametrize("section", [pytest.param(section, marks=LATER.get(section, [])) for section in SECTIONS])
def test_results_are_what_they_were(section: str) -> None:
    golden = {name: form for name, form in GOLDENS.items() if name.partition("/")[0] == section}
    changed = list(differences(golden, records(section)))
    assert golden
    assert not changed, "\n".join([f"{len(changed)} results differ; {REMEDY}", *changed])


@pytest.mark.parametrize("learner", praemia.learners.names())
def test_every_learner_is_recorded(learner: str) -> None:
    assert any(name.startswith(f"runs/{learner}/") for name in GOLDENS), REMEDY


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (0.1, 0.1 + 1e-8),
        (1, 2),
        ("a" * 500, "a" * 499 + "b"),
        (np.arange(5), np.arange(5)[::-1]),
        (np.arange(6.0), np.arange(6.0)[::-1]),
        (np.arange(6.0), np.arange(6.0).reshape(2, 3)),
        (np.array([0.0, np.nan]), np.array([np.nan, 0.0])),
        ({"part": 1}, {"other": 1}),
        ([1], []),
    ],
)
def test_a_record_notices_what_changed(value: Any, other: Any) -> None:
    assert list(differences({"name": recorded(value)}, {"name": recorded(other)}))


@pytest.mark.parametrize("value", [0.1, np.array([[0.1, np.nan]]), np.full(20, 0.1)], ids=str)
def test_a_record_forgives_a_last_bit(value: Any) -> None:
    assert not list(differences({"name": recorded(value)}, {"name": recorded(np.nextafter(value, 1.0))}))
