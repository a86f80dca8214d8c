"""A learner is one file that fits on a few screens."""

from __future__ import annotations

from pathlib import Path

import pytest

import praemia.learners
from praemia.learners.registry import BUILT_IN

ROOM = Path(praemia.learners.__file__).parent
FILES = sorted({place.partition(":")[0].rpartition(".")[2] for place in BUILT_IN.values()})


@pytest.mark.parametrize("name", FILES)
def test_a_learner_has_at_most_170_lines_and_opens_with_its_formula(name: str) -> None:
    text = (ROOM / f"{name}.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 170
    assert text.startswith('"""')
