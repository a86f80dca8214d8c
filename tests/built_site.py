"""The documentation site, built once for all tests and all of pytest's worker processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PATIENCE = 1_800.0


def require_tools() -> None:
    """Skip where the tools that build the site are not installed."""
    for tool in ("material", "mkdocstrings", "latex2mathml", "jupytext", "nbclient", "ipykernel"):
        pytest.importorskip(tool, reason=f"no {tool} here: the site was not built (pip install 'praemia[docs]')")


def build_once(shared: Path) -> Path:
    """Build the site in a folder that all workers share; one of them builds, the others wait."""
    site, log = shared / "site", shared / "site.log"
    try:
        site.mkdir()
    except FileExistsError:
        _wait_for(log)
    else:
        _build(site, log)
    text = log.read_text(encoding="utf-8")
    assert text.startswith("exit status 0\n"), text
    return site


def _build(site: Path, log: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    beside = log.with_suffix(".part")
    beside.write_text(f"exit status {done.returncode}\n{done.stdout}{done.stderr}", encoding="utf-8")
    beside.replace(log)


def _wait_for(log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not log.exists():
        assert time.monotonic() < deadline, "the worker that builds the site did not finish"
        time.sleep(0.2)


class Links(HTMLParser):
    """What a page links to, loads, and can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.anchors.update(given[key] for key in ("id", "name") if key in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in {"img", "script"} and "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") != "canonical" and "href" in given:
            self.loaded.append(given["href"])


def pages(site: Path) -> Iterator[Path]:
    """Return all pages but the one for wrong addresses, whose links start at a server's root."""
    return (path for path in sorted(site.glob("**/*.html")) if path.name != "404.html")
