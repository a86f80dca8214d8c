"""Hooks that mkdocs calls while it builds the site (mkdocs.yml): tutorials, generated pages, a check of formulas."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from site_cards import pictures, with_cards
from site_diagrams import draw_patterns
from site_formulas import plain_bars, spoiled
from site_links import ELSEWHERE, site_links
from site_mathml import with_mathml
from site_notebooks import download, run_all, with_download
from site_reference import navigation, pages, with_learners

LOG = logging.getLogger("mkdocs.hooks")  # a warning ends a strict build
ROOT = Path(__file__).parents[1]
FROM_ROOT = {page: file for file, page in ELSEWHERE.items() if file.endswith(".md")}
_tutorials: dict[str, str] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages of the Python reference to the navigation, below their index."""
    assert config.nav is not None
    (reference,) = (part["Reference"] for part in config.nav if "Reference" in part)
    (python,) = (page for page in reference if "Python" in page)
    python["Python"] = [python["Python"], *navigation()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run the tutorials, and add their notebooks and the pages that are not files of docs/."""
    notebooks = {file.src_uri: file.content_string for file in files if file.src_uri.startswith("tutorials/")}
    shown = run_all(notebooks, ROOT / "examples")
    _tutorials.update({page: with_download(text, f"{Path(page).stem}.ipynb") for page, text in shown.items()})
    made = {**pages(ROOT), **pictures()}
    made |= {page.removesuffix(".md") + ".ipynb": download(text) for page, text in notebooks.items()}
    for page, file in FROM_ROOT.items():
        made[page] = site_links((ROOT / file).read_text(encoding="utf-8"), file, page)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Insert outputs and pictures, and redirect links to files outside docs/ to the pages that show them."""
    file, markdown = page.file, plain_bars(markdown)
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    if file.generated_by is not None:
        return markdown
    text = with_learners(draw_patterns(_tutorials.get(file.src_uri, markdown)))
    if file.src_uri == "reference/environments.md":
        text = with_cards(text)
    return site_links(text, f"docs/{file.src_uri}", file.src_uri)


def on_page_content(html: str, page: Any, **kwargs: Any) -> str:
    """Turn formulas into MathML, and warn about those that Markdown spoiled."""
    html = with_mathml(html)
    for place in spoiled(html):
        LOG.warning(f"{page.file.src_uri}: {place}; write the formula as TeX between dollar signs, or as code")
    return html
