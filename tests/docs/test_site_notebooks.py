"""Tutorials are checked while the site is built: what a cell or a command prints is what the tutorial shows."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from built_site import ROOT, require_tools

require_tools()

TUTORIAL = """# A tutorial

```python
x = 1 + 1
print(x)  # 2
```

```console
$ praemia envs office-mail
office-mail: an office
$ make reproduce
$ praemia check task.yaml
ok
```
"""


@pytest.fixture(scope="module")
def tool() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield import_module("site_notebooks")


def printed(cell: Any, text: str) -> Any:
    """Return a cell as if it had run and printed a text."""
    import nbformat

    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=text)]
    return cell


def test_a_cell_is_shown_with_its_code_and_a_command_as_it_is_written(tool: Any) -> None:
    title, code, console, first, second = tool.cells_of(TUTORIAL)
    assert tool.show(title) == "# A tutorial"
    assert tool.show(printed(code, "2\n")) == "```python\nx = 1 + 1\nprint(x)  # 2\n```"
    assert tool.show(console).startswith("```console\n$ praemia envs")
    assert "main(['check', 'task.yaml']" in second.source
    assert tool.show(printed(first, "office-mail: an office\n")) == tool.show(printed(second, "ok\n")) == ""
    (code,) = tool.cells_of("```python\nprint(a < b)\n```\n")
    assert '<div class="output"><pre><code>x &lt; y</code></pre></div>' in tool.show(printed(code, "x < y\n"))


@pytest.mark.parametrize(("place", "text"), [(1, "3\n"), (3, "office-coffee: an office\n")])
def test_a_cell_or_a_command_that_prints_other_than_shown_is_refused(tool: Any, place: int, text: str) -> None:
    cell = tool.cells_of(TUTORIAL)[place]
    with pytest.raises(AssertionError, match=f"prints:\n{text}"):
        tool.show(printed(cell, text))


def test_the_notebook_to_download_has_the_cells_of_the_page_and_its_link_stands_below_the_title(tool: Any) -> None:
    import nbformat

    text = TUTORIAL + "\nNext: [your own grid](own-grid.md), [Gymnasium](https://gymnasium.farama.org).\n"
    notebook = nbformat.reads(tool.download(text), as_version=4)
    nbformat.validate(notebook)
    assert [cell.source for cell in notebook.cells if cell.cell_type == "code"] == ["x = 1 + 1\nprint(x)  # 2"]
    assert notebook.cells[-1].source.endswith("Next: your own grid, [Gymnasium](https://gymnasium.farama.org).")
    assert tool.download(text) == tool.download(text)
    assert tool.with_download("# A\n\nText.\n", "a.ipynb").startswith("# A\n\n[Download as a notebook](a.ipynb)")
