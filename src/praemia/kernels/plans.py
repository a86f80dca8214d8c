"""Compile a learner's plan: the recursion, with the learner's own functions and switches in it.

All plans have one signature, so the loop that plans and plays (``praemia.kernels.play``) is compiled once for all of
them and takes the plan as an argument.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from enum import Enum
from operator import itemgetter
from threading import RLock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from uuid import uuid4

import numpy as np

from praemia.kernels.compiling import INTERNAL, UNCOUNTED, compiled, is_ours, specialised
from praemia.kernels.references import pointer_to

PlanArguments = tuple[Any, Any, Any]  # a reference to PlanData, the generator, the policy
Parts = Mapping[str, Any]  # what takes the place of which name of ``praemia.kernels.switches``

_plans: dict[Any, Any] = {}
_compiling = RLock()  # two threads may ask for the same plan


def compiled_plan(plan: Any, parts: Parts, arguments: PlanArguments) -> Any:
    """Compile a plan with a learner's parts in it, for such arguments, for other kernels."""
    with _compiling:
        name = f"plan_{_digest(plan, parts)}"
        key = name, arguments[2].dtype
        if key not in _plans:
            options = {**INTERNAL, "no_cfunc_wrapper": False, "keep": _can_be_kept(plan, parts)}
            kernel = specialised(plan, name, parts, **options)
            _plans[key] = pointer_to(kernel, *arguments)
        return _plans[key]


@compiled(**UNCOUNTED)
def call_plan(plan: Any, data: Any, rng: Any, policy: Any) -> None:
    """Call a plan from Python. (To compile this once is cheaper than to make every plan callable.)"""
    plan(data, rng, policy)


def _can_be_kept(plan: Any, parts: Parts) -> bool:
    """Tell whether another process could load a plan: it finds it by its digest, and imports its functions' modules."""
    functions = [part for part in parts.values() if callable(part)]
    return _digest(plan, parts) == _digest(plan, parts) and all(it.__module__ in sys.modules for it in functions)


def _digest(plan: Any, parts: Parts) -> str:
    """Return a short name for all that goes into a plan; another one each time if something cannot be described."""
    digest = hashlib.sha256()
    for key, part in (*sorted(parts.items(), key=itemgetter(0)), ("plan", plan)):
        digest.update(key.encode())
        digest.update(_described(part, set()))
    return digest.hexdigest()[:12]


def _described(thing: Any, seen: set[int], names: tuple[str, ...] = ()) -> bytes:
    """Return all that decides what a function computes: its code, and the values that it takes from outside.

    Of a module that is what the function takes from it, by its ``names``. A value whose text may not tell it from
    others makes the digest unique: better to compile again than to load another function's code from disk. What this
    package's own functions take from outside is told by the folder that compiled code is kept in.
    """
    function = getattr(thing, "py_func", thing)
    if isinstance(function, FunctionType):
        if id(function) in seen:
            return b"again"
        seen.add(id(function))
        named = f"{function.__module__}.{function.__qualname__}".encode()  # compiled code refers to its module
        outer = [] if is_ours(function) else _outer(function, seen)
        return b"|".join([named, _code(function.__code__), *outer])
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
    """Describe the values that a function takes from outside: from its closure, by default, or global."""
    names = _names(function.__code__)
    caught = [*(cell.cell_contents for cell in function.__closure__ or ()), *(function.__defaults__ or ())]
    taken = [function.__globals__[name] for name in names if name in function.__globals__]
    return [_described(value, seen, names) for value in (*caught, *taken)]
