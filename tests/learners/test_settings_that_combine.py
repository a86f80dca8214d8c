"""What a learner's class says about itself may be combined at will: its plan is right, or it cannot be made."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import praemia
from praemia import Headroom, LabeledMDP, LabelRule, Learner, MachineBuilder, PraemiaError, Task

HORIZON = 4


def arms() -> Task:
    """One place and two actions, nothing left to chance: hit pays 1, but only after a miss. The optimum is 2 of 4."""
    rows = {(0, a): {0: 1.0} for a in range(2)}
    labels = [LabelRule("miss", action=0), LabelRule("hit", action=1)]
    machine = MachineBuilder("ready").edge("ready", "hit", "spent", reward=1.0).edge("spent", "miss", "ready").build()
    return Task(LabeledMDP.from_rows(1, 2, rows, labels=labels, start=0), machine, HORIZON, "arms")


class Greedy(Learner):
    """Believe the counts: nothing is added, so where nothing is left to chance the plan is exact once all was tried."""

    def plan(self, experience: Any, previous: Any, rng: Any) -> Any:
        return praemia.plan_with_bonus(experience, 0.0, rng=rng)


class GreedyOnProduct(Greedy):
    sees: ClassVar[str] = "product"


class InNumPy(Learner):
    """The same, one step after the other."""

    def plan(self, experience: Any, previous: Any, rng: Any) -> Any:
        spec = experience.spec
        values = np.zeros((spec.num_machine_states, spec.num_observations))
        policy = np.zeros((spec.horizon, *values.shape), dtype=int)
        for step in reversed(range(spec.horizon)):
            mean, _ = experience.backup(values, step)
            q = np.where(experience.visits > 0, mean, spec.value_caps[step])
            values, policy[step] = q.max(-1), q.argmax(-1)
        return praemia.LearnerPlan(policy, values)


class InNumPyOnProduct(InNumPy):
    sees: ClassVar[str] = "product"


class SamplingOnProduct(praemia.PSRL):
    """With one successor for each pair, a kernel drawn from the posterior is the true one up to the prior's weight."""

    name: ClassVar[str] = "sampling-on-product"
    sees: ClassVar[str] = "product"


class HeadroomOnProduct(Headroom):
    name: ClassVar[str] = "headroom-on-product"
    sees: ClassVar[str] = "product"


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (Greedy, {}),
        (GreedyOnProduct, {}),
        (InNumPy, {}),
        (InNumPyOnProduct, {}),
        (praemia.PSRL, {"prior": 1e-6}),
        (SamplingOnProduct, {"prior": 1e-6}),
        (Headroom, {"deviation_scale": 0.0, "headroom_scale": 0.0}),
        (HeadroomOnProduct, {"deviation_scale": 0.0, "headroom_scale": 0.0}),
        (praemia.UCBVI, {"bonus_scale": 0.0}),
    ],
    ids=lambda part: part.__name__ if isinstance(part, type) else "",
)
def test_where_nothing_is_left_to_chance_the_last_plan_is_exact_or_the_learner_is_refused(
    kind: type[Learner], settings: dict[str, Any]
) -> None:
    try:
        run = praemia.simulate(arms(), kind(replan="episode", **settings), num_episodes=60, seed=0)
    except (PraemiaError, TypeError):  # a combination that cannot be made
        return
    assert run.optimal_value == 2.0
    assert run.plan_values[-1] == 2.0
    assert run.optimistic_values[-1] == pytest.approx(2.0, abs=1e-3)
