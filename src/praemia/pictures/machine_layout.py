"""Lay a machine out: Graphviz decides where the nodes and edges go that ``machine_graph`` says are drawn.

The initial state has an arrow from nowhere, an absorbing one a double border. Edges that pay are blue and heavier. A
machine made from a formula has it above, and below each state what is left to be satisfied. From left to right unless
that is wider than a page and from top to bottom is not. More than 30 nodes are an overview, without guards. This needs
the extra ``diagrams``, which carries its own Graphviz.
"""

from __future__ import annotations

import html
import json
import os
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from praemia.errors import require
from praemia.machines.machine import RewardMachine
from praemia.pictures.machine_graph import Annotated, DrawnEdge, DrawnNode, MachineGraph, is_absorbing, machine_graph
from praemia.pictures.scene import Area, Item, Line, Scene, Text, place
from praemia.tasks.picture import Point

MAX_LABELLED = 30  # nodes; of more only an overview is drawn
MAX_LINES = 8  # beside an edge
PAGE_WIDTH, PAD = 900.0, 7.0  # points
MAX_MACHINE = 14  # states beside a map; larger machines have a drawing of their own
LARGEST, LEGIBLE = 1.1, 0.75  # the largest and the smallest scale, in pixels for a point
LIT = "#ffc44d"  # orange of Okabe and Ito's palette, lighter: black text stays legible on it
CURVE_POINTS = 24  # for each piece of a curve
SET_MINUS = "\N{SET MINUS}"  # looks like a backslash
ANCHORS = {"c": "middle", "l": "start", "r": "end"}

_FONT = "DejaVu Sans,Helvetica,Arial,sans-serif"
_INK, _PAYS, _WRONG, _FILL = "#333333", "#0072B2", "#D55E00", "#F4F4F4"  # the blue and red of Okabe and Ito's palette
_GRAPH = {"rankdir": "LR", "nodesep": "0.45", "ranksep": "0.7", "pad": "0.1", "bgcolor": "white"}
_NODE = {"shape": "ellipse", "style": "filled", "fillcolor": _FILL, "color": _INK, "fontcolor": "black"}
_EDGE = {"color": _INK, "fontcolor": "black", "arrowsize": "0.8"}
_SMALL = '<font point-size="9" color="#666666">{}</font>'
_GUARD_WIDTH, _LOOP_WIDTH, _MEANING_WIDTH, _TITLE_WIDTH, _MEANING_LINES = 32, 20, 30, 80, 3
_ROOMY = '<<table border="0" cellpadding="3"><tr><td>{}</td></tr></table>>'  # keeps a label off its edge
_TWO_ROWS = '<<table border="0" cellspacing="0" cellpadding="1"><tr><td>{}</td></tr><tr><td>{}</td></tr></table>>'


@dataclass(frozen=True)
class MachineLayout:
    """Machines as Graphviz laid them out, in points unless it is scaled.

    Attributes
    ----------
    scene : all of it, with the lines beside edges above everything else.
    nodes : the items of the node of each state of the first machine.
    """

    scene: Scene
    nodes: tuple[tuple[Item, ...], ...]

    def lit(self, m: int) -> list[Item]:
        """Draw a state to be seen at once, above the scene."""
        return [
            item._replace(fill=item.fill and LIT, thickness=2.2 * item.thickness) if isinstance(item, Area) else item
            for item in self.nodes[m]
        ]

    def scaled(self, scale: float) -> MachineLayout:
        """Make it all larger or smaller."""
        return MachineLayout(
            self.scene.scaled(scale), tuple(tuple(place(node, 0.0, 0.0, scale)) for node in self.nodes)
        )


def lay_out(machines: Sequence[Annotated], direction: str = "LR") -> MachineLayout:
    """Lay machines out side by side, each below its title."""
    # Graphviz leaves control characters in names as they are: not strict.
    pen = _Pen(json.loads(_drawn(graphviz_graph(machines), "json", direction), strict=False))
    nodes = {part["name"]: tuple(pen.items(part)) for part in pen.objects}
    names = {state: f"s{i}" for i, node in enumerate(machine_graph(machines[0]).nodes) for state in node.states}
    return MachineLayout(
        Scene(pen.width, pen.height, tuple(pen.all_items())),
        tuple(nodes[names[state]] for state in machines[0].machine.states),
    )


def fitting_layout(machine: RewardMachine, width: float, height: float, direction: str = "LR") -> MachineLayout | None:
    """Lay a machine out beside a map, within so many pixels; None if it would not be legible."""
    if machine.num_states > MAX_MACHINE:
        return None
    layout = lay_out([Annotated(machine)], direction)
    scale = min(LARGEST, width / layout.scene.width, height / layout.scene.height)
    return layout.scaled(scale) if scale >= LEGIBLE else None


def pdf_of(machines: Sequence[Annotated]) -> bytes:
    """Lay machines out as a PDF file, no wider than a page."""
    graph = graphviz_graph(machines)
    graph.graph_attr["size"] = f"{PAGE_WIDTH / 72},1000"  # inches; what is larger is reduced
    return _drawn(graph, "pdf", "LR")


def _drawn(graph: Any, form: str, direction: str) -> bytes:
    """Let Graphviz draw a graph in a direction, or the other way if it would be wider than a page."""
    with _fontconfig_muted():
        if _width(graph, direction) > PAGE_WIDTH:
            direction = min(("TB", "LR"), key=lambda direction: _width(graph, direction))
        graph.graph_attr["rankdir"] = direction
        drawing: bytes = graph.draw(format=form, prog="dot")
    return drawing


def _width(graph: Any, direction: str) -> float:
    """Lay a graph out with its edges in a direction, and return how wide it is, in points."""
    graph.graph_attr["rankdir"] = direction
    plain: bytes = graph.draw(format="plain", prog="dot")  # "graph scale width height", in inches
    return 72.0 * float(plain.split()[2])


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


# --- from machines to a graph of Graphviz ---


def graphviz_graph(machines: Sequence[Annotated]) -> Any:
    """Return machines as a graph of pygraphviz, which is not laid out."""
    require("pygraphviz")
    from pygraphviz import AGraph

    graph = AGraph(directed=True, strict=False, name="machine")
    graph.graph_attr.update(_GRAPH)
    graph.node_attr.update(_NODE, fontname=_FONT, fontsize="13")
    graph.edge_attr.update(_EDGE, fontname=_FONT, fontsize="11")
    for number, item in enumerate(machines):
        # A cluster has a layout of its own, which is worse: one machine is none.
        part = graph if len(machines) == 1 else graph.add_subgraph(name=f"cluster{number}")
        if item.title is not None:
            title = f"<{_wrapped(item.title, _TITLE_WIDTH)}>"
            part.graph_attr.update(label=title, labelloc="t", fontname=_FONT, fontsize="13")
        _add_machine(part, item, machine_graph(item), f"m{number}" if number else "")
    return graph


def _add_machine(part: Any, item: Annotated, graph: MachineGraph, prefix: str) -> None:
    """Add a machine's nodes and edges to a graph of Graphviz, or to a part of one."""
    part.add_node(f"{prefix}start", shape="point", width="0.06", color=_INK, fillcolor=_INK, label="")
    for i, node in enumerate(graph.nodes):
        look = {"peripheries": "2" if is_absorbing(item.machine, node.states[-1]) else "1"}
        if item.marked_states.intersection(node.states):
            look |= {"color": _WRONG, "penwidth": "2"}
        part.add_node(f"{prefix}s{i}", label=_node_text(item, node), **look)
    part.add_edge(f"{prefix}start", f"{prefix}s{graph.initial}", key=f"{prefix}start")
    for edge in graph.edges:
        look = {}
        if any(line.marked for line in edge.lines):
            look = {"color": _WRONG, "fontcolor": _WRONG, "penwidth": "1.8"}
        elif any(line.pays for line in edge.lines):
            look = {"color": _PAYS, "fontcolor": _PAYS, "penwidth": "1.8"}
        if len(graph.nodes) <= MAX_LABELLED:
            look["label"] = _edge_text(edge)
        part.add_edge(f"{prefix}s{edge.source}", f"{prefix}s{edge.target}", key=f"{prefix}{edge.source}", **look)


def _node_text(item: Annotated, node: DrawnNode) -> str:
    """Write a node, and below it what it stands for where the name does not say so, and its note."""
    state = node.states[0]
    if len(node.states) > 1:
        name = f"{_graphviz_text(state)} … {_graphviz_text(node.states[-1])}"
        lines = [f"{len(node.states)} states, each step on", _wrapped(node.step, _MEANING_WIDTH)]
    else:
        name, meaning = _graphviz_text(state), item.machine.meanings[state]
        lines = [] if meaning == state else _wrapped(meaning, _MEANING_WIDTH).split("<br/>")
    if len(lines) > _MEANING_LINES:
        lines = [*lines[: _MEANING_LINES - 1], "…"]
    if state in item.state_notes:
        lines.append(_wrapped(item.state_notes[state], _MEANING_WIDTH))
    return _TWO_ROWS.format(name, _SMALL.format("<br/>".join(lines))) if lines else name


def _edge_text(edge: DrawnEdge) -> str:
    """Write the lines of an edge, one below the other; Graphviz keeps less room beside a loop."""
    width = _LOOP_WIDTH if edge.source == edge.target else _GUARD_WIDTH
    texts = [
        _wrapped(line.text, width) + (f"<br/>{_SMALL.format(_graphviz_text(line.note))}" if line.note else "")
        for line in edge.lines[:MAX_LINES]
    ]
    if len(edge.lines) > MAX_LINES:
        texts.append(f"and {len(edge.lines) - MAX_LINES} more")
    return _ROOMY.format("<br/>".join(texts))


def _wrapped(text: str, width: int) -> str:
    """Break a text into lines, as markup; names are kept whole."""
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "<br/>".join(map(_graphviz_text, lines))


def _graphviz_text(text: str) -> str:
    """Escape a label: Graphviz reads entities even in plain ones, and miscounts the letters of one with backslashes."""
    return html.escape(text, quote=False).replace("\\", SET_MINUS)


# --- from what Graphviz drew to a scene ---


class _Pen:
    """What Graphviz drew, as operations with a pen, which become items."""

    def __init__(self, graph: dict[str, Any]) -> None:
        left, bottom, right, top = map(float, graph["bb"].split(","))
        self.width, self.height = right - left + 2 * PAD, top - bottom + 2 * PAD
        self.title, self.edges, self.objects = graph.get("_ldraw_", ()), graph["edges"], graph["objects"]

    def all_items(self) -> Iterator[Item]:
        """Draw the title, edges, nodes, and last what stands beside edges: in dense machines other edges cross it."""
        yield from self._items(self.title)
        for edge in self.edges:
            yield from self._items([*edge.get("_draw_", ()), *edge.get("_hdraw_", ())])
        for part in self.objects:
            yield from self.items(part)
        for edge in self.edges:
            for item in self._items(edge.get("_ldraw_", ())):
                yield item._replace(has_rim=True) if isinstance(item, Text) else item

    def items(self, part: dict[str, Any]) -> Iterator[Item]:
        """Draw a node; of a whole machine, which is one of the objects too, the title alone and no frame."""
        shape = () if "nodes" in part else part["_draw_"]
        return self._items([*shape, *part.get("_ldraw_", ())])

    def _items(self, operations: Any) -> Iterator[Item]:
        """Turn operations into items, each with the colours, the line and the font set before it."""
        ink, fill, size, thickness = "black", "", 12.0, 1.0
        for operation in operations:
            kind = operation["op"]
            if kind == "c":
                ink = operation["color"]
            elif kind == "C":
                fill = operation["color"]
            elif kind == "F":
                size = float(operation["size"])
            elif kind == "S" and operation["style"].startswith("setlinewidth("):
                thickness = float(operation["style"].removeprefix("setlinewidth(").rstrip(")"))
            elif kind in "eE":
                *centre, across, up = operation["rect"]
                inside = fill if kind == "E" else ""
                yield Area(*self._point(centre), 2 * across, 2 * up, inside, ink, thickness, is_round=True)
            elif kind in "bB":
                yield Line(tuple(_curve([self._point(p) for p in operation["points"]])), ink, thickness)
            elif kind in "pP":
                yield Line(tuple(map(self._point, operation["points"])), ink, thickness, fill=ink)
            elif kind == "T":
                x, y = self._point(operation["pt"])
                words, anchor = operation["text"].replace(SET_MINUS, "\\"), ANCHORS[operation["align"]]
                text = Text(x, y, words, size, ink, anchor=anchor)
                yield text._replace(y=2 * text.y - text.baseline)  # Graphviz says where letters stand

    def _point(self, point: Any) -> Point:
        return PAD + float(point[0]), self.height - PAD - float(point[1])


def _curve(points: list[Point]) -> Iterator[Point]:
    """Yield points along a row of Bézier curves, which share their ends."""
    t = np.linspace(0.0, 1.0, CURVE_POINTS + 1)
    weights = np.stack(((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3), axis=1)
    for i in range(0, len(points) - 1, 3):
        yield from map(tuple, (weights @ points[i : i + 4]).tolist())
