"""Explore first, decide later: collect data without any reward, then plan for any machine or reward on trajectories."""

from __future__ import annotations

from praemia.exploration.certificate import Certificate
from praemia.exploration.coverage import coverage, significance, simulation_bound
from praemia.exploration.dataset import Dataset
from praemia.exploration.explore import explore
from praemia.exploration.likely_loss import LikelyLoss
from praemia.exploration.plan_from import ExploredPlan, plan_from
from praemia.exploration.planners import ExpectimaxPlanner, GreedyPlanner, TrajectoryPlanner
from praemia.exploration.search import SearchPlanner
from praemia.exploration.trajectories import CoverageReward, HistoryPolicy, Trajectory, TrajectoryReward

__all__ = [
    "Certificate",
    "CoverageReward",
    "Dataset",
    "ExpectimaxPlanner",
    "ExploredPlan",
    "GreedyPlanner",
    "HistoryPolicy",
    "LikelyLoss",
    "SearchPlanner",
    "Trajectory",
    "TrajectoryPlanner",
    "TrajectoryReward",
    "coverage",
    "explore",
    "plan_from",
    "significance",
    "simulation_bound",
]
