"""Bundles of arrays, which kernels take by reference.

Passed by value, each array is seven numbers, which are taken from Python's objects at every call and handed on from
function to function: most of what compiling and calling a small kernel costs. In a kernel a ``Bundle`` is the address
of its fields, and ``bundle.field`` reads as it does in Python (``praemia.kernels.bundle_types``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, dataclass_transform

Self = TypeVar("Self", bound="Bundle")


@dataclass_transform(frozen_default=True, eq_default=False)
class Bundle:
    """The base of classes whose fields are C-contiguous arrays, bundles, or numbers. Their fields never change."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)

    def _replace(self: Self, **changes: Any) -> Self:
        """Return the bundle with other fields."""
        return replace(self, **changes)  # type: ignore[type-var]

    def __iter__(self) -> Iterator[Any]:
        return (getattr(self, name) for name in self.__dataclass_fields__)  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: a copy lies elsewhere."""
        return dict(zip(self.__dataclass_fields__, self, strict=True))  # type: ignore[attr-defined]

    @cached_property
    def _described(self) -> tuple[Any, Any]:
        from praemia.kernels.bundle_types import described  # imports Numba

        return described(self)

    @cached_property
    def _numba_type_(self) -> Any:
        return self._described[0]

    @cached_property
    def address(self) -> int:
        return int(self._described[1].ctypes.data)
