"""Errors: a place put before a message loses nothing of what the error carries."""

from __future__ import annotations

import pytest

from praemia.errors import PraemiaError, located


def test_an_error_with_a_place_keeps_what_it_carries() -> None:
    error = PraemiaError("wrong")
    error.rule = 7  # type: ignore[attr-defined]
    with pytest.raises(PraemiaError, match=r"^file:3: wrong$") as caught, located("file:3"):
        raise error
    assert caught.value.rule == 7  # type: ignore[attr-defined]
