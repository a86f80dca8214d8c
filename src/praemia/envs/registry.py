"""Built-in environments by name.

A name is a family, or a family with its main parameters: ``warehouse``, ``warehouse-4``, ``office-coffee``,
``random-20x4x5-0``. ``make`` takes any other parameter by keyword. To add a family, write its module and one
``Family`` below.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from praemia.envs.drawn_tasks import drawn_task
from praemia.envs.flower import flower, flower_picture
from praemia.envs.grid import GridMDP, map_picture
from praemia.envs.office import office, office_picture
from praemia.envs.pictures import MAX_RING, Mark, Picture, layered_picture, render_text, require_drawable, ring_picture
from praemia.envs.random_tasks import random_task
from praemia.envs.riverswim import riverswim, riverswim_picture, riverswim_prm, riverswim_prm_picture
from praemia.envs.rooms import rooms_picture, two_rooms
from praemia.envs.svg import render_svg
from praemia.envs.warehouse import warehouse
from praemia.errors import ParameterError, PraemiaError, did_you_mean, unknown_name
from praemia.tasks.reachability import distances
from praemia.tasks.task import Task

_NUMBER = "[0-9]{1,18}"


@dataclass(frozen=True)
class Family:
    """Environments that differ in their parameters only.

    Attributes
    ----------
    make : makes the task.
    picture : draws it from the parameters that are in the name; None for one that is drawn from its map, or has none.
    suffix : a pattern of what follows ``family-``; its groups are the parameters.
    examples : names that stand for the family in lists and tests.
    gymnasium_id : its name in Gymnasium.
    """

    make: Callable[..., Task]
    picture: Callable[..., Picture] | None
    suffix: str
    examples: tuple[str, ...]
    gymnasium_id: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that ``make`` takes."""
        return tuple(inspect.signature(self.make).parameters)


FAMILIES = {
    "riverswim": Family(
        riverswim,
        riverswim_picture,
        f"(?P<size>{_NUMBER})",
        ("riverswim-5", "riverswim-10", "riverswim-15"),
        "praemia/RiverSwim-v0",
    ),
    "riverswim-prm": Family(
        riverswim_prm,
        riverswim_prm_picture,
        f"(?P<size>{_NUMBER})",
        ("riverswim-prm-5", "riverswim-prm-10", "riverswim-prm-15"),
        "praemia/RiverSwimPRM-v0",
    ),
    "warehouse": Family(
        warehouse,
        None,
        f"(?P<size>{_NUMBER})",
        ("warehouse-3", "warehouse-4", "warehouse-5"),
        "praemia/Warehouse-v0",
    ),
    "flower": Family(flower, flower_picture, f"(?P<loop>{_NUMBER})", ("flower-20",), "praemia/Flower-v0"),
    "rooms": Family(two_rooms, rooms_picture, f"(?P<size>{_NUMBER})", ("rooms-9",), "praemia/TwoRooms-v0"),
    "office": Family(
        office,
        office_picture,
        "(?P<errand>[a-z-]+)",
        ("office-coffee", "office-mail", "office-coffee-and-mail", "office-patrol"),
        "praemia/Office-v0",
    ),
    "random": Family(
        random_task,
        None,
        f"(?P<observations>{_NUMBER})x(?P<actions>{_NUMBER})x(?P<machine_states>{_NUMBER})-(?P<seed>{_NUMBER})",
        ("random-20x4x5-0",),
        "praemia/Random-v0",
    ),
    "drawn": Family(
        drawn_task,
        None,
        f"(?P<kind>[a-z]+)(?:-(?P<size>large))?-(?P<seed>{_NUMBER})",
        ("drawn-lake-42", "drawn-store-42"),
        "praemia/Drawn-v0",
    ),
}


def make(name: str, **params: Any) -> Task:
    """Make a built-in task: ``make("warehouse-4")``, ``make("warehouse", size=4, horizon=12)``.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.make("warehouse-4")
    Task('warehouse-4': 16 observations, 5 actions, 3 machine states, horizon 12)
    >>> praemia.envs.make("warehouse", size=4, horizon=20).horizon
    20
    """
    family, in_name = _parse(name)
    known = FAMILIES[family].parameters
    for key in params:
        if key not in known:
            raise ParameterError(
                f"{family} has no parameter {key!r}{did_you_mean(key, known)}; it takes {', '.join(known)}"
            )
        if key in in_name:
            raise ParameterError(f"{name}: {key} is in the name already ({in_name[key]}); give it once")
    return FAMILIES[family].make(**in_name, **params)


def names() -> list[str]:
    """Return built-in names, a few for every family.

    Examples
    --------
    >>> import praemia
    >>> "warehouse-4" in praemia.envs.names()
    True
    """
    return [example for family in FAMILIES.values() for example in family.examples]


def describe(name: str) -> str:
    """Say in a few lines what a built-in task is.

    Examples
    --------
    >>> import praemia
    >>> print(praemia.envs.describe("warehouse-4").splitlines()[1])
    16 observations, 5 actions, 3 machine states, horizon 12
    """
    family, _ = _parse(name)
    task = make(name)
    module = inspect.getmodule(FAMILIES[family].make)
    purpose = (inspect.getdoc(module) or "").splitlines()[0] if module else ""
    return (
        f"{task.name} — {purpose}\n"
        f"{task.num_observations:,} observations, {task.num_actions} actions, "
        f"{task.num_machine_states:,} machine states, horizon {task.horizon:,}\n"
        f"actions: {', '.join(map(task.mdp.action_name, range(task.num_actions)))}; "
        f"propositions: {', '.join(task.machine.propositions)}\n"
        f"parameters of {family}: {', '.join(FAMILIES[family].parameters)}"
    )


def picture(task: Task | str) -> Picture:
    """Return the picture of a task; one without a map is drawn as a graph of its observations.

    Examples
    --------
    >>> import praemia
    >>> len(praemia.envs.picture("warehouse-4").spots)  # one for each observation
    16
    """
    task = make(task) if isinstance(task, str) else task
    require_drawable(task.num_observations)
    if isinstance(task.mdp, GridMDP):
        return map_picture(task, task.mdp.map)
    own = _own_picture(task.name)
    # A task from a file may bear a built-in name by chance; then the numbers of observations tell.
    return own if own is not None and len(own.spots) == task.num_observations else _graph(task)


def text_picture(task: Task | str) -> str:
    """Return the picture of a task, or of a built-in name, as text.

    Examples
    --------
    >>> import praemia
    >>> print(praemia.envs.text_picture("warehouse-3").splitlines()[3])
    | S   .   I |
    """
    return render_text(picture(task))


def svg_picture(task: Task | str) -> str:
    """Return the picture of a task, or of a built-in name, as an SVG document.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.svg_picture("warehouse-4").startswith("<svg")
    True
    """
    return render_svg(picture(task))


def _own_picture(name: str) -> Picture | None:
    parsed = _match(name)
    draw = FAMILIES[parsed[0]].picture if parsed else None
    try:
        return draw(**parsed[1]) if parsed and draw else None
    except PraemiaError:  # a name that looks like a family's, but cannot be one
        return None


def _graph(task: Task) -> Picture:
    """Draw the observations of a task that has no picture: on a circle, or by their distance from the start."""
    mdp = task.mdp
    rows = mdp.edge_pairs // mdp.num_actions
    pairs = {(min(o, z), max(o, z)) for o, z in zip(rows.tolist(), mdp.successors.tolist(), strict=True) if o != z}
    starts = mdp.start_probs > 0.0
    marks = [Mark(str(o), "start" if starts[o] else "plain") for o in range(task.num_observations)]
    first = int(np.argmax(starts))
    marks[first] = Mark(str(first), "start", "episodes start here")
    if len(marks) > MAX_RING:
        return layered_picture(task.name, marks, distances(mdp).tolist())
    return ring_picture(task.name, marks, sorted(pairs))


def _parse(name: str) -> tuple[str, dict[str, Any]]:
    parsed = _match(name)
    if parsed is None:
        raise unknown_name("environment", name, [*FAMILIES, *names()], "`praemia envs` lists them")
    return parsed


def _match(name: str) -> tuple[str, dict[str, Any]] | None:
    """Return the family of a name and the parameters in it."""
    for family, entry in FAMILIES.items():
        found = re.fullmatch(f"{family}(?:-{entry.suffix})?", str(name))
        if found:
            given = {key: value for key, value in found.groupdict().items() if value is not None}
            return family, {key: int(value) if value.isdecimal() else value for key, value in given.items()}
    return None
