"""Draw the machines of patterns: pages contain them as Mermaid text, which an offline site cannot draw."""

from __future__ import annotations

import ast
import base64
import re

from praemia import RewardMachine, patterns

# A call of a pattern in the text, and the first diagram below it.
DIAGRAM = re.compile(
    r"(?P<before>`praemia\.patterns\.(?P<name>\w+)\((?P<arguments>[^`]*)\)`[^#]*?)^```mermaid\n.*?^```$",
    re.DOTALL | re.MULTILINE,
)


def draw_patterns(text: str) -> str:
    """Replace each diagram of a pattern by a picture of its machine."""
    return DIAGRAM.sub(lambda found: found["before"] + picture(found["name"], found["arguments"]), text)


def picture(name: str, arguments: str) -> str:
    """Return the machine of a pattern as an inline image."""
    made = getattr(patterns, name)(*ast.literal_eval(f"[{arguments}]")).machine()
    machine = RewardMachine(made.states, made.initial, made.propositions, made.rules)
    content = base64.b64encode(machine.draw().svg.encode()).decode()
    return f'<div class="diagram"><img alt="The machine of {name}" src="data:image/svg+xml;base64,{content}"></div>'
