"""The sweep that nobody disturbed, once for all tests that compare with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sweeps import NUM_RUNS, contents, finish, start, write_experiment


@pytest.fixture(scope="session")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_experiment(tmp_path_factory.mktemp("experiment"))


@pytest.fixture(scope="session")
def undisturbed(experiment: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    store = tmp_path_factory.mktemp("undisturbed") / "store"
    finish(start(experiment, store, "--jobs", "1"))
    runs = contents(store)
    assert len(runs) == NUM_RUNS
    return runs
