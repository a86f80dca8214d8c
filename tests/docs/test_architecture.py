"""The page on architecture agrees with the source: the files and functions that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "praemia"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_files_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert len(named) > 30
    assert [name for name in sorted(named) if not any((base / name).is_file() for base in (PACKAGE, ROOT))] == []


def test_the_page_has_a_row_for_every_room() -> None:
    rooms = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
