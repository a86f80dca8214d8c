"""See a learner learn: the page holds what the run was, and a real browser plays it without a network."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from browser import Page, browser
from PIL import Image

import praemia
from praemia import envs
from praemia.cli import execute
from praemia.errors import ModelError, ParameterError, PraemiaError, SizeError
from praemia.pictures.colours import DARK, INK, LINE
from praemia.report.watch_page import MAX_PLANS, LearningPage, plans_to_show
from praemia.simulation.replay import replay

NUMBERS = "['number', 'episode', 'value', 'gap', 'regret'].map(id => document.getElementById(id).textContent)"
SLIDER = "document.getElementById('plan')"
PLAYS = "document.getElementById('play').textContent !== '▶'"


@pytest.fixture(scope="module")
def watched() -> praemia.Run:
    return praemia.simulate(envs.warehouse(size=3), praemia.UCBVIPRM(), num_episodes=300, seed=(0, 0))


@pytest.fixture(scope="module")
def shown(watched: praemia.Run) -> LearningPage:
    return praemia.watch(envs.warehouse(size=3), watched)


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


def test_a_run_of_ones_own_learner_is_watched() -> None:
    class Mine(praemia.Headroom):
        name = "mine"

    task = envs.warehouse(size=3)
    run = praemia.simulate(task, Mine(deviation_scale=0.5), num_episodes=40, seed=(0, 0))
    page = praemia.watch(task, run)
    assert page.title == f"mine learns {task.name}"
    assert [plan.view.value for plan in page.plans] == [
        plan.view.value for plan in praemia.watch(task, Mine(deviation_scale=0.5), 40).plans
    ]


def test_a_plan_shows_its_value_its_regret_and_where_it_goes(shown: LearningPage, watched: praemia.Run) -> None:
    numbers = [plan.number for plan in shown.plans]
    assert [plan.episode for plan in shown.plans] == watched.plan_episodes[numbers].tolist()
    assert shown.plans[0].regret == 0.0
    plan = shown.plans[-1]
    assert plan.number == watched.num_plans - 1
    assert plan.view.value == pytest.approx(watched.plan_values[-1], rel=1e-12)
    assert plan.regret == watched.regret[plan.episode - 1]
    assert watched.final_policy is not None
    visits = praemia.occupancy(shown.task, watched.final_policy).states[:-1].sum(axis=0)
    np.testing.assert_allclose(plan.view.visits, visits, rtol=1e-6)


def test_few_plans_are_all_shown_and_of_many_those_that_are_spaced_evenly_in_log() -> None:
    assert plans_to_show(envs.warehouse(3), np.array([0, 10, 1000])) == [0, 1, 2]
    every = np.arange(0, 100_000)
    numbers = plans_to_show(envs.warehouse(3), every)
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


@pytest.mark.parametrize("num_states", [1, 8])
def test_a_page_is_below_two_megabytes_whatever_the_plans_are(num_states: int) -> None:
    task, rng = large_task(num_states), np.random.default_rng(0)
    page = praemia.watch(task, praemia.simulate(task, praemia.Random(), num_episodes=1))
    shape, states = (num_states, task.num_observations), tuple(range(min(6, num_states)))
    plans = []
    for _ in plans_to_show(task, np.arange(10_000)):
        matters, mistakes = rng.random(shape) < 0.5, rng.random(shape) < 0.5
        view = replace(page.plans[0].view, visits=rng.random(shape), actions=rng.integers(0, 4, shape, np.int16))
        view = replace(view, matters=matters, mistakes=mistakes, states=states)
        plans.append(page.plans[0]._replace(view=view))
    assert len(replace(page, plans=tuple(plans)).html) < 2_000_000


def test_what_cannot_be_watched_is_said_before_it_is_played(
    watched: praemia.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    wide = envs.grid("S" + 10_000 * "." + "g", legend={"g": "goal"}, machine=machine, horizon=2)
    monkeypatch.setattr("praemia.report.watch_page.simulate", None)
    with pytest.raises(SizeError, match="at most 10,000"):
        praemia.watch(wide)
    with pytest.raises(ModelError, match="expected a Task"):
        praemia.watch("warehouse-3")  # type: ignore[arg-type]
    with pytest.raises(PraemiaError, match="cannot be repeated: played again it differs"):
        praemia.watch(envs.warehouse(size=3), replace(watched, seed=(0, 1)))
    with pytest.raises(ParameterError, match="played again as it was"):
        praemia.watch(envs.warehouse(size=3), watched, num_episodes=10)
    with pytest.raises(ParameterError, match=r"expected a file \.html"):
        praemia.watch(envs.warehouse(size=3), watched).save("page.pdf")


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


@pytest.fixture(scope="module")
def page(shown: LearningPage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = tmp_path_factory.mktemp("watch") / "page.html"
    shown.save(path)
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


def test_the_keys_step_through_the_plans_and_the_page_says_what_each_is(page: Page, shown: LearningPage) -> None:
    press(page, "Home")
    press(page, "ArrowRight")
    press(page, "ArrowRight")
    press(page, "ArrowLeft")
    assert page.ask(f"+{SLIDER}.value") == 1
    plan = shown.plans[1]
    number, episode, value, _, regret = page.ask(NUMBERS)
    assert (int(number), int(episode)) == (plan.number + 1, plan.episode + 1)
    assert (value, regret) == (f"{plan.view.value:.4g}", f"{plan.regret:.4g}")
    press(page, "End")
    assert page.ask(f"+{SLIDER}.value") == len(shown.plans) - 1
    assert not page.ask(PLAYS)


def test_the_slider_shows_the_maps_of_a_plan(page: Page, shown: LearningPage) -> None:
    at = len(shown.plans) // 2
    page.ask(f"{SLIDER}.value = {at}; {SLIDER}.dispatchEvent(new Event('input')); 0")
    view = shown.plans[at].view
    maps = "[...document.querySelectorAll('#maps figure')]"
    captions = page.ask(f"{maps}.map(map => map.querySelector('figcaption').textContent)")
    steps = view.visits[list(view.states)].sum(axis=1).tolist()
    names = [view.task.machine.states[m] for m in view.states]
    pairs = zip(names, steps, strict=True)
    assert captions == [f"machine state {name}, {own:.2f} steps per episode" for name, own in pairs]
    frames = page.ask(f"{maps}.map(map => map.querySelectorAll('rect[stroke=\"#d55e00\"]').length)")
    assert frames == view.mistakes[list(view.states)].sum(axis=1).tolist()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_light_or_dark_as_the_reader_wants(page: Page, scheme: str) -> None:
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    colour = page.ask("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, colour[4:-1].split(","))) < 64) == (scheme == "dark")
    for name, light in (("fill", INK), ("stroke", LINE)):
        drawn = page.ask(f"getComputedStyle(document.querySelector('.drawing svg [{name}=\"{light}\"]')).{name}")
        expected = DARK[light] if scheme == "dark" else light
        assert drawn == f"rgb({', '.join(str(int(expected[i : i + 2], 16)) for i in (1, 3, 5))})"
    page.ask("document.querySelector('.drawing img').scrollIntoView({block: 'center'})")
    box = page.ask("{ const b = document.querySelector('.drawing img').getBoundingClientRect(); [b.x + 3, b.y + 3] }")
    shot = Image.open(io.BytesIO(base64.b64decode(page.call("Page.captureScreenshot", format="png")["data"])))
    corner = shot.convert("RGB").getpixel((round(box[0]), round(box[1])))
    assert corner == tuple(map(int, colour[4:-1].split(",")))  # the machine lies on the colour of the page


def test_the_page_fits_a_phone_and_asks_for_nothing(page: Page) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True)
    assert page.ask("document.documentElement.scrollWidth") <= 390
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith(("file:", "data:"))] == []


def test_a_notebook_shows_the_page_in_a_frame(watched: praemia.Run) -> None:
    frame = praemia.watch(envs.warehouse(size=3), watched)._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
