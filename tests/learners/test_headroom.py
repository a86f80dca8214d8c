"""Headroom: its plan is its formula, its theoretical constants are optimistic, its outlook is what labels allow."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tasks

import praemia
from praemia.errors import ParameterError, UnknownNameError
from praemia.learners import Headroom
from praemia.learners.headroom import outlook_of, telling_labels
from praemia.models.task import MachineTable, Task
from praemia.simulation.game import Game

Labels = dict[tuple[int, int, int], frozenset[str]]


def played(task: Task, learner: Headroom, episodes: int, seed: int) -> Game:
    """Play some episodes, so that there are counts to plan from."""
    game = Game.start(task, learner, episodes, (seed,))
    plan = None
    while game.played < episodes:
        plan = learner.plan(game.experience(), plan, game.learner_rng)
        game.play(plan.policy)
    return game


def worth(task: Task, label: frozenset[str], m: int, values: np.ndarray, z: int) -> float:
    """Σ_m' τ(m'|m, label)(ν̄ + V(z, m')), straight from the machine."""
    machine = task.machine
    outcomes = machine.outcomes(machine.states[m], label)
    return sum(out.probability * (out.reward.mean + values[z, machine.index[out.target]]) for out in outcomes)


def all_labels(task: Task) -> Labels:
    shape = (task.num_observations, task.num_actions, task.num_observations)
    o, a, z = (axis.ravel() for axis in np.indices(shape))
    numbers, sets = task.mdp.labelling.of(o, a, z)
    keys = zip(o.tolist(), a.tolist(), z.tolist(), strict=True)
    return {key: sets[n] for key, n in zip(keys, numbers, strict=True)}


def tops(task: Task, labels: Labels, values: np.ndarray, m: int) -> dict[int, float]:
    """The best that can follow each pair: over its labels, and over every o' that comes with each of them."""
    by_label: dict[frozenset[str], float] = {}
    for (_, _, z), label in labels.items():
        by_label[label] = max(by_label.get(label, 0.0), worth(task, label, m, values, z))
    result: dict[int, float] = {}
    for (o, a, _), label in labels.items():
        pair = o * task.num_actions + a
        result[pair] = max(result.get(pair, 0.0), by_label[label])
    return result


def bonus_of(learner: Headroom, n: int, total: int, mean: float, variance: float, top: float, log_term: float) -> float:
    if learner.constants == "theory":
        return max(math.sqrt(8 * log_term * variance / n), 8 * log_term * top / n)
    share = (total / n) ** (1 / 3)
    spread = learner.deviation_scale * math.sqrt(share * variance / n)
    return spread + learner.headroom_scale * share * (top - mean) / n


def transcription(task: Task, learner: Headroom, game: Game) -> np.ndarray:
    """V_0 by the formulas of the module's docstring, one state at a time."""
    counts, visits = game.tally.arrays.entries, game.tally.arrays.visits
    labels = all_labels(task)
    values = np.zeros((task.num_observations, task.num_machine_states))
    log_term = learner.log_term(task.spec, len(game.returns) * task.horizon)
    for _ in range(task.horizon):
        new = np.zeros_like(values)
        for m in range(task.num_machine_states):
            top = tops(task, labels, values, m)
            for o in range(task.num_observations):
                pairs = range(o * task.num_actions, (o + 1) * task.num_actions)
                total = sum(int(visits[pair]) for pair in pairs)
                choices = []
                for a, pair in enumerate(pairs):
                    n = int(visits[pair])
                    edges = [e for e in range(task.mdp.indptr[pair], task.mdp.indptr[pair + 1]) if counts[e]]
                    ends = [int(task.mdp.successors[e]) for e in edges]
                    shares = [counts[e] / n for e in edges]
                    worths = [worth(task, labels[o, a, z], m, values, z) for z in ends]
                    mean = sum(p * y for p, y in zip(shares, worths, strict=True))
                    variance = sum(p * (y - mean) ** 2 for p, y in zip(shares, worths, strict=True))
                    if n == 0:
                        choices.append(top[pair])
                    else:
                        bonus = bonus_of(learner, n, total, mean, variance, top[pair], log_term)
                        choices.append(min(top[pair], mean + bonus))
                new[o, m] = max(choices)
        values = new
    return values


@settings(max_examples=60)
@given(
    task=tasks(),
    seed=st.integers(0, 99),
    episodes=st.integers(1, 40),
    constants=st.sampled_from(("practical", "theory")),
)
def test_a_plan_is_its_formula(task: Task, seed: int, episodes: int, constants: str) -> None:
    learner = Headroom(constants=constants)
    game = played(task, learner, episodes, seed)
    plan = learner.plan(game.experience(), None, game.learner_rng)
    assert plan.values == pytest.approx(transcription(task, learner, game), abs=1e-9)


@settings(max_examples=150)
@given(task=tasks(), seed=st.integers(0, 999))
def test_with_theoretical_constants_no_plan_is_below_the_optimum(task: Task, seed: int) -> None:
    run = praemia.simulate(task, Headroom(constants="theory"), 60, seed=seed)
    assert run.optimistic_values.min() >= run.optimal_value - 1e-9


@settings(max_examples=60)
@given(task=tasks(), seed=st.integers(0, 999))
def test_no_plan_promises_more_than_the_first_which_no_policy_can_beat(task: Task, seed: int) -> None:
    run = praemia.simulate(task, Headroom(), 30, seed=seed)
    assert np.all(run.optimistic_values <= run.optimistic_values[0] + 1e-9)
    assert run.optimistic_values[0] >= run.optimal_value - 1e-9


def test_before_any_data_the_warehouse_is_worth_what_the_best_labels_would_pay() -> None:
    task = praemia.envs.warehouse(5)
    learner = Headroom()
    game = Game.start(task, learner, 1, (0,))
    plan = learner.plan(game.experience(), None, game.learner_rng)
    # A transfer succeeds w.p. .8 and a delivery w.p. .9 in each of 15 steps.
    loaded = [1 - 0.1**k for k in range(16)]
    empty = [0.0]
    for k in range(15):
        empty.append(0.8 * loaded[k] + 0.2 * empty[k])
    index = task.machine.index
    assert plan.values[:, index["done"]] == pytest.approx(0.0)
    assert plan.values[:, index["loaded"]] == pytest.approx(loaded[15])
    assert plan.values[:, index["empty"]] == pytest.approx(empty[15])


def test_the_outlook_of_riverswim_knows_which_pairs_can_pay() -> None:
    outlook, _ = outlook_of(praemia.envs.riverswim(6).spec)
    groups = outlook.groups.reshape(6, 2)
    assert groups[0, 0] == groups[0, 1] != groups[1, 0]
    assert len({int(g) for g in groups[1:5].ravel()}) == 1
    assert groups[5, 0] != groups[1, 0]


def test_on_tasks_too_large_to_ask_for_every_label_the_top_is_larger_never_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for task in (praemia.envs.riverswim(5), praemia.envs.warehouse(3), praemia.envs.make("random-10x3x4-1")):
        learner = Headroom()
        game = played(task, learner, 20, seed=4)
        exact = learner.plan(game.experience(), None, game.learner_rng).values
        with monkeypatch.context() as patch:
            patch.setattr("praemia.learners.headroom.MAX_TRIPLES", 0)
            loose = learner.plan(game.experience(), None, game.learner_rng).values
        assert np.all(loose >= exact - 1e-12)


def test_headroom_beats_the_papers_learner_in_small_settings() -> None:
    """Means of 16 runs differ by more than 3 standard errors: the error level is about 1e-3."""
    for name in ("riverswim-10", "warehouse-3"):
        task = praemia.envs.make(name)
        ours = [praemia.simulate(task, Headroom(), 10_000, seed=(11, i)).regret[-1] for i in range(16)]
        theirs = [praemia.simulate(task, praemia.UCBVIPRM(), 10_000, seed=(11, i)).regret[-1] for i in range(16)]
        error = math.hypot(np.std(ours, ddof=1), np.std(theirs, ddof=1)) / 4
        assert np.mean(ours) < np.mean(theirs) - 3 * error


@pytest.mark.parametrize("bad", [{"deviation_scale": -1}, {"headroom_scale": float("nan")}, {"failure_prob": 0}])
def test_parameters_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=next(iter(bad))):
        Headroom(**bad)


def test_unknown_constants_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'theory'"):
        Headroom(constants="theor")


def test_in_a_large_black_box_labels_not_met_so_far_are_hoped_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The empty label pays nothing: a learner that hopes for no label it has not met would wander."""
    monkeypatch.setattr("praemia.learners.headroom.MAX_TRIPLES", 0)
    task = praemia.envs.riverswim(4, 8)
    met: list[frozenset[str]] = [frozenset()]
    table = MachineTable.of(task.machine, met)
    spec = replace(task.spec, label_sets=tuple(met), table=table, more_labels=True)
    assert table.layers.paid.max() == 0.0
    outlook, layers = outlook_of(spec)
    assert layers.paid.max() > 0.0
    assert len(outlook.indptr) - 1 == len(telling_labels(task.machine))


@settings(max_examples=60)
@given(task=tasks())
def test_on_the_telling_labels_every_machine_state_does_all_that_it_can_do(task: Task) -> None:
    told = telling_labels(task.machine)
    for state in task.machine.states:
        outcomes = {task.machine.outcomes(state, label) for label in told}
        for label in task.mdp.label_sets:
            assert task.machine.outcomes(state, label) in outcomes
