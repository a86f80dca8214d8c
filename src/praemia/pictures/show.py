"""Show a task, or what a policy does in it: as a page in SVG or PNG, or as a map in text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from praemia.envs.black_box import BlackBox
from praemia.errors import PraemiaError, PraemiaWarning
from praemia.experiments.jobs import TaskText
from praemia.exploration.estimated_task import EstimatedTask
from praemia.files.arrays import damage_named, read_archive
from praemia.files.atomic_io import read_bytes
from praemia.files.writing import dump
from praemia.pictures.drawing import Drawing
from praemia.pictures.policy_page import NEVER, PolicyView, page_of
from praemia.pictures.task_picture import page_scene, task_picture
from praemia.pictures.text_map import page_text, text_map
from praemia.policies.arrays import PolicyLike
from praemia.policies.policy import FILE, Policy
from praemia.simulation.run import Run
from praemia.tasks.task import Task

ARROWS = {"up": "↑", "right": "→", "down": "↓", "left": "←", "stay": "•"}
OPTIMAL = "optimal"


def draw_task(task: Task) -> Drawing:
    """Draw a task: its map or graph below its name, and the key to the marks on it."""
    return Drawing(
        task.name,
        lambda: page_scene(task_picture(task), task.name),
        lambda: page_text(task_picture(task), task.name),
    )


def show(task: Task | BlackBox, policy: PolicyLike | None = None) -> Drawing:
    """Show what a policy does: where it goes in each machine state, and which action it takes there.

    A black box is shown as a ``Run`` in it has estimated it, and values are those of the estimate.

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
    warehouse-2: the optimal policy, value 0.9261 per episode
    >>> drawing.save("policy.txt")
    """
    if isinstance(task, BlackBox):
        estimate = EstimatedTask(task, policy)
        return _drawing(PolicyView.of(estimate, estimate.policy(policy)))
    view = PolicyView.of(task, policy)
    if isinstance(policy, Policy | Run) and not _is_for(policy, task):
        other = repr(policy.task) if policy.task != task.name else f"another {task.name!r}, such as one with a discount"
        message = f"this policy was made for {other}; it is shown as it behaves in the present {task.name!r}"
        warnings.warn(message, PraemiaWarning, stacklevel=2)
    return _drawing(view)


def _drawing(view: PolicyView) -> Drawing:
    return Drawing(view.title, lambda: page_of(view), lambda: "\n".join(_lines(view)))


def _is_for(policy: Policy | Run, task: Task) -> bool:
    """Return whether a policy was made for a task: by the task itself, if a run has it, else by its name."""
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
        kind = read_archive(data, name)[0].get("kind")
    return Policy.load(name) if kind == FILE.name else Run.from_bytes(data, name)


def _lines(view: PolicyView) -> Iterator[str]:
    """Write for each machine state a map with the action in each place."""
    yield view.title
    for m in view.states:
        steps = view.visits[m].sum()
        yield f"\nmachine state {view.task.machine.states[m]!r}, {steps:.2f} steps per episode\n"
        yield from text_map(view.picture, [_sign(view, m, o) for o in range(view.task.num_observations)])
    stay = " (•: stay)" if "stay" in view.picture.actions else ""
    blank = "; no action: every one is as good" if view.has_faint else ""
    yield f"\nin a place: its mark and the action when it is visited most{stay}; ·: never visited{blank}"
    if view.untried is not None and view.untried.any():
        yield "?: the action there was never tried"
    if view.mistakes.any():
        yield "!: here the policy loses value against the optimum"
    if view.hidden:
        yield view.left_out


def _sign(view: PolicyView, m: int, o: int) -> str:
    """Return the mark of a place and the action there."""
    mark, name = view.picture.spots[o].mark, view.action_name(m, o)
    symbol = mark.symbol if mark else ""
    if view.visits[m, o] <= NEVER:
        return symbol or "·"
    if view.untried is not None and view.untried[m, o]:
        return symbol + "?"
    action = ARROWS.get(name, f":{name}") if view.matters[m, o] else ""
    return symbol + action + "!" * bool(view.mistakes[m, o])
