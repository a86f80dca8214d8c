"""Exploration: what is played, what is counted, and that no reward is looked at."""

from __future__ import annotations

import signal
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers_exploration import Corridor, by, tiny_task
from scipy import stats

from praemia.envs import riverswim, warehouse
from praemia.envs.black_box import BlackBox
from praemia.errors import ModelError, PraemiaError, PraemiaWarning
from praemia.exploration import explore, plan_from
from praemia.exploration.estimate import Estimate
from praemia.exploration.explore import _world, search, uniform_at
from praemia.learners.baselines import Random
from praemia.learners.euler import EULER
from praemia.machines.builder import MachineBuilder
from praemia.simulation.loop import SLICE_SECONDS, play_policy
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

METHODS = ("euler", "uncertainty")


@pytest.mark.parametrize("method", METHODS)
def test_equal_seeds_give_equal_data_and_other_seeds_other_data(method: str) -> None:
    found = (explore(warehouse(3), num_episodes=50, **by(method, 10), seed=s) for s in (1, 1, 2))
    data = [dataset.to_bytes() for dataset in found]
    assert data[0] == data[1] != data[2]


@pytest.mark.parametrize("method", METHODS)
def test_the_machine_and_the_discount_of_the_task_change_nothing(method: str) -> None:
    task = warehouse(3)
    other = task.with_machine(MachineBuilder("x").edge("x", "true", "x", reward=1).build())
    tasks = (task, other, task.with_discount(0.7), task.with_until_done())
    data = [explore(each, num_episodes=60, **by(method, 10), seed=1) for each in tasks]
    for each in data[1:]:
        np.testing.assert_array_equal(each.counts, data[0].counts)
    assert data[2].discount == 0.7


@pytest.mark.parametrize("method", METHODS)
def test_counts_are_those_of_whole_episodes_from_the_start(method: str) -> None:
    task = tiny_task(4, num_observations=4, horizon=5)
    dataset = explore(task, num_episodes=70, **by(method, 15))
    assert dataset.num_episodes == 70
    assert dataset.num_transitions == 70 * 5
    assert dataset.first_counts.tolist() == [70, 0, 0, 0]
    # What enters an observation leaves it again, but for the ends of episodes.
    entered = np.bincount(dataset.successors, dataset.counts, 4) + dataset.first_counts
    ended = entered - dataset.visits.sum(axis=1)
    assert ended.min() >= 0
    assert ended.sum() == 70


@pytest.mark.parametrize("method", METHODS)
def test_successors_follow_the_kernel(method: str) -> None:
    task = riverswim(5)
    dataset = explore(task, num_episodes=3000, **by(method, 50), seed=7)
    dense = task.mdp.to_dense()
    pvalues = []
    for pair in range(10):
        chosen = dataset.pairs == pair
        expected = dense[pair // 2, pair % 2, dataset.successors[chosen]]
        if chosen.sum() > 1:
            counts = dataset.counts[chosen]
            assert expected.sum() == pytest.approx(1.0)
            pvalues.append(stats.chisquare(counts, counts.sum() * expected).pvalue)
    # At most 10 tests; a correct sampler fails with probability 1e-3.
    assert min(pvalues) > 1e-4


def test_policies_act_uniformly_at_their_target_and_as_planned_elsewhere() -> None:
    weights = uniform_at(np.array([[[1], [0], [1]], [[0], [0], [1]]], dtype=np.int8), 2, 2)
    assert weights[0, :, 0].tolist() == [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]
    assert weights[1, :, 0].tolist() == [[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]


def test_search_finds_policies_that_reach_their_target() -> None:
    task = riverswim(5)
    world = _world(task, EULER(), 400, (3,), 4)
    policies, lengths = search(world, lambda played: None)
    assert len(policies) == len(lengths)
    assert lengths.min() >= 1
    assert lengths.sum() == 400
    assert world.counts.visits.sum() == 400 * task.horizon
    # Towards the right end, while there is time.
    assert (policies[-1][:4, :4, 0] == 1).mean() > 0.6


@pytest.mark.parametrize("method", METHODS)
def test_exactly_the_requested_episodes_are_played_and_progress_counts_all(method: str) -> None:
    seen: list[tuple[int, int]] = []
    arguments = {"num_episodes": 100, **by(method, 5)}
    data = explore(warehouse(3), **arguments, on_progress=lambda *progress: seen.append(progress))
    total = 100 + (9 * 5 if method == "euler" else 0)
    assert data.num_episodes == 100
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)


OWN = {"machines": [warehouse(3).machine]}
COFFEE = MachineBuilder("seek").edge("seek", "coffee", "done", reward=1).build()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_episodes": 0}, "num_episodes=0"),
        ({"task": "warehouse-3"}, "expected a Task or a BlackBox"),
        ({"num_episodes": 2.5}, "expected an integer"),
        ({"method": "eulers"}, "did you mean 'euler'"),
        ({"seed": -1}, "seed"),
        ({"method": "euler", "scale": -1.0}, "bonus_scale"),
        ({"policy_episodes": 5}, "is for method='euler'"),
        ({"method": "euler", "policy_episodes": -1}, "policy_episodes=-1"),
        ({"until": 0.1}, "without machines"),
        ({"until": 0.0, **OWN}, "until=0.0; expected a positive number"),
        ({"until": -1, **OWN}, "until=-1"),
        ({"until": float("nan"), **OWN}, "until=nan"),
        ({"until": True, **OWN}, "until=True"),
        ({"until": 0.1, "machines": [COFFEE]}, "'coffee', which the labels of this data never produce"),
        ({"until": 0.1, **OWN, "method": "euler"}, "EULER searches before it collects"),
        (OWN, "give until"),
    ],
)
def test_bad_input_is_refused_before_anything_is_played(arguments: dict[str, Any], message: str) -> None:
    def refuse(done: int, total: int) -> None:
        raise AssertionError("an episode was played")

    with pytest.raises(PraemiaError, match=message):
        explore(**{"task": warehouse(3), "num_episodes": 5, "on_progress": refuse, **arguments})


def test_each_policy_is_played_for_the_episodes_that_it_is_given() -> None:
    world = _world(tiny_task(0), Random(), 50, (1,))
    for action, until in ((0, 20), (1, 50)):
        play_policy(world, np.full((3, 3, 1), action), until)
    assert world.counts.visits.reshape(3, 2).sum(axis=0).tolist() == [20 * 3, 30 * 3]


def test_the_estimate_starts_where_the_episodes_did() -> None:
    """400 episodes begin in the first observation once in four times: the share deviates by 0.022; error level 1e-5."""
    task = tiny_task(3)
    mdp = LabeledMDP.from_dense(task.mdp.to_dense(), task.mdp.labelling, start={0: 0.25, 2: 0.75})
    data = explore(Task(mdp, task.machine, 3), num_episodes=400, **by("euler", 5))
    share = data.first_counts[0] / 400
    assert share == pytest.approx(0.25, abs=0.1)
    assert (
        data.start_probs.tolist()
        == Estimate.of(data, task.machine).model.start_probs.tolist()
        == [share, 0.0, 1.0 - share]
    )


def corridor_box(labels: Any = None) -> BlackBox:
    machine = MachineBuilder("go").edge("go", "end", "done", reward=1).build()
    return BlackBox(Corridor(), labels or (lambda o, a, z, info: {"end"} if z == 4 else ()), machine, 8)


@pytest.mark.parametrize("method", METHODS)
def test_a_black_box_is_explored_and_planned_for(method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # none of our own mark is told
        dataset = explore(corridor_box(), num_episodes=300, **by(method, 130), seed=1)
    assert dataset.num_observations == 5
    assert dataset.num_episodes == 300
    assert dataset.can_end
    assert dataset.ends.tolist() == (dataset.successors == 4).tolist()
    assert dataset.unreached.tolist() == []  # the end is met, as the place where episodes ended
    assert dataset.visits[4].sum() == 0  # no action is ever taken there
    assert dataset.labelling is None
    plan = plan_from(dataset, corridor_box().machine)
    # At least 4 of 8 moves must succeed: 1 − P(Binomial(8, 0.8) ≤ 3).
    optimum = 1.0 - stats.binom.cdf(3, 8, 0.8)
    assert (plan.policy[:, 0, :4] == 1)[0, 0]
    assert plan.value == pytest.approx(optimum, abs=0.05)
    assert plan.certificate.optimistic >= optimum
    assert plan.certificate.pessimistic <= optimum
    other = explore(corridor_box(), num_episodes=300, **by(method, 30), seed=2)
    assert plan_from(dataset.merge(other), corridor_box().machine).certificate.bound <= plan.certificate.bound


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_in_a_black_box_waits_for_the_end_of_an_episode(method: str) -> None:
    steps_after: list[int] = []

    class Interrupting(Corridor):
        def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
            if steps_after:
                steps_after.append(action)
            elif self.place == 1:
                signal.raise_signal(signal.SIGINT)
                time.sleep(1.5 * SLICE_SECONDS)
                steps_after.append(action)
            return super().step(action)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            explore(replace(corridor_box(), env=Interrupting()), num_episodes=50, **by(method, 5))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)
    assert 1 < len(steps_after) < 8  # the episode was played to its end, and no other begun


@pytest.mark.parametrize("method", METHODS)
def test_progress_in_a_black_box_counts_every_episode(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("box_world", "loop"):
        monkeypatch.setattr(f"praemia.simulation.{module}.SLICE_SECONDS", 1e-5)  # shorter than any episode
    seen: list[int] = []
    arguments = {"num_episodes": 20, **by(method, 4)}
    explore(corridor_box(), **arguments, on_progress=lambda done, total: seen.append(done))
    assert seen == sorted(seen)
    assert set(seen) - {0} == set(range(1, 21 + (5 * 4 if method == "euler" else 0)))


@pytest.mark.parametrize("method", METHODS)
def test_labels_that_are_no_function_of_the_transition_are_warned_of_and_certify_nothing(method: str) -> None:
    flips = iter(range(10**9))
    box = corridor_box(lambda o, a, z, info: {"end"} if next(flips) % 2 else ())
    with pytest.warns(PraemiaWarning, match="labels must be a function|one label for each"):
        data = explore(box, num_episodes=20, **by(method, 5))
    assert data.num_episodes == 20
    with pytest.raises(ModelError, match=r"a certificate needs one label for each \(o, a, o'\)"):
        plan_from(data, box.machine)


@pytest.mark.parametrize("method", METHODS)
def test_an_environment_that_fails_leaves_what_was_explored(method: str) -> None:
    steps_left = iter(range(30))

    def labels(o: int, a: int, z: int, info: Any) -> tuple[str, ...]:
        if next(steps_left, None) is None:
            raise OSError("the camera is gone")
        return ()

    with pytest.raises(PraemiaError, match=r"failed in episode [0-9]+, from 0: OSError: the camera") as refused:
        explore(corridor_box(labels), num_episodes=50, **by(method, 3))
    assert refused.value.dataset.sources[0]["method"] == method
    if method == "uncertainty":
        assert refused.value.dataset.num_transitions == 30


def test_merged_labels_that_contradict_each_other_certify_nothing() -> None:
    boxes = (corridor_box(), corridor_box(lambda o, a, z, info: {"end"} if z == 3 else ()))
    first, second = (explore(box, num_episodes=50, seed=seed) for seed, box in enumerate(boxes))
    with pytest.raises(ModelError, match="has several for some"):
        plan_from(first.merge(second), boxes[0].machine)


def test_function_labels_travel_as_data() -> None:
    base = warehouse(3)
    mdp = LabeledMDP.from_dense(
        base.mdp.to_dense(), lambda o, a, z: {"item"} if z == 2 else {"delivery"} if z == 8 else ()
    )
    dataset = explore(Task(mdp, base.machine, 9), num_episodes=300)
    assert dataset.labelling is not None
    expected = plan_from(explore(base, num_episodes=300), base.machine)
    assert plan_from(dataset, base.machine).value == expected.value
