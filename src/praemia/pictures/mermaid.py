"""Write a machine as a Mermaid state diagram, plain text that many sites and editors draw."""

from __future__ import annotations

import json
import re

from praemia.pictures.machine_graph import Annotated, edge_lines, is_terminal

_UNSAFE = re.compile(r"[^\w \-.,()|&!=+/]|&(?=\w)")


def mermaid(item: Annotated) -> str:
    """Return a machine in the language of Mermaid."""
    machine = item.machine
    head = [] if item.title is None else ["---", f"title: {json.dumps(item.title, ensure_ascii=False)}", "---"]
    lines = [*head, "stateDiagram-v2", "    direction LR"]
    lines += [f'    state "{_safe(name)}" as s{i}' for i, name in enumerate(machine.states)]
    lines.append(f"    [*] --> s{machine.index[machine.initial]}")
    for source, leaving in edge_lines(item).items():
        for line in leaving:
            ends = f"s{machine.index[source]} --> s{machine.index[line.target]}"
            lines.append(f"    {ends} : {_safe(line.text)}")
    lines += [f"    s{machine.index[state]} --> [*]" for state in machine.states if is_terminal(machine, state)]
    return "\n".join(lines)


def _safe(text: str) -> str:
    """Replace what Mermaid would take for syntax by its character codes."""
    return _UNSAFE.sub(lambda match: f"#{ord(match.group())};", text)
