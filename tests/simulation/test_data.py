"""Runs give data, and begin with it: their own, explored, or that of a log."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hidden_tasks import hide
from hypothesis import given, settings
from hypothesis import strategies as st
from line_walks import HORIZON, LAST, Line, arrival
from strategies import tasks

import praemia
from praemia import BlackBox, Dataset, envs, learners, simulate
from praemia.errors import ModelError, ParameterError, PraemiaError
from praemia.learners.experience import Experience

FROM_COUNTS = [name for name in learners.names() if learners.kind_of(name).has_estimate]


class Counter(praemia.Learner):
    """Take random actions, and keep what was shown."""

    has_estimate = True
    shown: Any = None

    def plan(self, experience: Experience, previous: Any, rng: np.random.Generator) -> praemia.LearnerPlan:
        if self.shown is not None:
            self.shown.append((experience.num_episodes, experience.episodes_played, experience.counts.copy()))
        spec = experience.spec
        shape = (spec.horizon, spec.num_machine_states, spec.num_observations)
        return praemia.LearnerPlan(rng.integers(0, spec.num_actions, shape))


class Slope(gymnasium.Env[Any, Any]):
    """A number that goes up or down; its cells are coarser than the label's threshold."""

    observation_space = spaces.Box(0.0, 1.0, (1,))
    action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.x = 0.4
        return np.array([self.x]), {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.x = float(np.clip(self.x + (0.1 if action else -0.1) * self.np_random.uniform(0.2, 1.0), 0.0, 1.0))
        return np.array([self.x]), 0.0, False, False, {}


def slope(bins: Any = 2) -> BlackBox:
    labels = praemia.labels.predicates({"last": "observation[0] > 0.7"})
    return BlackBox(Slope(), labels, arrival(), 12, encode=envs.cells(Slope.observation_space, bins))


def line(encode: Any = None) -> BlackBox:
    size = None if encode is None else LAST + 1
    return BlackBox(Line(), lambda o, a, z, i: "last" if z == LAST else (), arrival(), HORIZON, encode, size)


@settings(max_examples=20, deadline=None)
@given(tasks(), st.booleans(), st.integers(0, 5))
def test_a_run_gives_what_it_has_counted(task: praemia.Task, is_box: bool, seed: int) -> None:
    """The last plan but one sees all but the last episode: one more plan would see the data."""
    shown: list[Any] = []
    run = simulate(hide(task) if is_box else task, Counter(shown=shown, replan="episode"), 4, seed)
    simulate(hide(task) if is_box else task, Counter(shown=shown), 1, seed, data=run.dataset)
    total, played, counts = shown[-1]
    assert (total, played) == (5, 4)
    assert counts.sum() == run.steps.sum() == run.dataset.num_transitions
    assert run.dataset.num_episodes == 4
    assert np.all(counts >= shown[-2][2])
    size = task.num_observations
    dense = np.zeros((size, task.num_actions, size), dtype=int)
    np.add.at(dense, run.dataset.transitions, run.dataset.counts)
    np.testing.assert_array_equal(dense, counts)


@cache
def random_data(is_box: bool) -> Dataset:
    task = envs.warehouse(2)
    return simulate(hide(task) if is_box else task, "random", 3_000).dataset


@pytest.mark.parametrize("name", FROM_COUNTS)
@pytest.mark.parametrize("is_box", [False, True])
def test_learners_from_counts_go_on_from_data(name: str, is_box: bool) -> None:
    """Data of many random episodes makes the first plans good; regret is that of the new episodes."""
    task = envs.warehouse(2)
    where = hide(task) if is_box else task
    learner = learners.make(name)
    if learner.sees == "product":
        with pytest.raises(ParameterError, match="cannot begin with data"):
            simulate(where, learner, 5, data=simulate(where, "random", 1).dataset)
        return
    run = simulate(where, learner, 50, 1, data=random_data(is_box))
    best = praemia.solve(task).value
    assert praemia.evaluate(task, run.policy).value == pytest.approx(best, abs=0.02)
    assert run.dataset.num_episodes == 3_050
    assert run.data_episodes == 3_000
    if not is_box:
        assert len(run.regret) == 50
        values = np.repeat(run.plan_values, np.diff([*run.plan_episodes, 50]))
        np.testing.assert_allclose(run.regret, np.cumsum(np.maximum(0.0, best - values)), atol=1e-9)


@pytest.mark.parametrize("encode", [None, str, int])
def test_codes_stay_what_they_were(encode: Any, tmp_path: Path) -> None:
    first = simulate(line(encode), "headroom", 20)
    first.dataset.save(tmp_path / "data.npz")
    again = simulate(line(encode), "headroom", 5, data=Dataset.load(tmp_path / "data.npz"))
    if encode is str:
        before, after = (run.policy.observations.codes for run in (first, again))
        assert {code: after[code] for code in before} == before
    assert again.returns.mean() == 1.0


def test_a_transition_may_have_several_labels() -> None:
    """A threshold inside a cell: both labels are counted, planned with, merged and saved; nothing is certified."""
    run = simulate(slope(), "random", 60)
    data = run.dataset
    assert not data.has_one_label_each
    assert len(data.counts) > len(set(zip(*(column.tolist() for column in data.transitions), strict=True)))
    assert data.num_transitions == 60 * 12
    both = data.merge(simulate(slope(), "random", 40, 1).dataset)
    assert (both.num_episodes, both.num_transitions) == (100, 100 * 12)
    share = {label: data.counts[data.labels == i].sum() for i, label in enumerate(data.label_sets)}
    assert share[frozenset({"last"})] > 0
    later = simulate(slope(), "headroom", 20, 2, data=both)
    assert later.returns.mean() > run.returns.mean()
    with pytest.raises(ModelError, match=r"needs one label for each \(o, a, o'\).*divide the cells there"):
        praemia.plan_from(data, arrival())
    assert not Dataset.from_episodes([[([0.6], 1, [0.69]), ([0.69], 1, [0.71])]], slope()).has_one_label_each


def test_data_with_several_labels_is_read_back(tmp_path: Path) -> None:
    data = simulate(slope(), "random", 60).dataset
    data.save(tmp_path / "data.npz")
    again = Dataset.load(tmp_path / "data.npz")
    for name in ("pairs", "successors", "ends", "counts", "labels", "label_sets", "encoding", "first_counts"):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name), err_msg=name)


def test_a_log_counts_as_if_it_had_been_played() -> None:
    """Steps that a policy took in the environment itself, given as a log, are the data of such a run."""
    box, env, rng = slope(), Slope(), np.random.default_rng(0)
    episodes = []
    for seed in range(30):
        o, _ = env.reset(seed=seed)
        steps = []
        for _ in range(12):
            a = int(rng.integers(2))
            z, *_ = env.step(a)
            steps.append((o, a, z))
            o = z
        episodes.append(steps)
    data = Dataset.from_episodes(episodes, box)
    assert (data.num_episodes, data.num_transitions) == (30, 360)
    counts: dict[Any, int] = {}
    for steps in episodes:
        for o, a, z in steps:
            key = (int(o[0] >= 0.5), a, int(z[0] >= 0.5), z[0] > 0.7)
            counts[key] = counts.get(key, 0) + 1
    rows = zip(*(column.tolist() for column in (*data.transitions, data.labels, data.counts)), strict=True)
    assert {(o, a, z, bool(data.label_sets[label])): count for o, a, z, label, count in rows} == counts
    assert simulate(slope(), "headroom", 10, data=data).returns.mean() > 0.5


def test_a_log_of_a_task_has_its_labels() -> None:
    task = envs.warehouse(2)
    data = Dataset.from_episodes([[(0, 1, 1), (1, 2, 3, {}, False)]], task)
    assert data.labelling == task.mdp.labelling
    assert data.merge(praemia.explore(task, num_episodes=5)).num_episodes == 6


@pytest.mark.parametrize(
    ("episodes", "message"),
    [
        ([[(0, 1)]], r"episode 0, step 0: .*expected \(observation, action, next observation"),
        ([[]], "episode 0 has 0 steps; expected 1"),
        ([[(0, 1, 1)] * 9], "episode 0 has 9 steps; expected 1 … 8"),
        ([[(0, 1, 1), (2, 1, 3)]], "step 1 does not begin where step 0 went"),
        ([[(0, 1, 1, {}, True), (1, 1, 2)]], "step 1 does not begin where step 0 went"),
        ([[(0, 1, 7)]], "outside the space"),
    ],
)
def test_a_log_that_is_none_is_refused(episodes: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Dataset.from_episodes(episodes, line())


@pytest.mark.parametrize(
    ("data", "where", "learner", "message"),
    [
        (lambda: simulate(line(), "random", 2).dataset, line, "q-learning", "'q-learning' does not plan from counts"),
        (lambda: simulate(line(), "random", 2).dataset, line, "crm", "does not plan from counts"),
        (lambda: simulate(line(), "random", 2).dataset, line, learners.make("headroom", learn_machine=True), "counts"),
        (
            lambda: simulate(line(), "random", 2).dataset,
            lambda: envs.warehouse(2),
            "mvp",
            "data of 4 obs.* has 4 and 5",
        ),
        (lambda: simulate(line(), "random", 2).dataset, lambda: line(str), "mvp", "'Line' has it"),
        (lambda: simulate(slope(4), "random", 2).dataset, lambda: slope([[0.1, 0.2, 0.3]]), "mvp", "other cells"),
        (lambda: simulate(slope(4), "random", 2).dataset, line, "mvp", "data has other observations than 'Line'"),
        (lambda: [1], line, "mvp", r"data=\[1\]; expected a Dataset"),
        (
            lambda: Dataset.from_episodes([[(0, 0, 3)]], envs.warehouse(2)),
            lambda: envs.warehouse(2),
            "mvp",
            r"the data has the transition \(0, 0, 3\) with the label {.*}, which is impossible in 'warehouse-2'",
        ),
    ],
)
def test_data_that_does_not_fit_is_refused(data: Any, where: Any, learner: Any, message: str) -> None:
    with pytest.raises(PraemiaError, match=message):
        simulate(where(), learner, 2, data=data())


def test_the_file_of_a_run_holds_its_data_in_a_black_box_alone(tmp_path: Path) -> None:
    run = simulate(line(str), "random", 2)
    run.save(tmp_path / "run.npz")
    assert praemia.Run.load(tmp_path / "run.npz").dataset.to_bytes() == run.dataset.to_bytes()
    simulate(envs.warehouse(2), "random", 2).save(tmp_path / "run.npz")
    with pytest.raises(PraemiaError, match=r"the counts of this run .* save run.dataset beside it"):
        _ = praemia.Run.load(tmp_path / "run.npz").dataset
    with pytest.raises(PraemiaError, match="'ucbvi' counts product states"):
        _ = simulate(line(), "ucbvi", 2).dataset


def test_explored_data_begins_a_run() -> None:
    for make in (line, lambda: line(str), lambda: envs.warehouse(2)):
        data = praemia.explore(make(), num_episodes=200)
        assert simulate(make(), "headroom", 10, data=data).returns.mean() > 0.4
