"""Simulation: play a learner on a task, count, plan again when due, and compute the exact regret."""

from __future__ import annotations

from praemia.simulation.run import Run
from praemia.simulation.simulate import simulate

__all__ = ["Run", "simulate"]
