"""Simulation: exact regret, repeatable runs, plans when they are due, counts that add up."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learner_oracles import Diary, Wanderer, Watched, between_episodes, replay, shown_policy
from row_tables import fill_table
from scipy.stats import chi2
from strategies import full_task, tasks

from praemia import Run, envs, evaluate, learners, simulate, solve
from praemia.errors import UnknownNameError
from praemia.kernels.records import padded_width
from praemia.learners.base import Experience, Learner, LearnerPlan
from praemia.learners.replanning import BETWEEN_EPISODES
from praemia.machines.builder import MachineBuilder
from praemia.machines.rewards import Reward
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

SEEDS = st.integers(0, 2**32)
FROM_STEPS = ("q-learning", "crm")
FROM_COUNTS = ["ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "euler", "psrl"]


def same(first: Run, second: Run) -> bool:
    """Whether two runs went the same way, to the last bit."""
    arrays = ("plan_episodes", "plan_values", "optimistic_values", "returns", "final_policy")
    return all(getattr(first, name).tobytes() == getattr(second, name).tobytes() for name in arrays)


def counts_of(shown: Experience) -> dict[tuple[int, int], int]:
    """Return how often each (pair, successor) was seen."""
    found: Counter[tuple[int, int]] = Counter()
    seen = shown.transitions
    pairs = seen.observations * shown.spec.num_actions + seen.actions
    for pair, z, count in zip(pairs.tolist(), seen.successors.tolist(), seen.counts.tolist(), strict=True):
        found[pair, z] += count
    return dict(found)


def expected_counts(task: Task, diary: Diary, on_product: bool) -> dict[tuple[int, int], int]:
    """Return the same from a diary."""
    A, M = task.num_actions, task.num_machine_states
    if on_product:
        return {
            ((o * M + m) * A + a, z * M + m_next): count
            for (m, o, a, m_next, z), count in diary.product_transitions.items()
        }
    return {(o * A + a, z): count for (o, a, z), count in diary.transitions.items()}


# Regret


@pytest.mark.parametrize("name", learners.names())
def test_regret_never_falls_and_is_the_sum_of_what_each_policy_lacks(name: str) -> None:
    for seed in range(3):
        task = envs.make(f"random-5x3x3-{seed}", horizon=6)
        run = simulate(task, between_episodes(learners.make(name)), 200, seed)
        assert run.regret.shape == run.policy_values.shape == run.returns.shape == (200,)
        assert run.regret[0] >= 0.0
        assert np.all(np.diff(run.regret) >= 0.0)
        if not run.is_pathwise:
            np.testing.assert_allclose(run.regret, np.cumsum(run.optimal_value - run.policy_values), atol=1e-9)
        assert run.optimal_value == pytest.approx(sum(p * oracles.solve(task)[0][s] for s, p in starts(task)))


def starts(task: Task) -> Any:
    return oracles.start(task).items()


@pytest.mark.parametrize("name", [name for name in learners.names() if name not in FROM_STEPS])
def test_the_value_of_every_plan_is_that_of_its_policy(name: str) -> None:
    task = envs.make("random-4x2x3-5", horizon=4)
    watched = Watched(between_episodes(learners.make(name)))
    run = simulate(task, watched, 30, 3)
    for policy, value in zip(watched.policies, run.plan_values, strict=True):
        values = oracles.evaluate(task, shown_policy(task, policy))[0]
        assert value == pytest.approx(sum(p * values[s] for s, p in starts(task)), abs=1e-12)
    assert evaluate(task, run.final_policy).value == pytest.approx(run.plan_values[-1], abs=1e-12)


@given(task=tasks())
@settings(max_examples=20)
def test_the_optimal_player_has_no_regret(task: Task) -> None:
    run = simulate(task, learners.make("optimal"), 20)
    assert np.all(run.regret <= 1e-12)
    assert run.optimistic_values[0] == pytest.approx(run.optimal_value)


@given(task=tasks())
@settings(max_examples=20)
def test_the_random_player_loses_the_same_in_every_episode(task: Task) -> None:
    run = simulate(task, learners.make("random"), 20)
    shape = (task.horizon, task.num_machine_states, task.num_observations, task.num_actions)
    value = evaluate(task, np.full(shape, 1 / task.num_actions)).value
    gap = max(0.0, solve(task).value - value)
    np.testing.assert_allclose(run.regret, gap * np.arange(1, 21), atol=1e-12)


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi", "crm"])
def test_exact_regret_is_the_mean_of_sampled_regret(name: str) -> None:
    """E[Σ(V* − return)] = E[regret]: 120 runs; 4 standard errors are an error level of 10⁻⁴."""
    task, learner = envs.make("riverswim-prm-4", horizon=8), learners.make(name)
    runs = [simulate(task, learner, 25, (7, seed)) for seed in range(120)]
    off = np.array([np.sum(run.optimal_value - run.returns) - run.regret[-1] for run in runs])
    assert abs(off.mean()) <= 4 * off.std(ddof=1) / np.sqrt(len(off))


# Repeatable runs


@pytest.mark.parametrize("name", learners.names())
def test_the_same_seed_gives_the_same_bytes_and_another_seed_another_run(name: str) -> None:
    task, learner = envs.make("random-5x3x3-1", horizon=8), learners.make(name)
    first, again, other = (simulate(task, learner, 60, seed) for seed in (4, 4, 5))
    assert same(first, again)
    assert not same(first, other)
    assert not np.array_equal(first.returns, other.returns)


def test_a_learner_may_be_given_by_its_name() -> None:
    task = envs.make("riverswim-5")
    assert same(simulate(task, "headroom", 100), simulate(task, learners.make("headroom"), 100))
    with pytest.raises(UnknownNameError, match="did you mean 'headroom'"):
        simulate(task, "hedroom", 100)


def test_a_new_learner_object_plays_as_a_used_one() -> None:
    task, used = envs.make("warehouse-3"), learners.make("ucbvi-prm")
    simulate(envs.make("riverswim-5"), used, 50, 1)
    assert same(simulate(task, used, 100, 2), simulate(task, learners.make("ucbvi-prm"), 100, 2))


def test_seeds_may_be_several_numbers() -> None:
    task, learner = envs.make("riverswim-prm-5"), learners.make("psrl")
    runs = {seed: simulate(task, learner, 100, seed) for seed in [(0,), (0, 1), (1, 0), (0, 2)]}
    assert same(runs[0,], simulate(task, learner, 100, 0))
    assert same(runs[0, 1], simulate(task, learner, 100, [0, np.int64(1)]))
    returns = {run.returns.tobytes() for run in runs.values()}
    assert len(returns) == len(runs)
    assert runs[0, 1].seed == (0, 1)


def test_a_long_stretch_is_its_plain_replay() -> None:
    """Seven hundred episodes under one policy, each step with several random numbers."""
    task = envs.make("riverswim-prm-5", horizon=40)
    player = Watched(learners.make("random"))
    run = simulate(task, player, 700, 1)
    assert run.returns.tolist() == replay(task, player.policies[:1] * 700, "episode", (1,), 700).returns


# When plans are made, and what is counted, against a plain replay of the run: several starts, labels, successors and
# machine moves, so that nothing can go wrong unnoticed


def assert_replayed(task: Task, watched: Watched, run: Run, rule: str) -> None:
    """Compare a run with a plain replay of its policies, each plan's value with a plain evaluation, and the counts."""
    diary = replay(task, watched.policies, rule, run.seed, run.num_episodes)
    assert run.returns.tolist() == pytest.approx(diary.returns, abs=1e-12)
    assert run.plan_episodes.tolist() == diary.plan_episodes
    for policy, value in zip(watched.policies, run.plan_values, strict=True):
        values = oracles.evaluate(task, shown_policy(task, policy))[0]
        assert value == pytest.approx(sum(p * values[s] for s, p in starts(task)), abs=1e-12)
    for k, shown in zip(diary.plan_episodes, watched.shown, strict=True):
        if k in (0, diary.plan_episodes[-1]):
            before = replay(task, watched.policies, rule, run.seed, k)
            assert counts_of(shown) == expected_counts(task, before, watched.sees == "product")


@pytest.mark.parametrize("rule", BETWEEN_EPISODES)
@pytest.mark.parametrize("name", [*FROM_COUNTS, "headroom"])
def test_a_run_is_its_plain_replay_and_the_same_in_one_compiled_loop(name: str, rule: str) -> None:
    task, learner = full_task(5), learners.make(name, replan=rule)
    watched = Watched(learner)
    run, alone = simulate(task, watched, 60, (3, 1)), simulate(task, learner, 60, (3, 1))
    assert run.num_plans > 5
    assert_replayed(task, watched, run, rule)
    assert same(run, alone)


class Wavering(Learner):
    """Sample the probabilities of actions for every plan."""

    def plan(self, experience: Any, previous: Any, rng: np.random.Generator) -> LearnerPlan:
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        return LearnerPlan(rng.dirichlet(np.ones(spec.num_actions), size=shape))


@pytest.mark.parametrize("rule", BETWEEN_EPISODES)
def test_policies_that_sample_their_actions_are_replayed_and_valued_too(rule: str) -> None:
    task, watched = full_task(5), Watched(Wavering(replan=rule))
    assert_replayed(task, watched, simulate(task, watched, 40, (5,)), rule)


def test_no_plan_is_lost_however_many_there_are() -> None:
    task, learner = full_task(3, horizon=1), learners.make("ucbvi-prm", replan="episode")
    watched = Watched(learner)
    run, alone = simulate(task, watched, 300, (5,)), simulate(task, learner, 300, (5,))
    assert run.plan_episodes.tolist() == list(range(300))
    assert_replayed(task, watched, run, "episode")
    assert same(run, alone)


@pytest.mark.parametrize("on_product", [False, True])
@settings(max_examples=25)
@given(task=tasks(), seed=SEEDS)
def test_what_a_learner_is_shown_adds_up(on_product: bool, task: Task, seed: int) -> None:
    learner = Watched(Wanderer(sees="product" if on_product else "observations"))
    simulate(task, learner, 8, seed)
    diary = replay(task, learner.policies, "episode", (seed,), 7)
    shown = learner.shown[-1]
    seen, M = shown.transitions, task.num_machine_states
    assert counts_of(shown) == expected_counts(task, diary, on_product)
    assert shown.visits.sum() == shown.counts.sum() == 7 * task.horizon
    np.testing.assert_array_equal(shown.counts.sum(axis=-1), shown.visits)
    np.testing.assert_allclose(shown.estimated_probs.sum(axis=-1), shown.visits > 0, atol=1e-12)
    assert np.all(seen.counts > 0)
    met = [o * M + m if on_product else o for (_, m, o), count in diary.product_steps.items() if count]
    assert sorted(shown.met.tolist()) == sorted(set(met))
    steps = shown.step_visits
    assert steps.sum(axis=1).tolist() == [7] * (task.horizon + 1)
    for h, state in np.ndindex(steps.shape):
        o, m = divmod(state, M)
        assert steps[h, state] == (diary.product_steps[h, m, o] if on_product else diary.steps[h, state])


@pytest.mark.parametrize("name", ["ucbvi-prm", "ucbvi"])
def test_memory_grows_with_what_was_seen_and_not_with_what_can_happen(name: str) -> None:
    task = envs.make("random-300x3x2-0", horizon=5, branching=300)
    learner = Watched(learners.make(name))
    simulate(task, learner, 40, 1)
    shown = learner.shown[-1]
    assert len(shown.transitions.counts) == len(counts_of(shown)) <= shown.visits.sum() <= 200
    assert shown._counts.transitions.nbytes + shown._counts.rows.nbytes < task.mdp.probs.nbytes / 10


# The law of what is sampled


@pytest.mark.parametrize("seed", range(3))
def test_transitions_are_drawn_from_the_product_kernel(seed: int) -> None:
    """χ² over all product pairs of a random task with random starts; error level 0.001 for each seed."""
    base = envs.make(f"random-4x2x3-{seed}", horizon=6)
    rows = base.mdp.to_dense()
    mdp = LabeledMDP.from_dense(rows, base.mdp.labelling, start=[0.1, 0.2, 0.3, 0.4])
    task = Task(mdp, base.machine, 6)
    player = Watched(Wanderer(sees="product"))
    num_episodes = 3_000
    simulate(task, player, num_episodes + 1, seed)
    seen = counts_of(player.shown[-1])
    laws: dict[int, Counter[int]] = {}
    for ((m, o), a), edges in oracles.product(task).items():
        law = laws.setdefault((o * 3 + m) * 2 + a, Counter())
        for p, _, (m_next, z) in edges:
            law[z * 3 + m_next] += p
    statistic, degrees = 0.0, 0
    for pair, law in laws.items():
        visits = sum(count for (source, _), count in seen.items() if source == pair)
        assert all(z in law for source, z in seen if source == pair)
        if visits * min(law.values()) >= 5:
            statistic += sum((seen.get((pair, z), 0) - visits * p) ** 2 / (visits * p) for z, p in law.items())
            degrees += len(law) - 1
    assert degrees > 20
    assert chi2.sf(statistic, degrees) > 0.001


def test_starts_and_rewards_are_drawn_from_their_laws() -> None:
    """One step: the return is the reward. χ², error level 0.001."""
    law = Reward((0.0, 0.25, 0.5, 1.0), (0.1, 0.2, 0.3, 0.4))
    machine = MachineBuilder("q").edge("q", "true", "q", reward=law).build()
    start = np.array([0.5, 0.125, 0.375])
    mdp = LabeledMDP.from_dense(np.eye(3)[:, None, :], start=start)
    player = Watched(Wanderer())
    run = simulate(Task(mdp, machine, 1), player, 4_001, 11)
    rewards = [np.sum(run.returns[:4_000] == value) for value in law.values]
    firsts = player.shown[-1].step_visits[0]
    for found, expected in ((rewards, np.array(law.probabilities)), (firsts, start)):
        statistic = np.sum((found - 4_000 * expected) ** 2 / (4_000 * expected))
        assert chi2.sf(statistic, len(expected) - 1) > 0.001


@settings(max_examples=40)
@given(task=tasks())
def test_averaging_over_the_machine_never_adds_variance(task: Task) -> None:
    """Var over o' of W ≤ Var over (m', o') of V, for every (h, m, o, a): the lemma behind the paper's bonus."""
    values, edges, model = solve(task).values, oracles.product(task), task.model.arrays
    size, M = task.num_observations, task.num_machine_states
    for h in range(1, task.horizon + 1):
        table = np.zeros((task.model.num_rows, padded_width(M)))
        table[:size, :M] = values[h].T
        layers = task.table.layers(table.shape[1])
        fill_table(table, size, model.extra_rows, layers._replace(paid=np.zeros_like(layers.paid)))
        for ((m, o), a), outcomes in edges.items():
            row = slice(*model.indptr[o * task.num_actions + a : o * task.num_actions + a + 2])
            w, p = table[model.rows[row], m], model.probs[row]
            v, q = np.array([values[h, *s] for _, _, s in outcomes]), np.array([prob for prob, _, _ in outcomes])
            assert p @ w == pytest.approx(q @ v, abs=1e-12)
            assert p @ (w - p @ w) ** 2 <= q @ (v - q @ v) ** 2 + 1e-12


@pytest.mark.parametrize("name", ["ucbvi-prm", "random", "crm"])
def test_progress_is_told_until_the_end(name: str) -> None:
    told: list[int] = []
    simulate(envs.make("riverswim-5"), learners.make(name), 500, on_progress=told.append)
    assert told[-1] == 500
    assert told == sorted(set(told))


def test_progress_is_told_during_one_compiled_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes back after an amount of work that is far from all there is to do, the least on the fastest machine."""
    monkeypatch.setattr("praemia.simulation.task_world.SLICE_SECONDS", 0.0)
    told: list[int] = []
    learner = learners.make("headroom", replan="episode")
    simulate(envs.make("warehouse-5"), learner, 4_000, on_progress=told.append)
    assert np.diff(told, prepend=0).max() < 2_000
    assert told[-1] == 4_000


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        *(("headroom", rule) for rule in (*BETWEEN_EPISODES, "repair", "epoch-at-once")),
        ("q-learning", "step"),
        ("crm", "step"),
    ],
)
def test_a_run_in_one_compiled_loop_is_the_one_that_asks_for_each_plan(name: str, rule: str) -> None:
    """A watched learner is asked for its plans one by one, in Python; the same bits come of it."""
    for task in (envs.make("random-6x3x9-2", horizon=6), envs.make("riverswim-5")):
        learner = learners.make(name, replan=rule)
        assert same(simulate(task, learner, 120, 4), simulate(task, Watched(learner), 120, 4))
