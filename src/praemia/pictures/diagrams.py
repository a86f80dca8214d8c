"""Draw a machine with Graphviz, or write it as Mermaid text.

Edges with a reward are blue and heavier, what is wrong is red, terminal states have a double border. A machine of more
than 40 edges is an overview, without guards.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from praemia.errors import SizeError, require
from praemia.machines.machine import RewardMachine
from praemia.pictures.drawing import Drawing
from praemia.pictures.machine_graph import Annotated, EdgeLine, edge_lines, is_terminal, machine_graph
from praemia.pictures.scene import INK, PAPER, Inset, Scene, scaled

MAX_DRAWN = 300  # states; Graphviz takes minutes for more
MAX_EDGES = 40  # between nodes; of more only an overview is drawn
MAX_LINES = 8  # beside an edge
PAGE_WIDTH = 900.0  # pixels
MAX_BESIDE = 14  # states of a machine beside a map; larger ones are drawn alone
LARGEST, GOOD, LEGIBLE = 1.1, 0.9, 0.75  # scales in pixels for a point: no larger; good enough; no smaller
LIT = "#ffc44d"  # orange of Okabe and Ito's palette, lighter: black text stays legible on it

_FONT = "DejaVu Sans,Helvetica,Arial,sans-serif"
_LINE, _REWARD, _WRONG, _FILL = "#333333", "#0072B2", "#D55E00", "#F4F4F4"  # blue and red of Okabe and Ito's palette
_GRAPH = {"nodesep": "0.45", "ranksep": "0.7", "pad": "0.1", "bgcolor": PAPER, "fontname": _FONT, "fontsize": "13"}
_NODE = {"style": "filled", "fillcolor": _FILL, "color": _LINE, "fontname": _FONT, "fontsize": "13", "fontcolor": INK}
_EDGE = {"color": _LINE, "arrowsize": "0.8", "fontname": _FONT, "fontsize": "11", "fontcolor": INK}
_SMALL = '<font point-size="9" color="#5b6470">{}</font>'
_GUARD_WIDTH, _LOOP_WIDTH, _MEANING_WIDTH, _TITLE_WIDTH, _MEANING_LINES = 32, 20, 30, 80, 3  # letters, lines
_ROOMY = '<<table border="0" cellpadding="3"><tr><td>{}</td></tr></table>>'  # keeps a label off its edge
_TWO_ROWS = '<<table border="0" cellspacing="0" cellpadding="1"><tr><td>{}</td></tr><tr><td>{}</td></tr></table>>'
_MERMAID_UNSAFE = re.compile(r"[^\w \-.,()|&!=+/]|&(?=\w)")
_SVG_NAMES = re.compile(r"<!--.*?-->\n|<title>.*?</title>\n")  # of nodes and edges within Graphviz


def machine_drawing(*machines: Annotated) -> Drawing:
    """Draw one machine, or several side by side; as text, in the language of Mermaid."""
    for item in machines:
        if item.machine.num_states > MAX_DRAWN:
            raise SizeError(
                f"a machine of {item.machine.num_states:,} states is too large to draw; the limit is {MAX_DRAWN}"
            )

    @cache
    def laid_out() -> tuple[str, Scene]:
        dot, whole, scale = _laid_out(machines)
        return dot, replace(scaled(whole, scale), title=machines[0].title or "")

    formats = {".pdf": lambda: _draw(laid_out()[0], "pdf"), ".dot": lambda: laid_out()[0].encode()}
    name = ", ".join(repr(item.machine) for item in machines)
    return Drawing(name, lambda: laid_out()[1], lambda: "\n".join(map(_mermaid, machines)), ".mmd", formats)


def draw_machine(machine: RewardMachine, title: str | None = None) -> Drawing:
    """Draw a machine as it is."""
    return machine_drawing(Annotated(machine, title))


def machine_beside(
    machine: RewardMachine, width: float, height: float, direction: str = "LR", lit: str | None = None
) -> Scene | None:
    """Draw a machine within so many pixels, perhaps with a state highlighted; None if it is not legible."""
    if machine.num_states > MAX_BESIDE:
        return None
    _, whole, scale = _laid_out([Annotated(machine)], width, height, direction, lit)
    return scaled(whole, scale) if scale >= LEGIBLE else None


def _laid_out(
    machines: Sequence[Annotated],
    width: float = PAGE_WIDTH,
    height: float = math.inf,
    direction: str = "LR",
    lit: str | None = None,
) -> tuple[str, Scene, float]:
    """Return machines as DOT text and as Graphviz draws them, in points, with the scale at which they fit a box.

    They go in a direction, or the other way if the first would be made smaller and the second less so.
    """
    best: tuple[str, Scene, float] | None = None
    for way in (direction, "TB" if direction == "LR" else "LR"):
        dot = _dot(machines, way, lit)
        scene = _scene(dot)
        scale = min(LARGEST, width / scene.width, height / scene.height)
        if best is None or scale > best[2]:
            best = dot, scene, scale
        if scale >= GOOD:
            break
    assert best is not None
    return best


def _scene(dot: str) -> Scene:
    """Return a graph as Graphviz draws it."""
    svg = _draw(dot, "svg").decode()
    head = re.search(r'viewBox="0\.00 0\.00 ([\d.]+) ([\d.]+)"', svg)
    if head is None:
        raise SizeError("Graphviz has rendered a page without a size; expected a viewBox that begins at 0")
    size = (float(head[1]), float(head[2]))
    elements = _SVG_NAMES.sub("", svg[svg.index("<g ") : svg.rindex("</svg>")])
    return Scene(*size, (Inset(0.0, 0.0, *size, size, elements, lambda scale: _draw(dot, "png", 72.0 * scale)),))


@lru_cache(4 * MAX_BESIDE)  # in a GIF a machine is drawn in every frame, and measured before
def _draw(dot: str, form: str, dots_per_inch: float = 72.0) -> bytes:
    """Let Graphviz draw a graph; none is kept, since pygraphviz complains of those that are left when Python ends."""
    require("pygraphviz")
    from pygraphviz import AGraph

    graph = AGraph(string=dot, dpi=f"{dots_per_inch:g}")
    with _fontconfig_muted():
        drawing: bytes = graph.draw(format=form, prog="dot")
    return drawing


@contextmanager
def _fontconfig_muted() -> Iterator[None]:
    """Drop the warnings of Fontconfig from standard error: pygraphviz's wheel has an older one than many systems."""
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


def _dot(machines: Sequence[Annotated], direction: str, lit: str | None) -> str:
    """Return machines as DOT text, each below its title."""
    require("pygraphviz")
    from pygraphviz import AGraph

    graph = AGraph(directed=True, strict=False, name="machine")
    graph.graph_attr.update(_GRAPH, rankdir=direction)
    graph.node_attr.update(_NODE)
    graph.edge_attr.update(_EDGE)
    for i, item in enumerate(machines):
        # Graphviz lays out a cluster worse: one machine is none.
        part = graph if len(machines) == 1 else graph.add_subgraph(name=f"cluster{i}", color=PAPER)
        if item.title is not None:
            part.graph_attr.update(label=f"<{_wrapped(item.title, _TITLE_WIDTH)}>", labelloc="t", fontcolor=INK)
        _add_machine(part, item, f"m{i}", lit)
    text: str = graph.to_string()
    return text


def _add_machine(part: Any, item: Annotated, prefix: str, lit: str | None) -> None:
    """Add a machine's nodes and edges to a graph of Graphviz, or to a part of one."""
    graph, wrong = machine_graph(item), {state for state, _ in item.wrong}
    part.add_node(f"{prefix}start", shape="point", width="0.06", fillcolor=_LINE, label="")
    for i, states in enumerate(graph.nodes):
        style = {"peripheries": "2" if is_terminal(item.machine, states[-1]) else "1"}
        if wrong.intersection(states):
            style |= {"color": _WRONG, "penwidth": "2"}
        if lit in states:
            style |= {"fillcolor": LIT, "penwidth": "2"}
        part.add_node(f"{prefix}s{i}", label=_node_text(item, states), **style)
        if item.machine.initial in states:
            part.add_edge(f"{prefix}start", f"{prefix}s{i}")
    for (source, target), lines in graph.edges.items():
        style = {}
        if colours := {_colour(line) for line in lines} - {INK}:
            style = {"color": _WRONG if _WRONG in colours else _REWARD, "penwidth": "1.8"}
        if len(graph.edges) <= MAX_EDGES:
            style["label"] = _edge_text(lines, _LOOP_WIDTH if source == target else _GUARD_WIDTH)
        part.add_edge(f"{prefix}s{source}", f"{prefix}s{target}", **style)


def _node_text(item: Annotated, states: Sequence[str]) -> str:
    """Write a node, and below it what it stands for where the name does not say so, and its note."""
    state = states[0]
    if len(states) > 1:
        name = f"{_markup(state)} … {_markup(states[-1])}"
        step = ", ".join(line.text for line in edge_lines(item)[state] if line.target == states[1])
        lines = [f"{len(states)} states, each step on", _wrapped(step, _MEANING_WIDTH)]
    else:
        name, meaning = _markup(state), item.machine.meanings[state]
        lines = [] if meaning == state else _wrapped(meaning, _MEANING_WIDTH).split("<br/>")
    if len(lines) > _MEANING_LINES:
        lines = [*lines[: _MEANING_LINES - 1], "…"]
    if state in item.state_notes:
        lines.append(_wrapped(item.state_notes[state], _MEANING_WIDTH))
    return _TWO_ROWS.format(name, _SMALL.format("<br/>".join(lines))) if lines else f"<{name}>"


def _edge_text(lines: Sequence[EdgeLine], width: int) -> str:
    """Write the lines of an edge, one below the other."""
    texts = []
    for line in lines[:MAX_LINES]:
        note = f" {_SMALL.format(_markup(line.note))}" if line.note else ""
        texts.append(f'<font color="{_colour(line)}">{_wrapped(line.text, width)}</font>{note}')
    if len(lines) > MAX_LINES:
        texts.append(f"and {len(lines) - MAX_LINES} more")
    return _ROOMY.format("<br/>".join(texts))


def _colour(line: EdgeLine) -> str:
    return _WRONG if line.is_wrong else _REWARD if line.has_reward else INK


def _wrapped(text: str, width: int) -> str:
    """Break a text into lines, as markup; names are kept whole."""
    return "<br/>".join(map(_markup, textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)))


def _markup(text: str) -> str:
    """Escape a label, in which Graphviz reads a pair of backslashes as one; blank what XML does not allow."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return html.escape(printable, quote=False).replace("\\", "&#92;&#92;")


def _mermaid(item: Annotated) -> str:
    """Return the machine as a Mermaid state diagram, plain text that many sites and editors draw."""
    machine = item.machine
    head = [] if item.title is None else ["---", f"title: {json.dumps(item.title, ensure_ascii=False)}", "---"]
    lines = [*head, "stateDiagram-v2", "    direction LR"]
    lines += [f'    state "{_mermaid_text(name)}" as s{i}' for i, name in enumerate(machine.states)]
    lines.append(f"    [*] --> s{machine.index[machine.initial]}")
    for source, leaving in edge_lines(item).items():
        for line in leaving:
            ends = f"s{machine.index[source]} --> s{machine.index[line.target]}"
            lines.append(f"    {ends} : {_mermaid_text(line.text)}")
    lines += [f"    s{machine.index[state]} --> [*]" for state in machine.states if is_terminal(machine, state)]
    return "\n".join(lines)


def _mermaid_text(text: str) -> str:
    """Replace what Mermaid would take for syntax by its character codes."""
    return _MERMAID_UNSAFE.sub(lambda match: f"#{ord(match.group())};", text)
