"""Rewrite links for the site: pages link to repository files, which the site may have in other places."""

from __future__ import annotations

import posixpath
import re

# Files outside docs/, and the page of the site that shows each.
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "about/changes.md",
    "CONTRIBUTING.md": "about/contributing.md",
    "examples": "reference/examples.md",
}
LEARNER = r"src/praemia/learners/(\w+)\.py"  # shown on the page on learners
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")  # of images too


def site_links(text: str, file: str, page: str) -> str:
    """Rewrite the links of a repository file for the page that shows it.

    A link to a file that the site does not have becomes its text.
    """

    def rewrite(link: re.Match[str]) -> str:
        words, target = link.groups()
        path, mark, heading = target.partition("#")
        if "://" in target or not path:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if module := re.fullmatch(LEARNER, path):
            path, mark, heading = "docs/reference/learners.md", "#", anchor_of(module[1])
        there = page_of(path)
        if there is None:
            return words
        return f"[{words}]({posixpath.relpath(there, posixpath.dirname(page) or '.')}{mark}{heading})"

    return LINK.sub(rewrite, text)


def anchor_of(module: str) -> str:
    """Return where the page on learners shows what a learner's module says."""
    return f"module-{module}"


def page_of(path: str) -> str | None:
    """Return the page that shows a repository file, or None."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return ELSEWHERE.get(path) or ELSEWHERE.get(path.split("/")[0])
