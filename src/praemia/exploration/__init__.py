"""Explore first, decide later: collect data without any reward, then plan for any machine or reward on trajectories."""

from __future__ import annotations

from praemia.exploration.certificate import Certificate
from praemia.exploration.dataset import Dataset
from praemia.exploration.explore import explore
from praemia.exploration.likely_loss import LikelyLoss
from praemia.exploration.plan_from import ExploredPlan, plan_from
from praemia.exploration.trajectories import Trajectory, TrajectoryReward

__all__ = [
    "Certificate",
    "Dataset",
    "ExploredPlan",
    "LikelyLoss",
    "Trajectory",
    "TrajectoryReward",
    "explore",
    "plan_from",
]
