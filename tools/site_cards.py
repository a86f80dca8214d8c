"""Cards of the built-in environments, on their page of the site: pictures of environment and machine, sizes, optima."""

from __future__ import annotations

import re

from praemia import envs
from praemia.envs.registry import FAMILIES

ROW = re.compile(r"^\| `([^`]+)` \|.*\|$", re.MULTILINE)
HEADER = re.compile(r"^\| name \|.*\n\|---.*$", re.MULTILINE)


def pictures() -> dict[str, str]:
    """Return the pictures of each family, those of its first example and its machine, as SVG files of the site."""
    made = {}
    for family in FAMILIES:
        task = envs.make(first_example(family))
        made[f"pictures/{family}-card.svg"] = task.draw().svg
        made[f"pictures/{family}-machine.svg"] = task.machine.draw().svg
    return made


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
        "</div>",
        f"![The machine of {first_example(family)}](../pictures/{family}-machine.svg)",
        "</div>",
    ]
    return "\n\n".join(parts)
