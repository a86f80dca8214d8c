"""Bundles of arrays by reference, and kernels that other kernels are handed.

A kernel may work on dozens of arrays. Passed by value, each is seven numbers, taken from Python objects and handed on
from function to function: most of the time that compiling takes. So a kernel takes a ``Reference``: where the arrays
of a (nested) NamedTuple lie, and their shapes. Inside, ``data.counts.pairs`` reads as it does in Python, where nothing
is compiled and the NamedTuple itself is passed.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numba import config, typeof, types
from numba.extending import NativeValue, register_model, unbox

from praemia.kernels.inside_numba import (
    AttributeTemplate,
    PrimitiveModel,
    as_dtype,
    from_dtype,
    infer_getattr,
    ir,
    lower_getattr_generic,
)

_INT64 = ir.IntType(64)


class ReferenceType(types.Type):
    """The type of a reference: for each name, at which number it begins, and the type of what is there."""

    def __init__(self, fields: tuple[tuple[str, Any], ...]) -> None:
        self.places: dict[str, tuple[int, Any]] = {}
        self.size = 0
        for name, kind in fields:
            self.places[name] = self.size, kind
            self.size += kind.size if isinstance(kind, ReferenceType) else 1 + kind.ndim
        # The name tells types apart and is part of every symbol: written out, it would be thousands of characters long.
        written = ", ".join(f"{name}: {kind}" for name, kind in fields)
        super().__init__(f"Reference({hashlib.sha256(written.encode()).hexdigest()[:16]})")


class Reference:
    """Where the arrays of a NamedTuple lie; it keeps them alive."""

    def __init__(self, bundle: Any) -> None:
        numbers: list[int] = []
        self.bundle, self._numba_type_ = bundle, _describe(bundle, numbers)
        self.numbers = np.array(numbers, dtype=np.int64)
        self.address = self.numbers.ctypes.data


def by_reference(bundle: Any) -> Any:
    """Return a reference to a NamedTuple of contiguous arrays; the NamedTuple itself where nothing is compiled."""
    return bundle if config.DISABLE_JIT else Reference(bundle)  # type: ignore[attr-defined]


_types: dict[Any, Any] = {}


def _describe(bundle: Any, numbers: list[int]) -> ReferenceType:
    kinds = []
    for item in bundle:
        if isinstance(item, tuple):
            kinds.append(_describe(item, numbers))
        else:
            assert item.flags.c_contiguous
            numbers.append(item.ctypes.data)
            numbers.extend(item.shape)
            kinds.append(_array_type(item.dtype, item.ndim))
    key = (type(bundle), *map(id, kinds))  # all kinds are kept in ``_types``, and hashing one takes long
    if key not in _types:
        _types[key] = ReferenceType(tuple(zip(bundle._fields, kinds, strict=True)))
    return _types[key]  # type: ignore[no-any-return]


def _array_type(dtype: np.dtype[Any], ndim: int) -> Any:
    key = dtype, ndim
    if key not in _types:
        _types[key] = types.Array(from_dtype(dtype), ndim, "C")
    return _types[key]


@register_model(ReferenceType)
class _ReferenceModel(PrimitiveModel):
    def __init__(self, manager: Any, kind: ReferenceType) -> None:
        super().__init__(manager, kind, _INT64.as_pointer())


@unbox(ReferenceType)
def _unbox_reference(kind: Any, value: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(value, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, _INT64.as_pointer()))


@infer_getattr
class _ReferenceAttribute(AttributeTemplate):
    key = ReferenceType

    def generic_resolve(self, kind: ReferenceType, name: str) -> Any:  # type: ignore[override]
        return kind.places[name][1] if name in kind.places else None


@lower_getattr_generic(ReferenceType)
def _lower_attribute(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    first, target = kind.places[name]

    def number(at: int) -> Any:
        loaded = builder.load(builder.gep(value, [ir.Constant(_INT64, first + at)], inbounds=True))
        # Nothing changes it while a kernel runs, so it need not be read again in a loop.
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(target, ReferenceType):
        return builder.gep(value, [ir.Constant(_INT64, first)], inbounds=True)
    data = builder.inttoptr(number(0), context.get_value_type(types.CPointer(target.dtype)))
    return emit_array(context, builder, target, data, [number(1 + axis) for axis in range(target.ndim)])


def emit_array(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    """Emit a contiguous array as one value. (Numba's own way goes through memory: three times as many instructions.)"""
    itemsize = ir.Constant(_INT64, as_dtype(kind.dtype).itemsize)
    strides, nitems = [itemsize], shape[-1]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    for length in shape[:-1]:
        nitems = builder.mul(nitems, length)
    model = context.data_model_manager[kind]
    value = ir.Constant(context.get_value_type(kind), None)  # nobody owns its memory
    for name, number in (("nitems", nitems), ("itemsize", itemsize), ("data", data)):
        value = builder.insert_value(value, number, model.get_field_position(name))
    for name, numbers in (("shape", shape), ("strides", strides)):
        for axis, number in enumerate(numbers):
            value = builder.insert_value(value, number, [model.get_field_position(name), axis])
    return value


class Pointer(types.WrapperAddressProtocol):
    """A compiled function for arguments of some types, as other kernels take it."""

    def __init__(self, kernel: Any, argument_types: tuple[Any, ...]) -> None:
        kernel.compile(argument_types)
        result = kernel.overloads[argument_types]
        self._signature = result.signature
        self._kernel = kernel  # keeps the code alive
        self._address = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
        self._numba_type_ = types.FunctionType(self._signature)

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def signature(self) -> Any:
        return self._signature


def pointer_to(kernel: Any, *arguments: Any) -> Any:
    """Return a kernel for such arguments as other kernels take it; where nothing is compiled, the function itself.

    (Of a dispatcher, Numba would look the signature up at every call.)
    """
    return kernel if config.DISABLE_JIT else Pointer(kernel, tuple(map(typeof, arguments)))  # type: ignore[attr-defined]
