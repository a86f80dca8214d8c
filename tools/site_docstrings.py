"""Docstrings as griffe and Markdown read them: entries on two lines, and formulas whose stars are no emphasis.

In the sources an entry is ``name : what it is``: its type is in the signature, where type checkers see it.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

SECTION = re.compile(r"(?<=\n\n)(Parameters|Attributes)\n-{3,}\n(.*?)(?=\n\n|\Z)", re.DOTALL)
ENTRY = re.compile(r"(^|(?<=[.;]) )(\w[\w, ]*) : ", re.MULTILINE)  # at the start of a line, or after another one

OPTIMAL = re.compile(r"(`+).*?\1|[A-Z\u0370-\u03ff][\u0300-\u036f]*(\*)")  # V*, pȲ*, π*, unless in code
INDEX = re.compile(  # V_{h+1}, A^{3/2}, γ^h, V̄_h, unless in code
    r"(`+).*?\1|([_^])\{([^}]*)\}|\^(\w+)|(?<!\w)([^\W\d_][\u0300-\u036f]*(?:\\\*)?'?)_(\w+)"
)


class Standard(Extension):
    """Rewrite the docstring of every object before it is parsed."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = standard(obj.docstring.value)


def standard(text: str) -> str:
    """Return a docstring in NumPy's own style, to be read as Markdown."""
    text = "\n".join(line if line.startswith(("    ", ">>>")) else literal(line) for line in text.splitlines())
    return SECTION.sub(lambda section: f"{section[1]}\n{'-' * len(section[1])}\n{entries(section[2])}", text)


def entries(body: str) -> str:
    """Put every name on a line of its own, above what it is."""
    return ENTRY.sub(lambda entry: ("\n" if entry[1] else "") + f"{entry[2]}\n    ", body)


def literal(text: str) -> str:
    """Escape the asterisks of V* and its like, where no emphasis begins or ends, and set indices and powers as such."""
    text = OPTIMAL.sub(lambda found: found[0].replace("*", r"\*") if found[2] else found[0], text)
    return INDEX.sub(html_index, text)


def html_index(found: re.Match[str]) -> str:
    """Return an index or a power as HTML, and code as it is."""
    _, sign, text, power, base, index = found.groups()
    if base:
        return f"{base}<sub>{index}</sub>"
    if power or sign == "^":
        return f"<sup>{power or text}</sup>"
    return f"<sub>{text}</sub>" if sign else found[0]
