"""A constant of the user's own module that changes is noticed: the old code is not loaded again."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

import praemia

LEARNER = """
from dataclasses import dataclass
from typing import ClassVar

import settings_of_mine
from praemia.learners import BonusLearner


@dataclass(frozen=True, kw_only=True)
class Constant(BonusLearner):
    name: ClassVar[str] = "constant"

    @staticmethod
    def worth(mean, deviation, pair):
        return 0.0 * mean + settings_of_mine.WORTH
"""


def imported(folder: Path, worth: float) -> Any:
    """Write the constant, and import the learner as a new process would."""
    (folder / "settings_of_mine.py").write_text(f"WORTH = {worth}\n", encoding="utf-8")
    for name in ("settings_of_mine", "learner_of_mine"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module("learner_of_mine").Constant


def test_a_changed_constant_of_an_imported_module_changes_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "learner_of_mine.py").write_text(LEARNER, encoding="utf-8")
    task = praemia.envs.riverswim(size=2, horizon=1)
    for worth in (0.25, 0.125):
        learner = imported(tmp_path, worth)(replan="episode")
        run = praemia.simulate(task, learner, num_episodes=200, seed=0)
        assert run.optimistic_values[-1] == worth
    for name in ("settings_of_mine", "learner_of_mine"):
        sys.modules.pop(name, None)
