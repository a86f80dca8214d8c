"""Bundles in kernels: their types, and what a kernel reads of a field.

This is what needs Numba; ``praemia.kernels.bundles`` is imported by much that compiles nothing.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core.typing.templates import AttributeTemplate  # the base that numba.extending.infer_getattr asks for
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, models, register_model, unbox

from praemia.kernels.bundles import Bundle

INT64 = ir.IntType(64)
SCALARS = {bool: types.boolean, int: types.int64, float: types.float64}


def described(bundle: Bundle) -> tuple[BundleType, np.ndarray[Any, Any]]:
    """Return the type in kernels, and what the address points to: for each array where it lies, and its shape."""
    kinds, numbers = list[Any](), list[int]()
    for value in bundle:
        if isinstance(value, np.ndarray):
            assert value.flags.c_contiguous
            kinds.append(_array_type(value.dtype, value.ndim))
            numbers += (value.ctypes.data, *value.shape)
        elif isinstance(value, Bundle):
            kinds.append(value._numba_type_)
            numbers.append(value.address)
        else:
            kinds.append(SCALARS[type(value)])
            numbers.append(int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value))
    return _bundle_type(type(bundle), kinds), np.array(numbers, dtype=np.int64)


class BundleType(types.Type):
    """The type of a bundle in kernels: for each field its place among the numbers, and its type."""

    def __init__(self, name: str, fields: tuple[tuple[str, Any], ...]) -> None:
        self.places: dict[str, tuple[int, Any]] = {}
        size = 0
        for field, kind in fields:
            self.places[field] = size, kind
            size += 1 + kind.ndim if isinstance(kind, types.Array) else 1
        # The name tells types apart and is part of every symbol: written out, it would be thousands of characters long.
        written = ", ".join(f"{field}: {kind}" for field, kind in fields)
        super().__init__(f"{name}({zlib.crc32(written.encode()):08x})")


_types: dict[Any, Any] = {}  # by the identity of the types of fields: to hash them takes long, and they stay here


def _bundle_type(bundle: type[Bundle], kinds: list[Any]) -> BundleType:
    key = (bundle, *map(id, kinds))
    if key not in _types:
        fields = bundle.__dataclass_fields__  # type: ignore[attr-defined]
        _types[key] = BundleType(bundle.__name__, tuple(zip(fields, kinds, strict=True)))
    return _types[key]  # type: ignore[no-any-return]


def _array_type(dtype: np.dtype[Any], ndim: int) -> types.Array:
    key = (dtype if dtype.names else dtype.num, ndim)
    if key not in _types:
        _types[key] = types.Array(from_dtype(dtype), ndim, "C")
    return _types[key]  # type: ignore[no-any-return]


@register_model(BundleType)
class _BundleModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: BundleType) -> None:
        super().__init__(manager, kind, INT64.as_pointer())


@unbox(BundleType)
def _unbox_bundle(kind: Any, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, INT64.as_pointer()))


@infer_getattr
class _BundleFields(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, kind: BundleType, name: str) -> Any:  # type: ignore[override]
        return kind.places[name][1] if name in kind.places else None


@lower_getattr_generic(BundleType)
def _lower_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    first, target = kind.places[name]

    def number(at: int) -> Any:
        loaded = builder.load(builder.gep(value, [INT64(first + at)], inbounds=True))
        # Nothing changes it while a kernel runs, so it need not be read again in a loop.
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(target, BundleType):
        return builder.inttoptr(number(0), INT64.as_pointer())
    if target is types.float64:
        return builder.bitcast(number(0), ir.DoubleType())
    if target is types.boolean:
        return builder.trunc(number(0), ir.IntType(1))
    if target is types.int64:
        return number(0)
    return _array(context, builder, target, number(0), [number(1 + axis) for axis in range(target.ndim)])


def _array(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    """Emit a contiguous array as one value. (Numba's own way goes through memory: three times as many instructions.)"""
    itemsize = INT64(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides, nitems = [itemsize], shape[-1]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    for length in shape[:-1]:
        nitems = builder.mul(nitems, length)
    model = context.data_model_manager[kind]
    data = builder.inttoptr(address, context.get_value_type(types.CPointer(kind.dtype)))
    value = ir.Constant(context.get_value_type(kind), None)  # nobody owns its memory
    for name, number in (("nitems", nitems), ("itemsize", itemsize), ("data", data)):
        value = builder.insert_value(value, number, model.get_field_position(name))
    for name, numbers in (("shape", shape), ("strides", strides)):
        for axis, number in enumerate(numbers):
            value = builder.insert_value(value, number, [model.get_field_position(name), axis])
    return value
