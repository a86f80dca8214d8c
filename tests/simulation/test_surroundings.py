"""A run needs no place for messages and no folder for compiled code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PLAY = """
import sys
{first}
import praemia
print(praemia.simulate(praemia.envs.make("riverswim-3"), "eqo", 20).num_episodes)
"""


def play(first: str, **environment: str) -> str:
    code, variables = PLAY.format(first=first), os.environ | environment
    return subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, check=True, text=True
    ).stdout


def test_without_a_place_for_messages_kernels_are_compiled_all_the_same(tmp_path: Path) -> None:
    assert play("sys.stderr = None", NUMBA_CACHE_DIR=str(tmp_path)) == "20\n"


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_chosen_folder_that_cannot_be_written_is_no_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert play("", NUMBA_CACHE_DIR=str(tmp_path / place)) == "20\n"
