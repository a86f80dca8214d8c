"""Headroom: its plan is its formula, its theoretical constants are optimistic, its limits are what labels allow."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from headroom_oracle import Spread, all_labels, choices
from hypothesis import given, settings
from hypothesis import strategies as st
from pasts import CLOSE, Past, pasts, plan
from strategies import full_task, tasks, unit_tasks

import praemia
from praemia.errors import UnknownNameError
from praemia.learners import Headroom
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.task import Task


def assert_plan_is_its_formula(task: Task, learner: Headroom, past: Past) -> None:
    """Compare V_0, and see that the policy is greedy at every step."""
    made, labels, spread, machine = plan(learner, past), all_labels(task), Spread(task), task.machine
    values, seen = np.zeros((task.num_observations, task.num_machine_states)), past.diary.transitions
    episodes = sum(seen.values()) / task.horizon
    log_term = learner.log_term(task.spec, past.shown.num_episodes * task.horizon)

    def follows(m: int, label: frozenset[str], z: int) -> float:
        outcomes = machine.outcomes(machine.states[m], label)
        return sum(out.probability * (out.reward.mean + values[z, machine.index[out.target]]) for out in outcomes)

    for h in reversed(range(task.horizon)):
        shares, states = spread.shares, range(task.num_machine_states)  # the shares of the later steps
        qval = [choices(task, learner, seen, episodes, labels, follows, m, shares, spread, log_term) for m in states]
        chosen = np.take_along_axis(np.array(qval), made.policy[h][..., None].astype(np.int64), axis=-1)[..., 0]
        values = np.max(qval, axis=-1).T
        np.testing.assert_allclose(chosen, values.T, rtol=0.0, atol=CLOSE)
    np.testing.assert_allclose(made.values, values.T, rtol=0.0, atol=CLOSE)


@settings(max_examples=40)
@given(
    task=unit_tasks(),
    seed=st.integers(0, 99),
    episodes=st.integers(0, 40),
    constants=st.sampled_from(("practical", "theory")),
    factor=st.sampled_from([1, 1000]),
)
def test_a_plan_is_its_formula(task: Task, seed: int, episodes: int, constants: str, factor: int) -> None:
    learner = Headroom(constants=constants)
    assert_plan_is_its_formula(task, learner, pasts(task, learner, seed, [episodes])[0].times(factor))


@pytest.mark.parametrize("num_states", [3, 9, 21])
@pytest.mark.parametrize("constants", ["practical", "theory"])
def test_a_plan_for_a_task_in_which_everything_matters_is_its_formula(constants: str, num_states: int) -> None:
    """Some pairs have been visited often, some never; the theoretical bonus needs many visits to be below the top."""
    task, learner = full_task(num_states), Headroom(constants=constants)
    for length, factor in ((2, 1), (12, 1), (12, 1000)):
        assert_plan_is_its_formula(task, learner, pasts(task, learner, 7, [length])[0].times(factor))


@settings(max_examples=30)
@given(task=tasks(), seed=st.integers(0, 999))
def test_no_plan_promises_more_than_the_first_which_no_policy_can_beat(task: Task, seed: int) -> None:
    run = praemia.simulate(task, Headroom(), 30, seed=seed)
    assert np.all(run.optimistic_values <= run.optimistic_values[0] + 1e-9)
    assert run.optimistic_values[0] >= run.optimal_value - 1e-9


def test_before_any_data_the_warehouse_is_worth_what_the_best_labels_would_pay() -> None:
    task = praemia.envs.warehouse(5)
    learner = Headroom()
    values = plan(learner, *pasts(task, learner, 0, [0])).values
    # A transfer succeeds w.p. .8 and a delivery w.p. .9 in each of 15 steps.
    loaded = [1 - 0.1**k for k in range(16)]
    empty = [0.0]
    for k in range(15):
        empty.append(0.8 * loaded[k] + 0.2 * empty[k])
    index = task.machine.index
    assert values[index["done"]] == pytest.approx(0.0)
    assert values[index["loaded"]] == pytest.approx(loaded[15])
    assert values[index["empty"]] == pytest.approx(empty[15])


def test_the_labels_of_riverswim_tell_which_pairs_can_pay() -> None:
    groups = praemia.envs.riverswim(6).spec.every_step.support.groups.reshape(6, 2)
    assert groups[0, 0] == groups[0, 1] != groups[1, 0]
    assert len({int(g) for g in groups[1:5].ravel()}) == 1
    assert groups[5, 0] != groups[1, 0]


def test_on_tasks_too_large_to_ask_for_every_label_the_top_is_larger_never_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differ = False
    for task in (praemia.envs.riverswim(5), praemia.envs.warehouse(3), praemia.envs.make("random-10x3x4-1")):
        learner = Headroom(constants="theory")  # whose values grow with the top; the practical spread falls with it
        past = pasts(task, learner, 4, [20])[0].times(1000)
        exact = plan(learner, past).values
        with monkeypatch.context() as patch:
            patch.setattr("praemia.tasks.spec.MAX_TRIPLES", 0)
            asked_anew = replace(past.shown, spec=replace(past.shown.spec))
            loose = plan(learner, replace(past, shown=asked_anew)).values
        assert np.all(loose >= exact - CLOSE)
        differ |= bool(np.any(loose > exact))
    assert differ  # else the labels of every (o, a, o') were asked for after all


def test_headroom_beats_the_papers_learner_in_small_settings() -> None:
    """Means of 16 runs differ by more than 3 standard errors: the error level is about 1e-3."""
    for name in ("riverswim-10", "warehouse-3"):
        task = praemia.envs.make(name)
        ours = [praemia.simulate(task, Headroom(), 10_000, seed=(11, i)).regret[-1] for i in range(16)]
        theirs = [praemia.simulate(task, praemia.UCBVIPRM(), 10_000, seed=(11, i)).regret[-1] for i in range(16)]
        error = math.hypot(np.std(ours, ddof=1), np.std(theirs, ddof=1)) / 4
        assert np.mean(ours) < np.mean(theirs) - 3 * error


def test_unknown_constants_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'theory'"):
        Headroom(constants="theor")


def test_in_a_large_black_box_labels_not_met_so_far_are_hoped_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The empty label pays nothing: a learner that hopes for no label it has not met would wander."""
    monkeypatch.setattr("praemia.tasks.spec.MAX_TRIPLES", 0)
    task = praemia.envs.riverswim(4, 8)
    met: list[frozenset[str]] = [frozenset()]
    table = MachineTable.of(task.machine, met)
    spec = replace(task.spec, label_sets=tuple(met), table=table, unseen_labels="computed")
    assert table.mean_rewards.max() == 0.0
    support = spec.every_step.support
    assert spec.every_step.support_table.mean_rewards.max() > 0.0
    assert len(support.indptr) - 1 == len(task.machine.diagrams.example_labels())


@settings(max_examples=30)
@given(task=tasks())
def test_on_the_exhaustive_labels_every_machine_state_does_all_that_it_can_do(task: Task) -> None:
    labels = task.machine.diagrams.example_labels()
    for state in task.machine.states:
        outcomes = {task.machine.outcomes(state, label) for label in labels}
        for label in task.mdp.label_sets:
            assert task.machine.outcomes(state, label) in outcomes


def test_where_ties_are_drawn_plans_are_made_anew() -> None:
    task = praemia.envs.make("warehouse-3")
    learners = (Headroom(order="random", replan=replan) for replan in ("repair", "growth"))
    drawn, anew = (praemia.simulate(task, learner, 50) for learner in learners)
    np.testing.assert_array_equal(drawn.plan_episodes, anew.plan_episodes)
    np.testing.assert_array_equal(drawn.regret, anew.regret)


class Interrupting(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Plays many other runs of the learner before some of its own episodes."""

    num_resets, every = 0, 10**9

    def reset(self, **options: Any) -> Any:
        self.num_resets += 1
        if self.num_resets % self.every == 0:
            for length in range(1, 70):
                praemia.simulate(praemia.envs.riverswim(2, 2), Headroom(), num_episodes=length)
        return self.env.reset(**options)


def test_other_runs_in_the_same_process_change_nothing() -> None:
    """Whether a plan is repaired must not depend on how long something stays in a cache."""
    runs = []
    for every in (10**9, 150):
        lake = Interrupting(gymnasium.make("FrozenLake-v1"))
        lake.every = every
        machine = praemia.MachineBuilder("way").edge("way", "goal", "there", reward=1).build()
        runs.append(praemia.simulate(praemia.BlackBox(lake, {15: "goal"}, machine, 30), Headroom(), 200, seed=1))
    np.testing.assert_array_equal(runs[0].plan_episodes, runs[1].plan_episodes)
    np.testing.assert_array_equal(runs[0].returns, runs[1].returns)
