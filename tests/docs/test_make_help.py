"""``make help`` lists what can be made, and how long it takes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_every_command_is_listed_with_its_time() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = dict(re.findall(r"^  make (\S+) +\S.*  (\S.*)$", shown, re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) - {"help"} <= listed.keys()
    assert [name for name, time in listed.items() if not re.match(r"(about )?[\d.]+ min|seconds", time)] == []
