"""Vector instructions for the inner loops: arithmetic on four, eight or sixteen numbers at a time.

A ``Lanes`` value holds neighbouring machine states of one row of a table. Inside a compiled kernel it lives in the
processor's registers; the instructions are emitted as LLVM IR, so they run on any processor. Left to itself, the
compiler keeps separate numbers, which is slower.

    zero = zeros(4)                                     four lanes of 0
    total = zero + weight * load(zero, table, at)       table[at : at + 4], flat; scalars go to every lane
    best = select(total > best, total, best)

Every function has a plain twin over NumPy arrays, which runs when Numba is switched off: operators mean the same
there. No multiplication is fused with an addition and every lane is added up in the order written, so both give the
same bits. Indices are not checked and do not count from the end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config, types
from numba.extending import intrinsic, register_model

from praemia.kernels.inside_numba import (
    AbstractTemplate,
    PrimitiveModel,
    cgutils,
    infer_global,
    ir,
    lower_builtin,
    signature,
)
from praemia.kernels.numbers import place_of

_DOUBLE, _BIT, _INT32, _INT64 = ir.DoubleType(), *map(ir.IntType, (1, 32, 64))


class Lanes(types.Type):
    """The type of several float64 side by side."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"Lanes({count})")


class Mask(types.Type):
    """The type of a comparison of ``Lanes``: a bit for each."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"Mask({count})")


@register_model(Lanes)
class _LanesModel(PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.VectorType(_DOUBLE, lanes.count))


@register_model(Mask)
class _MaskModel(PrimitiveModel):
    def __init__(self, manager: Any, mask: Mask) -> None:
        super().__init__(manager, mask, ir.VectorType(_BIT, mask.count))


def _everywhere(builder: Any, number: Any, count: int) -> Any:
    """Emit a vector with the same number in every lane."""
    nothing = ir.Constant(ir.VectorType(number.type, count), ir.Undefined)
    one = builder.insert_element(nothing, number, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(_INT32, count), [0] * count))


def _as_double(builder: Any, kind: Any, value: Any) -> Any:
    """Emit a whole number as a float64; a float64 as it is."""
    return builder.sitofp(value, _DOUBLE) if isinstance(kind, types.Integer) else value


def _vector_place(context: Any, builder: Any, array_type: Any, array: Any, index: Any, count: int) -> Any:
    pointer = place_of(context, builder, array_type, array, index)
    return builder.bitcast(pointer, ir.VectorType(pointer.type.pointee, count).as_pointer())


# Operators. A scalar on either side goes to every lane.


class _Arithmetic(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        lanes = [argument for argument in args if isinstance(argument, Lanes)]
        if lanes and all(isinstance(it, Lanes | types.Float | types.Integer) for it in args):
            return signature(self.result(lanes[0]), *args)
        return None

    def result(self, lanes: Lanes) -> Any:
        return lanes


class _Comparison(_Arithmetic):
    def result(self, lanes: Lanes) -> Any:
        return Mask(lanes.count)


def _register(symbol: Any, template: type, emit: Callable[..., Any]) -> None:
    infer_global(symbol)(type(f"_{symbol.__name__}", (template,), {"key": symbol}))

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        count = next(it.count for it in sig.args if isinstance(it, Lanes))
        vectors = [
            value if isinstance(kind, Lanes) else _everywhere(builder, _as_double(builder, kind, value), count)
            for kind, value in zip(sig.args, args, strict=True)
        ]
        return emit(builder, *vectors)

    scalars = (types.Float, types.Integer)
    for kinds in ((Lanes,), (Lanes, Lanes), *((Lanes, it) for it in scalars), *((it, Lanes) for it in scalars)):
        lower_builtin(symbol, *kinds)(lower)


_register(operator.add, _Arithmetic, lambda builder, x, y: builder.fadd(x, y))
_register(operator.sub, _Arithmetic, lambda builder, x, y: builder.fsub(x, y))
_register(operator.truediv, _Arithmetic, lambda builder, x, y: builder.fdiv(x, y))
_register(operator.mul, _Arithmetic, lambda builder, x, y: builder.fmul(x, y))
_register(operator.neg, _Arithmetic, lambda builder, x: builder.fneg(x))
_register(operator.gt, _Comparison, lambda builder, x, y: builder.fcmp_ordered(">", x, y))
_register(operator.eq, _Comparison, lambda builder, x, y: builder.fcmp_ordered("==", x, y))


def _named(name: str, *flags: str) -> Callable[..., Any]:
    """Return a function that emits a call of an LLVM intrinsic on vectors."""

    def emit(builder: Any, *vectors: Any) -> Any:
        vector = vectors[0].type
        kind = ir.FunctionType(vector, [vector] * len(vectors))
        function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{vector.count}f64")
        return builder.call(function, vectors, fastmath=flags)

    return emit


# A learner's formula is written with NumPy's names and runs on lanes and on plain numbers alike. (A comparison and a
# selection would do the same as these two, but LLVM can make a masked store of it, which is slow.)
_register(np.minimum, _Arithmetic, _named("minnum", "nnan"))
_register(np.maximum, _Arithmetic, _named("maxnum", "nnan"))
_register(np.sqrt, _Arithmetic, _named("sqrt"))


@intrinsic(prefer_literal=True)
def _zeros(typing_context: Any, count: Any) -> Any:
    lanes = Lanes(count.literal_value)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(ir.VectorType(_DOUBLE, lanes.count), [0.0] * lanes.count)

    return lanes(count), emit


@intrinsic
def _load(typing_context: Any, like: Any, flat: Any, at: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(_vector_place(context, builder, sig.args[1], args[1], args[2], like.count), align=8)

    return like(like, flat, at), emit


@intrinsic
def _gather(typing_context: Any, like: Any, flat: Any, base: Any, places: Any, at: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        start = place_of(context, builder, sig.args[1], args[1], args[2])
        vector = ir.Constant(ir.VectorType(_DOUBLE, like.count), ir.Undefined)
        for k in range(like.count):
            index = builder.add(args[4], ir.Constant(_INT64, k))
            offset = builder.zext(builder.load(place_of(context, builder, sig.args[3], args[3], index)), _INT64)
            number = builder.load(builder.gep(start, [offset], inbounds=True))
            vector = builder.insert_element(vector, number, ir.Constant(_INT32, k))
        return vector

    return like(like, flat, base, places, at), emit


@intrinsic
def _store(typing_context: Any, flat: Any, at: Any, lanes: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _vector_place(context, builder, sig.args[0], args[0], args[1], lanes.count), align=8)
        return context.get_dummy_value()

    return types.none(flat, at, lanes), emit


@intrinsic
def _store_whole(typing_context: Any, flat: Any, at: Any, lanes: Any, count: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        whole = ir.IntType(flat.dtype.bitwidth)
        numbers = builder.fptosi(args[2], ir.VectorType(whole, lanes.count))
        full = builder.icmp_signed(">=", args[3], ir.Constant(_INT64, lanes.count))
        with builder.if_else(full) as (all_of_them, some):
            with all_of_them:
                builder.store(
                    numbers, _vector_place(context, builder, sig.args[0], args[0], args[1], lanes.count), align=1
                )
            with some:
                for k in range(lanes.count - 1):
                    with builder.if_then(builder.icmp_signed(">", args[3], ir.Constant(_INT64, k))):
                        index = builder.add(args[1], ir.Constant(_INT64, k))
                        number = builder.extract_element(numbers, ir.Constant(_INT32, k))
                        builder.store(number, place_of(context, builder, sig.args[0], args[0], index))
        return context.get_dummy_value()

    return types.none(flat, at, lanes, count), emit


@intrinsic
def _select(typing_context: Any, mask: Any, first: Any, second: Any) -> Any:
    lanes = Lanes(mask.count)

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, second = (
            value if isinstance(kind, Lanes) else _everywhere(builder, value, lanes.count)
            for kind, value in zip(sig.args[1:], args[1:], strict=True)
        )
        return builder.select(args[0], first, second)

    return lanes(mask, first, second), emit


@intrinsic
def _num_lanes(typing_context: Any, lanes: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(_INT64, lanes.count)

    return types.int64(lanes), emit


@intrinsic
def _any_lane(typing_context: Any, mask: Any, count: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.zext(builder.bitcast(args[0], ir.IntType(mask.count)), _INT64)
        one = ir.Constant(_INT64, 1)
        most = ir.Constant(_INT64, mask.count)
        used = builder.select(builder.icmp_signed("<", args[1], most), args[1], most)
        counted = builder.sub(builder.shl(one, used), one)
        return builder.icmp_unsigned("!=", builder.and_(bits, counted), ir.Constant(_INT64, 0))

    return types.boolean(mask, count), emit


# The plain twins: NumPy arrays as lanes.


def zeros_plain(count: int) -> Any:
    """Return ``count`` lanes of 0: 4, 8 or 16, a literal in the kernel."""
    return np.zeros(count)


def load_plain(like: Any, flat: Any, at: int) -> Any:
    """Return the lanes flat[at], flat[at + 1] …, as many as ``like`` has."""
    return flat[at : at + len(like)].copy()


def gather_plain(like: Any, flat: Any, base: int, places: Any, at: int) -> Any:
    """Return the lanes flat[base + places[at]], flat[base + places[at + 1]] …"""
    return flat[base + places[at : at + len(like)].astype(np.int64)]


def store_plain(flat: Any, at: int, lanes: Any) -> None:
    """Write lanes to flat[at], flat[at + 1] …"""
    flat[at : at + len(lanes)] = lanes


def store_whole_plain(flat: Any, at: int, lanes: Any, count: int) -> None:
    """Write the first ``count`` lanes, whole numbers, to an array of integers."""
    used = min(count, len(lanes))
    flat[at : at + used] = lanes[:used]


def select_plain(mask: Any, first: Any, second: Any) -> Any:
    """Return the first's lane where the mask holds, and else the second's; either may be a scalar."""
    return np.where(mask, first, second)


def num_lanes_plain(lanes: Any) -> int:
    """Return the number of lanes."""
    return len(lanes)


def any_lane_plain(mask: Any, count: int) -> bool:
    """Tell whether the mask holds in one of the first ``count`` lanes."""
    return bool(np.any(mask[:count]))


_PLAIN: bool = config.DISABLE_JIT  # type: ignore[attr-defined]
zeros: Any = zeros_plain if _PLAIN else _zeros
load: Any = load_plain if _PLAIN else _load
gather: Any = gather_plain if _PLAIN else _gather
store: Any = store_plain if _PLAIN else _store
store_whole: Any = store_whole_plain if _PLAIN else _store_whole
select: Any = select_plain if _PLAIN else _select
num_lanes: Any = num_lanes_plain if _PLAIN else _num_lanes
any_lane: Any = any_lane_plain if _PLAIN else _any_lane
