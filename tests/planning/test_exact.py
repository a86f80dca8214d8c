"""Planning without the product gives what planning in the product gives."""

import numpy as np
import oracles
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_oracles import replay

from praemia.envs.classics import riverswim, riverswim_prm, warehouse
from praemia.errors import ModelError, ParameterError, SizeError
from praemia.learners import Optimal
from praemia.planning.exact import evaluate, occupancy, solve
from praemia.simulation.simulate import simulate

CLOSE = 1e-12


def as_array(task, steps):
    """Write the oracle's dictionaries, one per step, as an array [steps, M, O]."""
    array = np.zeros((len(steps), task.num_machine_states, task.num_observations))
    for h, step in enumerate(steps):
        for state, value in step.items():
            array[(h, *state)] = value
    return array


def start_value(task, values):
    return sum(p * values[0][state] for state, p in oracles.start(task).items())


@st.composite
def tasks_of_any_discount(draw):
    return draw(strategies.tasks_of_any_width()).with_discount(draw(st.sampled_from([1.0, 0.9, 0.3])))


@st.composite
def tasks_with_policies(draw):
    task = draw(tasks_of_any_discount())
    kind = draw(st.sampled_from([strategies.deterministic_policies, strategies.randomised_policies]))
    return task, draw(kind(task))


@settings(max_examples=60)
@given(tasks_of_any_discount())
def test_the_optimum_is_that_of_the_explicit_product(task):
    plan, expected = solve(task), oracles.solve(task)
    np.testing.assert_allclose(plan.values, as_array(task, expected), atol=CLOSE)
    assert plan.value == pytest.approx(start_value(task, expected), abs=CLOSE)
    np.testing.assert_allclose(as_array(task, oracles.evaluate(task, plan.policy)), plan.values, atol=CLOSE)


@settings(max_examples=50)
@given(tasks_with_policies())
def test_a_policy_is_worth_what_it_is_in_the_product_and_no_more_than_the_optimum(drawn):
    task, policy = drawn
    evaluation, expected = evaluate(task, policy), oracles.evaluate(task, policy)
    np.testing.assert_allclose(evaluation.values, as_array(task, expected), atol=CLOSE)
    assert evaluation.value == pytest.approx(start_value(task, expected), abs=CLOSE)
    assert np.all(evaluation.values <= solve(task).values + CLOSE)


@settings(max_examples=40)
@given(tasks_with_policies())
def test_occupancy_is_that_of_the_product_and_accounts_for_the_value(drawn):
    task, policy = drawn
    found = occupancy(task, policy)
    steps, pairs, total = oracles.occupancy(task, policy)
    np.testing.assert_allclose(found.states, as_array(task, steps), atol=CLOSE)
    expected = task.discount ** np.arange(task.horizon + 1.0)
    np.testing.assert_allclose(found.states.sum(axis=(1, 2)), expected, atol=CLOSE)
    np.testing.assert_allclose(found.observations, as_array(task, steps).sum(axis=1), atol=CLOSE)
    for pair in np.ndindex(task.num_observations, task.num_actions):
        assert found.pairs[pair] == pytest.approx(pairs.get(pair, 0.0), abs=CLOSE)
    assert evaluate(task, policy).value == pytest.approx(total, abs=CLOSE)


@settings(max_examples=40)
@given(tasks_with_policies())
def test_an_episode_that_ends_when_the_machine_is_done_is_nowhere_afterwards(drawn):
    task, policy = drawn[0].with_discount(1.0), drawn[1]
    found, edges = occupancy(task.with_until_done(), policy), oracles.product(task)
    here, visits = dict(oracles.start(task)), np.zeros((task.num_observations, task.num_actions))
    for h in range(task.horizon):
        after = {}
        np.testing.assert_allclose(found.states[h], as_array(task, [here])[0], atol=CLOSE)
        for state, mass in here.items():
            for a, chosen in enumerate(oracles.action_probs(policy, h, state, task.num_actions)):
                visits[state[1], a] += mass * chosen
                for p, _, target in edges[state, a]:
                    if target[0] not in task.machine.terminal_states:
                        after[target] = after.get(target, 0.0) + mass * chosen * p
        here = after
    np.testing.assert_allclose(found.pairs, visits, atol=CLOSE)


def test_the_visits_to_all_pairs_are_the_steps_that_are_played():
    task = warehouse(size=4).with_until_done()
    steps = simulate(task, Optimal(), num_episodes=5000).steps
    assert occupancy(task, solve(task)).pairs.sum() == pytest.approx(steps.mean(), abs=5 * steps.std() / 5000**0.5)


@settings(max_examples=25)
@given(drawn=tasks_with_policies(), threads=st.sampled_from([2, 3]))
def test_several_threads_give_the_bits_of_one(drawn, threads):
    task, policy = drawn
    for use in (solve, lambda *args, **options: evaluate(args[0], policy, **options)):
        for keep_values in (True, False):
            one = use(task, threads=1, keep_values=keep_values)
            several = use(task, threads=threads, keep_values=keep_values)
            assert several.value == one.value
            np.testing.assert_array_equal(several.values, one.values)
    np.testing.assert_array_equal(solve(task, threads=threads).policy, solve(task, threads=1).policy)


@pytest.mark.parametrize("threads", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_that_makes_no_sense_is_refused(threads):
    with pytest.raises(ParameterError, match=r"^threads="):
        solve(warehouse(3), threads=threads)


@settings(max_examples=25)
@given(tasks_with_policies())
def test_values_that_are_not_kept_change_nothing_else(drawn):
    task, policy = drawn
    full, lean = solve(task), solve(task, keep_values=False)
    assert lean.value == full.value
    np.testing.assert_array_equal(lean.policy, full.policy)
    np.testing.assert_array_equal(lean.values, full.values[:1])
    kept, dropped = evaluate(task, policy), evaluate(task, policy, keep_values=False)
    assert dropped.value == kept.value
    np.testing.assert_array_equal(dropped.values, kept.values[:1])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("task", [riverswim_prm(4, 12), warehouse(3)], ids=lambda task: task.name)
def test_the_value_is_the_mean_of_simulated_returns(task, seed):
    """Within four standard errors: a right value fails for fewer than 1 seed in 15,000; the seed is fixed."""
    greedy = np.eye(task.num_actions)[solve(task).policy]
    policy = 0.8 * greedy + 0.2 / task.num_actions
    paid = np.array(replay(task, [policy], "never again", (seed,), 4_000).returns)
    error = paid.std(ddof=1) / np.sqrt(len(paid))
    assert error > 0.0
    assert abs(paid.mean() - evaluate(task, policy).value) < 4.0 * error


def test_among_equally_good_actions_the_first_is_taken():
    task = warehouse(3).with_horizon(1)
    plan = solve(task)
    assert plan.value == 0.0
    assert not plan.policy[:, task.machine.index["done"]].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda policy: policy[:-1], "a policy of shape"),
        (lambda policy: policy.transpose(0, 2, 1), "horizon, machine states, observations"),
        (lambda policy: policy.astype(float), "integers"),
        (lambda policy: policy.astype(bool), "integers"),
        (lambda policy: policy - 1, "actions -1 … "),
        (lambda policy: policy + 5, "expected 0 … 4"),
        (lambda policy: policy + 65_536, "expected 0 … 4"),
        (lambda policy: np.eye(5)[policy] * 0.5, "sum 1"),
        (lambda policy: np.eye(5)[policy] * 2 - 0.2, "≥ 0 with sum 1"),
        (lambda policy: np.eye(5)[policy] * np.nan, "sum 1"),
        (lambda policy: np.eye(6)[policy], "a policy of shape"),
        (lambda policy: [[["up"] * 9] * 3] * 9, "integers"),
        (lambda policy: [[[["up"] * 5] * 9] * 3] * 9, "action probabilities"),
        (lambda policy: [[0], [0, 1]], "a policy"),
    ],
)
@pytest.mark.parametrize("use", [evaluate, occupancy])
def test_a_policy_that_is_not_one_is_refused(use, change, message):
    task = warehouse(3)
    policy = np.zeros((task.horizon, task.num_machine_states, task.num_observations), dtype=np.int64)
    with pytest.raises(ModelError, match=message):
        use(task, change(policy))


def test_what_cannot_fit_in_memory_is_refused_before_it_is_allocated():
    with pytest.raises(SizeError, match="GiB"):
        solve(riverswim(100_000, 1_000_000))
