"""Show a task, or what a policy does in it: as a page in SVG or PNG, or as text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from praemia.errors import PraemiaError, PraemiaWarning
from praemia.experiments.jobs import TaskText
from praemia.files.arrays import PackedArrays, damage_named
from praemia.files.atomic_io import read_bytes
from praemia.files.writing import dump
from praemia.pictures.drawing import Drawing
from praemia.pictures.machine_graph import Annotated, edge_lines
from praemia.pictures.policy_page import NEVER, PolicyView, page_of
from praemia.pictures.renderers import render_text
from praemia.pictures.scene import Scene, Text
from praemia.pictures.task_picture import ground, page_scene, page_text, task_picture
from praemia.planning.policy import FILE, Policy, PolicyLike
from praemia.simulation.run import Run
from praemia.tasks.task import Task

ARROWS = {"up": "↑", "right": "→", "down": "↓", "left": "←", "stay": "•"}
SHOWN_ROWS = 20
WIDEST = 20  # cells of a map, for each to have room for its visits
MAX_LINES = 40  # of the machine
OPTIMAL = "optimal"


@dataclass(frozen=True)
class TaskDrawing(Drawing):
    """A task as a page: its map below its name, and above what the marks on it mean."""

    task: Task

    @property
    def scene(self) -> Scene:
        return page_scene(task_picture(self.task), self.task.name)

    def __str__(self) -> str:
        return page_text(task_picture(self.task), self.task.name)


@dataclass(frozen=True, eq=False)
class PolicyDrawing(Drawing):
    """A policy to be seen."""

    view: PolicyView

    @cached_property
    def scene(self) -> Scene:
        return page_of(self.view)

    def __str__(self) -> str:
        return "\n".join([self.view.title, *_panels(self.view), "", *_machine(self.view)])

    def __repr__(self) -> str:
        return f"PolicyDrawing({self.view.title})"


def show(task: Task, policy: PolicyLike | None = None) -> PolicyDrawing:
    """Show what a policy does: where it goes in each machine state, and which action it takes there.

    Parameters
    ----------
    policy : an array [H, M, O] or [H, M, O, A], a ``Policy``, a ``Plan``, or a ``Run`` for what it learned; the
        optimal policy if none is given. A policy that was made for another task is shown with a warning.

    Returns
    -------
    A drawing: a notebook displays it, ``print`` writes it as text, ``save`` writes .svg, .png or .txt.

    Examples
    --------
    >>> import praemia
    >>> drawing = praemia.show(praemia.envs.warehouse(size=2))
    >>> print(str(drawing).splitlines()[0])
    warehouse-2: the optimal policy, worth 0.9261 per episode
    >>> drawing.save("policy.txt")
    """
    view = PolicyView.of(task, policy)
    if isinstance(policy, Policy | Run) and not _is_for(policy, task):
        other = repr(policy.task) if policy.task != task.name else f"another {task.name!r}, such as one with a discount"
        message = f"this policy was made for {other}; it is shown as it behaves in the present {task.name!r}"
        warnings.warn(message, PraemiaWarning, stacklevel=2)
    return PolicyDrawing(view)


def _is_for(policy: Policy | Run, task: Task) -> bool:
    """Tell whether a policy was made for a task: by what the task is, if a run knows it, else by its name."""
    if isinstance(policy, Run) and policy.task_text:
        try:
            return dump(TaskText(policy.task, policy.task_text).make()) == dump(task)
        except PraemiaError:  # a file may hold any text
            pass
    return policy.task in ("", task.name)


def named_policy(name: str) -> Any:
    """Return the policy that a user names: None for ``optimal``, else that of a file with a policy or a run."""
    if name == OPTIMAL:
        return None
    data = read_bytes(Path(name))
    with damage_named(name, "a policy or a run"):
        kind = PackedArrays(data, name).header().get("kind")
    return Policy.load(name) if kind == FILE.name else Run.from_bytes(data, name)


def _panels(view: PolicyView) -> Iterator[str]:
    for m in view.states:
        steps = view.footprint.visits[m].sum()
        yield f"\nmachine state {view.task.machine.states[m]!r}, {steps:.2f} steps per episode\n"
        if view.has_map:
            yield "\n".join(_map(view, m))
        else:
            yield from _table(view, m)
    if view.hidden:
        yield f"\n{view.left_out}"
    if view.has_map:
        stay = " (•: stay)" if "stay" in view.picture.actions else ""
        numbers = "" if _is_wide(view) else "; numbers: visits per episode"
        yield f"\narrows: the action when a place is visited most{stay}{numbers}; ·: never visited"
    if view.footprint.mistakes.any() and not (view.has_map and _is_wide(view)):
        yield "!: here the policy loses value against the optimum"


def _map(view: PolicyView, m: int) -> list[str]:
    """Write the map of a machine state: in each place its mark and action above the visits; on a wide map one sign."""
    items = ground(replace(view.picture, links=()), [""] * view.task.num_observations)
    for o, spot in enumerate(view.picture.spots):
        sign, visits = _note(view, m, o)
        if _is_wide(view):
            items.append(Text(spot.x, spot.y, sign.split()[-1].rstrip("!"), 0.3))
        else:
            items += [Text(spot.x, spot.y - 1 / 6, sign, 0.3), Text(spot.x, spot.y + 1 / 6, visits, 0.3)]
    return render_text(Scene(*view.picture.extent, tuple(items)), (4, 2) if _is_wide(view) else (8, 3))


def _is_wide(view: PolicyView) -> bool:
    return view.picture.extent[0] > WIDEST


def _note(view: PolicyView, m: int, o: int) -> tuple[str, str]:
    """Return the mark and the action of a place, and the visits to it."""
    mark = view.picture.spots[o].mark
    symbol = mark.symbol if mark else ""
    if view.footprint.visits[m, o] <= NEVER:
        return symbol or "·", ""
    visits = f"{view.footprint.visits[m, o]:.2f}" if view.footprint.visits[m, o] >= 0.005 else "<.01"
    before, after = f"{symbol} " if symbol else "", "!" if view.footprint.mistakes[m, o] else ""
    return (before or " " * len(after)) + ARROWS[view.action_name(m, o)] + after, visits


def _table(view: PolicyView, m: int) -> Iterator[str]:
    """List the places that are visited most, if actions are not moves."""
    order = np.argsort(-view.footprint.visits[m], kind="stable")
    visited = [int(o) for o in order if view.footprint.visits[m, o] > NEVER]
    rows = visited[:SHOWN_ROWS]
    names, actions = [view.task.mdp.observation_name(o) for o in rows], [view.action_name(m, o) for o in rows]
    first, second = max(map(len, names)), max(map(len, actions))
    for name, action, o in zip(names, actions, rows, strict=True):
        yield f"  {name:<{first}}  {action:<{second}}  {view.footprint.visits[m, o]:.2f}" + (
            " !" if view.footprint.mistakes[m, o] else ""
        )
    if visited[SHOWN_ROWS:]:
        yield f"  and {len(visited) - SHOWN_ROWS:,} more"


def _machine(view: PolicyView) -> Iterator[str]:
    item = Annotated(view.task.machine)
    lines = [(state, line) for state in item.machine.states for line in edge_lines(item, state)]
    sources = [rule.source for rule in item.machine.exclusive_rules]
    order = "; in each state the first that holds counts" if len({*sources}) < len(sources) else ""
    yield f"machine, from {item.machine.initial!r} on{order}"
    for state, line in lines[:MAX_LINES]:
        yield f"  {state} → {line.target}  on {line.text}"
    if len(lines) > MAX_LINES:
        yield f"  and {len(lines) - MAX_LINES:,} more"
