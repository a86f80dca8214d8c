"""A plan from a log that stops when the task is done: the untried costs no more than the machine can charge."""

from __future__ import annotations

import pytest

import praemia
from praemia import LabeledMDP, LabelRule, MachineBuilder, RewardMachine, Task

STEP, GOAL = -0.125, 1.0


def corridor(horizon: int) -> Task:
    """Three cells in a row, nothing left to chance; the goal is two steps away."""
    rows = {(o, a): {max(0, min(2, o + (1 if a else -1))): 1.0} for o in range(3) for a in range(2)}
    mdp = LabeledMDP.from_rows(3, 2, rows, labels=[LabelRule("goal", target=2)], start=0)
    return Task(mdp, errand(0.0), horizon, "corridor")


def errand(after: float) -> RewardMachine:
    """Pay for the goal and charge every step before it; ``after`` is what a step costs from then on."""
    builder = MachineBuilder("out", propositions=("goal",)).edge("out", "goal", "done", reward=GOAL)
    return builder.edge("out", "else", "out", reward=STEP).edge("done", "true", "done", reward=after).build()


def log() -> praemia.Dataset:
    """Explore for two steps an episode, so that nothing is ever tried in the last cell."""
    data = praemia.explore(corridor(horizon=2), episodes=60, method="uncertainty", seed=0)
    assert data.visits[2].sum() == 0
    assert (data.visits[:2] > 0).all()
    return data


@pytest.mark.parametrize("horizon", [3, 10])
def test_nothing_is_charged_where_the_machine_can_pay_nothing_more(horizon: int) -> None:
    plan = praemia.plan_from(log(), errand(after=0.0), horizon=horizon)
    assert plan.value.value == pytest.approx(STEP + GOAL, abs=1e-12)  # one step, then the goal
    assert plan.true_value(corridor(horizon)).value == pytest.approx(STEP + GOAL, abs=1e-12)


def test_what_is_charged_is_the_least_that_this_machine_state_can_pay() -> None:
    horizon, after = 10, -0.03125
    plan = praemia.plan_from(log(), errand(after), horizon=horizon)
    assert plan.value.value == pytest.approx(STEP + GOAL + (horizon - 2) * after, abs=1e-12)


def test_a_plan_that_stays_where_all_is_known_is_not_preferred_to_the_goal() -> None:
    """Waiting costs 10 steps; going for the goal earns, though nothing was tried beyond it."""
    plan = praemia.plan_from(log(), errand(after=0.0), horizon=10)
    assert plan.policy[0, 0, 0] == plan.policy[1, 0, 1] == 1
    assert plan.gap(corridor(10)).value == pytest.approx(0.0, abs=1e-12)
