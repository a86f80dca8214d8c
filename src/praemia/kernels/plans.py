"""Compile a learner's plan: the recursion, with the learner's own functions in it.

All plans have one signature, so the loop that plans and plays (``praemia.kernels.play``) is compiled once for all of
them and takes the plan as an argument.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from enum import Enum
from threading import RLock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from praemia.kernels import recursion
from praemia.kernels.compiling import INLINED, INTERNAL, UNCOUNTED, compiled, plain, specialised
from praemia.kernels.references import pointer_to

PlanArguments = tuple[Any, Any, Any]  # a reference to PlanData, the generator, the policy
Parts = tuple[tuple[str, Any], ...]


class Recipe(NamedTuple):
    """What a plan is compiled from: replacements of names in ``plan``, and of names in those functions.

    Values replace names in all of them.
    """

    parts: Parts
    inner: Parts = ()
    plan: Any = recursion.plan


_compiled: dict[Any, Any] = {}
_compiling = RLock()  # two threads may ask for the same plan


def compiled_plan(recipe: Recipe, lanes: int, arguments: PlanArguments) -> Any:
    """Compile a plan that works on ``lanes`` machine states at a time, for such arguments, for other kernels."""
    functions = (part for _, part in (*recipe.parts, *recipe.inner) if callable(part))
    of_users = (function for function in functions if not str(function.__module__).startswith("praemia."))
    key = (recipe, lanes, arguments[2].dtype, *map(_taken, of_users))
    with _compiling:
        if key not in _compiled:
            _compiled[key] = pointer_to(_specialise(recipe, lanes), *arguments)
        return _compiled[key]


@compiled(**UNCOUNTED)
def call_plan(plan: Any, data: Any, rng: Any, policy: Any) -> None:
    """Call a plan from Python. (To compile this once is cheaper than to make every plan callable.)"""
    plan(data, rng, policy)


def _specialise(recipe: Recipe, lanes: int) -> Any:
    values = {name: part for name, part in (*recipe.parts, *recipe.inner) if not callable(part)} | {"LANES": lanes}
    values = {name: getattr(recursion, name) for name in recursion.SWITCHES} | values
    inner = values | {name: _part(part, {}) for name, part in recipe.inner if callable(part)}
    parts = values | {name: _part(part, inner) for name, part in recipe.parts if callable(part)}
    for function in recursion.CONSISTS_OF:  # each takes its own parts, and those before it
        parts[function.__name__] = _part(function, parts, INTERNAL if function in recursion.CALLED else INLINED)
    options = {**INTERNAL, "no_cfunc_wrapper": False}
    replacements = {key: part for key, part in parts.items() if key in recipe.plan.__globals__}
    digest = _digest(recipe)
    name, keep = f"plan_{digest}_{lanes}", _can_be_kept(recipe, digest)
    return specialised(recipe.plan, name, replacements=replacements, keep=keep, **options)


_parts: dict[Any, Any] = {}  # what was compiled of which parts: plans share what is the same for them


def _part(part: Any, inner: dict[str, Any], options: dict[str, Any] = INLINED) -> Any:
    """Return a part of a plan with its own parts in it. It is linked into the plan, so its name need not be unique."""
    own = {name: inner[name] for name in _names(part.__code__) if name in inner and name in part.__globals__}
    values = tuple((name, value if not callable(value) else id(value)) for name, value in sorted(own.items()))
    key = part, values, _taken(part)
    if key not in _parts:
        _parts[key] = specialised(part, part.__name__, replacements=own, keep=False, **options)
    return _parts[key]


def _taken(part: Any) -> tuple[Any, ...]:
    """Return what a function takes from outside, as far as it tells whether that has changed since it was compiled."""
    function = plain(part)
    names = _names(function.__code__)
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    values += [function.__globals__[name] for name in names if name in function.__globals__]
    modules = [value for value in values if isinstance(value, ModuleType)]
    values += [getattr(module, name) for module in modules for name in names if hasattr(module, name)]
    return tuple((type(value), value if isinstance(value, int | float | str) else id(value)) for value in values)


def _can_be_kept(recipe: Recipe, digest: str) -> bool:
    """Tell whether another process could load the plan from disk.

    It finds the plan by its digest, which is another one each time if something in it cannot be described, and imports
    the modules of the plan's functions.
    """
    return digest == _digest(recipe) and all(
        part.__module__ in sys.modules for _, part in (*recipe.parts, *recipe.inner) if callable(part)
    )


def _digest(recipe: Recipe) -> str:
    """Return a short name for all that goes into a plan: values, and the files that its functions come from."""
    digest = hashlib.sha256()
    for key, part in (*recipe.parts, *recipe.inner, ("plan", recipe.plan)):
        digest.update(key.encode())
        digest.update(_described(part, set()))
    return digest.hexdigest()[:12]


def _described(thing: Any, seen: set[int], names: tuple[str, ...] = ()) -> bytes:
    """Return all that decides what a function computes: its code, and the values that it takes from outside.

    Of a module that is what the function takes from it, by its ``names``. A value whose text may not tell it from
    others makes the digest unique: better to compile again than to load another function's code from disk.
    """
    function = getattr(thing, "py_func", thing)
    if isinstance(function, FunctionType):
        if id(function) in seen:
            return b"again"
        seen.add(id(function))
        named = f"{function.__module__}.{function.__qualname__}".encode()  # compiled code refers to its module
        return b"|".join([named, _code(function.__code__), *(_outer(function, seen))])
    if thing is None or isinstance(thing, bool | int | float | complex | str | bytes | np.number):
        return repr(thing).encode()
    if isinstance(thing, ModuleType):
        return _module(thing, seen, names)
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return repr([(item.name, item.value) for item in thing]).encode()
    if isinstance(thing, BuiltinFunctionType | np.ufunc) or inspect.isclass(thing):
        return thing.__name__.encode()
    if type(thing).__module__.startswith(("numba.", "typing")):  # instructions of our own, and annotations
        return str(getattr(thing, "_name", "")).encode()
    if isinstance(thing, tuple | list):
        return b",".join(_described(item, seen) for item in thing)
    if isinstance(thing, np.ndarray):
        return thing.tobytes() + str((thing.dtype, thing.shape)).encode()
    return uuid4().bytes


def _module(module: ModuleType, seen: set[int], names: tuple[str, ...]) -> bytes:
    """Describe what is taken from a module by its names; those that Numba itself compiles are known by theirs."""
    name = module.__name__.encode()
    if id(module) in seen or module.__name__.partition(".")[0] in ("numpy", "math", "cmath", "operator", "numba"):
        return name
    seen = seen | {id(module)}
    return b"|".join([name, *(_described(getattr(module, key), seen, names) for key in names if hasattr(module, key))])


def _code(code: CodeType) -> bytes:
    """Return the code of a function and of those written inside it, with names and constants."""
    inside = [_code(item) if isinstance(item, CodeType) else repr(item).encode() for item in code.co_consts]
    return b"|".join([code.co_code, repr((code.co_names, code.co_varnames)).encode(), *inside])


def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names that a function and those written inside it use."""
    inside = [_names(item) for item in code.co_consts if isinstance(item, CodeType)]
    return (*code.co_names, *(name for names in inside for name in names))


def _outer(function: FunctionType, seen: set[int]) -> list[bytes]:
    """Describe the values that a function takes from outside: from its closure, or global."""
    names = _names(function.__code__)
    caught = [cell.cell_contents for cell in function.__closure__ or ()]
    taken = [function.__globals__[name] for name in names if name in function.__globals__]
    return [_described(value, seen, names) for value in (*caught, *taken)]
