"""Lay out a graph with Graphviz. It gets sizes in place of texts, so it needs no fonts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from praemia.tasks.picture import Point

NUM_POINTS = 10  # on each part of a curve
Size: TypeAlias = tuple[float, float]
_LABEL = '<<table border="0" fixedsize="true" width="{:.0f}" height="{:.0f}"><tr><td></td></tr></table>>'


class Layout(NamedTuple):
    """A graph on a page: the middles and sizes of its nodes, the curves of its edges, the middles of their labels."""

    page: Size
    nodes: tuple[Point, ...]
    sizes: tuple[Size, ...]
    edges: tuple[tuple[Point, ...], ...]
    labels: tuple[Point, ...]


@lru_cache(4)
def lay_out(sizes: tuple[Size, ...], edges: tuple[tuple[int, int], ...], labels: tuple[Size, ...], way: str) -> Layout:
    """Lay out nodes of some sizes, and edges with labels of some sizes, from left to right (LR) or downwards (TB)."""
    from pygraphviz import AGraph

    # The graph is not kept: pygraphviz complains of those that are left when Python ends.
    graph = AGraph(directed=True, strict=False, rankdir=way, nodesep=0.3, ranksep=0.4)
    for i, (width, height) in enumerate(sizes):
        graph.add_node(i, shape="ellipse", label="", fixedsize=True, width=width / 72.0, height=height / 72.0)
    for ends, size in zip(edges, labels, strict=True):
        graph.add_edge(*ends, arrowsize=0.8, label=_LABEL.format(*size) if all(size) else "")
    graph.layout("dot")
    across, down = (float(part) for part in graph.graph_attr["bb"].split(",")[2:])

    def point(text: str) -> Point:
        x, y = map(float, text.split(",")[-2:])
        return x, down - y

    curves, middles = [], []
    for ends in edges:
        attributes = graph.get_edge(*ends).attr
        tip, *controls = map(point, attributes["pos"].split())
        curves.append((*_curve(controls), tip))
        middles.append(point(attributes["lp"]) if attributes["lp"] else tip)
    nodes = tuple(point(graph.get_node(i).attr["pos"]) for i in range(len(sizes)))
    return Layout((across, down), nodes, sizes, tuple(curves), tuple(middles))


def _curve(controls: list[Point]) -> Iterator[Point]:
    """Yield points on Bézier curves, each of which begins where the one before ends."""
    yield controls[0]
    for parts in zip(controls[:-1:3], controls[1::3], controls[2::3], controls[3::3], strict=True):
        for step in range(1, NUM_POINTS + 1):
            t = step / NUM_POINTS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            x, y = (sum(w * part[i] for w, part in zip(weights, parts, strict=True)) for i in (0, 1))
            yield x, y
