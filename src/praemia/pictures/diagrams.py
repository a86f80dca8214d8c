"""Draw a machine: Graphviz lays out what ``machine_graph`` says is drawn, as a file or as items of a scene.

The initial state has an arrow from nowhere, an absorbing one a double border. Edges that pay are blue and heavier. A
machine made from a formula has it above, and below each state what is left to be satisfied. From left to right unless
that is wider than a page and from top to bottom is not. More than 30 nodes are an overview, without guards. Mermaid
text needs nothing; SVG, PNG, PDF and DOT need the extra ``diagrams``, which carries its own Graphviz.
"""

from __future__ import annotations

import html
import json
import os
import re
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from praemia.errors import ParameterError, SizeError, require
from praemia.files.atomic_io import write_whole
from praemia.machines.machine import RewardMachine
from praemia.pictures.machine_graph import (
    Annotated,
    DrawnEdge,
    MachineGraph,
    Node,
    edge_text,
    is_absorbing,
    machine_graph,
)
from praemia.pictures.scene import Area, Item, Line, Scene, Text
from praemia.tasks.picture import Point

MAX_DRAWN = 300  # states; Graphviz takes minutes for more
MAX_LABELLED = 30  # nodes; of more only an overview is drawn
MAX_LINES = 8  # beside an edge
PAGE_WIDTH = 900.0  # points
GRAPHVIZ_SUFFIXES = (".svg", ".png", ".pdf", ".dot")
MERMAID_SUFFIX = ".mmd"
LIT = "#ffc44d"  # orange of Okabe and Ito's palette, lighter: black text stays legible on it
CURVE_POINTS = 12  # for each piece of a curve
ANCHORS = {"c": "middle", "l": "start", "r": "end"}

_FONT = "DejaVu Sans,Helvetica,Arial,sans-serif"
_INK, _PAYS, _WRONG, _FILL = "#333333", "#0072B2", "#D55E00", "#F4F4F4"  # the blue and red of Okabe and Ito's palette
_GRAPH = {"rankdir": "LR", "nodesep": "0.45", "ranksep": "0.7", "pad": "0.1", "bgcolor": "white"}
_NODE = {"shape": "ellipse", "style": "filled", "fillcolor": _FILL, "color": _INK, "fontcolor": "black"}
_EDGE = {"color": _INK, "fontcolor": "black", "arrowsize": "0.8"}
_SMALL = '<font point-size="9" color="#666666">{}</font>'
_GUARD_WIDTH, _LOOP_WIDTH, _MEANING_WIDTH, _TITLE_WIDTH, _MEANING_LINES = 32, 20, 30, 80, 3
_ROOMY = '<<table border="0" cellpadding="3"><tr><td>{}</td></tr></table>>'  # keeps a label off its edge
_SVG_EDGE = re.compile(r'<g id="[^"]*" class="edge">.*?</g>\n', re.DOTALL)
_SVG_TEXT = re.compile(r"<text .*?</text>\n", re.DOTALL)
_TWO_ROWS = '<<table border="0" cellspacing="0" cellpadding="1"><tr><td>{}</td></tr><tr><td>{}</td></tr></table>>'
_MERMAID_UNSAFE = re.compile(r"[^\w \-.,()|&!=+/]|&(?=\w)")


def mermaid(machine: RewardMachine, title: str | None = None) -> str:
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
    return "\n".join(lines) + "\n"


def machine_svg(machine: RewardMachine | Annotated) -> str:
    """Return the machine as an SVG element, without the XML header, to stand inside an HTML page."""
    item = machine if isinstance(machine, Annotated) else Annotated(machine)
    text = _labels_last(_rendered([item], "svg").decode())
    return re.sub(r"<title>.*?</title>\n|<!--.*?-->\n", "", text[text.index("<svg") :], flags=re.DOTALL)


@dataclass(frozen=True)
class MachinePicture:
    """A machine to be seen: in a notebook as it is, printed as Mermaid text, or saved."""

    machine: RewardMachine

    @property
    def svg(self) -> str:
        """The picture as an SVG element."""
        _require_drawable(self.machine)
        return machine_svg(self.machine)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, by its ending: .svg, .png, .pdf, .dot or .mmd (Mermaid)."""
        draw_machine(self.machine, path)

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return mermaid(self.machine)

    def __repr__(self) -> str:
        return f"MachinePicture({self.machine!r})"


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
    drawing = _rendered(machines, suffix[1:])
    write_whole(path, _labels_last(drawing.decode()).encode() if suffix == ".svg" else drawing)
    return path


def _labels_last(svg: str) -> str:
    """Paint what stands beside edges above all edges, with a white rim: in dense machines an edge may cross it."""
    labels: list[str] = []

    def without_labels(edge: re.Match[str]) -> str:
        labels.extend(_SVG_TEXT.findall(edge[0]))
        return _SVG_TEXT.sub("", edge[0])

    graph, _, end = _SVG_EDGE.sub(without_labels, svg).rpartition("</g>\n</svg>")
    above = "".join(labels)
    return f'{graph}<g paint-order="stroke" stroke="white" stroke-width="3">\n{above}</g>\n</g>\n</svg>{end}'


def _require_drawable(machine: RewardMachine) -> None:
    if machine.num_states > MAX_DRAWN:
        raise SizeError(f"a machine of {machine.num_states:,} states is too large to draw; the limit is {MAX_DRAWN}")


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


def _node_text(item: Annotated, node: Node) -> str:
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


def _empty_graph() -> Any:
    """Return a pygraphviz graph without nodes."""
    require("pygraphviz")
    from pygraphviz import AGraph

    graph = AGraph(directed=True, strict=False, name="machine")
    graph.graph_attr.update(_GRAPH)
    graph.node_attr.update(_NODE, fontname=_FONT, fontsize="13")
    graph.edge_attr.update(_EDGE, fontname=_FONT, fontsize="11")
    return graph


def _add_machine(part: Any, item: Annotated, graph: MachineGraph, prefix: str = "") -> None:
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


def _rendered(machines: Sequence[Annotated], form: str, direction: str = "LR") -> bytes:
    """Lay machines out side by side, each below its title, and return them as the bytes of a file."""
    graph = _empty_graph()
    graph.graph_attr["rankdir"] = direction
    for number, item in enumerate(machines):
        alone = len(machines) == 1
        part = graph if alone else graph.add_subgraph(name=f"cluster{number}")
        if item.title is not None:
            title = f"<{_wrapped(item.title, _TITLE_WIDTH)}>"
            part.graph_attr.update(label=title, labelloc="t", fontname=_FONT, fontsize="13")
        if not alone:
            part.graph_attr.update(color="white")
        _add_machine(part, item, machine_graph(item), "" if alone else f"m{number}")
    if form == "dot":
        return str(graph.to_string()).encode()
    with _fontconfig_muted():
        if _width(graph, direction) > PAGE_WIDTH:
            graph.graph_attr["rankdir"] = min(("TB", "LR"), key=lambda direction: _width(graph, direction))
        if form != "json":
            graph.graph_attr["size"] = f"{PAGE_WIDTH / 72},1000"  # inches; what is larger is reduced
        if form == "png":
            graph.graph_attr["dpi"] = "150"
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


class MachineLayout:
    """Where Graphviz puts the states and the edges of a machine, in points; needs the extra ``diagrams``.

    Attributes
    ----------
    width, height : of the whole.
    """

    def __init__(self, machine: RewardMachine, direction: str = "LR") -> None:
        graph = json.loads(_rendered([Annotated(machine)], "json", direction))
        left, bottom, right, top = map(float, graph["bb"].split(","))
        self.width, self.height = right - left, top - bottom
        self._parts = [*graph.get("edges", ()), *graph["objects"]]

    def scene(self, lit: int | None = None) -> Scene:
        """Draw the machine; ``lit`` is a state to be seen at once."""
        items = [item for part in self._parts for item in self._items(part, lit)]
        return Scene(self.width, self.height, tuple(items))

    def _items(self, part: dict[str, Any], lit: int | None) -> Iterator[Item]:
        is_lit = lit is not None and part.get("name") == f"s{lit}"
        for key in ("_draw_", "_hdraw_", "_ldraw_"):
            yield from self._drawn(part.get(key, ()), is_lit)

    def _drawn(self, operations: Any, is_lit: bool) -> Iterator[Item]:
        """Turn Graphviz' operations into items, each with the colours, the line and the font set before it."""
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
                x, y, across, up = operation["rect"]
                inside = (LIT if is_lit else fill) if kind == "E" else ""
                width = thickness * (2.2 if is_lit else 1.0)
                yield Area(x, self.height - y, 2 * across, 2 * up, inside, ink, width, is_round=True)
            elif kind in "bB":
                yield Line(tuple(_curve([self._point(p) for p in operation["points"]])), ink, thickness)
            elif kind in "pP":
                yield Line(tuple(map(self._point, operation["points"])), ink, thickness, fill=ink)
            elif kind == "T":
                x, y = self._point(operation["pt"])
                text = Text(x, y, operation["text"], size, ink, False, ANCHORS[operation["align"]])
                yield text._replace(y=2 * text.y - text.baseline)  # Graphviz says where letters stand

    def _point(self, point: Any) -> Point:
        return float(point[0]), self.height - float(point[1])


def _curve(points: list[Point]) -> Iterator[Point]:
    """Yield points along a row of Bézier curves, which share their ends."""
    yield points[0]
    for i in range(0, len(points) - 1, 3):
        for step in range(1, CURVE_POINTS + 1):
            t = step / CURVE_POINTS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            parts = points[i : i + 4]
            yield (
                sum(w * x for w, (x, _) in zip(weights, parts, strict=True)),
                sum(w * y for w, (_, y) in zip(weights, parts, strict=True)),
            )
