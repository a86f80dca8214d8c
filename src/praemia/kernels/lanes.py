"""Vector instructions for the inner loops: arithmetic on 4, 8 or 16 numbers at a time.

Lanes hold neighbouring machine states of one row of a table. Each function here *is* its definition, on NumPy arrays;
that is what runs where Numba is switched off. In compiled kernels Numba emits vector instructions in its place, which
stay in the processor's registers:

    zero = zeros(4)                                     four lanes of 0
    total = zero + weight * load(zero, table, at)       table[at : at + 4]; scalars go to every lane
    best = select(total > best, total, best)

No multiplication is fused with an addition and every lane is added up in the order written, so both give the same
bits. Tables are flat and contiguous; indices are not checked and do not count from the end.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

DOUBLE, BIT, INT32, INT64 = ir.DoubleType(), *map(ir.IntType, (1, 32, 64))


def zeros(count: int) -> Any:
    """Return ``count`` lanes of 0: 4, 8 or 16, a literal in the kernel."""
    return np.zeros(count)


def load(like: Any, table: Any, at: Any) -> Any:
    """Return the lanes table[at], table[at + 1] …, as many as ``like`` has."""
    return table[at : at + len(like)].copy()


def gather(like: Any, table: Any, base: Any, places: Any, at: Any) -> Any:
    """Return the lanes table[base + places[at]], table[base + places[at + 1]] …; places are unsigned."""
    return table[base + places[at : at + len(like)].astype(np.int64)]


def store(table: Any, at: Any, lanes: Any) -> None:
    """Write lanes to table[at], table[at + 1] …"""
    table[at : at + len(lanes)] = lanes


def store_integers(table: Any, at: Any, lanes: Any, count: int) -> None:
    """Write the first ``count`` lanes, which are integers, to an array of integers."""
    used = min(count, len(lanes))
    table[at : at + used] = lanes[:used]


def select(mask: Any, first: Any, second: Any) -> Any:
    """Return the first's lane where the mask holds, and else the second's; either may be a scalar."""
    return np.where(mask, first, second)


def num_lanes(lanes: Any) -> int:
    """Return the number of lanes."""
    return len(lanes)


def any_lane(mask: Any, count: int) -> bool:
    """Return whether the mask holds in one of the first ``count`` lanes."""
    return bool(np.any(mask[:count]))


def following(place: Any) -> Any:
    """Return the next of some unsigned places.

    A loop that counts with it is not unrolled: most pairs have few edges, for which unrolled loops are slower, and they
    take longer to compile.
    """
    return place + np.uint64(1)


class Lanes(types.Type):
    """Numba's type of several float64 side by side."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"Lanes({count})")


class Mask(types.Type):
    """Numba's type of a comparison of ``Lanes``: a bit for each."""

    def __init__(self, count: int) -> None:
        self.count = count
        super().__init__(f"Mask({count})")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, ir.VectorType(DOUBLE, lanes.count))


@register_model(Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, mask: Mask) -> None:
        super().__init__(manager, mask, ir.VectorType(BIT, mask.count))


def _in_all_lanes(context: Any, builder: Any, kind: Any, value: Any, count: int) -> Any:
    """Emit a vector with the same number in every lane; lanes as they are."""
    if isinstance(kind, Lanes):
        return value
    number = context.cast(builder, value, kind, types.float64)
    nothing = ir.Constant(ir.VectorType(DOUBLE, count), ir.Undefined)
    one = builder.insert_element(nothing, number, INT32(0))
    return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(INT32, count), [0] * count))


def _is_operand(kind: Any) -> bool:
    return isinstance(kind, Lanes | types.Float | types.Integer)


def _operator(symbol: Any, emit: Callable[..., Any], result: type = Lanes) -> None:
    """Have Numba emit an instruction for an operator or a NumPy function; a scalar goes to every lane."""

    @type_callable(symbol)
    def type_of(context: Any) -> Any:
        def typer(*kinds: Any) -> Any:
            lanes = [kind for kind in kinds if isinstance(kind, Lanes)]
            return result(lanes[0].count) if lanes and all(map(_is_operand, kinds)) else None

        def one(x: Any) -> Any:
            return typer(x)

        def two(x: Any, y: Any) -> Any:
            return typer(x, y)

        return one if symbol in (operator.neg, np.sqrt) else two

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        count = next(kind.count for kind in sig.args if isinstance(kind, Lanes))
        pairs = zip(sig.args, args, strict=True)
        return emit(builder, *(_in_all_lanes(context, builder, kind, value, count) for kind, value in pairs))

    scalars = (types.Float, types.Integer)
    for kinds in ((Lanes,), (Lanes, Lanes), *((Lanes, it) for it in scalars), *((it, Lanes) for it in scalars)):
        lower_builtin(symbol, *kinds)(lower)


def _llvm(name: str, *flags: str) -> Callable[..., Any]:
    """Return a function that emits a call of an LLVM intrinsic on vectors."""

    def emit(builder: Any, *vectors: Any) -> Any:
        vector = vectors[0].type
        kind = ir.FunctionType(vector, [vector] * len(vectors))
        function = builder.module.declare_intrinsic(f"llvm.{name}.v{vector.count}f64", (), kind)
        return builder.call(function, vectors, fastmath=flags)

    return emit


_operator(operator.add, lambda builder, x, y: builder.fadd(x, y))
_operator(operator.sub, lambda builder, x, y: builder.fsub(x, y))
_operator(operator.mul, lambda builder, x, y: builder.fmul(x, y))
_operator(operator.truediv, lambda builder, x, y: builder.fdiv(x, y))
_operator(operator.neg, lambda builder, x: builder.fneg(x))
_operator(operator.gt, lambda builder, x, y: builder.fcmp_ordered(">", x, y), Mask)
_operator(operator.eq, lambda builder, x, y: builder.fcmp_ordered("==", x, y), Mask)
# A comparison and a selection would do the same as these two, but LLVM can make a masked store of it, which is slow.
_operator(np.minimum, _llvm("minnum", "nnan"))
_operator(np.maximum, _llvm("maxnum", "nnan"))
_operator(np.sqrt, _llvm("sqrt"))


def _function(function: Callable[..., Any], typer: Callable[..., Any]) -> Callable[[Any], Any]:
    """Have Numba emit instructions for a function of this module; ``typer`` gives the type of what it returns."""
    type_callable(function)(lambda context: typer)

    def register(emit: Callable[..., Any]) -> Callable[..., Any]:
        lower_builtin(function, types.VarArg(types.Any))(emit)
        return emit

    return register


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Emit a pointer to a number of a contiguous array."""
    data = builder.extract_value(array, context.data_model_manager[kind].get_field_position("data"))
    return builder.gep(data, [index], inbounds=True)


def _vector_place(context: Any, builder: Any, kind: Any, array: Any, index: Any, count: int) -> Any:
    pointer = _place(context, builder, kind, array, index)
    return builder.bitcast(pointer, ir.VectorType(pointer.type.pointee, count).as_pointer())


def _index(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.cast(builder, value, kind, types.int64)


@_function(zeros, lambda count: Lanes(count.literal_value) if isinstance(count, types.IntegerLiteral) else None)
def _zeros(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    count = sig.return_type.count
    return ir.Constant(ir.VectorType(DOUBLE, count), [0.0] * count)


@_function(load, lambda like, table, at: like)
def _load(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = _index(context, builder, sig.args[2], args[2])
    return builder.load(_vector_place(context, builder, sig.args[1], args[1], at, sig.args[0].count), align=8)


@_function(gather, lambda like, table, base, places, at: like)
def _gather(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    count, (base, at) = sig.args[0].count, (_index(context, builder, sig.args[i], args[i]) for i in (2, 4))
    start = _place(context, builder, sig.args[1], args[1], base)
    vector = ir.Constant(ir.VectorType(DOUBLE, count), ir.Undefined)
    for k in range(count):
        place = _place(context, builder, sig.args[3], args[3], builder.add(at, INT64(k)))
        number = builder.load(builder.gep(start, [builder.zext(builder.load(place), INT64)], inbounds=True))
        vector = builder.insert_element(vector, number, INT32(k))
    return vector


@_function(store, lambda table, at, lanes: types.none)
def _store(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    at = _index(context, builder, sig.args[1], args[1])
    builder.store(args[2], _vector_place(context, builder, sig.args[0], args[0], at, sig.args[2].count), align=8)
    return context.get_dummy_value()


@_function(store_integers, lambda table, at, lanes, count: types.none)
def _store_integers(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    table, size = sig.args[0], sig.args[2].count
    at, count = (_index(context, builder, sig.args[i], args[i]) for i in (1, 3))
    numbers = builder.fptosi(args[2], ir.VectorType(ir.IntType(table.dtype.bitwidth), size))
    with builder.if_else(builder.icmp_signed(">=", count, INT64(size))) as (every, some):
        with every:
            builder.store(numbers, _vector_place(context, builder, table, args[0], at, size), align=1)
        with some:
            for k in range(size - 1):
                with builder.if_then(builder.icmp_signed(">", count, INT64(k))):
                    place = _place(context, builder, table, args[0], builder.add(at, INT64(k)))
                    builder.store(builder.extract_element(numbers, INT32(k)), place)
    return context.get_dummy_value()


@_function(select, lambda mask, first, second: Lanes(mask.count))
def _select(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    both = (_in_all_lanes(context, builder, sig.args[i], args[i], sig.args[0].count) for i in (1, 2))
    return builder.select(args[0], *both)


@_function(num_lanes, lambda lanes: types.int64)
def _num_lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return INT64(sig.args[0].count)


@_function(any_lane, lambda mask, count: types.boolean)
def _any_lane(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    size, count = sig.args[0].count, _index(context, builder, sig.args[1], args[1])
    bits = builder.zext(builder.bitcast(args[0], ir.IntType(size)), INT64)
    used = builder.select(builder.icmp_signed("<", count, INT64(size)), count, INT64(size))
    counted = builder.sub(builder.shl(INT64(1), used), INT64(1))
    return builder.icmp_unsigned("!=", builder.and_(bits, counted), INT64(0))


@_function(following, lambda place: types.uint64)
def _following(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    # Instructions that LLVM does not look into, here none: it cannot know how often the loop is run.
    return builder.asm(ir.FunctionType(INT64, [INT64]), "", "=r,0", [builder.add(args[0], INT64(1))], False)
