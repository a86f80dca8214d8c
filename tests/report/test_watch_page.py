"""See a learner learn: the page holds what the run was, and a real browser plays it without a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import Page, browser

import praemia
from praemia import envs
from praemia.cli import execute
from praemia.errors import ModelError, ParameterError, PraemiaError, SizeError
from praemia.pictures.footprints import NEVER, Footprint
from praemia.pictures.learning import MAX_PLANS, LearningView, most_plans, plans_to_show
from praemia.report.watch_page import LearningPage
from praemia.simulation.replay import replay

NUMBERS = "['number', 'episode', 'value', 'lacks', 'regret'].map(id => document.getElementById(id).textContent)"
SLIDER = "document.getElementById('plan')"
PLAYS = "document.getElementById('play').textContent !== '▶'"


@pytest.fixture(scope="module")
def watched() -> praemia.Run:
    return praemia.simulate(envs.warehouse(size=3), praemia.UCBVIPRM(), num_episodes=300, seed=(0, 0))


@pytest.fixture(scope="module")
def view(watched: praemia.Run) -> LearningView:
    return praemia.watch(envs.warehouse(size=3), watched).view


@pytest.mark.parametrize("name", ["headroom", "ucbvi", "psrl", "q-learning", "random"])
def test_a_run_is_repeated_plan_by_plan(name: str) -> None:
    task, learner = envs.make("warehouse-3"), praemia.learners.make(name)
    run = praemia.simulate(task, learner, num_episodes=120, seed=3)
    numbers = list(range(0, run.num_plans, 7))
    values = [praemia.evaluate(task, policy).value for policy in replay(task, learner, run, numbers)]
    np.testing.assert_allclose(values, run.plan_values[numbers], rtol=0, atol=1e-12)


def test_a_run_of_so_many_steps_is_repeated_too() -> None:
    task, learner = envs.make("office-coffee").with_until_done(), praemia.UCBVIPRM()
    run = praemia.simulate(task, learner, num_steps=4_000, seed=1)
    *_, last = replay(task, learner, run, [0, run.num_plans - 1])
    np.testing.assert_array_equal(last, run.final_policy)


def test_what_is_not_the_run_is_refused(watched: praemia.Run) -> None:
    other = replace(watched, seed=(0, 1))
    with pytest.raises(PraemiaError, match="cannot be repeated: played again it differs"):
        praemia.watch(envs.warehouse(size=3), other)


def test_a_plan_shows_its_value_its_regret_and_where_it_goes(view: LearningView, watched: praemia.Run) -> None:
    assert [plan.episode for plan in view.plans] == watched.plan_episodes[[plan.number for plan in view.plans]].tolist()
    assert view.plans[0].regret == 0.0
    plan = view.plans[-1]
    assert plan.number == watched.num_plans - 1
    assert plan.value == watched.plan_values[-1]
    assert plan.regret == watched.regret[plan.episode - 1]
    assert watched.final_policy is not None
    steps = praemia.occupancy(view.task, watched.final_policy).states[:-1]
    np.testing.assert_allclose(plan.footprint.visits, steps.sum(axis=0), rtol=1e-6)
    gainful = np.where(praemia.solve(view.task).values[:-1] > 0.0, steps, 0.0)
    for m, o in np.argwhere(gainful.sum(axis=0) > 1e-6):
        assert plan.footprint.actions[m, o] == watched.final_policy[gainful[:, m, o].argmax(), m, o]
    assert (plan.footprint.actions[gainful.sum(axis=0) == 0] == -1).all()


def test_few_plans_are_all_shown_and_of_many_those_that_are_spaced_evenly_in_log() -> None:
    assert plans_to_show(np.array([0, 10, 1000])) == [0, 1, 2]
    every = np.arange(0, 100_000)
    numbers = plans_to_show(every)
    assert numbers[:3] == [0, 1, 2]
    assert numbers[-1] == every[-1]
    assert 40 < len(numbers) <= MAX_PLANS
    gaps = np.diff(np.log(np.array(numbers[20:]) + 1.0))
    assert gaps.max() < 2.0 * gaps.min()


def large_task(num_states: int) -> praemia.Task:
    """Return a grid just below 10,000 cells, with a machine that counts visits of the goal."""
    builder = praemia.MachineBuilder("0")
    for m in range(num_states):
        builder.edge(str(m), "goal", str((m + 1) % num_states), reward=1)
    text = "\n".join(["S" + 98 * ".", *(97 * [99 * "."]), 98 * "." + "g"])
    return envs.grid(text, legend={"g": "goal"}, machine=builder.build(), horizon=3)


@pytest.mark.parametrize(("num_states", "num_plans"), [(1, 60), (8, 20)])
def test_a_page_is_below_two_megabytes_whatever_the_plans_are(num_states: int, num_plans: int) -> None:
    task, rng = large_task(num_states), np.random.default_rng(0)
    run = praemia.simulate(task, praemia.Random(), num_episodes=1)
    view = praemia.watch(task, run).view
    shape = (num_states, task.num_observations)
    drawn = [
        Footprint(rng.random(shape), rng.integers(0, 4, shape, np.int16), rng.random(shape) < 0.5, 0.1)
        for _ in range(num_plans)
    ]
    plans = tuple(view.plans[0]._replace(footprint=item) for item in drawn)
    states = tuple(range(min(6, num_states)))
    assert len(LearningPage(replace(view, plans=plans, states=states)).html) < 2_000_000
    assert len(plans_to_show(np.arange(10_000), most_plans(task))) <= num_plans


def test_a_task_that_is_too_large_is_refused_before_it_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    wide = envs.grid("S" + 10_000 * "." + "g", legend={"g": "goal"}, machine=machine, horizon=2)
    monkeypatch.setattr("praemia.report.watch_page.simulate", None)
    with pytest.raises(SizeError, match="at most 10,000"):
        praemia.watch(wide)


def test_what_cannot_be_watched_is_said(watched: praemia.Run) -> None:
    with pytest.raises(ParameterError, match="expected a Task"):
        praemia.watch("warehouse-3")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="played again as it was"):
        praemia.watch(envs.warehouse(size=3), watched, num_episodes=10)
    with pytest.raises(ParameterError, match=r"expected a file \.html"):
        praemia.watch(envs.warehouse(size=3), watched).save("page.pdf")
    box = praemia.BlackBox(envs.TaskEnv(envs.riverswim()), lambda o, a, z, info: (), envs.riverswim().machine, 10)
    with pytest.raises(ModelError, match="does not show its kernel"):
        praemia.watch(box)  # type: ignore[arg-type]


def test_the_command_writes_the_page_of_the_first_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--learner", "ucbvi-prm", "--set", "bonus_scale=0.01", "--episodes", "200", "--seed", "4"]
    assert execute(["watch", "riverswim-5", *options, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["file"] == "riverswim-5-ucbvi-prm.html"
    assert Path(record["file"]).stat().st_size < 2_000_000
    assert execute(["run", "riverswim-5", *options, "--runs", "1", "--out", "kept", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["learners"]
    assert row["regret"] == [record["regret"]]
    (stored,) = Path("kept").rglob("run-*.npz")
    assert execute(["watch", "riverswim-5", "--run", str(stored), "-o", "again.html", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again == record | {"file": "again.html"}
    assert execute(["watch", "riverswim-5", "--run", str(stored), "--episodes", "5"]) == 2
    assert "--run replays a stored run" in capsys.readouterr().err
    assert execute(["watch", "riverswim-5", "--run", str(stored), "--learner", "headroom"]) == 2
    assert "a run of ucbvi-prm" in capsys.readouterr().err
    assert execute(["watch", "riverswim-10", "--run", str(stored)]) == 2
    assert "the task or the learner is not the one that it was made with" in capsys.readouterr().err
    assert execute(["watch", "riverswim-5", "-o", "page.svg"]) == 2
    assert "expected a file .html" in capsys.readouterr().err


@pytest.fixture(scope="module")
def page(view: LearningView, watched: praemia.Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("watch") / "page.html"
    praemia.watch(envs.warehouse(size=3), watched).save(path)
    with browser(tmp_path_factory.mktemp("profile")) as page:
        page.open(path)
        page.wait_until("document.body.dataset.ready === 'yes'")
        yield page


def press(page: Page, key: str) -> None:
    for kind in ("keyDown", "keyUp"):
        page.call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if key == " " else {}))


def test_the_browser_plays_by_itself_and_stops_when_asked(page: Page) -> None:
    page.wait_until(f"+{SLIDER}.value > 0")
    assert page.ask(PLAYS)
    press(page, " ")
    assert not page.ask(PLAYS)


def test_the_keys_step_through_the_plans_and_the_page_says_what_each_is(page: Page, view: LearningView) -> None:
    press(page, "Home")
    press(page, "ArrowRight")
    press(page, "ArrowRight")
    press(page, "ArrowLeft")
    assert page.ask(f"+{SLIDER}.value") == 1
    plan = view.plans[1]
    number, episode, value, _, regret = page.ask(NUMBERS)
    assert (int(number), int(episode)) == (plan.number + 1, plan.episode + 1)
    assert (value, regret) == (f"{plan.value:.4g}", f"{plan.regret:.4g}")
    press(page, "End")
    assert page.ask(f"+{SLIDER}.value") == len(view.plans) - 1
    assert not page.ask(PLAYS)


def test_the_slider_draws_the_policy_in_every_place_that_is_visited(page: Page, view: LearningView) -> None:
    at = len(view.plans) // 2
    page.ask(f"{SLIDER}.value = {at}; {SLIDER}.dispatchEvent(new Event('input')); 0")
    plan = view.plans[at]
    for number, m in enumerate(view.states):
        panel = f"document.querySelectorAll('.panels svg')[{number}]"
        visited = page.ask(f"[...{panel}.querySelector('.cells').children].map(c => c.classList.contains('visited'))")
        assert visited == (plan.footprint.visits[m] > NEVER).tolist()
        assert page.ask(f"{panel}.querySelector('.actions').children.length") == int(
            (plan.footprint.actions[m] >= 0).sum()
        )
        assert page.ask(f"{panel}.querySelector('.losses').children.length") == int(plan.footprint.mistakes[m].sum())


def test_the_page_fits_a_phone_and_asks_for_nothing(page: Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    assert page.ask("document.documentElement.scrollWidth") <= 390
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith(("file:", "data:"))] == []


def test_a_notebook_shows_the_page_in_a_frame(watched: praemia.Run) -> None:
    frame = praemia.watch(envs.warehouse(size=3), watched)._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
