"""Golden records notice a last bit on one machine, forgive it on another, and name what changed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from golden_records import Reach, Record, differences, exact_forms, portable_forms, write

NEXT = float(np.nextafter(0.1, 1.0))


def forms(value: Any, reach: Reach = Reach.CLOSE) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a value's forms for one machine and for all, as they are read from a file."""
    records = [Record("section/name", value, reach)]
    exact, portable = (json.loads(write(made(records))) for made in (exact_forms, portable_forms))
    return exact, portable


@pytest.mark.parametrize(
    ("value", "rounded"),
    [
        (0.1, NEXT),
        ([0.1, 2.0], [NEXT, 2.0]),
        ([0.1] * 20, [0.1] * 19 + [NEXT]),
        (np.array([[0.1, np.nan]]), np.array([[NEXT, np.nan]])),
        ({"part": (0.1,)}, {"part": (NEXT,)}),
    ],
)
def test_a_last_bit_counts_on_one_machine_and_on_others_only_where_it_is_fixed(value: Any, rounded: Any) -> None:
    (exact, portable), (exact_now, portable_now) = forms(value), forms(rounded)
    assert list(differences(exact, exact_now))
    assert not list(differences(portable, portable_now))
    fixed, fixed_now = forms(value, Reach.BITS)[1], forms(rounded, Reach.BITS)[1]
    assert list(differences(fixed, fixed_now))


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (0.1, 0.1 + 1e-8),
        (1, 2),
        (1, 1.0),
        ("a" * 500, "a" * 499 + "b"),
        (np.arange(5), np.arange(5)[::-1]),
        (np.arange(6.0), np.arange(6.0)[::-1]),
        (np.arange(6.0), np.arange(6.0).reshape(2, 3)),
        (np.array([0.0, np.nan]), np.array([np.nan, 0.0])),
        ({"part": 1}, {"other": 1}),
        ([], [1]),
    ],
)
def test_anything_else_counts_everywhere(value: Any, other: Any) -> None:
    for was, now in zip(forms(value), forms(other), strict=True):
        assert list(differences(was, now))
        assert not list(differences(was, was))


def test_how_whole_numbers_are_stored_does_not_count() -> None:
    assert forms(np.arange(5, dtype=np.int8)) == forms(np.arange(5))


def test_what_does_not_carry_is_not_taken_to_other_machines() -> None:
    assert forms(0.1, Reach.LOCAL) == ({"section/name": (0.1).hex()}, {})


def test_a_difference_is_named_by_its_record_and_part() -> None:
    was, now = {"runs/a": {"values": [1.0, 2.0]}}, {"runs/a": {"values": [1.0, 2.5]}, "runs/b": "new"}
    assert list(differences(was, now)) == ["runs/a/values[1]: was 2.0, is 2.5", 'runs/b: was "nothing", is "new"']
    assert list(differences(was, now, additions=False)) == ["runs/a/values[1]: was 2.0, is 2.5"]
