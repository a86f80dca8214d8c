"""Datasets: what they count, what they keep on disk, how they grow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_exploration import tiny_task
from oracles import label_of

from praemia.envs import warehouse
from praemia.errors import FileError, ModelError
from praemia.exploration import Dataset, explore, plan_from
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.planning.exact import evaluate, solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return explore(warehouse(3), episodes=200, policy_episodes=20, seed=3)


def test_a_dataset_reads_back_equal_and_equal_data_has_equal_bytes(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    dataset.save(path)
    again = Dataset.load(path)
    assert again.to_bytes() == dataset.to_bytes()
    assert again.labelling == dataset.labelling
    assert again.sources == dataset.sources
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("change", ["order", "pair", "successor", "count", "length", "episodes"])
def test_arrays_that_do_not_fit_are_refused(dataset: Dataset, change: str) -> None:
    changed = {
        "order": {"pairs": dataset.pairs[::-1].copy()},
        "pair": {"pairs": dataset.pairs + 45},
        "successor": {"successors": dataset.successors - 9},
        "count": {"counts": dataset.counts * 0},
        "length": {"counts": dataset.counts[1:]},
        "episodes": {"first_counts": dataset.first_counts * 0},
    }
    with pytest.raises(ModelError, match="a dataset"):
        replace(dataset, **changed[change])


@pytest.mark.parametrize("change", ["ends", "reachability"])
def test_data_that_cannot_be_is_refused(dataset: Dataset, change: str) -> None:
    changed: dict[str, dict[str, Any]] = {
        "ends": {"ends": np.ones(len(dataset.pairs), dtype=bool)},
        "reachability": {"reachability": np.full(9, np.nan)},
    }
    with pytest.raises(ModelError, match="a dataset w"):
        replace(dataset, **changed[change])


def test_nothing_pickled_is_read(tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileError, match="damaged"):
        Dataset.load(path)


@pytest.mark.parametrize("cut", [0, 10, 200, -30])
def test_a_damaged_file_is_one_error(dataset: Dataset, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(dataset.to_bytes()[:cut])
    with pytest.raises(FileError, match="damaged"):
        Dataset.load(path)


def test_files_that_are_not_there_or_cannot_be_written_are_errors(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        Dataset.load(tmp_path / "none.npz")
    with pytest.raises(FileError, match="cannot be written"):
        dataset.save(tmp_path / "no" / "data.npz")


def test_merging_adds_up(dataset: Dataset) -> None:
    other = explore(warehouse(3), episodes=100, policy_episodes=20, seed=4)
    both = dataset.merge(other)
    np.testing.assert_array_equal(both.visits, dataset.visits + other.visits)
    assert both.num_episodes == 300
    assert both.num_transitions == 300 * dataset.horizon
    assert len(both.sources) == 2
    total = {}
    for part in (dataset, other):
        for pair, z, count in zip(part.pairs, part.successors, part.counts, strict=True):
            total[int(pair), int(z)] = total.get((int(pair), int(z)), 0) + int(count)
    found = zip(both.pairs.tolist(), both.successors.tolist(), both.counts.tolist(), strict=True)
    assert {(pair, z): count for pair, z, count in found} == total


def test_data_of_one_seed_is_not_counted_twice(dataset: Dataset) -> None:
    """By whatever method: worlds of one seed draw the same random numbers."""
    task = warehouse(3)
    again = explore(task, episodes=10, method="uncertainty", seed=3)
    until = explore(task, episodes=10, until=1.0, machines=[task.machine], seed=3)
    other = explore(task, episodes=10, method="uncertainty", seed=4)
    for parts in ((dataset,), (again,), (until,), (other, again), (other, other)):
        with pytest.raises(ModelError, match=r"'warehouse-3' with seed [34]; .* use another seed"):
            dataset.merge(*parts)
    with pytest.raises(ModelError, match="use another seed"):
        dataset.merge(other).merge(until)


def test_only_data_of_one_environment_merges(dataset: Dataset) -> None:
    with pytest.raises(ModelError, match="num observations 9 and 16"):
        dataset.merge(explore(warehouse(4), episodes=5, policy_episodes=1))
    with pytest.raises(ModelError, match="horizon"):
        dataset.merge(explore(warehouse(3).with_horizon(4), episodes=5, policy_episodes=1))


def test_an_episode_of_ones_own_can_be_appended(dataset: Dataset) -> None:
    more = dataset.append([0, 1, 1, 2], [1, 4, 1])
    assert more.num_episodes == dataset.num_episodes + 1
    difference = more.visits - dataset.visits
    assert difference[0, 1] == difference[1, 4] == difference[1, 1] == 1
    assert difference.sum() == 3
    for observations, actions, what in (
        ([0, 1], [1, 1], "one observation more"),
        ([0, 9], [1], "observation numbers run from 0 to 9"),
        ([0, 1], [5], "action numbers run from 5 to 5"),
        ([-1, 1], [0], "observation numbers run from -1"),
    ):
        with pytest.raises(ModelError, match=what):
            dataset.append(observations, actions)


def test_the_estimate_is_the_frequency_and_unvisited_pairs_pay_the_least_that_is_possible() -> None:
    task = tiny_task(1)
    # Pays 0.5 or 1 in every step.
    machine = MachineBuilder("q").edge("q", "!goal", "q", reward=1.0).edge("q", "goal", "q", reward=0.5).build()
    once = explore(task, episodes=1, policy_episodes=1, seed=0)
    dense = once.kernel.toarray().reshape(3, 2, 6)
    for (o, a), visits in np.ndenumerate(once.visits):
        counts = np.zeros(6)
        chosen = once.pairs == o * 2 + a
        counts[once.successors[chosen]] = once.counts[chosen]
        np.testing.assert_allclose(dense[o, a], counts / max(1, visits))
    never = np.argwhere(once.visits == 0)
    assert len(never)
    o, a = never[0]
    model, edges = once.model(machine), once.model(machine).arrays
    assert evaluate(model, np.full((3, 1, 3), a)).values[0, 0, o] == 3 * 0.5
    for pair, z in zip(once.pairs.tolist(), once.successors.tolist(), strict=True):
        row = slice(*edges.indptr[pair : pair + 2])
        (label,) = edges.labels[row][edges.successors[row] == z]
        pays = 0.5 if "goal" in label_of(task.mdp.labelling.rules, *divmod(pair, 2), z) else 1.0
        assert model.table.mean_rewards[label, 0] == pays


def test_plans_for_rewards_below_zero_keep_away_from_what_was_never_visited() -> None:
    """Paying 1 for home and paying −1 for anything else differ by −1 in each step, in the unknown too."""
    task = tiny_task(1, num_observations=4, horizon=4)
    gain = MachineBuilder("q").edge("q", "home", "q", reward=1).build()
    cost = MachineBuilder("q").edge("q", "!home", "q", reward=-1).build()
    for seed in range(20):
        data = explore(task, episodes=2, method="uncertainty", seed=seed)
        assert data.visits.min() == 0
        up, down = plan_from(data, gain), plan_from(data, cost)
        assert down.value.value == pytest.approx(up.value.value - 4.0, abs=1e-12)
        np.testing.assert_array_equal(down.policy, up.policy)
        for name in ("bound", "largest", "simulation"):
            assert getattr(down.certificate, name) == pytest.approx(getattr(up.certificate, name), abs=1e-9)
        assert down.certificate.optimistic == pytest.approx(up.certificate.optimistic - 4.0, abs=1e-9)


def test_a_machine_that_waits_for_what_never_happens_is_refused(dataset: Dataset) -> None:
    wrong = MachineBuilder("a").edge("a", "deliver", "b", reward=1).build()
    with pytest.raises(ModelError, match=r"'deliver'.*never produce.*did you mean 'delivery'"):
        plan_from(dataset, wrong)


def test_other_labels_can_be_given_when_planning(dataset: Dataset) -> None:
    machine = MachineBuilder("a").edge("a", "middle", "b", reward=1).build()
    rules = [LabelRule(frozenset({"middle"}), target=4)]
    plan = plan_from(dataset, machine, labels=rules)
    truth = Task(LabeledMDP.from_dense(warehouse(3).mdp.to_dense(), rules), machine, 9)
    gap = solve(truth).value - evaluate(truth, plan.policy).value
    assert gap <= plan.certificate.bound
    for known in (warehouse(3), truth, warehouse(3).with_discount(0.9).with_horizon(None)):
        assert plan.optimum(known) == pytest.approx(solve(truth).value, rel=1e-12)
        assert plan.true_value(known).value == pytest.approx(evaluate(truth, plan.policy).value, rel=1e-12)
        assert plan.gap(known).value == pytest.approx(gap, abs=1e-12)
    once = plan_from(dataset, machine, labels=iter(rules))
    assert once.value == plan.value
    assert once.gap(truth) == plan.gap(truth)
    assert gap <= 0.05
    with pytest.raises(ModelError, match="label rule names the observation 40"):
        plan_from(dataset, machine, labels=[LabelRule(frozenset({"middle"}), target=40)])


def test_coverage_says_what_was_never_reached() -> None:
    kernel = np.zeros((3, 2, 3))
    kernel[0, :, 0] = kernel[1, :, 1] = kernel[2, :, 2] = 1.0
    task = Task(LabeledMDP.from_dense(kernel, observations=["here", "there", "beyond"]), tiny_task(0).machine, 2)
    dataset = explore(task, episodes=20, policy_episodes=2)
    assert dataset.unreached.tolist() == [1, 2]
    assert "never reached: there, beyond" in dataset.coverage()
    assert dataset.reachability.tolist() == [2.0, 0.0, 0.0]
