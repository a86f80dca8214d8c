"""Optimal values against Storm, the probabilistic model checker, which reads tasks as DRN files.

Storm is no dependency: these tests are slow ones, and need ``pip install stormpy`` (tried with 2.0.0).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import praemia
from praemia import Task

pytestmark = pytest.mark.slow

NAMES = ("warehouse-4", "riverswim-5", "random-10x3x3-0", "flower-3", "office-mail")
PRECISION = 1e-10


def storm_value(storm: Any, task: Task, path: Path) -> float:
    """Return what Storm answers to the query that a task's DRN file has in its first line."""
    praemia.save_task(task, path)
    query = re.search(r"(R\{.*)", path.read_text().splitlines()[0])
    assert query is not None
    environment = storm.Environment()
    solver = environment.solver()
    solver.force_soundness = True
    solver.min_max().precision = storm.Rational(PRECISION)
    model = storm.build_model_from_drn(str(path))
    (formula,) = storm.parse_properties(query.group(1))
    answer = storm.model_checking(model, formula, environment=environment)
    return float(answer.get_value(model.initial_states[0]))


@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("name", NAMES)
def test_the_stationary_optimum_is_that_of_storm(name: str, discount: float, tmp_path: Path) -> None:
    storm = pytest.importorskip("stormpy")
    task = praemia.envs.make(name).with_discount(discount).with_horizon(None)
    assert praemia.solve(task).value == pytest.approx(storm_value(storm, task, tmp_path / "task.drn"), rel=1e-8)


@pytest.mark.parametrize("discount", [1.0, 0.9])
@pytest.mark.parametrize("name", NAMES)
def test_the_optimum_within_a_horizon_is_that_of_storm(name: str, discount: float, tmp_path: Path) -> None:
    storm = pytest.importorskip("stormpy")
    task = praemia.envs.make(name).with_discount(discount)
    assert praemia.solve(task).value == pytest.approx(storm_value(storm, task, tmp_path / "task.drn"), rel=1e-9)
