"""Cards of the built-in environments, on their page of the site: pictures of environment and machine."""

from __future__ import annotations

import re

from praemia import envs
from praemia.envs.registry import FAMILIES


def pictures() -> dict[str, str]:
    """Return the pictures of each family, those of its first example and its machine, as SVG files of the site."""
    made = {}
    for family, entry in FAMILIES.items():
        task = envs.make(entry.examples[0])  # the smallest, so that its picture can be read
        made[f"pictures/{family}-card.svg"] = task.draw().svg
        made[f"pictures/{family}-machine.svg"] = task.machine.draw().svg
    return made


def with_cards(text: str) -> str:
    """Put a card below the heading of each family."""
    families = iter(FAMILIES)
    return re.sub(r"^## .*$", lambda found: f"{found[0]}\n\n{card(next(families))}", text, flags=re.M)


def card(family: str) -> str:
    """Return the card of a family."""
    entry = FAMILIES[family]
    name = f"praemia.envs.{entry.make.__name__}"
    parts = [
        '<div class="card" markdown>',
        f"![{entry.examples[0]}](../pictures/{family}-card.svg)",
        f"![The machine of {entry.examples[0]}](../pictures/{family}-machine.svg)",
        f"[`{name}`]({name}.md), in Gymnasium `{entry.gymnasium_id}`",
        "</div>",
    ]
    return "\n\n".join(parts)
