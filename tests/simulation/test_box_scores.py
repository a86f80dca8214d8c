"""Black boxes are evaluated, played, compared and shown like tasks; what is sampled or estimated says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_walks import HORIZON, LAST, Line, arrival, box
from strategies import machines

import praemia
from praemia import BlackBox, RewardMachine, envs
from praemia._support.text_tables import number
from praemia.errors import PraemiaError
from praemia.exploration.estimated_task import EstimatedTask
from praemia.pictures.policy_page import PolicyView
from praemia.planning.sampled import interval_of, return_range
from praemia.report.charts import return_chart


class Forward:
    """An agent that walks; it keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> Any:
        self.shown.append((observation, state, bool(episode_start[0])))
        return np.array(1), (0 if state is None else state + 1)


class Pictured(Line):
    """The line, rendered as a row of pixels."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012
    render_mode = "rgb_array"

    def render(self) -> Any:
        image = np.zeros((10, 40, 3), dtype=np.uint8)
        image[:, 10 * self.place : 10 * self.place + 10] = 255
        return image


def car(bins: Any = (4, 3)) -> BlackBox:
    env = gymnasium.make("MountainCar-v0")
    labels = praemia.labels.predicates({"left": "position < -0.6"}, names=["position", "velocity"])
    cells = envs.cells(env.observation_space, bins, names=["position", "velocity"], units=["m", "m/step"])
    return BlackBox(env, labels, RewardMachine.from_ltlf("F left"), 40, cells, until_done=True)


# Evaluation


def test_a_policy_an_array_an_agent_and_a_function_are_scored_alike() -> None:
    walk = np.ones((HORIZON, 2, LAST + 1), dtype=int)
    own, agent = box(arrival(2.0)), Forward()
    for policy in (walk, praemia.Policy(walk, own), agent, lambda o, m, h: 1, praemia.simulate(own, "headroom", 60)):
        found = praemia.evaluate(own, policy, num_episodes=5)
        assert found.value == 2.0
        assert found.returns.tolist() == [2.0] * 5
    assert "sampled in 5 episodes" in repr(found)
    assert [step[1:] for step in agent.shown[:4]] == [(None, True), (0, False), (1, False), (None, True)]
    assert agent.shown[1][0] == {"observation": 1, "machine_state": 0}


def test_episodes_are_the_same_for_every_policy_and_none_of_training() -> None:
    seeds: list[Any] = []

    class Noted(Line):
        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            seeds.append(seed)
            return super().reset(seed=seed)

    own = BlackBox(Noted(), {LAST: "last"}, arrival(), HORIZON)
    praemia.simulate(own, "random", 3)
    trained, seeds[:] = set(seeds), []
    for action in (0, 1):
        praemia.evaluate(own, lambda o, m, h, action=action: action, num_episodes=4, seed=7)
    assert seeds[:4] == seeds[4:]
    assert len(set(seeds)) == 4
    assert not trained & set(seeds)


def test_equal_returns_are_not_certain() -> None:
    """An exact binomial bound: 100 successes of 100 leave a failure rate of up to 3.6%."""
    low, high = praemia.evaluate(box(arrival()), np.ones((HORIZON, 2, 4), dtype=int)).interval
    assert (low, high) == (pytest.approx(0.025 ** (1 / 100)), 1.0)
    assert interval_of(np.zeros(10), (-1.0, 3.0)) == pytest.approx((-(1 - 0.025**0.1), 3 * (1 - 0.025**0.1)))


def test_three_episodes_have_no_interval_though_they_are_equal() -> None:
    walk = np.ones((HORIZON, 2, LAST + 1), dtype=int)
    for count in (1, 2, 3):
        assert np.isnan(praemia.evaluate(box(arrival()), walk, num_episodes=count).interval).all()
    assert not np.isnan(praemia.evaluate(box(arrival()), walk, num_episodes=4).interval).any()


@given(machines(), st.integers(1, 4), st.sampled_from([1.0, 0.5]))
def test_returns_lie_in_the_range_of_the_machine(machine: RewardMachine, horizon: int, discount: float) -> None:
    """By going through all that the machine can do, and ending anywhere."""
    own = BlackBox(Line(), lambda o, a, z, i: (), machine, horizon, discount=discount)
    low = high = 0.0
    front = [(machine.initial, 0.0, 0.0, 1.0)]
    low, high = np.inf, -np.inf
    for _ in range(horizon):
        front = [
            (out.target, least + weight * out.reward.lowest, most + weight * out.reward.highest, weight * discount)
            for state, least, most, weight in front
            for outcomes in machine.possible_outcomes(state)
            for out in outcomes
        ]
        low, high = min(low, *(way[1] for way in front)), max(high, *(way[2] for way in front))
        best: dict[str, Any] = {}
        for state, least, most, weight in front:
            before = best.get(state, (state, np.inf, -np.inf, weight))
            best[state] = (state, min(least, before[1]), max(most, before[2]), weight)
        front = list(best.values())
    assert return_range(own) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda own: praemia.evaluate(own, [0]), "a policy of shape"),
        (lambda own: praemia.evaluate(own, "best"), "a Policy, a Plan or a Run"),
        (lambda own: praemia.evaluate(own, lambda o: 0), "expected an agent with predict"),
        (lambda own: praemia.evaluate(own, praemia.solve(envs.warehouse(2))), "a policy for 4 obs|machine states"),
        (lambda own: praemia.evaluate(own, np.zeros((8, 2, 4), dtype=int), num_episodes=0), "num_episodes=0"),
        (lambda own: praemia.evaluate(envs.warehouse(2), np.zeros((6, 3, 4), dtype=int), num_episodes=9), "is exact"),
        (lambda own: praemia.rollout(own, np.zeros((8, 2, 4), dtype=int)).save("x.gif"), 'render_mode="rgb_array"'),
        (lambda own: praemia.rollout(own, np.zeros((8, 2, 4), dtype=int)).save("x.avi"), "expected a file .gif"),
        (lambda own: praemia.show(own), "is known by what was counted alone; give a Run"),
        (lambda own: praemia.show(own, praemia.simulate(envs.warehouse(2), "random", 2)), "another machine"),
        (
            lambda own: praemia.watch(own, praemia.simulate(envs.warehouse(2), "random", 2)),
            "cannot be repeated|another",
        ),
        (
            lambda own: praemia.compare(own, ["random"], 3, num_runs=1, jobs=2),
            "cannot be made again in another process",
        ),
        (lambda own: praemia.compare(lambda: 3, ["random"], 3, num_runs=1), "the function made 3"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(ask: Any, message: str) -> None:
    with pytest.raises(PraemiaError, match=message):
        ask(box(arrival()))


# Episodes


def test_a_rollout_is_in_the_environments_own_terms() -> None:
    run = praemia.simulate(car(), "headroom", 20)
    episode = praemia.rollout(car(), run, seed=3)
    first, second = episode.steps[:2]
    assert first.observation.shape == (2,)
    np.testing.assert_array_equal(first.next_observation, second.observation)
    assert episode.total_reward == sum(step.reward for step in episode)
    assert str(episode).splitlines()[0].split() == [
        "step",
        "observation",
        "action",
        "label",
        "reward",
        "machine",
        "state",
    ]
    assert [step.action for step in praemia.rollout(car(), run, seed=3)] == [step.action for step in episode]


def test_an_episode_is_saved_as_the_environment_renders_it(tmp_path: Path) -> None:
    from PIL import Image

    own = BlackBox(Pictured(), {LAST: "last"}, arrival(), HORIZON, until_done=True)
    episode = praemia.rollout(own, np.ones((HORIZON, 2, 4), dtype=int))
    episode.save(tmp_path / "walk.gif")
    with Image.open(tmp_path / "walk.gif") as image:
        assert image.n_frames == LAST + 1
        for place in range(image.n_frames):
            image.seek(place)
            assert np.asarray(image.convert("L"))[5, 10 * place + 5] > 200
    task = envs.warehouse(2)
    praemia.rollout(task, praemia.solve(task)).save(tmp_path / "task.gif")
    assert (tmp_path / "task.gif").stat().st_size > 0


# Comparison


def test_learners_are_compared_by_their_returns() -> None:
    result = praemia.compare(box(arrival()), ["headroom", "random"], 40, num_runs=4, seed=5)
    assert [series.title for series in result.series] == ["headroom", "random"]
    for series, evaluations in zip(result.series, result.evaluations, strict=True):
        for place, (run, own) in enumerate(zip(series.runs, evaluations, strict=True)):
            alone = praemia.simulate(box(arrival()), series.title, 40, (5, place))
            np.testing.assert_array_equal(run.returns, alone.returns)
            same = praemia.evaluate(box(arrival()), alone, seed=place)
            np.testing.assert_array_equal(own.returns, same.returns)
    assert result.table.header[0] == "learner"
    assert [row[0] for row in result.table.rows] == ["headroom", "random"]
    values = [own.value for evaluations in result.evaluations for own in evaluations]
    assert result.to_frame()["policy_value"].tolist() == values
    assert [line.split()[0] for line in str(result.figure).splitlines()[1:]] == ["headroom", "random"]
    assert "sampled" in result._repr_html_()
    assert "who is higher" in str(result)


def made_line() -> BlackBox:
    return box(arrival())


def test_processes_play_the_same_runs() -> None:
    """With a function that makes the box, and with an environment that can be made again."""
    for source in (made_line, car()):
        one, two = (praemia.compare(source, ["random", "headroom"], 10, num_runs=2, jobs=jobs) for jobs in (1, 2))
        pd.testing.assert_frame_equal(*(each.to_frame().drop(columns="seconds") for each in (one, two)))
        for first, second in zip(one.series, two.series, strict=True):
            for run, same in zip(first.runs, second.runs, strict=True):
                np.testing.assert_array_equal(run.returns, same.returns)


def test_a_comparison_in_a_box_that_is_data_is_kept(tmp_path: Path) -> None:
    result = praemia.compare(car(), ["random", "headroom"], 10, num_runs=2)
    result.save(tmp_path / "runs")
    kept = praemia.load_runs(tmp_path / "runs").to_frame()
    assert sorted(kept["mean_return"]) == sorted(result.to_frame()["mean_return"])
    with pytest.raises(PraemiaError):
        praemia.compare(box(arrival()), ["random"], 3, num_runs=1).save(tmp_path / "none")
    assert not (tmp_path / "none").exists()


# The estimated model


def view_of(own: BlackBox, run: praemia.Run) -> PolicyView:
    estimate = EstimatedTask(own, run)
    return PolicyView.of(estimate, estimate.policy(run))


def test_the_estimated_model_is_what_was_counted() -> None:
    """In the line everything is deterministic: the estimate is the truth where it was tried, else the least."""
    own = box(arrival(3.0, moving=-0.5))
    run = praemia.simulate(own, "ucbvi-prm", 200)
    view = view_of(own, run)
    assert "Line, estimated from 200 episodes" in view.title
    best = praemia.evaluate(own, run, num_episodes=1).value
    assert view.value == pytest.approx(best) == pytest.approx(3.0 - 2 * 0.5)
    few = praemia.simulate(own, "headroom", 1)
    view = view_of(own, few)
    assert view.value <= best + 1e-9


def test_cells_of_two_numbers_are_a_map_with_axes(tmp_path: Path) -> None:
    run = praemia.simulate(car(), "headroom", 15)
    drawing = praemia.show(car(), run)
    view = view_of(car(), run)
    across, up = view.picture.axes
    assert (across.name, up.name) == ("position (m)", "velocity (m/step)")
    assert across.borders == pytest.approx((-1.2, -0.75, -0.3, 0.15, 0.6))
    met = np.flatnonzero(run.policy.met)  # a cell that was never met is blank
    assert [(spot.x, spot.y) for spot in view.picture.spots] == [(o // 3 + 0.5, 2.5 - o % 3) for o in met]
    drawing.save(tmp_path / "car.svg")
    text = (tmp_path / "car.svg").read_text()
    for word in ("position (m)", "velocity (m/step)", "estimated from 15 episodes"):
        assert word in text


def test_what_was_never_tried_has_no_arrow() -> None:
    """A pair never tried has the least value: in a machine that charges for each step all are as bad."""
    machine = praemia.MachineBuilder("a", propositions=("last",)).edge("a", "true", "a", reward=-1).build()
    own = BlackBox(Line(), {LAST: "last"}, machine, HORIZON)
    run = praemia.simulate(own, "random", 1)
    table = np.argmin(run.dataset.visits, axis=1)[None, None].repeat(HORIZON, axis=0)
    from dataclasses import replace

    other = replace(run, policy=praemia.Policy(table, own))
    untried = run.dataset.visits[np.arange(4), table[0, 0]] == 0
    view = view_of(own, other)
    visited = view.actions[0] >= 0
    assert (untried[view.task.kept] & visited).any()
    np.testing.assert_array_equal(view.untried[0], untried[view.task.kept] & visited)
    assert "?: the action there was never tried" in str(praemia.show(own, other))
    assert view.value == pytest.approx(-HORIZON)


def test_other_observations_are_a_graph_of_those_that_were_met(tmp_path: Path) -> None:
    own = BlackBox(Line(), {LAST: "last"}, arrival(), HORIZON, encode=lambda o: (o, "x"), num_observations=500)
    run = praemia.simulate(own, "headroom", 30)
    view = view_of(own, run)
    assert view.task.num_observations == LAST + 1
    assert view.picture.links == ((0, 1), (1, 2), (2, 3))
    assert view.value == pytest.approx(1.0)
    assert {f"({o}, 'x')" for o in (1, 2)} < view.picture.legend.keys()  # what their indices stand for
    run.save(tmp_path / "run.npz")
    run.policy.save(tmp_path / "policy.npz")
    again, policy = praemia.Run.load(tmp_path / "run.npz"), praemia.Policy.load(tmp_path / "policy.npz")
    assert again.to_bytes() == run.to_bytes()
    assert str(praemia.show(own, again)) == str(praemia.show(own, run))  # a file of a run holds what it counted
    assert "(2, 'x')" in view_of(own, policy).picture.legend  # and a policy's its codes


def test_a_learner_is_watched_in_the_estimate(tmp_path: Path) -> None:
    page = praemia.watch(car(), "ucbvi-prm", 15)
    assert page.title == "ucbvi-prm learns MountainCar-v0, estimated from 15 episodes"
    assert len(page.plans) == page.run.num_plans
    page.save(tmp_path / "car.html")
    text = (tmp_path / "car.html").read_text()
    assert "mean return before it" in text
    assert "those of the model that the whole run estimates" in text
    again = praemia.watch(car(), praemia.simulate(car(), "ucbvi-prm", 15, (0, 0)))
    assert [plan.view.value for plan in again.plans] == [plan.view.value for plan in page.plans]
    data = praemia.simulate(car(), "random", 5).dataset
    with pytest.raises(PraemiaError, match="began with data"):
        praemia.watch(car(), praemia.simulate(car(), "ucbvi-prm", 5, data=data))


def test_a_run_is_plotted_with_a_moving_mean() -> None:
    run = praemia.simulate(box(arrival()), "headroom", 40)
    (curve,) = return_chart(run).curves
    plain = [run.returns[max(0, k - 4) : k].mean() for k in range(1, 41)]
    assert curve.y == pytest.approx([plain[int(k) - 1] for k in curve.x])
    assert str(run.plot()).split()[-1] == number(plain[-1])
