"""Bundles of arrays: a kernel reads the fields that Python reads, without copies."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from praemia.kernels.bundles import Bundle
from praemia.kernels.compiling import compiled
from praemia.kernels.records import REWARD, Floats, Records


class Inner(Bundle):
    table: Floats
    number: int
    share: float
    is_last: bool


class Outer(Bundle):
    records: Records
    inner: Inner


@compiled
def total(bundle: Any) -> float:
    inner, sum_of = bundle.inner, 0.0
    for i in range(inner.table.shape[0]):
        for j in range(inner.table.shape[1]):
            sum_of += inner.table[i, j]
            inner.table[i, j] = 0.0
    sum_of += inner.number + inner.share + bundle.records[1]["value"]
    return float(-sum_of if inner.is_last else sum_of)


def bundle_of(*, is_last: bool) -> Outer:
    records = np.zeros(2, dtype=REWARD)
    records["value"] = 100.0, 200.0
    return Outer(records, Inner(np.arange(6.0).reshape(2, 3), -3, 0.25, is_last))


@pytest.mark.parametrize("is_last", [False, True])
def test_a_kernel_reads_and_writes_the_fields(is_last: bool) -> None:
    bundle = bundle_of(is_last=is_last)
    assert total(bundle) == (-1.0 if is_last else 1.0) * (15.0 - 3 + 0.25 + 200.0)
    assert not bundle.inner.table.any()


def test_a_bundle_with_other_fields_is_another_one() -> None:
    bundle = bundle_of(is_last=False)
    total(bundle)
    larger = bundle._replace(inner=bundle.inner._replace(table=np.ones((4, 4)), number=7))
    assert total(larger) == 16.0 + 7 + 0.25 + 200.0
    assert [field is other for field, other in zip(bundle, larger, strict=True)] == [True, False]


def test_a_copy_has_its_own_memory() -> None:
    bundle = bundle_of(is_last=False)
    total(bundle)
    bundle.inner.table[:] = 1.0
    assert total(deepcopy(bundle)) == 6.0 - 3 + 0.25 + 200.0
    assert bundle.inner.table.all()
