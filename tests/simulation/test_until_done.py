"""Episodes that end with the task, and runs with a budget of steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from line_walks import HORIZON, LAST, Rightwards, RightwardsOnProduct, arrival, box, walk

import praemia
from praemia import (
    LabeledMDP,
    LabelRule,
    MachineBuilder,
    RewardMachine,
    Task,
    learners,
    simulate,
    solve,
)
from praemia.errors import ModelError, ParameterError
from praemia.files.building import parse_task
from praemia.files.lint import lint
from praemia.files.writing import dump

WORLDS = {"task": walk, "box": box}
DISCOUNT = 0.5
CASES = [
    (arrival(), LAST, 1.0),
    (arrival(-2.5), LAST, -2.5),
    (arrival(3.0, moving=-1.0), LAST, 1.0),
    (arrival(1.0, moving=-1.0, still=-1.0), HORIZON, 1.0 - 7.0),
    (arrival(1.0, still=0.25), HORIZON, 1.0 + 5 * 0.25),
]


@pytest.mark.parametrize("kind", [Rightwards, RightwardsOnProduct])
@pytest.mark.parametrize("where", WORLDS)
@pytest.mark.parametrize(("machine", "length", "total"), CASES)
def test_an_episode_ends_when_the_machine_can_neither_pay_nor_charge(
    machine: RewardMachine, length: int, total: float, where: str, kind: type[Rightwards]
) -> None:
    run = simulate(WORLDS[where](machine), kind(), 4)
    assert run.steps.tolist() == [length] * 4
    np.testing.assert_allclose(run.returns, total, rtol=1e-12)
    assert run.until_done
    assert run.steps.dtype == np.int64


@pytest.mark.parametrize("where", WORLDS)
def test_counts_and_recent_steps_are_those_that_were_played(where: str) -> None:
    Rightwards.notes.clear()
    simulate(WORLDS[where](arrival()), Rightwards(replan="episode"), 3)
    by_step = [1] * (LAST + 1) + [0] * (HORIZON - LAST)  # where it acted, and where it arrived
    assert Rightwards.notes == [(LAST * k, LAST if k else 0, [k * count for count in by_step]) for k in range(3)]


@pytest.mark.parametrize("where", WORLDS)
def test_the_steps_left_out_pay_nothing_under_a_discount_either(where: str) -> None:
    world = replace(WORLDS[where](arrival(3.0, moving=-1.0)), discount=DISCOUNT)
    run = simulate(world, Rightwards(), 2)
    np.testing.assert_allclose(run.returns, -1.0 - DISCOUNT + 3.0 * DISCOUNT**2, rtol=1e-12)


@pytest.mark.parametrize("discount", [1.0, 0.98])
def test_no_value_changes(discount: float) -> None:
    task = praemia.envs.make("warehouse-3", horizon=60).with_discount(discount)
    ending = task.with_until_done()
    assert solve(ending).value == solve(task).value
    whole, short = (simulate(each, praemia.Random(), 400) for each in (task, ending))
    assert (short.optimal_value, short.plan_values[0]) == (whole.optimal_value, whole.plan_values[0])
    assert (whole.steps == 60).all()
    assert short.steps.min() < 60
    off = short.returns - short.plan_values[0]
    assert abs(off.mean()) <= 4 * off.std(ddof=1) / np.sqrt(400)  # error level 10⁻⁴


def pit_or_stay() -> Task:
    """Return a task in which action 0 leads to a pit where the machine is done, and action 1 stays and pays .5."""
    rows = {(0, 0): {1: 1.0}, (0, 1): {0: 1.0}, (1, 0): {1: 1.0}, (1, 1): {1: 1.0}}
    mdp = LabeledMDP.from_rows(2, 2, rows, labels=[LabelRule("pit", target=1)], start=0)
    machine = MachineBuilder("up", propositions=("pit",)).edge("up", "pit", "down")
    return Task(mdp, machine.edge("up", "!pit", "up", reward=0.5).build(), 6, "pit", until_done=True)


@pytest.mark.parametrize("name", sorted({*learners.names()} - {"random", "optimal", "uncertainty"}))
def test_nobody_hopes_for_what_comes_after_the_end(name: str) -> None:
    """What a pair in the pit is worth is never learned: a learner that hoped for it would fall for ever."""
    run = simulate(pit_or_stay(), learners.make(name), 1500, 1)
    assert run.returns[-300:].mean() > 2.0  # at most 3; falling pays 0


def test_a_unit_range_keeps_the_done_states_of_the_users_units() -> None:
    machine = MachineBuilder("a", propositions=("x",)).edge("a", "x", "b", reward=-1.0)
    machine = machine.edge("b", "x", "c", reward=1e-30).build()  # nothing, once mapped into [0, 1]
    task = Task(walk(arrival()).mdp, MachineBuilder("q", propositions=("last",)).build(), 3)
    mixed = replace(task, machine=machine.over(["last"]), until_done=True)
    assert mixed.in_unit_range.done_states == mixed.done_states == {machine.index["c"]}


def test_a_budget_of_steps_ends_with_the_episode_in_which_it_is_reached() -> None:
    task, learner = praemia.envs.make("warehouse-3").with_until_done(), learners.make("psrl")
    run = simulate(task, learner, num_steps=500, seed=2)
    assert run.steps[:-1].sum() < 500 <= run.steps.sum()
    assert run.num_episodes == len(run.returns) == len(run.steps) == len(run.regret)
    assert run.step_budget == 500
    whole = simulate(task, learner, 200, 2)  # PSRL does not look at the length of a run
    np.testing.assert_array_equal(whole.returns[: run.num_episodes], run.returns)
    np.testing.assert_array_equal(whole.regret[: run.num_episodes], run.regret)


def test_a_budget_counts_the_steps_of_a_black_box() -> None:
    assert simulate(box(arrival()), Rightwards(), num_steps=7).steps.tolist() == [LAST] * 3
    assert simulate(box(arrival(), until_done=False), Rightwards(), num_steps=9).steps.tolist() == [HORIZON] * 2


def test_formulas_take_the_budget_for_the_number_of_steps() -> None:
    task = praemia.envs.make("riverswim-3")
    whole, budget = (
        simulate(task, praemia.UCBVIPRM(), seed=4, **length)
        for length in ({"num_episodes": 50}, {"num_steps": 50 * task.horizon - 1})
    )
    np.testing.assert_array_equal(whole.optimistic_values, budget.optimistic_values)
    np.testing.assert_array_equal(whole.returns, budget.returns)


@pytest.mark.parametrize("length", [{"num_episodes": 5, "num_steps": 5}, {}, {"num_steps": 0}, {"num_steps": 2.5}])
def test_a_run_has_one_length(length: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="num_"):
        simulate(walk(arrival()), Rightwards(), **length)


def test_progress_is_counted_in_steps_where_they_are_budgeted() -> None:
    seen: list[int] = []
    run = simulate(walk(arrival()), Rightwards(), num_steps=20, on_progress=seen.append)
    assert seen[-1] == run.steps.sum() == 21


def test_a_task_keeps_until_done() -> None:
    task = walk(arrival(-1.0))
    kept = [task.with_horizon(3), task.with_machine(arrival()), task.in_unit_range]
    kept.append(parse_task(dump(task), "walk"))
    assert all(each.until_done and each.done_states == {1} for each in kept)
    assert not parse_task(dump(task.with_until_done(False)), "walk").until_done
    with pytest.raises(ModelError, match="until_done=1; expected True or False"):
        task.with_until_done(1)  # type: ignore[arg-type]


def test_check_says_that_a_machine_is_never_done() -> None:
    endless = "info: until_done: the machine is never done, so no episode ends before its time"
    assert endless in map(str, lint(walk(arrival(still=-1.0))))
    assert endless not in map(str, lint(walk(arrival())))


def test_an_episode_of_a_rollout_and_of_gymnasium_ends_with_the_machine() -> None:
    task = walk(arrival())
    policy = np.ones((HORIZON, 2, LAST + 1), dtype=int)
    assert [len(praemia.rollout(each, policy)) for each in (task, task.with_until_done(False))] == [LAST, HORIZON]
    env = praemia.envs.TaskEnv(task)
    env.reset(seed=0)
    assert [env.step(1)[2] for _ in range(LAST)] == [False, False, True]


def test_an_episode_that_takes_the_last_step_of_the_budget_is_the_last() -> None:
    for episodes in (2, 3):  # after the second a plan is due, after the third none is
        assert simulate(walk(arrival()), Rightwards(), num_steps=episodes * LAST).steps.tolist() == [LAST] * episodes
