"""Draw a machine: states as nodes, an edge ``guard | probability, reward`` for each outcome of each rule.

The initial state has an arrow from nowhere, an absorbing one a double border. A probability of 1 is left out.
Edges that pay are blue and heavier. What no rule matches (stay, pay 0) is not drawn. Long guards are wrapped. A machine
made from a formula has it above, and below each state what is left to be satisfied. Mermaid text needs nothing; SVG,
PNG, PDF and DOT need the extra ``diagrams``, which carries its own Graphviz.
"""

from __future__ import annotations

import html
import json
import os
import re
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from praemia.errors import ParameterError, SizeError, require
from praemia.files.atomic_io import write_whole
from praemia.machines.machine import RewardMachine
from praemia.machines.rules import Outcome, Rule

MAX_DRAWN = 300  # states; Graphviz takes minutes for more
GRAPHVIZ_SUFFIXES = (".svg", ".png", ".pdf", ".dot")
MERMAID_SUFFIX = ".mmd"

_FONT = "DejaVu Sans,Helvetica,Arial,sans-serif"
_INK, _PAYS, _WRONG, _FILL = "#333333", "#0072B2", "#D55E00", "#F4F4F4"  # the blue and red of Okabe and Ito's palette
_GRAPH = {"rankdir": "LR", "nodesep": "0.45", "ranksep": "0.7", "pad": "0.1", "bgcolor": "white"}
_NODE = {"shape": "ellipse", "style": "filled", "fillcolor": _FILL, "color": _INK, "fontcolor": "black"}
_EDGE = {"color": _INK, "fontcolor": "black", "arrowsize": "0.8"}
_SMALL = '<font point-size="9" color="#666666">{}</font>'
_GUARD_WIDTH, _MEANING_WIDTH, _TITLE_WIDTH, _MEANING_LINES = 32, 30, 80, 3
_ROOMY = '<<table border="0" cellpadding="3"><tr><td>{}</td></tr></table>>'  # keeps a label off its edge
_MERMAID_UNSAFE = re.compile(r"[^\w \-.,()|&!=+/]|&(?=\w)")


def edge_text(rule: Rule, outcome: Outcome) -> str:
    """Write an edge as ``guard | probability, reward``, without a probability of 1."""
    guard, reward = str(rule.guard), str(outcome.reward)
    if rule.guard.operator == "|":
        guard = f"({guard})"
    if "," in reward:
        reward = f"({reward})"
    chance = "" if len(rule.outcomes) == 1 else f"{outcome.probability:g}, "
    return f"{guard} | {chance}{reward}"


def mermaid(machine: RewardMachine, title: str | None = None) -> str:
    """Return the machine as a Mermaid state diagram, plain text that many sites and editors draw."""
    head = [] if title is None else ["---", f"title: {json.dumps(title, ensure_ascii=False)}", "---"]
    lines = [*head, "stateDiagram-v2", "    direction LR"]
    lines += [f'    state "{_mermaid_text(name)}" as s{i}' for i, name in enumerate(machine.states)]
    lines.append(f"    [*] --> s{machine.index[machine.initial]}")
    for source, target, rule, outcome in _edges(machine):
        lines.append(f"    s{source} --> s{target} : {_mermaid_text(edge_text(rule, outcome))}")
    lines += [f"    s{machine.index[state]} --> [*]" for state in machine.states if _is_absorbing(machine, state)]
    return "\n".join(lines) + "\n"


def machine_svg(machine: RewardMachine) -> str:
    """Return the machine as an SVG element, without the XML header, to stand inside an HTML page."""
    text = _rendered([Annotated(machine)], "svg").decode()
    return re.sub(r"<title>.*?</title>\n|<!--.*?-->\n", "", text[text.index("<svg") :], flags=re.DOTALL)


def layout_json(machine: RewardMachine) -> bytes:
    """Return where Graphviz puts a machine's states and edges, as JSON with its drawing operations."""
    return _rendered([Annotated(machine)], "json")


@dataclass(frozen=True)
class Annotated:
    """A machine with notes: below states, by name, and on edges, by (source, target, guard); what is marked is red."""

    machine: RewardMachine
    title: str | None = None
    state_notes: Mapping[str, str] = field(default_factory=dict)
    edge_notes: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    marked_edges: frozenset[tuple[str, str, str]] = frozenset()
    marked_states: frozenset[str] = frozenset()


def draw_machine(machine: RewardMachine, path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Draw a machine into a file, under a title; its suffix says how: .svg, .png, .pdf, .dot or .mmd (Mermaid)."""
    if Path(path).suffix.lower() != MERMAID_SUFFIX:
        return _draw([Annotated(machine, title)], Path(path), (*GRAPHVIZ_SUFFIXES, MERMAID_SUFFIX))
    _require_drawable(machine)
    write_whole(Path(path), mermaid(machine, title).encode())
    return Path(path)


def draw_machines(machines: Sequence[Annotated], path: str | os.PathLike[str]) -> Path:
    """Draw annotated machines side by side into one file: .svg, .png, .pdf or .dot."""
    return _draw(machines, Path(path), GRAPHVIZ_SUFFIXES)


def _draw(machines: Sequence[Annotated], path: Path, suffixes: Sequence[str]) -> Path:
    suffix = path.suffix.lower()
    if suffix not in suffixes:
        expected = ", ".join(suffixes)
        raise ParameterError(f"cannot draw {str(path)!r}: its suffix is {suffix!r}; expected one of {expected}")
    for item in machines:
        _require_drawable(item.machine)
    write_whole(path, _rendered(machines, suffix[1:]))
    return path


def _require_drawable(machine: RewardMachine) -> None:
    if machine.num_states > MAX_DRAWN:
        raise SizeError(f"a machine of {machine.num_states:,} states is too large to draw; the limit is {MAX_DRAWN}")


def _edges(machine: RewardMachine) -> Iterator[tuple[int, int, Rule, Outcome]]:
    for rule in machine.exclusive_rules:
        for outcome in rule.outcomes:
            yield machine.index[rule.source], machine.index[outcome.target], rule, outcome


def _is_absorbing(machine: RewardMachine, state: str) -> bool:
    return all(outcome.target == state for outcomes in machine.possible_outcomes(state) for outcome in outcomes)


def _mermaid_text(text: str) -> str:
    """Replace what Mermaid would take for syntax by its character codes."""
    return _MERMAID_UNSAFE.sub(lambda match: f"#{ord(match.group())};", text)


def _graphviz_text(text: str) -> str:
    """Escape a label: Graphviz reads entities and backslashes even in plain ones."""
    return html.escape(text, quote=False).replace("\\", "\\\\")


def _wrapped(text: str, width: int) -> str:
    """Break a text into lines, as markup; names are kept whole."""
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "<br/>".join(map(_graphviz_text, lines))


def _node_text(item: Annotated, state: str) -> str:
    """Write a state, and below it what it stands for where the name does not say so, and its note."""
    name = _graphviz_text(state)
    meaning = item.machine.meanings[state]
    lines = [] if meaning == state else _wrapped(meaning, _MEANING_WIDTH).split("<br/>")
    if len(lines) > _MEANING_LINES:
        lines = [*lines[: _MEANING_LINES - 1], "…"]
    if state in item.state_notes:
        lines.append(_wrapped(item.state_notes[state], _MEANING_WIDTH))
    return f"<{name}<br/>{_SMALL.format('<br/>'.join(lines))}>" if lines else name


def _empty_graph() -> Any:
    """Return a pygraphviz graph without nodes."""
    require("pygraphviz")
    from pygraphviz import AGraph

    graph = AGraph(directed=True, strict=False, name="machine")
    graph.graph_attr.update(_GRAPH)
    graph.node_attr.update(_NODE, fontname=_FONT, fontsize="13")
    graph.edge_attr.update(_EDGE, fontname=_FONT, fontsize="11")
    return graph


def _add_machine(graph: Any, item: Annotated, prefix: str = "") -> None:
    """Add a machine's states and edges to a graph, or to a part of one."""
    machine = item.machine
    graph.add_node(f"{prefix}start", shape="point", width="0.06", color=_INK, fillcolor=_INK, label="")
    for i, name in enumerate(machine.states):
        look = {"peripheries": "2" if _is_absorbing(machine, name) else "1"}
        if name in item.marked_states:
            look |= {"color": _WRONG, "penwidth": "2"}
        graph.add_node(f"{prefix}s{i}", label=_node_text(item, name), **look)
    graph.add_edge(f"{prefix}start", f"{prefix}s{machine.index[machine.initial]}", key=f"{prefix}start")
    for number, (source, target, rule, outcome) in enumerate(_edges(machine)):
        look = {"color": _PAYS, "fontcolor": _PAYS, "penwidth": "1.8"} if outcome.reward.mean > 0.0 else {}
        place = (rule.source, outcome.target, str(rule.guard))
        if place in item.marked_edges:
            look = {"color": _WRONG, "fontcolor": _WRONG, "penwidth": "1.8"}
        text = _wrapped(edge_text(rule, outcome), _GUARD_WIDTH)
        if place in item.edge_notes:
            text += "<br/>" + _SMALL.format(_graphviz_text(item.edge_notes[place]))
        ends = (f"{prefix}s{source}", f"{prefix}s{target}")
        graph.add_edge(*ends, key=f"{prefix}{number}", label=_ROOMY.format(text), **look)


def _rendered(machines: Sequence[Annotated], form: str) -> bytes:
    """Lay machines out side by side, each below its title, and return them as the bytes of a file."""
    graph = _empty_graph()
    for number, item in enumerate(machines):
        alone = len(machines) == 1
        part = graph if alone else graph.add_subgraph(name=f"cluster{number}")
        if item.title is not None:
            title = f"<{_wrapped(item.title, _TITLE_WIDTH)}>"
            part.graph_attr.update(label=title, labelloc="t", fontname=_FONT, fontsize="13")
        if not alone:
            part.graph_attr.update(color="white")
        _add_machine(part, item, "" if alone else f"m{number}")
    if form == "dot":
        return str(graph.to_string()).encode()
    if form == "png":
        graph.graph_attr["dpi"] = "150"
    with _fontconfig_muted():
        drawing: bytes = graph.draw(format=form, prog="dot")
    return drawing


@contextmanager
def _fontconfig_muted() -> Iterator[None]:
    """Drop Fontconfig's warnings from standard error, and nothing else.

    pygraphviz's wheel has an older Fontconfig than many systems. It complains, from C, about settings it does not know.
    """
    try:
        stderr = os.dup(2)
    except OSError:  # standard error is closed
        yield
        return
    with tempfile.TemporaryFile() as written:
        os.dup2(written.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            written.seek(0)
            for line in written:
                if not line.startswith(b"Fontconfig warning"):
                    os.write(2, line)
