"""Time one plan of each learner, from what it knows after 300 episodes.

python -m pytest benchmarks/bench_plans.py
"""

from __future__ import annotations

from typing import Any

import pytest

from praemia import envs, learners
from praemia.learners.base import LearnerPlan
from praemia.simulation.game import Game

PLANNERS = [name for name in learners.names() if name not in ("random", "optimal")]


@pytest.mark.parametrize("name", PLANNERS)
@pytest.mark.parametrize("task", ["warehouse-5", "office-coffee"])
def test_plan(benchmark: Any, task: str, name: str) -> None:
    learner = learners.make(name)
    game = Game.start(envs.make(task), learner, 300, (0,))
    plan: LearnerPlan | None = None
    while game.played < 300:
        plan = learner.plan(game.experience(), plan, game.learner_rng)
        game.play(plan.policy)
    benchmark.pedantic(learner.plan, (game.experience(), plan, game.learner_rng), rounds=20, warmup_rounds=1)
    benchmark.extra_info.update(pairs=len(game.tally.seen().visits))
