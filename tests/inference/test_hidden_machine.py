"""Playing with a hidden machine: it is found, and the last plan is nearly as good as the best."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hidden_tasks import hide
from machine_traces import LABELS, machine_of, random_table

import praemia
from praemia.cli import execute
from praemia.errors import ModelError
from praemia.inference.hidden_machine import play_hidden
from praemia.inference.player import joint_machine, moves_of
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import Labelling, LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


def test_a_memory_beside_the_truth_does_not_change_what_a_policy_earns() -> None:
    """The optimal policy of the true machine, played by following that machine, has the optimal value."""
    task = praemia.envs.riverswim_prm(size=4, horizon=14)
    plan = praemia.solve(task)
    joint = joint_machine(task.machine, moves_of(task.machine, task.mdp.label_sets), task.mdp.label_sets)
    policy = np.tile(plan.policy, (1, task.num_machine_states, 1))
    assert praemia.evaluate(Task(task.mdp, joint, task.horizon), policy).value == pytest.approx(plan.value, abs=1e-12)


def test_the_patrol_is_found_and_played_within_one_percent_of_the_optimum() -> None:
    run = play_hidden(praemia.envs.riverswim(size=4, horizon=16), 400, seed=0)
    assert run.found_at is not None
    assert run.value >= 0.99 * run.optimal_value
    assert len(run.returns) == 400


def test_a_discount_counts_in_returns_values_and_plans() -> None:
    task = praemia.envs.riverswim(size=4, horizon=16).with_discount(0.9)
    run = play_hidden(task, 400, seed=0)
    assert run.found_at is not None
    assert run.optimal_value == praemia.solve(task).value
    assert 0.99 * run.optimal_value <= run.value <= run.optimal_value + 1e-12
    # Patrolling pays 1 at most every third step, the first time at the third.
    assert 0.0 < run.returns.max() <= sum(0.9 ** (3 * visit + 2) for visit in range(5))


def test_without_a_horizon_the_steps_that_count_are_played() -> None:
    task = praemia.envs.riverswim(size=3).with_discount(0.6).with_horizon(None)
    run = play_hidden(task, 60, seed=0)
    assert run.optimal_value == pytest.approx(praemia.solve(task).value, rel=1e-9)
    assert run.value <= run.optimal_value + 1e-12


def test_the_same_seed_gives_the_same_run() -> None:
    task = praemia.envs.riverswim(size=3)
    first, second = (play_hidden(task, 60, seed=3) for _ in range(2))
    assert np.array_equal(first.returns, second.returns)
    assert [held.machine for held in first.held] == [held.machine for held in second.held]


def test_the_command_says_what_was_held_when(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", "riverswim-3", "--hidden-machine", "--episodes", "80", "--runs", "1"]
    assert execute([*arguments, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    machines = record["runs"][0]["machines"]
    assert [machines[0][key] for key in ("episode", "states", "right")] == [0, 1, False]
    right = [held["episode"] for held in machines if held["right"]]
    assert record["runs"][0]["found_at"] == right[0]
    path = tmp_path / "machine.json"
    path.write_text(json.dumps(machines[-1]["machine"]))
    assert praemia.load_machine(path).num_states == machines[-1]["states"]
    assert execute(arguments) == 0
    assert "right from episode" in capsys.readouterr().out
    assert execute([*arguments, "--set", "bonus_scale=1"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["riverswim-5", "riverswim-prm-5", "rooms-5", "office-mail"])
def test_built_in_tasks_end_within_one_percent_of_the_optimum(name: str) -> None:
    run = play_hidden(praemia.envs.make(name), 3_000, seed=0)
    assert run.value >= 0.99 * run.optimal_value


def random_deterministic_task(seed: int) -> Task:
    base = praemia.envs.random_task(observations=8, actions=3, machine_states=1, horizon=15, seed=seed)
    rules = tuple(LabelRule(LABELS[1 + o % 2], target=o) for o in (2, 4, 5, 7))
    mdp = replace(base.mdp, labelling=Labelling(rules))
    return Task(mdp, machine_of(random_table(np.random.default_rng([seed, 7]), 2 + seed % 4, 1)), 15)


def check_random_tasks(seeds: range, num_episodes: int) -> None:
    for seed in seeds:
        run = play_hidden(random_deterministic_task(seed), num_episodes, seed=0)
        assert run.found_at is not None, seed
        assert run.value >= 0.99 * run.optimal_value, seed


def test_random_tasks_end_within_one_percent_of_the_optimum() -> None:
    check_random_tasks(range(2), 1_000)


@pytest.mark.slow
def test_twenty_random_tasks_end_within_one_percent_of_the_optimum() -> None:
    check_random_tasks(range(20), 2_000)


def test_rewards_that_differ_by_the_noise_of_arithmetic_are_no_surprise() -> None:
    """0.3 on one edge and 0.1 + 0.2 on another: the machine is found once, and played as if these were the same."""
    probs = np.zeros((3, 2, 3))
    probs[:, 0, 1] = probs[:, 1, 2] = 0.9
    probs[:, :, 0] = 0.1
    mdp = LabeledMDP.from_dense(probs, [LabelRule("x", target=1), LabelRule("y", target=2)], start=0)
    builder = MachineBuilder("a", ("x", "y")).edge("a", "x", "b", reward=0.3).edge("b", "y", "a", reward=0.1 + 0.2)
    run = play_hidden(Task(mdp, builder.build(), 6), 100, 0)
    assert run.value == pytest.approx(6 * 0.9 * 0.3)
    assert [held.machine.num_states for held in run.held] == [1, 2]


def test_a_machine_that_can_pay_anything_is_inferred_again_as_data_grows() -> None:
    """A machine of one state with random rewards is never surprised; by itself it would be held for good."""
    run = play_hidden(praemia.envs.riverswim_prm(size=5, horizon=24), 600, 0)
    assert run.value >= 0.99 * run.optimal_value


def test_a_black_box_is_refused() -> None:
    with pytest.raises(ModelError, match="record traces"):
        play_hidden(hide(praemia.envs.riverswim(size=3)), 10)  # type: ignore[arg-type]


def test_rewards_from_an_interval_are_refused() -> None:
    task = praemia.envs.riverswim_prm(size=5)
    machine = (
        praemia.MachineBuilder("q", task.machine.propositions)
        .edge("q", "true", "q", reward=praemia.Reward.uniform(0, 1))
        .build()
    )
    with pytest.raises(ModelError, match="round them"):
        play_hidden(task.with_machine(machine), 10)
