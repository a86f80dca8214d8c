"""Models to plan in: other probabilities on the same edges."""

from __future__ import annotations

import numpy as np
import pytest

import praemia
from praemia.errors import ModelError


@pytest.mark.parametrize(
    ("probs", "what"),
    [
        (lambda right: right[:3].copy(), r"shape \(3,\)"),
        (lambda right: np.ones((1, len(right))), r"shape \(1, "),
        (lambda right: right.astype(np.float32), "type float32"),
        (lambda right: np.repeat(right, 2)[::2], "not contiguous"),
    ],
)
def test_probabilities_that_do_not_fit_the_edges_are_refused(probs: object, what: str) -> None:
    """Kernels do not check where they read."""
    model = praemia.envs.make("warehouse-3").model
    with pytest.raises(ModelError, match=f"{what}.*expected float64 of shape .*contiguous"):
        model.with_probs(probs(model.arrays.probs))


def test_a_models_arrays_cannot_be_written_to() -> None:
    model = praemia.envs.make("warehouse-3").model
    other = model.with_probs(model.arrays.probs.copy())
    assert praemia.solve(other).value == praemia.solve(model).value
    with pytest.raises(ValueError, match="read-only"):
        other.arrays.probs[0] = 1.0
