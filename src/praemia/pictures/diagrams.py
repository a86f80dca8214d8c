"""Draw a machine as a graph or, where that would not be legible on a page, as a list of its edges.

Edges with a reward are blue and heavier, what is wrong is red, terminal states have a double border.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from praemia.errors import SizeError, require
from praemia.machines.machine import RewardMachine
from praemia.pictures.colours import GREY, INK, LIT, NODE, OKABE_ITO, ON_LIT, WALL
from praemia.pictures.drawing import Drawing
from praemia.pictures.layout import lay_out
from praemia.pictures.machine_graph import Annotated, EdgeLine, edge_lines, is_terminal, machine_graph
from praemia.pictures.mermaid import mermaid
from praemia.pictures.scene import Area, Item, Line, Scene, arrow_head, beside, label, page, place, scaled, stack
from praemia.tasks.picture import Point

MAX_DRAWN = 300  # states
MAX_EDGES = 40  # between the nodes of a graph
MAX_BESIDE = 14  # states of a machine beside a map
MAX_LINES = 8  # of an edge
PAGE_WIDTH, LEGIBLE = 760.0, 0.8  # pixels; a graph is made smaller to fit a page, but not below this scale
NAME, EDGE, SMALL = 13.0, 11.0, 10.0  # sizes of letters
GUARD_WIDTH, LOOP_WIDTH, MEANING_WIDTH, MEANING_LINES = 32, 20, 30, 3  # letters, lines
REWARD, WRONG = OKABE_ITO["blue"][0], OKABE_ITO["vermillion"][0]
DOT, GAP, MARGIN = 5.0, 8.0, 8.0  # of the start, around the label of an edge, around a machine
KEPT = "\N{NO-BREAK SPACE}"
WAYS = ("LR", "TB")  # from left to right, or downwards


def machine_drawing(*machines: Annotated) -> Drawing:
    """Draw one machine, or several side by side; as text, in the language of Mermaid."""
    for item in machines:
        if item.machine.num_states > MAX_DRAWN:
            raise SizeError(
                f"a machine of {item.machine.num_states:,} states is too large to draw; the limit is {MAX_DRAWN}"
            )

    def scene() -> Scene:
        parts = [page(item.title or "", _fitting(item, PAGE_WIDTH) or _list(item), margin=MARGIN) for item in machines]
        return replace(beside(parts), title=machines[0].title or "")

    name = ", ".join(repr(item.machine) for item in machines)
    return Drawing(name, scene, lambda: "\n".join(map(mermaid, machines)), ".mmd")


def draw_machine(machine: RewardMachine, title: str | None = None) -> Drawing:
    """Draw a machine as it is."""
    return machine_drawing(Annotated(machine, title))


def machine_beside(
    machine: RewardMachine, width: float, height: float, ways: Sequence[str] = WAYS, lit: str | None = None
) -> Scene | None:
    """Draw a machine as a graph within so many pixels, perhaps with a state highlighted; None if it is not legible."""
    return _fitting(Annotated(machine), width, height, ways, lit) if machine.num_states <= MAX_BESIDE else None


def _fitting(
    item: Annotated, width: float, height: float = math.inf, ways: Sequence[str] = WAYS, lit: str | None = None
) -> Scene | None:
    """Draw a machine as a graph, in the first direction in which it is legible within a box; None if there is none."""
    for way in ways if len(machine_graph(item).edges) <= MAX_EDGES else ():
        whole = _graph(item, way, lit)
        scale = min(1.0, width / whole.width, height / whole.height)
        if scale >= LEGIBLE:
            return scaled(whole, scale)
    return None


def _graph(item: Annotated, way: str, lit: str | None) -> Scene:
    """Draw a machine as a graph."""
    require("pygraphviz")
    graph = machine_graph(item)
    names = [
        stack([label(name, NAME, ON_LIT if lit in states else INK), *_meaning(item, states)])
        for states, name in zip(graph.nodes, graph.names, strict=True)
    ]
    texts = [
        stack(_edge_labels(lines, LOOP_WIDTH if source == target else GUARD_WIDTH))
        for (source, target), lines in graph.edges.items()
    ]
    initial = next(i for i, states in enumerate(graph.nodes) if item.machine.initial in states)
    drawn = lay_out(
        (*((max(46.0, 1.42 * name.width + 8.0), 1.42 * name.height + 8.0) for name in names), (DOT, DOT)),
        (*graph.edges, (len(names), initial)),
        (*((text.width + GAP, text.height + GAP) for text in texts), (0.0, 0.0)),
        way,
    )
    items: list[Item] = [Area(*drawn.nodes[-1], DOT, DOT, WALL, is_round=True), *_edge(drawn.edges[-1], {INK})]
    for lines, curve, middle, text in zip(graph.edges.values(), drawn.edges, drawn.labels, texts, strict=False):
        items += _edge(curve, {_colour(line) for line in lines})
        items += _around(middle, text)
    for states, name, middle, size in zip(graph.nodes, names, drawn.nodes, drawn.sizes, strict=False):
        is_wrong = any(state in states for state, _ in item.wrong)
        outline, thickness = WRONG if is_wrong else WALL, 2.0 if is_wrong or lit in states else 1.0
        items.append(Area(*middle, *size, LIT if lit in states else NODE, outline, thickness, is_round=True))
        if is_terminal(item.machine, states[-1]):
            items.append(Area(*middle, size[0] - 7.0, size[1] - 7.0, "", outline, thickness, is_round=True))
        items += (text._replace(x=middle[0], anchor="middle") for text in _around(middle, name))
    return Scene(*drawn.page, tuple(items))


def _around(middle: Point, text: Scene) -> list[Any]:
    """Place lines of text around a point."""
    return place(text.items, middle[0] - text.width / 2, middle[1] - text.height / 2)


def _edge(curve: Sequence[Point], colours: set[str]) -> list[Item]:
    """Draw an edge with its arrowhead; the last point of its curve is the tip."""
    *line, tip = curve
    colour = next((own for own in (WRONG, REWARD) if own in colours), WALL)
    return [Line(tuple(line), colour, 1.0 if colour == WALL else 1.8), arrow_head(line[-1], tip, colour)]


def _list(item: Annotated) -> Scene:
    """Draw a machine as a list, in columns: each node, and below it where its edges lead."""
    graph, blocks = machine_graph(item), []
    room = max(label(f"→ {name}", EDGE).width for name in graph.names) + 2 * GAP
    for i, states in enumerate(graph.nodes):
        signs = ", initial" * (item.machine.initial in states) + ", terminal" * is_terminal(item.machine, states[-1])
        rows = [label(graph.names[i] + signs, NAME, bold=True), *_meaning(item, states)]
        for (source, target), lines in graph.edges.items():
            if source == i:
                texts = stack(_edge_labels(lines, GUARD_WIDTH))
                items = (*label(f"→ {graph.names[target]}", EDGE).items, *place(texts.items, room, 0.0))
                rows.append(Scene(room + texts.width, texts.height, items))
        blocks.append(stack(rows))
    width, height = max(block.width for block in blocks) + 3 * GAP, sum(block.height + 2 * GAP for block in blocks)
    columns: list[list[Scene]] = [[] for _ in range(max(1, int(PAGE_WIDTH / width)))]
    y = 0.0
    for block in blocks:
        columns[min(len(columns) - 1, int(y / height * len(columns)))].append(block)
        y += block.height + 2 * GAP
    drawn = [replace(stack(column, 2 * GAP), width=width) for column in columns]
    tallest = max(column.height for column in drawn)
    return beside([replace(column, height=tallest) for column in drawn])


def _meaning(item: Annotated, states: Sequence[str]) -> Iterator[Scene]:
    """Write what a node stands for, where its name does not say so, and its note."""
    state = states[0]
    if len(states) > 1:
        step = ", ".join(line.text for line in edge_lines(item)[state] if line.target == states[1])
        lines = [f"{len(states)} states, each step on", *_wrapped(step, MEANING_WIDTH)]
    else:
        meaning = item.machine.meanings[state]
        lines = [] if meaning == state else _wrapped(meaning, MEANING_WIDTH)
    if len(lines) > MEANING_LINES:
        lines = [*lines[: MEANING_LINES - 1], "…"]
    lines += _wrapped(item.state_notes.get(state, ""), MEANING_WIDTH)
    return (label(line, SMALL, GREY) for line in lines)


def _edge_labels(lines: Sequence[EdgeLine], width: int) -> Iterator[Scene]:
    """Write the lines of an edge, one below the other; lines break within guards."""
    for line in lines[:MAX_LINES]:
        guard, _, outcome = line.text.rpartition(" | ")
        start, space, last = guard.rpartition(" ")
        end = f"{last} | {outcome}{' · ' * bool(line.note)}{line.note}".replace(" ", KEPT)
        parts = _wrapped(start + space + end, width)
        yield from (label(part.replace(KEPT, " "), EDGE, _colour(line)) for part in parts)
    if len(lines) > MAX_LINES:
        yield label(f"and {len(lines) - MAX_LINES} more", EDGE, GREY)


def _colour(line: EdgeLine) -> str:
    return WRONG if line.is_wrong else REWARD if line.has_reward else INK


def _wrapped(text: str, width: int) -> list[str]:
    """Break a text into lines; names are kept whole."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
