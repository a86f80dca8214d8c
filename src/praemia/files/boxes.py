"""Black boxes in task files: an environment of Gymnasium's, with cells for its observations and predicates as labels.

Only where the user allows it, ``encode``, ``labels`` and the id may name code, as ``module:function``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from praemia.envs.black_box import BlackBox
from praemia.envs.box_cells import BoxCells, cells
from praemia.envs.gymnasium_table import make_env
from praemia.errors import FileError, ModelError
from praemia.files.schema import GymnasiumPart, TaskFile
from praemia.files.source import Source
from praemia.files.user_code import environments_of, function_of, place_of, reference_of
from praemia.labels import Predicates
from praemia.machines.machine import RewardMachine

if TYPE_CHECKING:
    import gymnasium

PICTURES = "rgb_array"  # how an environment renders that can
_REMEDY = "a file executes code only where you allow it: --allow-code, or load_task(…, allow_code=True)"


def is_box(part: TaskFile) -> bool:
    """Return whether a file's environment is a black box, rather than a table."""
    world = part.gymnasium
    return world is not None and world.labels is None


def build_box(
    source: Source, part: TaskFile, machine: RewardMachine, allow_code: bool, settings: Mapping[str, Any]
) -> BlackBox:
    """Build the black box of a file; errors have the place of what is wrong."""
    world = part.gymnasium
    assert world is not None
    env = _environment(source, world, allow_code)
    encode = _encoding(source, world, env, allow_code)
    names = list(world.observations) if world.observations is not None else None
    labels = _labels(source, part.labels, names, env, allow_code)
    size: Any = world.num_observations
    with source.at("gymnasium" if isinstance(labels, Predicates) and encode is None else "labels"):
        written = _as_written(source, world)
        return BlackBox(
            env, labels, machine, encode=encode, num_observations=size, written=written, **{"horizon": None, **settings}
        )


def _environment(source: Source, world: GymnasiumPart, allow_code: bool) -> gymnasium.Env[Any, Any]:
    """Make the environment, so that it renders pictures if it can."""
    place, name = place_of(world.id, Path(source.name).parent)
    with source.at("gymnasium", "id"):
        if place and not allow_code:
            raise FileError(f"found {world.id!r}, which names a module; {_REMEDY}")
    with source.at("gymnasium", "options" if world.options and not place else "id"), environments_of(place):
        env = make_env(name, world.options)
        if "render_mode" not in world.options and PICTURES in (env.metadata.get("render_modes") or ()):
            with suppress(Exception):  # whatever the user's code may raise
                env.close()
            env = make_env(name, {**world.options, "render_mode": PICTURES})
    return env


def _encoding(
    source: Source, world: GymnasiumPart, env: gymnasium.Env[Any, Any], allow_code: bool
) -> Callable[[Any], Any] | None:
    """Return the cells of a Box, or the user's function; None for a finite space."""
    from gymnasium import spaces

    space: Any = env.observation_space
    bins = world.observations
    if world.encode is not None:
        with source.at("gymnasium", "encode"):
            return _function(world.encode, source, allow_code)
    if isinstance(space, spaces.Box) and bins is None:
        with source.at("gymnasium"):
            raise ModelError(
                f"{world.id} shows {space}, which is not finite; give a name for each of its {math.prod(space.shape)} "
                "numbers with a number of cells or a list of cuts, such as observations: {position: 12, speed: [0.0]}"
            )
    if bins is None:
        return None
    with source.at("gymnasium", "observations"):
        return cells(space, list(bins.values()), names=list(bins))


def _labels(
    source: Source,
    labels: str | Mapping[str, str] | None,
    names: list[str] | None,
    env: gymnasium.Env[Any, Any],
    allow_code: bool,
) -> Any:
    if isinstance(labels, Mapping):
        for name, text in labels.items():
            with source.at("labels", name):
                Predicates({name: text}, names).require_spaces(env.observation_space, env.action_space)
        return Predicates(labels, names)
    with source.at("labels"):
        return _function(labels, source, allow_code) if labels is not None and ":" in labels else labels


def _function(reference: str, source: Source, allow_code: bool) -> Callable[..., Any]:
    """Return the function that ``module:function`` or ``file.py:function`` names; files are beside the task's."""
    place, name = place_of(reference, Path(source.name).parent)
    if not place or not name.isidentifier():
        raise FileError(f"found {reference!r}; expected module:function or file.py:function")
    if not allow_code:
        raise FileError(f"found {reference!r}, which names code; {_REMEDY}")
    return function_of(place, name)


def _as_written(source: Source, world: GymnasiumPart) -> dict[str, Any]:
    """Return the key ``gymnasium`` of a file, with the path of code that lies beside the file."""
    written = world.model_dump(exclude_defaults=True)
    for key in ("id", "encode"):
        place, name = place_of(written.get(key, ""), Path(source.name).parent)
        if place:
            written[key] = f"{place}:{name}"
    return written


def box_record(box: BlackBox) -> dict[str, Any]:
    """Return a black box as the keys of a file: the environment, and its labels."""
    labels = box.labels
    texts = (
        labels.texts if isinstance(labels, Predicates) else labels if isinstance(labels, str) else _reference(labels)
    )
    return {"gymnasium": dict(_world_record(box) if box.written is None else box.written), "labels": texts}


def _world_record(box: BlackBox) -> dict[str, Any]:
    """Return an environment that was made in Python as the key ``gymnasium`` of a file."""
    world: dict[str, Any] = _made_by(box)
    if isinstance(box.encode, BoxCells):
        labels = box.labels
        names = box.encode.axes or getattr(labels, "names", None) or [f"x{i}" for i in range(len(box.encode.edges))]
        each = enumerate(zip(names, box.encode.edges, strict=True))
        world["observations"] = {name: _bins(box.env.observation_space, i, edges) for i, (name, edges) in each}
    elif box.encode is not None:
        world |= {"encode": _reference(box.encode), "num_observations": box.num_observations}
    return world


def _made_by(box: BlackBox) -> dict[str, Any]:
    """Return the id and the arguments of ``gymnasium.make`` that make an environment; refuse what they do not make."""
    import gymnasium

    spec = box.env.spec
    registered = None if spec is None else gymnasium.registry.get(spec.id)
    if spec is None or registered is None:
        raise ModelError(f"{box.name} was not made by gymnasium.make, so no file can say how to make it")
    usual = [*map(repr, registered.additional_wrappers)]
    wrappers = [wrapper.name for wrapper in spec.additional_wrappers if repr(wrapper) not in usual]
    wrappers += ["a second TimeLimit"] if str(box.env).count("<TimeLimit") > 1 else []
    if wrappers:
        raise ModelError(
            f"{spec.id} is wrapped in {', '.join(wrappers)}, and a file has no wrappers; register the wrapped "
            "environment under an id of its own"
        )
    options = {key: value for key, value in spec.kwargs.items() if (key, value) != ("render_mode", PICTURES)}
    if spec.max_episode_steps != registered.max_episode_steps:
        options["max_episode_steps"] = -1 if spec.max_episode_steps is None else spec.max_episode_steps
    if spec.disable_env_checker != registered.disable_env_checker:
        options["disable_env_checker"] = spec.disable_env_checker
    if not is_plain(options):
        raise ModelError(f"{spec.id} was made with {options}; a file holds numbers, texts, lists and mappings")
    return {"id": spec.id, **({"options": options} if options else {})}


def _bins(space: Any, i: int, edges: Any) -> int | list[float]:
    """Return how a file says where a number is divided: into so many equal parts, or at these cuts."""
    low, high = space.low.ravel()[i], space.high.ravel()[i]
    parts = len(edges) + 1
    is_even = parts > 1 and np.isfinite(high - low)
    if parts == 1 or (is_even and np.array_equal(cells(_line(space, low, high), [parts]).edges[0], edges)):
        return parts
    return edges.tolist()  # type: ignore[no-any-return]


def _line(space: Any, low: float, high: float) -> Any:
    """Return a Box of one number."""
    from gymnasium import spaces

    return spaces.Box(low, high, (1,), space.dtype.type)


def _reference(function: Any) -> str:
    """Return the module:function reference of a function, or raise an error."""
    reference = reference_of(function)
    if reference is None:
        raise ModelError(f"{function!r} is code; a file holds predicates, cells, or the name of a function in a module")
    return reference


def is_plain(options: Any) -> bool:
    """Return whether a file can hold options as they are."""
    try:
        return bool(json.loads(json.dumps(options)) == options)
    except (TypeError, ValueError):
        return False
