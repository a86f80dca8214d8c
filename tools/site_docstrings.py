"""Turn NumPy-style docstrings into Markdown for the site."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ITEM = re.compile(r"(?:^|(?<=[.;] ))(\w[\w, ]*) : ")  # at the start of a line, or after another item

OPTIMAL = re.compile(r"(`+).*?\1|[A-Z\u0370-\u03ff][\u0300-\u036f]*(\*)")  # V*, pȲ*, π*, unless in code
INDEX = re.compile(r"(`+).*?\1|([_^])\{([^}]*)\}")  # V_{h+1}, A^{3/2}, unless in code
EXAMPLE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


class Sections(Extension):
    """Rewrite the docstring of every object before it is shown."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Return a docstring with bold titles, lists of parameters, and examples in fences."""
    opening, *rest = SECTION.split(text.expandtabs())
    lines = (line if line.startswith("    ") else literal(line) for line in opening.strip().splitlines())
    parts = ["\n".join(lines)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        content = body.strip("\n") if title == "Examples" else items(body)
        parts.append(f"**{title}**\n\n{content}")
    return "\n\n".join(fenced(part) for part in parts)


def items(body: str) -> str:
    """Return the entries of a section as a list: a line that is not indented opens one."""
    entries: list[str] = []
    for line in body.strip("\n").splitlines():
        if line.startswith(" ") and entries:
            entries[-1] += f" {line.strip()}"
        elif line.strip():
            entries.append(ITEM.sub(r"`\1`: ", line))
    return "\n".join(f"- {literal(entry)}" for entry in entries)


def literal(text: str) -> str:
    """Escape the asterisks of V* and its like, where no emphasis begins or ends, and set indices and powers as such."""
    text = OPTIMAL.sub(lambda found: found[0].replace("*", r"\*") if found[2] else found[0], text)
    return INDEX.sub(lambda found: html_index(*found.groups()[1:]) if found[2] else found[0], text)


def html_index(sign: str, text: str) -> str:
    """Return an index or a power as HTML."""
    tag = "sub" if sign == "_" else "sup"
    return f"<{tag}>{text}</{tag}>"


def fenced(text: str) -> str:
    """Put examples, with what they print, into fences."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
