"""Draw the machines of patterns, below the items of a list that begin with a call of one."""

from __future__ import annotations

import ast
import base64
import re

from praemia import RewardMachine, patterns

ITEM = re.compile(r"^- `praemia\.patterns\.(?P<name>\w+)\((?P<arguments>[^`]*)\)`.*$", re.MULTILINE)


def draw_patterns(text: str) -> str:
    """Put the machine of a pattern below the item that calls it."""
    return ITEM.sub(lambda item: f"{item[0]}\n\n    {picture(item['name'], item['arguments'])}\n", text)


def picture(name: str, arguments: str) -> str:
    """Return the machine of a pattern as an inline image."""
    made = getattr(patterns, name)(*ast.literal_eval(f"[{arguments}]")).machine()
    machine = RewardMachine(made.states, made.initial, made.propositions, made.rules)
    content = base64.b64encode(machine.draw().svg.encode()).decode()
    return f'<div class="diagram"><img alt="The machine of {name}" src="data:image/svg+xml;base64,{content}"></div>'
