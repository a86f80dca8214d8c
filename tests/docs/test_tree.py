"""The tree in the page on architecture is that of the source: one line per file, from its docstring."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_shows_the_tree_of_the_source() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "tree.py"))
    shown = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert tool["page"](shown) == shown, "run `make tree`"
    assert len(list(tool["tree"]())) > 150
