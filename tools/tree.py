"""Print the source tree, one line per file: its name and the first line of its docstring.

docs/architecture.md shows the same tree.

    python tools/tree.py            print it
    python tools/tree.py --write    write it into the page
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "praemia"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- tree -->", "<!-- end of tree -->"


def tree(folder: Path = PACKAGE, depth: int = 0) -> Iterator[str]:
    """Yield the lines of a folder: the folder itself, its modules, then the folders in it."""
    yield _line(f"{folder.name}/", folder / "__init__.py", depth)
    for module in sorted(folder.glob("*.py")):
        if module.name != "__init__.py":
            yield _line(module.name, module, depth + 1)
    for inner in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from tree(inner, depth + 1)


def _line(name: str, module: Path, depth: int) -> str:
    """Return the line of a module, which must have a docstring."""
    said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    if not said:
        raise SystemExit(f"{module.relative_to(ROOT)} has no docstring")
    summary = said.splitlines()[0].removesuffix(".").replace("``", "")
    return f"{'  ' * depth + name:<32}{summary}"


def page(text: str) -> str:
    """Return the page with a new tree."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = "\n".join(tree())
    return f"{before}{BEGIN}\n```text\n{lines}\n```\n{END}{after}"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print("\n".join(tree()))
