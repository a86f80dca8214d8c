"""Runs from files, which anybody may have written: numbers that no run has are damage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from praemia.files.arrays import DamageError

if TYPE_CHECKING:
    from praemia.simulation.run import Run

SLACK = 1e-9  # of a value, by which rounding may exceed the optimum


def require_plausible(run: Run) -> None:
    """Refuse a run whose numbers do not fit each other."""
    if not all(isinstance(text, str) for text in run.versions.values()):
        raise DamageError("its versions are no text")
    if not 0.0 < run.discount <= 1.0:
        raise DamageError(f"its discount is {run.discount}")
    if run.steps.min() < 1 or (run.test_every or 1) < 1 or (run.step_budget or 1) < 1:
        raise DamageError("its numbers of steps are not positive")
    if run.step_budget is not None and run.steps[:-1].sum() >= run.step_budget:
        raise DamageError("it goes on after its last step")
    scale = max(abs(run.optimal_value or 0.0), float(np.abs(run.returns).max()))
    if not (math.isfinite(scale) and np.isfinite(run.returns).all()):
        raise DamageError("its optimal value or its returns are not finite")
    if run.optimal_value is None:
        return
    losses = run.plan_gaps if run.path_losses is None else run.path_losses
    if not (np.isfinite(run.plan_values).all() and np.isfinite(losses).all()):
        raise DamageError("the values of its plans or its losses are not finite")
    if run.plan_values.max() > run.optimal_value + SLACK * scale or losses.min() < -SLACK * scale:
        raise DamageError("a plan is worth more than the optimum")
    if run.mapped_gaps is not None:
        differences = run.mapped_gaps - (run.optimal_value - run.plan_values)
        if not (np.abs(differences) <= SLACK * max(scale, float(np.abs(run.plan_values).max()))).all():
            raise DamageError("the losses of its plans are not those of their values")
