"""Policies to be seen: as text, as pages, at work in an episode."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import praemia
from praemia import envs
from praemia.cli import execute
from praemia.errors import ModelError, ParameterError, PraemiaWarning
from praemia.files.writing import dump
from praemia.pictures.colours import FAINT_ON_DARK, LIT, UNVISITED
from praemia.pictures.episodes import save_gif, story_of, watched
from praemia.pictures.policy_page import PolicyView, panel
from praemia.pictures.scene import Area, Item, Line, Scene, Text
from praemia.tasks.task import Task

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def corridor() -> Task:
    """Three cells; the goal at the right end pays 1, once, and nothing slips."""
    machine = praemia.MachineBuilder("out").edge("out", "goal", "done", reward=1).build()
    return envs.grid("S.g", legend={"g": "goal"}, machine=machine, horizon=2, slip=0.0, name="corridor")


def texts(scene: Scene) -> list[str]:
    return [item.text for item in scene.items if isinstance(item, Text)]


def arrows(items: tuple[Item, ...]) -> list[Line]:
    return [item for item in items if isinstance(item, Line) and len(item.points) == 7]


def test_text_is_a_map_with_arrows_for_each_machine_state(corridor: Task) -> None:
    assert str(praemia.show(corridor)).splitlines() == [
        "corridor: the optimal policy, value 1 per episode",
        "",
        "machine state 'out', 2.00 steps per episode",
        "",
        "+---+---+---+",
        "|S→   →   g |",
        "+---+---+---+",
        "",
        "in a place: its mark and the action when it is visited most; ·: never visited",
    ]
    left = str(praemia.show(corridor, np.full((2, 2, 3), 3))).splitlines()
    assert left[5] == "|S←!  ·   g |"
    assert left[-1] == "!: here the policy loses value against the optimum"


def test_actions_that_are_no_moves_stand_in_the_text_by_name() -> None:
    view = PolicyView.of(envs.make("random-30x4x3-0"))
    words = str(praemia.show(view.task)).split("machine state")[1].split()
    for o in np.flatnonzero(view.actions[0] >= 0):
        assert f"{o}:{view.actions[0, o]}" in words


def test_visits_are_not_discounted_however_far_the_horizon(corridor: Task) -> None:
    assert PolicyView.of(corridor.with_discount(0.5)).visits[0].tolist() == [1.0, 1.0, 0.0]
    far = envs.warehouse(3, horizon=1_100)  # 0.5 ** 1,099 is 0
    discounted, plan = far.with_discount(0.5), praemia.solve(far.with_discount(0.5))
    for policy in (None, np.ones((1_100, 3, 9), dtype=int)):
        table = plan.policy if policy is None else policy
        steps = PolicyView.of(discounted, policy)
        np.testing.assert_allclose(steps.visits, praemia.occupancy(far, table).states[:-1].sum(axis=0), rtol=1e-12)
        loss = plan.value - praemia.evaluate(discounted, table).value
        assert steps.gap == pytest.approx(loss, abs=1e-12)
        assert praemia.show(discounted, policy).svg
    assert "plans" in repr(praemia.watch(discounted, "random", num_episodes=3))


def test_a_policy_of_ones_own_is_shown_with_its_value(corridor: Task) -> None:
    policy = np.full((3, 2, 3), 0.0)[..., None].repeat(4, axis=3)
    policy[..., 1], policy[..., 3] = 0.75, 0.25  # right, mostly
    view = PolicyView.of(corridor.with_horizon(3), policy)
    # Right twice in three steps: on at once, or stay or come back once. From S: RR, LRR (left stays at S).
    assert view.value == pytest.approx(0.75**2 + 0.25 * 0.75**2)
    assert view.title == "corridor: a policy, value 0.7031 per episode, gap to optimum 0.3"
    assert view.mistakes.tolist() == [[True, True, False], [False] * 3]
    assert view.actions[0].tolist() == [1, 1, -1]
    np.testing.assert_allclose(view.visits[0], [1 + 0.25 + 0.25**2 + 0.75 * 0.25, 0.75 + 0.25 * 0.75, 0.0])
    nearly = np.where(np.arange(4) == 1, 1 - 1e-4, 1e-4 / 3) * np.ones((3, 2, 3, 1))
    assert not PolicyView.of(corridor.with_horizon(3), nearly).mistakes.any()  # it lacks next to nothing


def test_the_action_of_a_place_is_that_of_the_step_at_which_it_is_visited_most(corridor: Task) -> None:
    # At the first step the agent is at S for certain, and goes up; then it is there less often, and goes on.
    policy = np.zeros((2, 2, 3, 4))
    policy[0, ..., 0], policy[0, ..., 3] = 0.75, 0.25  # up, where the wall holds it back; or left
    policy[1, ..., 1], policy[1, ..., 3] = 0.25, 0.75  # right, mostly left
    assert PolicyView.of(corridor, policy).actions[0, 0] == 0
    fixed = np.array([1, 0, 0])[:, None, None].repeat(2, axis=1).repeat(3, axis=2)
    assert PolicyView.of(corridor.with_horizon(3), fixed).actions[0].tolist() == [1, 0, -1]
    # With a step to spare the first one does not matter, so the action of the second is shown.
    spare = np.concatenate((policy[:1], policy[[1, 1]]))
    assert PolicyView.of(corridor.with_horizon(3), spare).actions[0, 0] == 3


def test_an_action_is_faint_where_every_other_is_as_good(corridor: Task) -> None:
    short = PolicyView.of(corridor.with_horizon(1))
    assert short.visits[0].tolist() == [1.0, 0.0, 0.0]
    assert not short.matters[0, 0]
    assert "no action: every one is as good" in str(praemia.show(short.task))
    (faint,) = arrows(panel(short, 0, 50.0).items)
    assert faint.colour == FAINT_ON_DARK
    costly = praemia.MachineBuilder("out").edge("out", "goal", "out", reward=-1).build()
    near = envs.grid("Sg", legend={"g": "goal"}, machine=costly, horizon=1, slip=0.0)
    assert PolicyView.of(near).matters[0, 0]  # a value of 0 can be lost


def test_a_panel_has_a_grey_place_for_each_that_is_never_visited_and_an_arrow_for_each_move() -> None:
    view = PolicyView.of(envs.warehouse(size=3))
    for m in view.states:
        items = panel(view, m, 50.0).items
        grey = [(item.x, item.y) for item in items if isinstance(item, Area) and item.fill == UNVISITED]
        assert grey == [(spot.x, spot.y) for o, spot in enumerate(view.picture.spots) if view.visits[m, o] == 0.0]
        actions = view.actions[m]
        assert len(arrows(items)) == np.sum((actions >= 0) & (actions < 4))  # 4 is stay
        rights = [item for item in arrows(items) if item.points[3][0] > item.points[0][0] + 0.1]  # the tip
        assert len(rights) == np.sum(actions == 1)


def test_a_page_has_a_panel_for_each_machine_state_that_matters_and_the_machine_and_says_what_is_left_out() -> None:
    scene = praemia.show(envs.make("warehouse-3")).scene
    titles = texts(scene)
    assert titles[0] == "warehouse-3: the optimal policy, value 0.8618 per episode"
    panels = [title for title in titles if title.startswith("machine state")]
    assert panels == ["machine state 'empty'", "machine state 'loaded'"]  # in 'done' nothing is left to do
    assert {"empty", "loaded", "done", "delivery | 0.9, 1"} <= {*titles}  # the machine
    view = PolicyView.of(envs.flower(loop=20))
    assert len(view.states) == 6
    assert view.hidden == int(np.sum(view.visits.max(axis=1) > 0.0)) - 6 > 0
    assert f"{view.hidden} more machine states are visited, less often." in str(praemia.show(view.task))
    assert f"{view.left_out} The machine has 33 states" in " ".join(texts(praemia.show(view.task).scene))


def test_actions_are_left_out_where_cells_are_too_small() -> None:
    for size, has_room in ((20, True), (80, False)):
        page = praemia.show(envs.warehouse(size, horizon=2 * size)).scene
        assert bool(arrows(page.items)) is has_room
        assert ("stay" in texts(page)) is has_room
        assert "S" in texts(page)


def test_pages_and_curves_need_no_matplotlib(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None; import praemia; task = praemia.envs.warehouse(2);"
        "praemia.show(task).save('x.png'); praemia.simulate(task, 'random', 9).plot().save('x.svg');"
        "from praemia.pictures.episodes import save_gif; save_gif(praemia.rollout(task, praemia.solve(task)), 'x.gif')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
    assert {path.name for path in tmp_path.iterdir()} == {"x.png", "x.svg", "x.gif"}


@pytest.mark.parametrize("name", ["office-mail", "riverswim-15", "flower-20", "warehouse-2"])
def test_all_that_is_on_a_page_lies_within_it_and_texts_do_not_overlap(tmp_path: Path, name: str) -> None:
    drawing = praemia.show(envs.make(name))
    scene = drawing.scene
    for suffix in ("svg", "png", "txt"):
        drawing.save(tmp_path / f"policy.{suffix}")
    assert ElementTree.parse(tmp_path / "policy.svg").getroot().tag == f"{SVG}svg"
    with Image.open(tmp_path / "policy.png") as image:
        assert image.size == (pytest.approx(2 * scene.width, abs=2), pytest.approx(2 * scene.height, abs=2))
    assert (tmp_path / "policy.txt").read_text(encoding="utf-8") == f"{drawing}\n"
    for item in scene.items:
        if isinstance(item, Area):
            assert 0 <= item.x - item.width / 2 < item.x + item.width / 2 <= scene.width
            assert 0 <= item.y - item.height / 2 < item.y + item.height / 2 <= scene.height
        elif isinstance(item, Line):
            assert all(0 <= x <= scene.width and 0 <= y <= scene.height for x, y in item.points)
    written = [item for item in scene.items if isinstance(item, Text) and item.size > 10 and item.anchor == "start"]
    for first in written:
        for second in written:
            if first is not second and abs(first.y - second.y) < 0.6 * first.size and first.x <= second.x:
                assert first.x + 0.5 * first.size * len(first.text) <= second.x


def test_what_cannot_be_shown_is_refused(tmp_path: Path, corridor: Task) -> None:
    with pytest.raises(ParameterError, match=r"expected a file \.svg, \.png or \.txt"):
        praemia.show(corridor).save(tmp_path / "policy.pdf")
    with pytest.raises(ModelError, match=r"a policy of shape \(2,\)"):
        praemia.show(corridor, [0, 1])
    with pytest.raises(ModelError, match="expected a Task"):
        praemia.show("corridor")  # type: ignore[arg-type]
    kept = praemia.simulate(corridor, praemia.Optimal(), num_episodes=2)
    kept = replace(kept, final_policy=None, policy=None)
    with pytest.raises(ModelError, match="kept without its policy"):
        praemia.show(corridor, kept)


def test_a_policy_for_another_task_is_shown_with_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = envs.warehouse(size=2)
    table = praemia.solve(task).policy
    with pytest.warns(PraemiaWarning, match="made for 'elsewhere'.*'warehouse-2'"):
        praemia.show(task, praemia.Policy(table, "elsewhere"))
    run = praemia.simulate(task, praemia.Optimal(), num_episodes=2)
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


@pytest.mark.parametrize("name", ["$x_{$ <b> & 'c'", "Größe → ∞"])
def test_a_name_is_shown_as_it_is(tmp_path: Path, corridor: Task, name: str) -> None:
    task = Task(corridor.mdp, corridor.machine, 2, name)
    praemia.show(task).save(tmp_path / "policy.png")
    save_gif(praemia.rollout(task, praemia.solve(task)), tmp_path / "episode.gif")
    assert f"{name}: the optimal policy" in texts(praemia.show(task).scene)[0]


def test_a_machine_without_rewards_is_shown_in_the_state_visited_most(corridor: Task) -> None:
    machine = praemia.MachineBuilder("idle").edge("idle", "goal", "idle").build()
    drawing = praemia.show(corridor.with_machine(machine))
    assert drawing.svg
    assert "machine state 'idle', 2.00 steps per episode" in str(drawing)


# --- episodes ---


def test_an_episode_is_a_gif_in_which_the_machine_is_lit(tmp_path: Path, corridor: Task) -> None:
    episode = praemia.rollout(corridor, praemia.solve(corridor).policy)
    told: list[tuple[int, int]] = []
    save_gif(episode, tmp_path / "episode.gif", lambda done, total: told.append((done, total)))
    frames = []
    with Image.open(tmp_path / "episode.gif") as film:
        assert film.n_frames == 3  # the start and two steps
        for i in range(film.n_frames):
            film.seek(i)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
    assert told[-1] == (3, 3)
    lit = np.array([int(LIT[i : i + 2], 16) for i in (1, 3, 5)])
    centres = [np.argwhere(np.abs(frame - lit).sum(axis=2) < 30) for frame in frames]
    assert all(len(found) > 200 for found in centres)
    lower = [found[found[:, 0] > frames[0].shape[0] * 0.55] for found in centres]  # the machine, below the map
    assert lower[0][:, 1].mean() < lower[2][:, 1].mean() - 50  # from 'out' to 'done'


def test_an_episode_says_its_return_so_far_and_ends_when_nothing_can_happen_any_more(corridor: Task) -> None:
    machine = praemia.RewardMachine.from_ltlf("F goal")
    task = envs.grid("S..g", legend={"g": "goal"}, machine=machine, horizon=3, slip=0.0)
    for discount, end in ((0.5, "reward 1, discounted 0.25; return 0.25 so far"), (1.0, "reward 1; return 1 so far")):
        discounted = task.with_discount(discount)
        episode = praemia.rollout(discounted, praemia.solve(discounted))
        assert episode.total_reward == discount**2
        assert [moment.line for moment in story_of(episode)][-1].endswith(end)
    longer, right = corridor.with_horizon(9), np.ones((9, 2, 3), dtype=int)
    assert len(watched(praemia.rollout(longer, right))) == 2
    assert len(watched(praemia.rollout(longer, 0 * right))) == 9
    even = praemia.Reward((-1.0, 1.0), (0.5, 0.5))  # random rewards of mean 0 may still come
    machine = praemia.MachineBuilder("out").edge("out", "goal", "bet").edge("bet", "goal", "bet", reward=even).build()
    assert len(watched(praemia.rollout(longer.with_machine(machine), right))) == 9


# --- the command ---


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, run, policy = envs.warehouse(size=2), str(tmp_path / "run.npz"), str(tmp_path / "policy.npz")
    praemia.simulate(task, praemia.Optimal(), num_episodes=3).save(run)
    praemia.Policy(np.zeros((6, 3, 4), dtype=np.int8)).save(policy)
    for suffix, beginning in ((".svg", b"<svg"), (".gif", b"GIF89a")):
        assert execute(["show", "warehouse-2", "-o", str(tmp_path / f"x{suffix}")]) == 0
        assert (tmp_path / f"x{suffix}").read_bytes().startswith(beginning)
    capsys.readouterr()
    episode = praemia.rollout(task, praemia.solve(task), seed=1)
    value, of_zeros = praemia.solve(task).value, praemia.evaluate(task, np.zeros((6, 3, 4), dtype=int)).value
    for arguments, printed in (
        ([], f"{praemia.show(task)}\n"),
        (["--episode", "1"], f"{episode}\n"),
        (["--episode", "1", "--policy", run], f"{episode}\n"),
        (["--policy", run], f"a policy, value {value:.4g} per episode"),
        (["--policy", policy], f"a policy, value {of_zeros:.4g} per episode"),
    ):
        assert execute(["show", "warehouse-2", *arguments]) == 0
        assert printed in capsys.readouterr().out
    Path(tmp_path / "text.npz").write_text("no archive")
    praemia.Policy(np.zeros((1, 1, 1), dtype=int)).save(tmp_path / "other.npz")
    for name, message in (
        ("nowhere.npz", "nowhere.npz"),
        ("text.npz", "text.npz: damaged, or not a policy or a run"),
        ("other.npz", "a policy of shape (1, 1, 1)"),
    ):
        assert execute(["show", "warehouse-2", "--policy", str(tmp_path / name)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert message in captured.err
