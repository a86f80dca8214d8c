"""The page on architecture agrees with the source: its tree, and the files and functions that it names."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "praemia"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_page_shows_the_tree_of_the_source() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "tree.py"))
    assert tool["page"](PAGE) == PAGE, "run `make tree`"
    assert len(list(tool["tree"]())) > 150


def test_the_files_that_the_page_names_exist() -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert len(named) > 30
    assert [name for name in sorted(named) if not any((base / name).is_file() for base in (PACKAGE, ROOT))] == []


def test_the_path_of_the_data_names_functions_that_exist() -> None:
    hops = re.findall(r"\| `(\w+/\w+\.py)` \| `(\w+)` \|$", PAGE, re.MULTILINE)
    assert len(hops) > 15
    assert [hop for hop in hops if hop[1] not in defined(PACKAGE / hop[0])] == []


def defined(module: Path) -> set[str]:
    """Return the names of all classes, functions and methods of a module."""
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
