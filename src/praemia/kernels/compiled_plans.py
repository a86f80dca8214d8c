"""Compile a learner's plan: the recursion, with the learner's own functions in it.

All plans have one signature, so the loop that plans and plays (``praemia.kernels.stretch``) is compiled once for all
of them and takes the plan as an argument.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numba import config, typeof, types

from praemia.kernels import bonus, learned_machine, recursion
from praemia.kernels.compiling import INTERNAL, UNCOUNTED, compiled, inlined, specialised

PlanKernel = Any  # a compiled plan's address, or the plain function where nothing is compiled
PlanArguments = tuple[Any, Any]  # PlanData, policy


class Address(types.WrapperAddressProtocol):
    """A compiled plan as other kernels take it. (Numba would look up a dispatcher's signature at every call.)"""

    def __init__(self, plan: Any, signature: Any) -> None:
        self.plan, self._signature = plan, signature
        result = plan.get_compile_result(signature)
        self.address = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        return int(self.address)

    def signature(self) -> Any:
        return self._signature


class Recipe(NamedTuple):
    """What a plan is compiled from: a module with a ``plan``, replacements of names in it, and of names in those."""

    module: Any
    parts: tuple[tuple[str, Any], ...]
    inner: tuple[tuple[str, Any], ...] = ()


def num_numbers(numbers: Any) -> int:
    """Return how many numbers a learner keeps for a pair."""
    return len(numbers(1.0, 1.0, np.ones(64)))


def bonus_recipe(
    numbers: Any,
    worth: Any,
    *,
    prepare_steps: Any,
    begin_plan: Any,
    limited_by_labels: bool,
    is_monotone: bool,
    deviation_without_reward: bool,
    measures_spread: bool,
    learns_machine: bool,
) -> Recipe:
    """Return the recipe of a learner with a bonus.

    ``prepare_steps``, if any, fills numbers that depend on the step; ``begin_plan`` sets constants that change from
    plan to plan.
    """
    size = num_numbers(numbers)
    machine = learned_machine.BY_BONUS if learns_machine else ()
    parts = (
        *machine,
        ("prepare_pair", bonus.prepare_pair),
        ("begin_step", bonus.find_spread if measures_spread else recursion.nothing_per_step),
        *([("begin_plan", begin_plan)] if begin_plan else []),
        ("pair_value", bonus.pair_value),
        ("LIMIT_IS_TOP", limited_by_labels),
        ("IS_MONOTONE", is_monotone),
    )
    inner = (
        ("numbers", numbers if size else bonus.one_number),
        ("worth", worth),
        ("as_tuple", bonus.AS_TUPLE[max(1, size)]),
        ("prepare_steps", prepare_steps or recursion.nothing_for_pair),
        ("HAS_STEP_NUMBERS", prepare_steps is not None),
        ("REWARDS_ARE_APART", deviation_without_reward),
        ("MEASURES_SPREAD", measures_spread),
    )
    return Recipe(recursion, parts, inner)


_compiled: dict[tuple[Recipe, int, Any], PlanKernel] = {}


def compiled_plan(recipe: Recipe, lanes: int, arguments: PlanArguments) -> PlanKernel:
    """Compile a plan that works on ``lanes`` machine states at a time; ``arguments`` are examples of its arguments."""
    key = (recipe, lanes, arguments[1].dtype)
    if key not in _compiled:
        values = {name: part for name, part in recipe.inner if not callable(part)} | {"LANES": lanes}
        inner = values | {name: inlined(part) for name, part in recipe.inner if callable(part)}
        replacements = {name: _part(part, inner) for name, part in recipe.parts} | {"LANES": lanes}
        name, signature = f"plan_{_digest(recipe)}_{lanes}", plan_signature(arguments)
        options = {**UNCOUNTED, **INTERNAL, "no_cfunc_wrapper": False, "cache": _can_be_kept(recipe)}
        plan = specialised(recipe.module.plan, name, signature, replacements=replacements, **options)
        _compiled[key] = plan if signature is None else Address(plan, signature)
    return _compiled[key]


def _can_be_kept(recipe: Recipe) -> bool:
    """Tell whether another process could load the plan from disk: it imports the modules of the plan's functions."""
    return all(part.__module__ in sys.modules for _, part in (*recipe.parts, *recipe.inner) if callable(part))


def make_plan(plan: Any, counts: Any, spec: Any, memory: Any, constants: Any, rng: Any, policy: Any) -> None:
    """Call a plan, which Python cannot call itself.

    The parts of its data are passed one by one: in a tuple with a generator, Numba would work out the type of every
    array at every call.
    """
    plan(recursion.PlanData(counts, spec, memory, constants, rng), policy)


_callers: dict[Any, Any] = {}


def call_plan(plan: PlanKernel, arguments: PlanArguments) -> None:
    """Make a plan from Python; the caller that passes the arguments on is compiled once for all plans."""
    kind = arguments[1].dtype
    if kind not in _callers:
        signature = plan_signature(arguments)
        whole = signature and types.none(types.FunctionType(signature), *map(typeof, (*arguments[0], arguments[1])))
        _callers[kind] = compiled(whole)(make_plan)
    _callers[kind](plan, *arguments[0], arguments[1])


def _part(part: Any, inner: dict[str, Any]) -> Any:
    if not callable(part):
        return part
    return inlined(part, **{name: value for name, value in inner.items() if name in part.__globals__})


def plan_signature(arguments: PlanArguments) -> Any:
    """Return the signature that all plans have, from examples; None where nothing is compiled."""
    return None if config.DISABLE_JIT else types.none(*map(typeof, arguments))  # type: ignore[attr-defined]


def _digest(recipe: Recipe) -> str:
    """Return a short name for all that goes into a plan: values, and the files that its functions come from."""
    known = hashlib.sha256(recipe.module.__name__.encode())
    for key, part in (*recipe.parts, *recipe.inner):
        known.update(key.encode())
        known.update(_described(part, set()))
    return known.hexdigest()[:12]


def _described(thing: Any, seen: set[int]) -> bytes:
    """Return all that decides what a function computes: its code, and the values that it takes from outside.

    A value whose text may not tell it from others makes the name unique: better to compile again than to load another
    function's code from disk.
    """
    function = getattr(thing, "py_func", thing)
    if isinstance(function, FunctionType):
        if id(function) in seen:
            return b"again"
        seen.add(id(function))
        named = f"{function.__module__}.{function.__qualname__}".encode()  # compiled code refers to its module
        return b"|".join([named, _code(function.__code__), *(_described(value, seen) for value in _outer(function))])
    if thing is None or isinstance(thing, bool | int | float | complex | str | bytes | np.number):
        return repr(thing).encode()
    if isinstance(thing, ModuleType | BuiltinFunctionType | np.ufunc) or inspect.isclass(thing):
        return thing.__name__.encode()
    if type(thing).__module__.startswith(("numba.", "typing")):  # instructions of our own, and annotations
        return str(getattr(thing, "_name", "")).encode()
    if isinstance(thing, tuple | list):
        return b",".join(_described(item, seen) for item in thing)
    if isinstance(thing, np.ndarray):
        return thing.tobytes() + str((thing.dtype, thing.shape)).encode()
    return uuid4().bytes


def _code(code: CodeType) -> bytes:
    """Return the code of a function and of those written inside it, with names and constants."""
    inside = [_code(item) if isinstance(item, CodeType) else repr(item).encode() for item in code.co_consts]
    return b"|".join([code.co_code, repr((code.co_names, code.co_varnames)).encode(), *inside])


def _outer(function: FunctionType) -> list[Any]:
    """Return the values that a function takes from outside: from its closure, or global."""
    caught = [cell.cell_contents for cell in function.__closure__ or ()]
    names = [name for name in function.__code__.co_names if name in function.__globals__]
    return [*caught, *(function.__globals__[name] for name in names)]
