"""Policies to be seen: as text, as figures, at work in an episode."""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import praemia
from praemia import envs
from praemia.cli import execute
from praemia.errors import FileError, ModelError, ParameterError, PraemiaWarning
from praemia.files.writing import dump
from praemia.pictures.episodes import moments, save_gif, watched
from praemia.pictures.machine_graph import Annotated
from praemia.pictures.machine_layout import LIT, lay_out
from praemia.pictures.policy_page import UNVISITED, PolicyView, has_map, page_of, panel
from praemia.pictures.scene import Area, Arrow, Scene, Text
from praemia.tasks.task import Task

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def corridor() -> Task:
    """Three cells; the goal at the right end pays 1, once, and nothing slips."""
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    return envs.grid("S.g", legend={"g": "goal"}, machine=machine, horizon=2, slip=0.0, name="corridor")


def test_text_shows_arrows_visits_and_what_is_never_visited(corridor: Task) -> None:
    assert str(praemia.show(corridor)).splitlines() == [
        "corridor: the optimal policy, worth 1 per episode",
        "",
        "machine state 'out', 2.00 steps per episode",
        "",
        "+-------+-------+-------+",
        "|  S →      →       g   |",
        "| 1.00    1.00          |",
        "+-------+-------+-------+",
        "",
        "arrows: the action when a place is visited most; numbers: visits per episode; ·: never visited",
        "",
        "machine, from 'out' on",
        "  out → done  on goal | 1",
    ]


def test_a_wide_map_has_one_sign_for_each_cell_in_text() -> None:
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    wide = envs.grid("S" + 20 * "." + "g", legend={"g": "goal"}, machine=machine, horizon=21, slip=0.0, name="wide")
    row = next(line for line in str(praemia.show(wide)).splitlines() if line.startswith("|"))
    assert row == "| " + "   ".join([*(21 * ["→"]), "g"]) + " |"


def test_visits_are_not_discounted(corridor: Task) -> None:
    assert PolicyView.of(corridor.with_discount(0.5)).footprint.visits[0].tolist() == [1.0, 1.0, 0.0]


def test_a_policy_of_ones_own_is_shown_with_its_value(corridor: Task) -> None:
    policy = np.full((3, 2, 3), 0.0)[..., None].repeat(4, axis=3)
    policy[..., 1], policy[..., 3] = 0.75, 0.25  # right, mostly
    view = PolicyView.of(corridor.with_horizon(3), policy)
    # Right twice in three steps: on at once, or stay or come back once. From S: RR, LRR (left stays at S).
    assert view.value == pytest.approx(0.75**2 + 0.25 * 0.75**2)
    assert view.title == "corridor: a policy, worth 0.7031 per episode, 0.3 less than the optimum"
    assert view.footprint.mistakes.tolist() == [[True, True, False], [False] * 3]
    assert view.footprint.actions[0].tolist() == [1, 1, -1]
    np.testing.assert_allclose(view.footprint.visits[0], [1 + 0.25 + 0.25**2 + 0.75 * 0.25, 0.75 + 0.25 * 0.75, 0.0])


def test_the_action_of_a_place_is_that_of_the_step_at_which_it_is_visited_most(corridor: Task) -> None:
    # At the first step the agent is at S for certain, and goes up; later it is there less often each time, and goes on.
    policy = np.zeros((3, 2, 3, 4))
    policy[0, ..., 0] = 1.0  # up: the wall holds it back
    policy[1:, ..., 1], policy[1:, ..., 3] = 0.25, 0.75  # right, mostly left
    late = PolicyView.of(corridor.with_horizon(3), policy[[1, 1, 0]])
    assert PolicyView.of(corridor.with_horizon(3), policy).footprint.actions[0, 0] == 0
    assert late.footprint.actions[0, 0] == 3  # left, taken less often than it is not, but at the step with most visits
    fixed = np.array([1, 0, 0])[:, None, None].repeat(2, axis=1).repeat(3, axis=2)
    assert PolicyView.of(corridor.with_horizon(3), fixed).footprint.actions[0].tolist() == [1, 0, -1]


def test_a_run_is_shown_by_what_it_learned() -> None:
    task = envs.warehouse(size=3)
    run = praemia.simulate(task, praemia.Optimal(), num_episodes=5)
    assert PolicyView.of(task, run.learned_policy).value == pytest.approx(praemia.solve(task).value)
    assert f"a policy, worth {praemia.solve(task).value:.4g}" in str(praemia.show(task, run))


def test_a_task_whose_actions_are_no_moves_is_a_table_in_text() -> None:
    task = envs.make("random-30x4x3-0")
    view = PolicyView.of(task)
    rows = [line.split() for line in str(praemia.show(task)).split("machine state")[1].splitlines()[2:5]]
    most = np.argsort(-view.footprint.visits[0])[:3]
    assert [(int(o), int(a)) for o, a, _ in rows] == [(int(o), int(view.footprint.actions[0, o])) for o in most]


def texts(scene: Scene) -> list[str]:
    return [item.text for item in scene.items if isinstance(item, Text)]


def test_a_panel_has_a_grey_place_for_each_that_is_never_visited_and_an_arrow_for_each_move() -> None:
    view = PolicyView.of(envs.warehouse(size=3))
    for m in view.states:
        items = panel(view, m, 1.0).items
        grey = [(item.x, item.y) for item in items if isinstance(item, Area) and item.fill == UNVISITED]
        assert grey == [
            (spot.x, spot.y) for o, spot in enumerate(view.picture.spots) if view.footprint.visits[m, o] == 0.0
        ]
        arrows = {item.start: item.end for item in items if isinstance(item, Arrow)}
        assert len(arrows) == np.sum((view.footprint.actions[m] >= 0) & (view.footprint.actions[m] < 4))  # 4 is stay
        rights = [start for start, end in arrows.items() if end[0] > start[0]]
        assert len(rights) == np.sum(view.footprint.actions[m] == 1)


def test_a_page_has_a_panel_for_each_machine_state_that_matters() -> None:
    titles = texts(praemia.show(envs.make("warehouse-3")).scene)
    assert titles[0] == "warehouse-3: the optimal policy, worth 0.8618 per episode"
    assert [title for title in titles if title.startswith("machine state")] == [
        "machine state 'empty'",
        "machine state 'loaded'",  # in 'done' nothing is left to do
    ]


def test_cells_that_are_too_small_for_arrows_are_only_shaded() -> None:
    pages = [praemia.show(envs.warehouse(size, horizon=2)).scene for size in (20, 80)]
    assert [any(isinstance(item, Arrow) for item in page.items) for page in pages] == [True, False]
    assert all("S" in texts(page) for page in pages)


def test_a_grid_of_three_thousand_cells_is_only_shaded_and_its_key_has_no_dot() -> None:
    machine = praemia.MachineBuilder("out").edge("out", "goal", "there", reward=1).build()
    pages = {}
    for rows in (30, 38):  # 2,340 and 2,964 cells of 14.7 pixels
        lines = ["." * 78 for _ in range(rows)]
        drawing = "\n".join(["S" + lines[0][1:], *lines[1:-1], lines[-1][1:] + "G"])
        task = envs.grid(drawing, legend={"G": "goal"}, machine=machine, horizon=3, stay=True)
        pages[rows] = praemia.show(task).scene
    assert {rows: any(isinstance(item, Arrow) for item in page.items) for rows, page in pages.items()} == {
        30: True,
        38: False,
    }
    assert {rows: "stay" in texts(page) for rows, page in pages.items()} == {30: True, 38: False}


def test_only_tasks_with_moves_have_maps() -> None:
    assert [name for name in envs.names() if not has_map(envs.make(name))] == [
        "flower-20",
        "random-20x4x5-0",
        "generated-store-42",
    ]


def test_a_page_needs_no_matplotlib(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; import praemia; task = praemia.envs.warehouse(2);"
        "praemia.show(task).save('x.png'); praemia.show(task).save('x.svg');"
        "from praemia.pictures.episodes import save_gif; save_gif(praemia.rollout(task, praemia.solve(task)), 'x.gif')"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert {path.name for path in tmp_path.iterdir()} == {"x.png", "x.svg", "x.gif"}


def test_without_pillow_there_is_a_hint_and_svg_still_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.chdir(tmp_path)
    for name in ("x.png", "x.gif"):
        assert execute(["show", "warehouse-2", "-o", name]) == 2
        assert "pictures in pixels need Pillow" in capsys.readouterr().err
    assert execute(["show", "warehouse-2", "-o", "x.svg"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]


def test_the_places_of_panels_lie_where_the_map_has_them_and_within_the_page() -> None:
    for name in ("office-mail", "riverswim-15", "flower-20"):
        scene = praemia.show(envs.make(name)).scene
        for item in scene.items:
            if isinstance(item, Area):
                assert 0 <= item.x - item.width / 2 < item.x + item.width / 2 <= scene.width
                assert 0 <= item.y - item.height / 2 < item.y + item.height / 2 <= scene.height


@pytest.mark.parametrize("name", ["warehouse-2", "riverswim-5", "flower-3"])
def test_figures_are_whole_files(tmp_path: Path, name: str) -> None:
    picture = praemia.show(envs.make(name))
    for suffix in ("svg", "png", "txt"):
        picture.save(tmp_path / f"policy.{suffix}")
    root = ElementTree.parse(tmp_path / "policy.svg").getroot()
    assert root.tag == f"{SVG}svg"
    with Image.open(tmp_path / "policy.png") as image:
        assert image.size[0] > 300
    assert (tmp_path / "policy.txt").read_text(encoding="utf-8") == f"{picture}\n"
    assert picture._repr_svg_().startswith("<svg")


def test_what_is_left_out_is_said() -> None:
    view = PolicyView.of(envs.flower(loop=20))
    assert len(view.states) == 6
    visited = int(np.sum(view.footprint.visits.max(axis=1) > 0.0))
    assert view.hidden == visited - 6 > 0
    assert f"{view.hidden} more machine states are visited, less often." in str(praemia.show(view.task))
    assert view.left_out in " ".join(texts(page_of(view)))


def test_the_machine_is_laid_out_with_all_its_words() -> None:
    machine = envs.warehouse().machine
    layout = lay_out([Annotated(machine)])
    words = texts(layout.scene)
    assert set(machine.states) <= set(words)
    assert "delivery | 0.9, 1" in words
    for m, state in enumerate(machine.states):
        lit = [item for item in layout.lit(m) if isinstance(item, Area) and item.fill == LIT]
        place = next(item for item in layout.scene.items if isinstance(item, Text) and item.text == state)
        assert lit
        assert all(abs(item.x - place.x) < 1.0 and abs(item.y - place.y) < 5.0 for item in lit)


def test_a_state_that_is_drawn_with_others_lights_their_node() -> None:
    layout = lay_out([Annotated(envs.flower(loop=20).machine)])
    lit = [{item.text for item in layout.lit(m) if isinstance(item, Text)} for m in range(33)]
    assert ["centre" in words for words in lit] == [True] + [False] * 32
    assert all("loop-1-1 … loop-1-3" in words for words in lit[1:4])
    assert all("loop-5-1 … loop-5-20" in words for words in lit[13:])


def test_what_cannot_be_shown_is_refused(tmp_path: Path, corridor: Task) -> None:
    with pytest.raises(ParameterError, match=r"expected a file \.svg, \.png or \.txt"):
        praemia.show(corridor).save(tmp_path / "policy.pdf")
    with pytest.raises(ModelError, match=r"a policy of shape \(2,\)"):
        praemia.show(corridor, [0, 1])
    with pytest.raises(ModelError, match="expected a Task"):
        praemia.show("corridor")  # type: ignore[arg-type]
    kept = praemia.simulate(corridor, praemia.Optimal(), num_episodes=2)
    kept = replace(kept, final_policy=None, learned_policy=None)
    with pytest.raises(ModelError, match="kept without its policy"):
        praemia.show(corridor, kept)


def test_an_episode_is_a_gif_in_which_the_machine_is_lit(tmp_path: Path, corridor: Task) -> None:
    episode = praemia.rollout(corridor, praemia.solve(corridor).policy)
    told: list[tuple[int, int]] = []
    save_gif(episode, tmp_path / "episode.gif", lambda done, total: told.append((done, total)))
    with Image.open(io.BytesIO((tmp_path / "episode.gif").read_bytes())) as film:
        assert film.n_frames == 3  # the start and two steps
        frames = []
        for i in range(film.n_frames):
            film.seek(i)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
    assert told[-1] == (3, 3)
    lit = np.array([int(LIT[i : i + 2], 16) for i in (1, 3, 5)])
    centres = [np.argwhere(np.abs(frame - lit).sum(axis=2) < 30) for frame in frames]
    assert all(len(found) > 200 for found in centres)
    lower = [found[found[:, 0] > frames[0].shape[0] * 0.55] for found in centres]  # the machine, below the map
    assert lower[0][:, 1].mean() < lower[2][:, 1].mean() - 50  # from 'out' to 'done'


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["show", "warehouse-2"]) == 0
    assert capsys.readouterr().out == f"{praemia.show(envs.make('warehouse-2'))}\n"
    assert execute(["show", "warehouse-2", "-o", str(tmp_path / "x.svg")]) == 0
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<svg")
    assert execute(["show", "warehouse-2", "-o", str(tmp_path / "x.gif")]) == 0
    assert (tmp_path / "x.gif").read_bytes().startswith(b"GIF89a")
    capsys.readouterr()
    assert execute(["show", "warehouse-2", "--episode", "1"]) == 0
    task = envs.warehouse(size=2)
    assert capsys.readouterr().out == f"{praemia.rollout(task, praemia.solve(task).policy, seed=1)}\n"


def test_the_command_takes_runs_and_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = envs.warehouse(size=2)
    praemia.simulate(task, praemia.Optimal(), num_episodes=3).save(tmp_path / "run.npz")
    praemia.Policy(np.zeros((6, 3, 4), dtype=np.int8)).save(tmp_path / "policy.npz")
    assert execute(["show", "warehouse-2", "--policy", str(tmp_path / "run.npz")]) == 0
    assert f"a policy, worth {praemia.solve(task).value:.4g}" in capsys.readouterr().out
    assert execute(["show", "warehouse-2", "--policy", str(tmp_path / "policy.npz")]) == 0
    value = praemia.evaluate(task, np.zeros((6, 3, 4), dtype=int)).value
    assert f"a policy, worth {value:.4g} per episode" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "nowhere.npz"], "nowhere.npz"),
        (["--policy", "text.npz"], "text.npz: damaged, or not a policy or a run"),
        (["--policy", "other.npz"], "a policy of shape (1, 1, 1)"),
        (["--episode", "1", "-o", "x.svg"], "cannot play an episode into 'x.svg'"),
        (["--episode", "1", "-o", "ep"], "cannot play an episode into 'ep'"),
        (["-o", "x.pdf"], "cannot draw 'x.pdf'"),
    ],
)
def test_the_command_refuses_with_one_message(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.npz").write_text("no archive")
    praemia.Policy(np.zeros((1, 1, 1), dtype=int)).save("other.npz")
    before = sorted(tmp_path.iterdir())
    assert execute(["show", "warehouse-2", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert sorted(tmp_path.iterdir()) == before


def test_a_policy_file_is_read_back_and_anything_else_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for table in (rng.integers(0, 5, (4, 3, 2)), rng.dirichlet(np.ones(5), (4, 3, 2))):
        praemia.Policy(table, "a task").save(tmp_path / "policy.npz")
        again = praemia.Policy.load(tmp_path / "policy.npz")
        np.testing.assert_array_equal(again.table, table)
        assert again.task == "a task"
    praemia.simulate(envs.riverswim(), praemia.Optimal(), num_episodes=2).save(tmp_path / "run.npz")
    with pytest.raises(FileError, match="a praemia run; expected a praemia policy"):
        praemia.Policy.load(tmp_path / "run.npz")
    (tmp_path / "policy.npz").write_bytes((tmp_path / "policy.npz").read_bytes()[:-30])
    with pytest.raises(FileError, match="damaged, or not a policy"):
        praemia.Policy.load(tmp_path / "policy.npz")
    with pytest.raises(ModelError, match=r"a policy of shape \(2,\)"):
        praemia.Policy(np.zeros(2))


def test_a_randomised_policy_draws_by_its_probabilities() -> None:
    policy = praemia.Policy(np.array([[[[0.0, 1.0, 0.0]], [[0.2, 0.3, 0.5]]]]))
    random = np.random.default_rng(3)
    assert policy.action(0, 0, 0, random) == 1
    drawn = np.bincount([policy.action(0, 1, 0, random) for _ in range(4_000)], minlength=3) / 4_000
    np.testing.assert_allclose(drawn, [0.2, 0.3, 0.5], atol=0.035)  # more than four standard errors
    with pytest.raises(ParameterError, match="random="):
        policy.action(0, 0, 0)


def test_what_an_episode_has_earned_so_far_is_its_return() -> None:
    machine = praemia.RewardMachine.from_ltlf("F goal")
    task = envs.grid("S..g", legend={"g": "goal"}, machine=machine, horizon=3, slip=0.0)
    discounted = task.with_discount(0.5)
    episode = praemia.rollout(discounted, praemia.solve(discounted))
    assert episode.total_reward == 0.25
    assert [moment.line for moment in moments(episode)][-1].endswith("paid 1, which counts 0.25; 0.25 so far")
    plain = praemia.rollout(task, praemia.solve(task))
    assert [moment.line for moment in moments(plain)][-1].endswith("paid 1; 1 so far")


def test_a_gif_ends_when_nothing_can_happen_any_more(corridor: Task) -> None:
    longer = corridor.with_horizon(9)
    right = np.ones((9, 2, 3), dtype=int)
    assert len(watched(praemia.rollout(longer, right))) == 2
    assert len(watched(praemia.rollout(longer, 0 * right))) == 9


def test_a_machine_that_cannot_pay_is_shown_in_the_state_visited_most(tmp_path: Path) -> None:
    machine = praemia.MachineBuilder("idle").edge("idle", "goal", "idle").build()
    task = envs.grid("S.g", legend={"g": "goal"}, machine=machine, horizon=2, slip=0.0)
    picture = praemia.show(task)
    assert picture.view.states == (0,)
    picture.save(tmp_path / "policy.svg")
    assert "machine state 'idle', 2.00 steps per episode" in str(picture)


def test_a_gif_goes_on_where_random_pay_has_mean_0() -> None:
    even = praemia.Reward((-1.0, 1.0), (0.5, 0.5))
    machine = praemia.MachineBuilder("out").edge("out", "goal", "bet").edge("bet", "goal", "bet", reward=even).build()
    task = envs.grid("S.g", legend={"g": "goal"}, machine=machine, horizon=4, slip=0.0)
    assert len(watched(praemia.rollout(task, np.ones((4, 2, 3), dtype=int)))) == 4


def test_a_plan_a_run_a_policy_and_an_array_are_the_same_policy() -> None:
    task = envs.warehouse(size=2)
    plan, run = praemia.solve(task), praemia.simulate(task, praemia.Optimal(), num_episodes=2)
    for policy in (plan, run, praemia.Policy(plan.policy), plan.policy):
        assert praemia.evaluate(task, policy).value == pytest.approx(plan.value)
        assert praemia.occupancy(task, policy).pairs.sum() == pytest.approx(task.horizon)
        assert len(praemia.rollout(task, policy)) == task.horizon
        assert praemia.show(task, policy).view.value == pytest.approx(plan.value)


def test_a_plan_without_a_horizon_is_the_same_policy_for_all() -> None:
    task = envs.warehouse(size=2).with_discount(0.8).with_horizon(None)
    plan = praemia.solve(task)
    assert plan.policy.ndim == 2
    assert praemia.evaluate(task, plan).value == pytest.approx(plan.value)
    assert len(praemia.rollout(task, plan)) <= task.max_steps
    view = praemia.show(task, plan).view
    assert view.value == pytest.approx(plan.value)
    shown = view.footprint.actions >= 0
    np.testing.assert_array_equal(view.footprint.actions[shown], plan.policy[shown])


@pytest.mark.parametrize("wrong", ["best", {"a": 1}, object(), None])
def test_what_holds_no_policy_is_refused_by_all(corridor: Task, wrong: object) -> None:
    for function in (praemia.evaluate, praemia.occupancy, praemia.rollout):
        with pytest.raises(ModelError, match="a Policy, a Plan or a Run"):
            function(corridor, wrong)  # type: ignore[operator]


def test_a_policy_for_another_task_is_shown_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = envs.warehouse(size=2)
    table = praemia.solve(task).policy
    with pytest.warns(PraemiaWarning, match="made for 'elsewhere'.*'warehouse-2'"):
        praemia.show(task, praemia.Policy(table, "elsewhere"))
    run = praemia.simulate(task, praemia.Optimal(), num_episodes=2)
    with pytest.warns(PraemiaWarning, match="made for 'elsewhere'"):
        praemia.show(task, replace(run, task="elsewhere"))
    # A run that knows its task goes by what the task is: the same name may stand for another one.
    with pytest.warns(PraemiaWarning, match="made for another 'warehouse-2'"):
        praemia.show(task, replace(run, task_text=dump(task.with_horizon(5))))
    replace(run, task="elsewhere").save(tmp_path / "run.npz")
    assert execute(["show", "warehouse-2", "--policy", str(tmp_path / "run.npz")]) == 0
    assert capsys.readouterr().err.startswith("warning: this policy was made for 'elsewhere'")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for same in (run, praemia.Policy(table, task.name), praemia.Policy(table), table):
            praemia.show(task, same)
        praemia.show(task, replace(run, task="elsewhere", task_text=dump(task)))
        praemia.show(task, replace(run, task_text="environment: {name: warehouse-2}\n"))


@pytest.mark.parametrize("name", ["a $ b", "$x_{$", "<b> & 'c'", "Größe → ∞"])
def test_a_name_is_shown_as_it_is(tmp_path: Path, corridor: Task, name: str) -> None:
    task = Task(corridor.mdp, corridor.machine, 2, name)
    praemia.show(task).save(tmp_path / "policy.png")
    save_gif(praemia.rollout(task, praemia.solve(task)), tmp_path / "episode.gif")
    assert f"{name}: the optimal policy" in texts(page_of(PolicyView.of(task)))[0]


def test_the_command_plays_an_episode_by_the_policy_of_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = envs.warehouse(size=2)
    praemia.simulate(task, praemia.Optimal(), num_episodes=3).save(tmp_path / "run.npz")
    assert execute(["show", "warehouse-2", "--episode", "1", "--policy", str(tmp_path / "run.npz")]) == 0
    assert capsys.readouterr().out == f"{praemia.rollout(task, praemia.solve(task), seed=1)}\n"


@pytest.mark.parametrize(
    ("table", "task", "message"),
    [
        ([[1], [1, 2]], "", "rows differ in length"),
        ([[[-1]]], "", "below 0"),
        ([[[[np.nan, 1.0]]]], "", "NaN"),
        ([[[0]]], 3, "task=3; expected the name of a task"),
        (None, "", "a Policy, a Plan or a Run"),
    ],
)
def test_tables_that_are_no_policies_are_refused(table: Any, task: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        praemia.Policy(table, task)


@pytest.mark.parametrize("at", [(2, 0, 0), (0, -1, 0), (0, 0, 3), (0.5, 0, 0)])
def test_an_action_is_asked_for_within_the_table(at: Any) -> None:
    policy = praemia.Policy(np.zeros((2, 2, 3), dtype=int))
    assert policy.action(np.int64(1), 1, 2) == 0
    with pytest.raises(ParameterError, match="expected a whole number from 0 to"):
        policy.action(*at)
