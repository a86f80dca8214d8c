"""Pieces of an HTML page: everything that is not markup is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from praemia.text_tables import numeric_columns

# The page may load nothing at all: no script, style, font or picture but what is in it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def page(title: str, body: str, scripts: Iterable[str]) -> str:
    """Return a whole page that needs nothing but itself."""
    code = "\n".join(f"<script>{script}</script>" for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>\n{resource('report.css')}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n{code}\n</body>\n</html>\n"
    )


def resource(name: str) -> str:
    """Return the text of a file that lies beside this module."""
    return files("praemia.report").joinpath(name).read_text(encoding="utf-8")


def table(header: Sequence[str], rows: Iterable[Sequence[str]], strong: Iterable[int] = ()) -> str:
    """Return a table: numbers to the right, the rows named by ``strong`` in bold.

    Rows with the same first cell belong together: a rule divides them from the others.
    """
    body = [tuple(row) for row in rows]
    marked = set(strong)
    numeric = numeric_columns(header, body)
    lines = [_row(header, numeric, "th")]
    previous = None
    for place, row in enumerate(body):
        classes = [name for name, wanted in (("best", place in marked), ("first", row[0] != previous)) if wanted]
        lines.append(_row(row, numeric, "td", " ".join(classes)))
        previous = row[0]
    head, *rest = lines
    return f'<div class="wide"><table>\n<thead>{head}</thead>\n<tbody>\n' + "\n".join(rest) + "\n</tbody></table></div>"


def _row(cells: Sequence[str], numeric: Sequence[bool], tag: str, kind: str = "") -> str:
    inner = "".join(
        f'<{tag} class="n">{escape(cell)}</{tag}>' if right else f"<{tag}>{escape(cell)}</{tag}>"
        for cell, right in zip(cells, numeric, strict=True)
    )
    return f'<tr class="{kind}">{inner}</tr>' if kind else f"<tr>{inner}</tr>"


def details(summary: str, body: str) -> str:
    """Return a part that is folded until it is asked for."""
    return f"<details><summary>{escape(summary)}</summary>\n{body}\n</details>"


def figure(content: str, caption: str, kind: str = "") -> str:
    """Return a figure with its caption; the content is markup."""
    return f'<figure class="{kind}">{content}<figcaption>{escape(caption)}</figcaption></figure>'


def inline_svg(text: str) -> str:
    """Return an SVG document as an element: no header, and no ids, which would not be unique in a page."""
    return re.sub(r' id="[^"]*"', "", text[text.index("<svg") :])


def bullets(items: Iterable[str]) -> str:
    """Return a list; its items are text."""
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
