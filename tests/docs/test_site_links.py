"""Links between files of the repository, as links between pages of the site."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "site_links.py"))
site_links = TOOL["site_links"]


@pytest.mark.parametrize(
    ("text", "file", "page", "expected"),
    [
        ("[a](theory.md)", "docs/learners.md", "learners.md", "[a](theory.md)"),
        ("[a](../theory.md#x)", "docs/how-to/b.md", "how-to/b.md", "[a](../theory.md#x)"),
        ("[a](docs/theory.md)", "CHANGELOG.md", "about/changes.md", "[a](../theory.md)"),
        ("[a](../examples/coffee.yaml)", "docs/task-files.md", "task-files.md", "[a](reference/examples.md)"),
        ("[a](../README.md)", "docs/architecture.md", "architecture.md", "[a](index.md)"),
        ("[a](../src/praemia/learners/eqo.py)", "docs/a.md", "a.md", "[a](reference/learners.md#module-eqo)"),
        ("[a](#below)", "docs/a.md", "a.md", "[a](#below)"),
        ("[a](https://example.org/b.md)", "docs/a.md", "a.md", "[a](https://example.org/b.md)"),
        ("![a](pictures/b.svg)", "docs/a.md", "a.md", "![a](pictures/b.svg)"),
        ("![a](docs/pictures/b.svg)", "README.md", "index.md", "![a](pictures/b.svg)"),
    ],
)
def test_a_link_leads_to_the_page_that_shows_the_file(text: str, file: str, page: str, expected: str) -> None:
    assert site_links(text, file, page) == expected


def test_a_link_to_a_file_that_the_site_does_not_have_becomes_its_text() -> None:
    assert site_links("see [the code](../src/praemia/errors.py).", "docs/a.md", "a.md") == "see the code."
