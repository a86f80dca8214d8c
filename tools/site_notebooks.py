"""Run the tutorials, which are text notebooks, in a Jupyter kernel, and show the output under each cell."""

from __future__ import annotations

import base64
import html
import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient

SECONDS = 600
SETUP = "%config InlineBackend.figure_formats = ['svg']"
IMAGES = ("image/svg+xml", "image/png")


def run_all(notebooks: dict[str, str], examples: Path) -> dict[str, str]:
    """Run notebooks, two at a time, and return each as Markdown with its outputs, under the same name."""
    with ThreadPoolExecutor(2) as pool:
        texts = pool.map(lambda text: run(text, examples), notebooks.values())
        return dict(zip(notebooks, texts, strict=True))


def run(text: str, examples: Path) -> str:
    """Run a notebook in an empty folder with a copy of examples/; a cell that fails is an error."""
    notebook = jupytext.reads(text, fmt="md")
    notebook.cells.insert(0, nbformat.v4.new_code_cell(SETUP))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(examples, Path(folder) / "examples")
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(env={**os.environ, "IPYTHONDIR": str(Path(folder) / ".ipython")})
    return "\n\n".join(map(show, notebook.cells[1:])) + "\n"


def show(cell: Any) -> str:
    """Return a cell as Markdown, with its outputs."""
    if cell.cell_type != "code":
        return str(cell.source)
    shown = [block for output in cell.outputs for block in blocks(output, cell.source)]
    return "\n\n".join([f"```python\n{cell.source}\n```", *shown])


def blocks(output: Any, source: str) -> list[str]:
    """Return what to show of an output: an image, or text that the cell's comments do not already contain."""
    data = output.get("data", {})
    for kind in IMAGES:
        if kind in data:
            return [image(kind, data[kind])]
    text = output.get("text") or data.get("text/plain") or ""
    if output.get("name") == "stderr" or not text.strip() or in_comments(text, source):
        return []
    return [f'<div class="output"><pre><code>{html.escape(text.rstrip())}</code></pre></div>']


def in_comments(text: str, source: str) -> bool:
    """Tell whether the cell's comments already contain every printed line."""
    comments = {line.rpartition("# ")[2].strip() for line in source.splitlines() if "# " in line}
    return all(line.strip() in comments for line in text.splitlines())


def image(kind: str, content: str) -> str:
    """Return an image as part of the page."""
    if kind == "image/svg+xml":
        content = base64.b64encode(content.encode()).decode()
    return f'<div class="output"><img alt="" src="data:{kind};base64,{content.strip()}"></div>'
