"""Datasets: what they count, what they keep on disk, how they grow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_exploration import tiny_task
from oracles import label_of

from praemia.envs import riverswim, warehouse
from praemia.errors import FileError, ModelError
from praemia.exploration import Dataset, explore, plan_from
from praemia.exploration.estimate import Estimate
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import LabelRule
from praemia.planning.exact import evaluate, solve
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return explore(warehouse(3), num_episodes=200, seed=3)


def test_a_dataset_reads_back_equal_and_equal_data_has_equal_bytes(dataset: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    dataset.save(path)
    again = Dataset.load(path)
    assert again.to_bytes() == dataset.to_bytes()
    assert again.labelling == dataset.labelling
    assert again.sources == dataset.sources
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("change", ["order", "pair", "successor", "count", "length", "episodes", "ends"])
def test_arrays_that_do_not_fit_are_refused(dataset: Dataset, change: str) -> None:
    changed = {
        "order": {"pairs": dataset.pairs[::-1].copy()},
        "pair": {"pairs": dataset.pairs + 45},
        "successor": {"targets": dataset.targets - 9},
        "count": {"counts": dataset.counts * 0},
        "length": {"counts": dataset.counts[1:]},
        "episodes": {"first_counts": dataset.first_counts * 0},
        "ends": {"targets": dataset.targets + 9},  # though it says that no episode can end
    }
    with pytest.raises(ModelError, match="a dataset"):
        replace(dataset, **changed[change])


@pytest.mark.parametrize(("place", "what"), [("loop", "counts 900719925474"), ("move", "leave observation")])
def test_counts_that_no_episodes_can_have_are_damage(tmp_path: Path, place: str, what: str) -> None:
    """2⁵³ counts in 200 episodes would prove a bound of nearly 0; so would counts of what was never reached."""
    data = explore(tiny_task(1), num_episodes=200)
    o, _, z = data.transitions
    chosen = np.flatnonzero(o == z if place == "loop" else o != z)[0]
    more = 2**53 if place == "loop" else 300
    forged = replace(data, counts=np.where(np.arange(len(data.counts)) == chosen, more, data.counts), horizon=10)
    (tmp_path / "data.npz").write_bytes(forged.to_bytes())
    with pytest.raises(FileError, match=f"damaged, or not a dataset: .*{what}"):
        Dataset.load(tmp_path / "data.npz")


@pytest.mark.parametrize(
    ("forged", "what"),
    [
        ({"first_counts": np.array([200 + 2**40, 0, 0])}, "it counts 1,099,511,627,976 episodes and "),
        ({"sources": ({"seed": 5},)}, "its header does not say how the data was collected"),
    ],
)
def test_episodes_without_steps_and_sources_without_sense_are_damage(
    forged: dict[str, Any], what: str, tmp_path: Path
) -> None:
    data = explore(riverswim(3), num_episodes=200)
    (tmp_path / "data.npz").write_bytes(replace(data, **forged).to_bytes())
    with pytest.raises(FileError, match=f"damaged, or not a dataset: .*{what}"):
        Dataset.load(tmp_path / "data.npz")


@pytest.mark.parametrize("cut", [0, 10, 200, -30, None])
def test_a_damaged_file_is_one_error_and_nothing_pickled_is_read(
    dataset: Dataset, tmp_path: Path, cut: int | None
) -> None:
    path = tmp_path / "data.npz"
    path.write_bytes(dataset.to_bytes()[:cut])
    if cut is None:
        np.savez(path, header=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileError, match="damaged"):
        Dataset.load(path)


def test_merging_adds_up(dataset: Dataset) -> None:
    other = explore(warehouse(3), num_episodes=100, seed=4)
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
    again, other = (explore(warehouse(3), num_episodes=10, seed=seed) for seed in (3, 4))
    for parts in ((dataset,), (again,), (other, again), (other, other)):
        with pytest.raises(ModelError, match=r"explored with seed [34]: .* use another seed"):
            dataset.merge(*parts)
    log = Dataset.from_episodes([[(0, 1, 1)]], warehouse(3))
    assert dataset.merge(other, log, log).num_episodes == 212  # logs have no seed


def test_only_data_of_one_environment_merges(dataset: Dataset) -> None:
    with pytest.raises(ModelError, match="different observations: 9 and 16"):
        dataset.merge(explore(warehouse(4), num_episodes=5))
    with pytest.raises(ModelError, match="different horizon: 9 and 4"):
        dataset.merge(explore(warehouse(3).with_horizon(4), num_episodes=5))
    labels = LabeledMDP.from_dense(warehouse(3).mdp.to_dense(), [LabelRule("item", target=1)])
    labelled = replace(explore(Task(labels, warehouse(3).machine, 9), num_episodes=5, seed=9), action_names=None)
    with pytest.raises(ModelError, match="different labels"):
        replace(dataset, observation_names=None, action_names=None).merge(labelled)
    with pytest.raises(TypeError):
        dataset + dataset  # type: ignore[operator]


def test_the_estimate_is_the_frequency_and_unvisited_pairs_pay_the_least_that_is_possible() -> None:
    task = tiny_task(1)
    # Pays 0.5 or 1 in every step.
    machine = MachineBuilder("q").edge("q", "!goal", "q", reward=1.0).edge("q", "goal", "q", reward=0.5).build()
    once = explore(task, num_episodes=1, seed=0)
    dense = once.kernel.toarray().reshape(3, 2, 6)
    for (o, a), visits in np.ndenumerate(once.visits):
        counts = np.zeros(6)
        chosen = once.pairs == o * 2 + a
        counts[once.successors[chosen]] = once.counts[chosen]
        np.testing.assert_allclose(dense[o, a], counts / max(1, visits))
    never = np.argwhere(once.visits == 0)
    assert len(never)
    o, a = never[0]
    model, edges = Estimate.of(once, machine).model, Estimate.of(once, machine).model.arrays
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
        data = explore(task, num_episodes=2, seed=seed)
        assert data.visits.min() == 0
        up, down = plan_from(data, gain), plan_from(data, cost)
        assert down.value == pytest.approx(up.value - 4.0, abs=1e-12)
        np.testing.assert_array_equal(down.policy, up.policy)
        for name in ("bound", "largest"):
            assert getattr(down.certificate, name) == pytest.approx(getattr(up.certificate, name), abs=1e-9)
        assert down.certificate.optimistic == pytest.approx(up.certificate.optimistic - 4.0, abs=1e-9)


def test_a_machine_that_waits_for_what_never_happens_is_refused(dataset: Dataset) -> None:
    wrong = MachineBuilder("a").edge("a", "deliver", "b", reward=1).build()
    with pytest.raises(ModelError, match=r"'deliver'.*never produce.*did you mean 'delivery'"):
        plan_from(dataset, wrong)


def test_other_labels_can_be_given_when_planning(dataset: Dataset) -> None:
    machine = MachineBuilder("a").edge("a", "middle", "b", reward=1).build()
    rules = [LabelRule(frozenset({"middle"}), target=4)]
    plan = plan_from(dataset.with_labels(rules), machine)
    truth = Task(LabeledMDP.from_dense(warehouse(3).mdp.to_dense(), rules), machine, 9)
    gap = solve(truth).value - evaluate(truth, plan.policy).value
    assert gap <= plan.certificate.bound
    for known in (warehouse(3), truth, warehouse(3).with_discount(0.9).with_horizon(None)):
        assert plan.optimum(known) == pytest.approx(solve(truth).value, rel=1e-12)
        assert plan.true_value(known) == pytest.approx(evaluate(truth, plan.policy).value, rel=1e-12)
        assert plan.gap(known) == pytest.approx(gap, abs=1e-12)
    for labels in (iter(rules), {4: "middle"}, lambda o, a, z: {"middle"} if z == 4 else ()):
        assert plan_from(dataset.with_labels(labels), machine).certificate.bound == plan.certificate.bound
    assert gap <= 0.05
    with pytest.raises(ModelError, match="label rule names the observation 40"):
        dataset.with_labels([LabelRule(frozenset({"middle"}), target=40)])


def test_coverage_says_what_was_never_reached() -> None:
    kernel = np.zeros((3, 2, 3))
    kernel[0, :, 0] = kernel[1, :, 1] = kernel[2, :, 2] = 1.0
    task = Task(LabeledMDP.from_dense(kernel, observations=["here", "there", "beyond"]), tiny_task(0).machine, 2)
    dataset = explore(task, num_episodes=20)
    assert dataset.unreached.tolist() == [1, 2]
    assert "never reached: there, beyond" in dataset.coverage()


STEP, GOAL = -0.125, 1.0


def corridor(horizon: int, after: float = 0.0) -> Task:
    """Three cells in a row, nothing left to chance; the goal is two steps away, and ``after`` is paid from then on."""
    rows = {(o, a): {max(0, min(2, o + (1 if a else -1))): 1.0} for o in range(3) for a in range(2)}
    mdp = LabeledMDP.from_rows(3, 2, rows, labels=[LabelRule("goal", target=2)], start=0)
    builder = MachineBuilder("out", propositions=("goal",)).edge("out", "goal", "done", reward=GOAL)
    builder.edge("out", "else", "out", reward=STEP).edge("done", "true", "done", reward=after)
    return Task(mdp, builder.build(), horizon, "corridor")


@pytest.mark.parametrize(("horizon", "after"), [(3, 0.0), (10, 0.0), (10, -0.03125)])
def test_the_untried_costs_the_least_that_the_machine_can_still_pay(horizon: int, after: float) -> None:
    """A log that stops at the goal never tries anything there; waiting where all is known is not preferred to it."""
    data = explore(corridor(2), num_episodes=60, seed=0)
    assert data.visits[2].sum() == 0
    task = corridor(horizon, after)
    plan = plan_from(data, task.machine, horizon=horizon)
    assert plan.value == pytest.approx(STEP + GOAL + (horizon - 2) * after, abs=1e-12)
    assert plan.policy[0, 0, 0] == plan.policy[1, 0, 1] == 1  # type: ignore[index]
    assert plan.gap(task) == pytest.approx(0.0, abs=1e-12)
