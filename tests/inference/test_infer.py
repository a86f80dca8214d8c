"""Inferred machines are the right ones where the traces tell, and say so where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machine_traces import (
    LABELS,
    Table,
    characteristic_sample,
    isomorphism,
    machine_of,
    played_traces,
    random_table,
    random_traces,
)
from scipy.stats import binom, fisher_exact

import praemia
from praemia.errors import ModelError, ParameterError, SizeError
from praemia.inference.comparing import compare_machines
from praemia.inference.evidence import p_value
from praemia.inference.merging import MergeByTests
from praemia.inference.reading import as_traces


def mistakes(found: praemia.Inference, truth: praemia.RewardMachine) -> list[str]:
    return compare_machines(found.machine, truth, found.edges).mistakes


def test_the_sampler_draws_what_the_task_pays() -> None:
    """The mean return of uniform play, against its exact value; it is off by more than 4 σ w.p. below 1e-4."""
    task = praemia.envs.warehouse(size=3)
    shape = (task.horizon, task.num_machine_states, task.num_observations, task.num_actions)
    exact = praemia.evaluate(task, np.full(shape, 1 / task.num_actions)).value
    returns = np.array([sum(reward for _, reward in trace) for trace in played_traces(task, 20_000, 5)])
    assert abs(returns.mean() - exact) < 4 * returns.std() / np.sqrt(len(returns))


def check_deterministic(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table = random_table(rng, 1 + seed % 10, 1)
        found = praemia.infer(characteristic_sample(table) + random_traces(table, rng, 20, 8))
        assert isomorphism(found.machine, table) is not None, seed
        assert found.is_smallest, seed


def test_a_characteristic_sample_gives_the_deterministic_machine_and_proves_it_smallest() -> None:
    check_deterministic(range(20))


@pytest.mark.slow
def test_two_hundred_random_deterministic_machines_are_recovered() -> None:
    check_deterministic(range(200))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_an_inferred_machine_explains_every_trace_it_was_inferred_from(seed: int, num_states: int) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, num_states, 1)
    traces = random_traces(table, rng, 15, 7)
    machine = praemia.infer(traces).machine
    for trace in traces:
        rewards = machine.expected_rewards(label for label, _ in trace)
        assert rewards.tolist() == [reward for _, reward in trace]


def check_probabilistic(seeds: range) -> None:
    """The intervals of one machine hold together w.p. 0.95: fewer than 85 % of 30 would have a chance below 1 %."""
    right = []
    for seed in seeds:
        rng = np.random.default_rng([seed, 1])
        table = random_table(rng, 1 + seed % 5, 2)
        found = praemia.infer(random_traces(table, rng, 4_000, 12), deterministic=False)
        names = isomorphism(found.machine, table)
        assert names is not None, seed
        inside = [
            edge.interval[0] <= table[names[edge.source]][LABELS.index(edge.label)][edge.reward][0] <= edge.interval[1]
            for edge in found.edges
        ]
        right.append(all(inside))
        assert found.outside_class is None, seed
    assert sum(right) >= 0.85 * len(right)


def test_probabilistic_machines_are_recovered_with_their_probabilities_in_the_intervals() -> None:
    check_probabilistic(range(1, 3))


@pytest.mark.slow
def test_thirty_probabilistic_machines_are_recovered() -> None:
    check_probabilistic(range(30))


def check_patrol(seeds: range) -> None:
    task = praemia.envs.riverswim_prm(size=5, horizon=24)
    for seed in seeds:
        found = praemia.infer(played_traces(task, 10_000, seed))
        assert found.machine.num_states == 2, seed
        assert not mistakes(found, task.machine), seed
        assert found.outside_class is None, seed
        assert not found.not_identifiable, seed


def test_the_probabilistic_patrol_is_found_from_random_traces() -> None:
    check_patrol(range(1))


@pytest.mark.slow
def test_the_probabilistic_patrol_is_found_in_twenty_of_twenty_data_sets() -> None:
    check_patrol(range(20))


def test_among_states_that_are_not_rejected_an_edge_leads_to_the_likeliest() -> None:
    """Ten zeros after c: 1 in 1,024 if c stays where half of the coins pay, 0.6 if it moves like a; no test rejects."""
    coins = [[({"b"}, float(i % 2))] for i in range(1_000)] + [
        [({"a"}, 0.0), ({"b"}, float(i % 20 == 0))] for i in range(1_000)
    ]
    traces = as_traces(coins + [[({"c"}, 0.0), ({"b"}, 0.0)]] * 10)
    delta = MergeByTests(traces, 0.01).run()
    symbols = [traces.label_of.tolist().index(traces.labels.index(frozenset(name))) for name in "ac"]
    assert delta[0, symbols].tolist() == [1, 1]


def test_what_a_short_horizon_hides_is_said_to_be_not_identifiable() -> None:
    task = praemia.envs.riverswim_prm(size=5, horizon=10)
    found = praemia.infer(played_traces(task, 3_000, 0))
    assert any("{left-end}" in text and "q0" in text and "q1" in text for text in found.not_identifiable)


@pytest.mark.slow
def test_the_flower_is_found_if_its_horizon_is_long_enough() -> None:
    task = praemia.envs.flower(loop=5, horizon=100)
    found = praemia.infer(played_traces(task, 10_000, 0))
    assert found.machine.num_states == task.machine.num_states == 18
    assert not compare_machines(found.machine, task.machine, labels=task.mdp.label_sets).mistakes


def test_a_contradiction_of_determinism_names_two_episodes() -> None:
    traces = [[({"a"}, 0.0)], [(set(), 0.0), ({"a"}, 1.0)], [(set(), 0.0), ({"a"}, 2.0), (set(), 0.0)]]
    with pytest.raises(ModelError, match=r"episode 2 and episode 3.*step 2.*reward 1 and the other 2"):
        praemia.infer(traces, deterministic=True)


def test_a_contradiction_shows_enough_digits_and_the_noise_of_arithmetic_is_none() -> None:
    with pytest.raises(ModelError, match=r"reward 0\.3 and the other 0\.3000001;"):
        praemia.infer([[(set(), 0.3)], [(set(), 0.3000001)]], deterministic=True)
    (edge,) = praemia.infer([[(set(), 0.3)], [(set(), 0.1 + 0.2)]]).edges
    assert (edge.reward, edge.count) == (0.3, 2)


def test_coin_flips_in_one_episode_are_no_deterministic_machine() -> None:
    """300 fair coins hold 300 bits; a machine that repeats them by heart says less than one that flips a coin."""
    flips = np.random.default_rng(0).integers(2, size=300)
    for length in (60, 300):
        found = praemia.infer([[({"coin"}, float(flip)) for flip in flips[:length]]])
        assert found.machine.num_states == 1, length
        assert "more than these traces support" in str(found.why_probabilistic)
    with pytest.raises(SizeError, match="at most 100 states"):
        praemia.infer([[({"coin"}, float(flip)) for flip in flips]], deterministic=True)


def test_a_choice_that_numpy_made_is_a_choice() -> None:
    traces = [[({"item"}, 0.0), ({"door"}, 1.0)], [({"door"}, 0.0), ({"item"}, 0.0), ({"door"}, 1.0)]] * 20
    for choice in (False, True):
        found = [praemia.infer(traces, deterministic=kind).is_smallest for kind in (choice, np.bool_(choice))]
        assert found == [choice, choice]


@pytest.mark.parametrize(
    ("name", "value"), [("deterministic", "yes"), ("deterministic", 0), ("failure_prob", 0.0), ("failure_prob", 1.0)]
)
def test_parameters_outside_their_range_are_refused(name: str, value: object) -> None:
    with pytest.raises(ParameterError, match=name):
        praemia.infer([[(set(), 0.0)]], **{name: value})  # type: ignore[arg-type]


def test_guards_read_only_what_is_needed_and_rewards_become_laws() -> None:
    rng = np.random.default_rng(3)
    trace = [
        [({"coin", "rain"} if rng.random() < 0.5 else {"coin"}, float(rng.random() < 0.3)), ({"rain"}, 0.0)]
        for _ in range(500)
    ]
    machine = praemia.infer(trace).machine
    assert [str(rule.guard) for rule in machine.rules] == ["coin"]
    (outcome,) = machine.rules[0].outcomes
    assert outcome.reward.values == (0.0, 1.0)


def test_comparing_finds_where_machines_pay_differently() -> None:
    first, second = (machine_of(random_table(np.random.default_rng(seed), 4, 1)) for seed in (1, 2))
    assert not compare_machines(first, first, labels=LABELS).mistakes
    differences = compare_machines(first, second, labels=LABELS).differences
    assert differences
    for (state, true_state, label), text in differences.items():
        paid, truly = (m.outcomes(q, label)[0].reward.values[0] for m, q in ((first, state), (second, true_state)))
        assert paid != truly
        assert text.endswith(f"has the reward {paid:g}; the true machine has {truly:g}")


def test_comparing_finds_chances_outside_their_intervals() -> None:
    """The same rewards and moves, but other chances: 0.3 against 0.5 after 2,000 flips."""
    table: Table = [[{0.0: (0.7, 0), 1.0: (0.3, 0)}, {0.0: (1.0, 0)}, {0.0: (1.0, 0)}]]
    found = praemia.infer(random_traces(table, np.random.default_rng(0), 1_000, 6))
    assert not mistakes(found, machine_of(table))
    for chance in (0.5, 0.2):
        table[0][0] = {0.0: (1.0 - chance, 0), 1.0: (chance, 0)}
        (mistake,) = mistakes(found, machine_of(table))
        assert f"q0 (truly s0) on nothing has reward 0 with true probability {1 - chance:.4f}, outside 0.6" in mistake


def test_two_inferred_states_that_stand_for_one_true_state_are_not_right() -> None:
    one: Table = [[{1.0: (1.0, 0)}] * 3]
    two: Table = [[{1.0: (1.0, 1)}] * 3, [{1.0: (1.0, 0)}] * 3]
    compared = compare_machines(machine_of(two), machine_of(one), labels=LABELS)
    assert not compared.differences
    assert compared.mistakes == ["s0 is several inferred states"]


def test_intervals_are_those_of_each_label_even_if_labels_share_a_rule() -> None:
    """Coins a and b with chances 0.30 and 0.32 are not told apart by 300 flips; each has the interval of its own."""
    rng = np.random.default_rng(0)
    flips = [[({name}, float(rng.random() < chance))] for _ in range(300) for name, chance in (("a", 0.3), ("b", 0.32))]
    found = praemia.infer(flips)
    assert len(found.machine.rules) == 1
    for edge in found.edges:
        (name,) = edge.label
        counts = [reward for [(label, reward)] in flips if label == {name}]
        assert (edge.count, edge.of) == (counts.count(edge.reward), 300)
        low, high = edge.interval
        assert binom.sf(edge.count - 1, 300, low) == pytest.approx(0.05 / 4 / 2)  # Clopper's and Pearson's
        assert binom.cdf(edge.count, 300, high) == pytest.approx(0.05 / 4 / 2)


def test_the_p_value_of_one_cell_is_fishers() -> None:
    arriving, present = np.array([[3.0, 9.0]]), np.array([[20.0, 4.0]])
    table = [[3, 9], [20, 4]]
    tail = min(fisher_exact(table, alternative=side).pvalue for side in ("less", "greater"))
    assert p_value(arriving, present, 0.05) == pytest.approx(2 * 2 * tail)  # two rewards are tested


def test_the_test_keeps_its_level_with_rare_rewards() -> None:
    """Right merges, 1,000 times at level 0.05: more than 73 rejections would have a chance below 1e-3."""
    rng = np.random.default_rng(0)
    laws = rng.dirichlet([0.2, 0.2, 5.0], size=6)
    rejected = 0
    for _ in range(1_000):
        sizes = rng.integers(1, 60, size=(2, 6))
        arriving, present = (
            np.array([rng.multinomial(n, law) for n, law in zip(size, laws, strict=True)]) for size in sizes
        )
        rejected += p_value(arriving.astype(float), present.astype(float), 0.05) <= 0.05
    assert rejected <= 73
