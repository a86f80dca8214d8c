"""Run the tutorials, which are text notebooks, in a Jupyter kernel, and show the output under each cell.

What a cell or a command prints must be what the tutorial shows: this is the only place where tutorials run. The site
also has each as a notebook to download.
"""

from __future__ import annotations

import base64
import html
import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from shown_output import Part, blocks, parts, require_agreement

SECONDS = 600
SETUP = "%config InlineBackend.figure_formats = ['svg']"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)[^)]*\)")  # to another page of the site
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
COMMAND = "from praemia import cli\ncli.praemia.main({!r}, prog_name='praemia', standalone_mode=False)"
IMAGES = ("image/svg+xml", "image/png")


def run_all(notebooks: dict[str, str], examples: Path) -> dict[str, str]:
    """Run notebooks and return each as Markdown with its outputs, under the same name; a cell that fails is an error.

    One kernel runs them all, because a kernel takes longer to start than most of them to run. Each finds an empty
    namespace and an empty folder with a copy of examples/.
    """
    parts = {name: cells_of(text) for name, text in notebooks.items()}
    with tempfile.TemporaryDirectory() as folder:
        cells = [nbformat.v4.new_code_cell(SETUP)]
        for number, part in enumerate(parts.values()):
            room = Path(folder) / str(number)
            shutil.copytree(examples, room / "examples")
            cells += [nbformat.v4.new_code_cell(f"%reset -f\n%cd -q {room}"), *part]
        client = NotebookClient(
            nbformat.v4.new_notebook(cells=cells),
            timeout=SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(env={**os.environ, "IPYTHONDIR": str(Path(folder) / ".ipython")})
    return {name: "\n\n".join(filter(None, map(show, part))) + "\n" for name, part in parts.items()}


def cells_of(text: str) -> list[Any]:
    """Return the cells of a notebook, with a cell that the site does not show for each command of a console block."""
    cells = []
    for cell in jupytext.reads(text, fmt="md").cells:
        cells.append(cell)
        if cell.cell_type == "code":
            (cell.metadata["part"],) = parts("python", cell.source)
            continue
        for block in blocks(cell.source, "console", "sh"):
            for part in parts(*block):
                call = COMMAND.format(shlex.split(part.source, comments=True)[1:])
                cells.append(nbformat.v4.new_code_cell(call, metadata={"part": part, "hidden": True}))
    return cells


def download(text: str) -> str:
    """Return a tutorial as the content of a notebook, without outputs; links to other pages become their text."""
    cells = jupytext.reads(text, fmt="md").cells
    for number, cell in enumerate(cells):
        cell.id, cell.metadata = f"cell-{number}", {}
        if cell.cell_type != "code":
            cell.source = LINK.sub(r"\1", cell.source)
    return str(nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL)))


def with_download(page: str, file: str) -> str:
    """Put a link to the notebook below the title of a page."""
    title, _, rest = page.partition("\n")
    return f"{title}\n\n[Download as a notebook]({file}){{: download }}\n{rest}"


def show(cell: Any) -> str:
    """Return a cell as Markdown, with its outputs, which must be those that it says it has."""
    if cell.cell_type != "code":
        return str(cell.source)
    printed = "".join(output.text for output in cell.outputs if output.get("name") == "stdout")
    require_agreement(Part(*cell.metadata["part"]), printed)
    if cell.metadata.get("hidden"):
        return ""
    shown = [block for output in cell.outputs for block in output_blocks(output, cell.source)]
    return "\n\n".join([f"```python\n{cell.source}\n```", *shown])


def output_blocks(output: Any, source: str) -> list[str]:
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
    """Whether the cell's comments already contain every printed line."""
    comments = {line.rpartition("# ")[2].strip() for line in source.splitlines() if "# " in line}
    return all(line.strip() in comments for line in text.splitlines() if line.strip())


def image(kind: str, content: str) -> str:
    """Return an image as part of the page."""
    if kind == "image/svg+xml":
        content = base64.b64encode(content.encode()).decode()
    return f'<div class="output"><img alt="" src="data:{kind};base64,{content.strip()}"></div>'
