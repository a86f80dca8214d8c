"""Numbers that lie side by side, as kernels hand them on: a pointer and no more.

Numba passes an array as seven values. ``flat(array)`` and ``row(array, index)``
are a pointer to its numbers, of which single ones can be read and written; indices are not checked and do not count
from the end. Where Numba is switched off they are NumPy arrays.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import config, types
from numba.extending import intrinsic, register_model

from praemia.kernels.inside_numba import AbstractTemplate, PrimitiveModel, infer_global, ir, lower_builtin, signature


class Numbers(types.Type):
    """The type of numbers that lie side by side, as ``flat`` returns them."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"Numbers({dtype})")


@register_model(Numbers)
class _NumbersModel(PrimitiveModel):
    def __init__(self, manager: Any, numbers: Numbers) -> None:
        super().__init__(manager, numbers, manager.lookup(numbers.dtype).get_data_type().as_pointer())


@infer_global(operator.getitem)
class _Number(AbstractTemplate):
    key = operator.getitem

    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], Numbers) and isinstance(args[1], types.Integer):
            return signature(args[0].dtype, args[0], types.int64)
        return None


@lower_builtin(operator.getitem, Numbers, types.Integer)
def _lower_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.load(builder.gep(args[0], [args[1]], inbounds=True))


@infer_global(operator.setitem)
class _SetNumber(AbstractTemplate):
    key = operator.setitem

    def generic(self, args: Any, kws: Any) -> Any:
        if isinstance(args[0], Numbers) and isinstance(args[1], types.Integer):
            return signature(types.none, args[0], types.int64, args[0].dtype)
        return None


@lower_builtin(operator.setitem, Numbers, types.Integer, types.Any)
def _lower_set_number(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[2], builder.gep(args[0], [args[1]], inbounds=True))
    return context.get_dummy_value()


def first_number(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    """Emit a pointer to the first number of an array."""
    return builder.extract_value(array, context.data_model_manager[array_type].get_field_position("data"))


def place_of(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Emit a pointer to a number of a contiguous array, or of ``Numbers``."""
    first = array if isinstance(array_type, Numbers) else first_number(context, builder, array_type, array)
    return builder.gep(first, [index], inbounds=True)


@intrinsic
def _flat(typing_context: Any, array: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return first_number(context, builder, array, args[0])

    return Numbers(array.dtype)(array), emit


@intrinsic
def _row(typing_context: Any, array: Any, index: Any) -> Any:
    def emit(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        position, first = context.data_model_manager[array].get_field_position("strides"), args[0]
        stride, start = builder.extract_value(first, [position, 0]), first_number(context, builder, array, first)
        bytes_before = builder.mul(args[1], stride)
        place = builder.gep(builder.bitcast(start, ir.IntType(8).as_pointer()), [bytes_before], inbounds=True)
        return builder.bitcast(place, start.type)

    return Numbers(array.dtype)(array, types.int64), emit


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
