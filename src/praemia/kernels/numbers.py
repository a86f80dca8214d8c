"""Numbers that lie side by side, as kernels hand them on: a pointer and no more.

Numba passes an array as seven values. ``flat(array)`` and ``row(array, index)`` are a pointer to its numbers, of which
single ones can be read and written; indices are not checked and do not count from the end. Where Numba is switched off
they are NumPy arrays.
"""

from __future__ import annotations

from typing import Any

from numba import config, types
from numba.extending import intrinsic

from praemia.kernels.inside_numba import ir


def first_number(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    """Emit a pointer to the first number of an array."""
    return builder.extract_value(array, context.data_model_manager[array_type].get_field_position("data"))


def place_of(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Emit a pointer to a number of a contiguous array, or of what ``flat`` returns."""
    first = array if isinstance(array_type, types.CPointer) else first_number(context, builder, array_type, array)
    return builder.gep(first, [index], inbounds=True)


@intrinsic
def _flat(typing_context: Any, array: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return first_number(context, builder, array, args[0])

    return types.CPointer(array.dtype)(array), emit


@intrinsic
def _row(typing_context: Any, array: Any, index: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        position, first = context.data_model_manager[array].get_field_position("strides"), args[0]
        stride, start = builder.extract_value(first, [position, 0]), first_number(context, builder, array, first)
        bytes_before = builder.mul(args[1], stride)
        place = builder.gep(builder.bitcast(start, ir.IntType(8).as_pointer()), [bytes_before], inbounds=True)
        return builder.bitcast(place, start.type)

    return types.CPointer(array.dtype)(array, types.int64), emit


@intrinsic
def _as_floats(typing_context: Any, numbers: Any) -> Any:
    kinds = [types.unliteral(kind) for kind in numbers]

    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        parts = [builder.extract_value(args[0], i) for i in range(len(kinds))]
        floats = [context.cast(builder, part, kind, types.float64) for part, kind in zip(parts, kinds, strict=True)]
        return context.make_tuple(builder, sig.return_type, floats)

    return types.UniTuple(types.float64, len(kinds))(numbers), emit


def as_floats_plain(numbers: tuple[Any, ...]) -> tuple[float, ...]:
    """Return a tuple of numbers of any kind as one of floats. (Of others, Numba cannot take the k-th.)"""
    return tuple(float(number) for number in numbers)


def flat_plain(array: Any) -> Any:
    """Return the numbers of a contiguous array as one row, of which only single ones can be read and written."""
    return array.reshape(-1)


def row_plain(array: Any, index: int) -> Any:
    """Return the numbers of array[index] as ``flat`` does. (A slice takes long to compile.)"""
    return array[index].reshape(-1)


_PLAIN: bool = config.DISABLE_JIT  # type: ignore[attr-defined]
as_floats: Any = as_floats_plain if _PLAIN else _as_floats
flat: Any = flat_plain if _PLAIN else _flat
row: Any = row_plain if _PLAIN else _row
