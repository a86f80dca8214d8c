"""Draw a machine: as a scene, in the formats of Graphviz, or as Mermaid text.

Mermaid text needs nothing; the others need the extra ``diagrams``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import ClassVar

from praemia.errors import SizeError
from praemia.machines.machine import RewardMachine
from praemia.pictures.drawing import Drawing
from praemia.pictures.machine_graph import Annotated, edge_text, is_absorbing
from praemia.pictures.machine_layout import LARGEST, PAGE_WIDTH, graphviz_graph, lay_out, pdf_of
from praemia.pictures.scene import Scene

MAX_DRAWN = 300  # states; Graphviz takes minutes for more
_MERMAID_UNSAFE = re.compile(r"[^\w \-.,()|&!=+/]|&(?=\w)")


class MachineDrawing(Drawing):
    """One machine, or several side by side; as text, in the language of Mermaid."""

    text_ending: ClassVar[str] = ".mmd"

    def __init__(self, *machines: Annotated) -> None:
        self.machines = machines

    @classmethod
    def of(cls, machine: RewardMachine, title: str | None = None) -> MachineDrawing:
        """Draw a machine as it is."""
        return cls(Annotated(machine, title))

    @cached_property
    def scene(self) -> Scene:
        scene = lay_out(self._drawable).scene
        return scene.scaled(min(LARGEST, PAGE_WIDTH / scene.width))

    @property
    def _drawable(self) -> tuple[Annotated, ...]:
        for item in self.machines:
            if item.machine.num_states > MAX_DRAWN:
                raise SizeError(
                    f"a machine of {item.machine.num_states:,} states is too large to draw; the limit is {MAX_DRAWN}"
                )
        return self.machines

    @property
    def writers(self) -> Mapping[str, Callable[[], bytes]]:
        """What a file holds, by its ending."""
        return {
            **super().writers,
            ".pdf": lambda: pdf_of(self._drawable),
            ".dot": lambda: graphviz_graph(self._drawable).to_string().encode(),
        }

    def __str__(self) -> str:
        return "\n".join(_mermaid(item.machine, item.title) for item in self._drawable)

    def __repr__(self) -> str:
        return f"MachineDrawing({', '.join(repr(item.machine) for item in self.machines)})"


def _mermaid(machine: RewardMachine, title: str | None = None) -> str:
    """Return the machine as a Mermaid state diagram, plain text that many sites and editors draw."""
    head = [] if title is None else ["---", f"title: {json.dumps(title, ensure_ascii=False)}", "---"]
    lines = [*head, "stateDiagram-v2", "    direction LR"]
    lines += [f'    state "{_mermaid_text(name)}" as s{i}' for i, name in enumerate(machine.states)]
    lines.append(f"    [*] --> s{machine.index[machine.initial]}")
    for rule in machine.exclusive_rules:
        for outcome in rule.outcomes:
            ends = f"s{machine.index[rule.source]} --> s{machine.index[outcome.target]}"
            lines.append(f"    {ends} : {_mermaid_text(edge_text(rule, outcome))}")
    lines += [f"    s{machine.index[state]} --> [*]" for state in machine.states if is_absorbing(machine, state)]
    return "\n".join(lines)


def _mermaid_text(text: str) -> str:
    """Replace what Mermaid would take for syntax by its character codes."""
    return _MERMAID_UNSAFE.sub(lambda match: f"#{ord(match.group())};", text)
