"""Episodes that end before the horizon, against a plain product with a state in which nothing happens any more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_oracles import Wanderer, Watched

import praemia
from praemia import LabeledMDP, LabelRule, MachineBuilder, Task, evaluate, learners, occupancy, product, simulate, solve
from praemia.kernels.records import END
from praemia.planning.exact import losses
from praemia.tasks.product import product_task

OVER = None  # the state of an episode that has ended
Edges = dict[tuple[Any, int], list[tuple[float, float, Any]]]


@st.composite
def ending_tasks(draw: st.DrawFn) -> Task:
    """Draw a task with any rewards of which some transitions end the episode, always or at times."""
    task = draw(strategies.tasks_with_any_rewards())
    mdp, size = task.mdp, len(task.mdp.probs)
    chance = np.array(draw(st.lists(st.sampled_from([0.0, 0.0, 0.25, 1.0]), min_size=size, max_size=size)))
    o, a = np.divmod(mdp.edge_pairs, mdp.num_actions)
    columns = [np.concatenate((column, column)) for column in (o, a, mdp.successors)]
    probs = np.concatenate(((1.0 - chance) * mdp.probs, chance * mdp.probs))
    sizes, ends = (mdp.num_observations, mdp.num_actions), np.repeat([False, True], size)
    ending = LabeledMDP.from_entries(*sizes, *columns, probs, mdp.labelling, mdp.start_probs, ends=ends)
    return replace(task, mdp=ending)


def plain_edges(task: Task) -> Edges:
    """Return the edges (probability, mean reward, next state) of every state (m, o) and action, from the arrays."""
    mdp, machine, edges = task.mdp, task.machine, {}
    for m, name in enumerate(machine.states):
        for pair in range(mdp.num_pairs):
            found = edges[(m, pair // mdp.num_actions), pair % mdp.num_actions] = []
            for e in range(mdp.indptr[pair], mdp.indptr[pair + 1]):
                for out in machine.outcomes(name, mdp.label_sets[mdp.labels[e]]):
                    after = OVER if mdp.ends[e] else (machine.index[out.target], int(mdp.successors[e]))
                    found.append((float(mdp.probs[e]) * out.probability, out.reward.mean, after))
    return edges


def plain_values(task: Task, policy: Any = None) -> list[dict[Any, float]]:
    """Return V_h of a policy, or of the best one; an ended episode is worth 0."""
    edges = plain_edges(task)
    values = [dict.fromkeys([*(state for state, _ in edges), OVER], 0.0)]
    for h in reversed(range(task.horizon)):
        now: dict[Any, float] = {OVER: 0.0}
        for m, o in dict.fromkeys(state for state, _ in edges):
            worth = [
                sum(p * (reward + values[0][after]) for p, reward, after in edges[(m, o), a])
                for a in range(task.num_actions)
            ]
            now[m, o] = max(worth) if policy is None else worth[int(policy[h, m, o])]
        values.insert(0, now)
    return values


def any_policy(task: Task, seed: int) -> Any:
    shape = (task.horizon, task.num_machine_states, task.num_observations)
    return np.random.default_rng(seed).integers(task.num_actions, size=shape)


@settings(max_examples=40)
@given(task=ending_tasks(), seed=st.integers(0, 2**32))
def test_planning_has_the_values_of_a_plain_product(task: Task, seed: int) -> None:
    policy = any_policy(task, seed)
    for found, expected in ((solve(task), plain_values(task)), (evaluate(task, policy), plain_values(task, policy))):
        for h in range(task.horizon + 1):
            for m, o in np.ndindex(task.num_machine_states, task.num_observations):
                assert found.values[h, m, o] == pytest.approx(expected[h][m, o], abs=1e-9)
        start = oracles.start(task)
        assert found.value == pytest.approx(sum(p * expected[0][state] for state, p in start.items()), abs=1e-9)


@settings(max_examples=25)
@given(task=ending_tasks(), seed=st.integers(0, 2**32))
def test_values_in_the_unit_range_differ_by_the_shift_of_every_step(task: Task, seed: int) -> None:
    """The steps that an ended episode leaves out pay the shifted 0, so that the map of a whole episode is one map."""
    policy, units = any_policy(task, seed), task.machine.reward_range
    unit, own = evaluate(task.in_unit_range, policy).value, evaluate(task, policy).value
    assert units.values_from_unit(unit, task.horizon, 1.0) == pytest.approx(own, abs=1e-9)
    idle = units.to_unit(task.machine.idle_reward).mean
    assert task.in_unit_range.model.exits[0, END] == pytest.approx(task.horizon * idle)


@settings(max_examples=25)
@given(task=ending_tasks(), seed=st.integers(0, 2**32))
def test_what_ended_is_nowhere(task: Task, seed: int) -> None:
    policy, edges = any_policy(task, seed), plain_edges(task)
    found, here = occupancy(task, policy), {**oracles.start(task)}
    earned, visits = 0.0, np.zeros_like(found.pairs)
    for h in range(task.horizon):
        for m, o in np.ndindex(task.num_machine_states, task.num_observations):
            assert found.states[h, m, o] == pytest.approx(here.get((m, o), 0.0), abs=1e-12)
        after: dict[Any, float] = {}
        for state, mass in here.items():
            a = int(policy[h, state[0], state[1]])
            visits[state[1], a] += mass
            for p, reward, following in edges[state, a]:
                earned += mass * p * reward
                if following is not OVER:
                    after[following] = after.get(following, 0.0) + mass * p
        here = after
    np.testing.assert_allclose(found.pairs, visits, atol=1e-12)
    assert evaluate(task, policy).value == pytest.approx(earned, abs=1e-9)
    lost = losses(task, policy, solve(task)).sum()
    assert lost == pytest.approx(solve(task).value - evaluate(task, policy).value, abs=1e-9)


@settings(max_examples=25)
@given(task=ending_tasks())
def test_the_product_has_one_more_state_and_the_product_task_the_same_ends(task: Task) -> None:
    matrices = product(task)
    size = task.num_machine_states * task.num_observations
    assert matrices.num_states == size + task.mdp.can_end
    values = np.zeros(matrices.num_states)
    for _ in range(task.horizon):
        following = (matrices.transitions @ values).reshape(matrices.num_states, -1)
        values = (matrices.rewards + following).max(axis=1)
    assert matrices.start_probs @ values == pytest.approx(solve(task).value, abs=1e-9)
    assert solve(product_task(task)).value == pytest.approx(solve(task).value, abs=1e-9)


@settings(max_examples=15)
@given(task=ending_tasks(), seed=st.integers(0, 2**32))
def test_returns_have_the_mean_of_the_exact_values(task: Task, seed: int) -> None:
    """Over 400 episodes: within 5 standard errors of the policies' mean value, error level 10⁻⁶ for each example."""
    run = simulate(task, Wanderer(), 400, seed)
    off = run.returns - run.plan_values
    assert abs(off.mean()) <= 5 * off.std(ddof=1) / 20 + 1e-9
    assert run.regret.min() >= -1e-9


@pytest.mark.parametrize("on_product", [False, True])
@settings(max_examples=15)
@given(task=ending_tasks(), seed=st.integers(0, 2**32))
def test_an_ended_episode_is_counted_no_further(on_product: bool, task: Task, seed: int) -> None:
    player = Watched(Wanderer(sees="product" if on_product else "observations"))
    simulate(task, player, 30, seed)
    shown = player.shown[-1]
    seen, steps = shown.transitions, shown.step_visits
    assert steps[0].sum() == 29
    np.testing.assert_array_equal(steps[:-1].sum(axis=0), shown.visits.sum(axis=1))
    assert steps[-1].sum() + seen.counts[seen.ends].sum() == 29  # an episode lasts to the horizon, or it ends
    if not on_product:
        mdp = task.mdp
        possible = set(zip(mdp.edge_pairs.tolist(), mdp.successors.tolist(), mdp.ends.tolist(), strict=True))
        pairs = seen.observations * task.num_actions + seen.actions
        assert set(zip(pairs.tolist(), seen.successors.tolist(), seen.ends.tolist(), strict=True)) <= possible


def cliff(end_reward: float = 1.0) -> Task:
    """Four cells in a row: each step costs; beyond the last cell the episode ends, at times in a fall."""
    o, a, z, p, ends = [], [], [], [], []
    for cell in range(4):
        there = min(cell + 1, 3)
        o += [cell, cell, cell]
        a += [0, 1, 1]
        z += [max(cell - 1, 0), there, cell]
        p += [1.0, 0.75, 0.25]
        ends += [False, cell == 3, cell == 2]
    rules = [LabelRule("over", source=3, action=1, target=3)]
    mdp = LabeledMDP.from_entries(4, 2, o, a, z, p, rules, ends=ends)
    machine = MachineBuilder("out").edge("out", "over", "out", reward=end_reward)
    return Task(mdp, machine.edge("out", "!over", "out", reward=-0.1).build(), 9, "cliff")


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi", "euler", "mvp", "eqo", "ucbvi-bf"])
def test_a_plan_without_bonus_is_the_optimum_of_what_was_seen(name: str) -> None:
    task = cliff()
    unit, watched = task.in_unit_range, Watched(Wanderer.instead_of(learners.make(name)))
    simulate(task, watched, 400, 3)
    shown = watched.shown[-1]
    assert shown.visits.min() > 0
    seen = shown.transitions
    probs = seen.counts / shown.visits[seen.observations, seen.actions]
    columns = (seen.observations, seen.actions, seen.successors, probs)
    sizes = shown.spec.num_observations, task.num_actions
    game = product_task(unit) if learners.kind_of(name).sees == "product" else unit
    estimate = Task(
        LabeledMDP.from_entries(*sizes, *columns, game.mdp.labelling, game.mdp.start_probs, ends=seen.ends),
        game.machine,
        9,
    )
    plan = learners.make(name, bonus_scale=0.0).plan(shown, None, np.random.default_rng(0))
    np.testing.assert_allclose(plan.values, solve(estimate).values[0], atol=1e-9)


def has_bonus(name: str) -> bool:
    return learners.kind_of(name).optimistic and "bonus_scale" in learners.make(name).parameters


@pytest.mark.parametrize("name", list(filter(has_bonus, learners.names())))
def test_optimistic_values_are_above_the_optimum_where_an_end_is_better_than_to_go_on(name: str) -> None:
    """With step costs the end is worth the most, and it was never seen when the first plans are made."""
    task = cliff(end_reward=0.5)
    run = simulate(task, learners.make(name, bonus_scale=1.0), 60, 1)
    assert np.all(run.optimistic_values >= run.optimal_value - 1e-9)


@pytest.mark.parametrize("name", ["headroom", "psrl", "opsrl", "ucrl2-rm-b", "told-support", "qr-max"])
def test_learners_find_the_way_to_an_end(name: str) -> None:
    run = simulate(cliff(), learners.make(name), 1_500, 1)
    assert run.plan_values[-1] >= run.optimal_value - 0.05


@pytest.mark.parametrize("name", ["q-learning", "crm"])
def test_learners_from_steps_take_the_end_for_what_it_is_worth(name: str) -> None:
    """Where every step costs and nothing is paid, the best is to fall as soon as possible."""
    task = cliff(end_reward=-0.1)
    run = simulate(task, learners.make(name, epsilon=0.2), 4_000, 1)
    random = simulate(task, learners.make("random"), 1).plan_values[0]
    assert np.median(run.plan_values[-50:]) > random  # with a fixed learning rate single plans go wrong now and then


class Walk(gymnasium.Env[int, int]):
    """The cliff as an environment."""

    observation_space, action_space = gymnasium.spaces.Discrete(4), gymnasium.spaces.Discrete(2)

    def __init__(self) -> None:
        self.inner = praemia.envs.TaskEnv(cliff())

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[int, dict[str, Any]]:
        return int(self.inner.reset(seed=seed)[0]["observation"]), {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        state, _, ended, _, _ = self.inner.step(action)
        return int(state["observation"]), 0.0, ended, False, {}


def test_a_box_that_ends_has_its_own_observations_and_is_planned_for_as_the_task() -> None:
    task = cliff()
    labels = lambda o, a, z, info: {"over"} if (o, a, z) == (3, 1, 3) else set()  # noqa: E731
    box = praemia.BlackBox(Walk(), labels, task.machine, 9)
    data = praemia.explore(box, num_episodes=4_000, seed=1)
    assert data.num_observations == 4
    plan = praemia.plan_from(data, task.machine)
    assert evaluate(task, plan.policy).value == pytest.approx(solve(task).value, abs=0.02)
    assert plan.value == pytest.approx(solve(task).value, abs=0.1)
    assert plan.gap(task) <= plan.certificate.bound + 1e-9
    run = simulate(box, learners.make("headroom"), 400, 1)
    assert run.final_policy.shape == (9, 1, 4)


def test_data_of_a_task_with_ends_is_certified_and_its_likely_loss_is_small() -> None:
    task = cliff()
    data = praemia.explore(task, num_episodes=3_000, seed=2)
    plan = praemia.plan_from(data, task.machine)
    assert plan.certificate.pessimistic <= solve(task).value <= plan.certificate.optimistic
    assert plan.gap(task) <= plan.certificate.bound
    assert plan.likely_loss is not None
    assert plan.likely_loss <= plan.certificate.bound
    again = praemia.plan_from(data.merge(praemia.Dataset.from_episodes([[(3, 1, 3, {}, True)]], task)), task.machine)
    assert again.dataset.num_transitions == data.num_transitions + 1


def test_a_task_that_ends_terminates_its_environment_and_its_rollouts() -> None:
    task = cliff()
    env = praemia.envs.TaskEnv(task)
    env.reset(seed=4)
    ended, steps = False, 0
    while not ended:
        _, _, ended, truncated, _ = env.step(1)
        steps += 1
        assert not truncated or ended or steps == 9
    _, reward, ended, _, info = env.step(0)
    assert (reward, ended, info["label"]) == (0.0, True, ())
    policy = np.ones((9, 1, 4), dtype=int)
    lengths = {len(praemia.rollout(task, policy, seed)) for seed in range(40)}
    assert min(lengths) < 9
