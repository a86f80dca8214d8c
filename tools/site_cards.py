"""Cards of the built-in environments, on their page of the site: a picture, and for each name its sizes and optimum."""

from __future__ import annotations

import re

from praemia import envs
from praemia.envs.registry import FAMILIES

ROW = re.compile(r"^\| `([^`]+)` \|.*\|$", re.MULTILINE)
HEADER = re.compile(r"^\| name \|.*\n\|---.*$", re.MULTILINE)


def pictures() -> dict[str, str]:
    """Return the picture of each family, that of its first example, as an SVG file of the site."""
    return {f"pictures/{family}-card.svg": envs.make(first_example(family)).draw().svg for family in FAMILIES}


def first_example(family: str) -> str:
    """Return the name whose picture stands for a family; the first is the smallest, so that its picture can be read."""
    return next(iter(FAMILIES[family].examples))


def with_cards(text: str) -> str:
    """Put a card below the heading of each family, with its rows of the table at the top."""
    header = HEADER.search(text)
    assert header is not None
    rows = {row[1]: row[0] for row in ROW.finditer(text)}
    families = iter(FAMILIES)
    return re.sub(r"^## .*$", lambda found: f"{found[0]}\n\n{card(next(families), header[0], rows)}", text, flags=re.M)


def card(family: str, header: str, rows: dict[str, str]) -> str:
    """Return the card of a family."""
    entry = FAMILIES[family]
    name = f"praemia.envs.{entry.make.__name__}"
    parts = [
        '<div class="card" markdown>',
        f"![{first_example(family)}](../pictures/{family}-card.svg)",
        "<div markdown>",
        "\n".join([header, *(rows[example] for example in entry.examples)]),
        f"[`{name}`]({name}.md), in Gymnasium `{entry.gymnasium_id}`",
        "</div>\n\n</div>",
    ]
    return "\n\n".join(parts)
