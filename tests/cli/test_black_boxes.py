"""Commands take a task file with a black box as they take any task."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import praemia
from praemia.cli import execute

LAKE = """\
gymnasium: {id: FrozenLake-v1, options: {is_slippery: false, desc: [SF, FG]}}
labels: {goal: observation == 3}
machine: {ltlf: F goal}
horizon: 6
"""


@pytest.fixture(autouse=True)
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lake.yaml").write_text(LAKE, encoding="utf-8")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert execute([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_run_prints_and_stores_what_learners_earn(capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    command = f"run lake.yaml --episodes 60 --runs 2 --learner ucbvi-prm --jobs {jobs} --out store".split()
    found = printed(capsys, *command)
    assert found["optimal_value"] is None
    (row,) = found["learners"]
    direct = [
        praemia.simulate(praemia.load_task("lake.yaml"), "ucbvi-prm", 60, seed=(0, run)).returns.mean()
        for run in range(2)
    ]
    assert row["return"] == direct
    assert row["late_return"] > 0.9
    again = printed(capsys, *command)["learners"][0]
    assert again["return"] == direct
    assert execute([*command]) == 0
    captured = capsys.readouterr()
    assert "2 of 2 runs are already stored" in captured.err
    assert "mean return" in captured.out
    assert "optimum" not in captured.out


def test_an_experiment_and_its_report_tell_returns(capsys: pytest.CaptureFixture[str]) -> None:
    Path("exp.yaml").write_text(
        "tasks: [lake.yaml, warehouse-2]\nlearners: [ucbvi-prm, random]\nruns: 2\nepisodes: 40\n"
    )
    found = printed(capsys, "experiment", "exp.yaml", "--out", "out")
    assert [group["title"] for group in found["groups"]] == ["exp", "Returns in black boxes"]
    boxes = found["groups"][1]["results"]
    assert [(row["task"], row["learner"]) for row in boxes] == [("lake", "random"), ("lake", "ucbvi-prm")]
    assert boxes[0]["return_mean"] < boxes[1]["return_mean"]
    assert printed(capsys, "report", "out")["groups"] == found["groups"]
    assert execute(["report", "out"]) == 0
    assert "Returns in black boxes" in capsys.readouterr().out


def test_what_needs_regret_is_refused_where_all_tasks_are_boxes(capsys: pytest.CaptureFixture[str]) -> None:
    plain = "tasks: [lake.yaml, warehouse-2]\nlearners: [ucbvi-prm, random]\nruns: 1\nepisodes: 5\n"
    claim = "{say: better, measure: ratio, of: ucbvi-prm, than: random, question: below}"
    Path("exp.yaml").write_text(f"{plain}claims:\n  - {claim}\n")
    assert execute(["experiment", "exp.yaml", "--out", "out"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "error: exp.yaml:6: a claim compares regrets, and that in the black box 'lake' is not known" in line
    assert not Path("out").exists()
    Path("exp.yaml").write_text(f"{plain}claims:\n  - {claim.replace('say', 'on: warehouse-2, say')}\n")
    assert execute(["experiment", "exp.yaml", "--out", "out"]) == 0
    Path("box.yaml").write_text(plain.replace(", warehouse-2", ""))
    assert execute(["experiment", "box.yaml", "--out", "boxes"]) == 0
    page = Path("boxes/report.html").read_text(encoding="utf-8")
    assert "2 runs of 2 learners on 1 task. Returns in black boxes are sampled" in page
    assert page.count('data-learner="ucbvi-prm"') == 1
    assert "regret" not in re.sub("(?s)<style>.*?</style>|<script>.*?</script>", "", page)


def test_explored_data_of_a_box_is_planned_for(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "explore", "lake.yaml", "--episodes", "60", "--out", "data.npz")
    (machine,) = printed(capsys, "plan", "data.npz", "--task", "lake.yaml")["machines"]
    assert machine["value"] == pytest.approx(1.0)
    assert "true_value" not in machine


@pytest.mark.parametrize("command", ["solve lake.yaml", "convert lake.yaml lake.drn"])
def test_what_needs_a_model_says_so(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert execute(command.split()) == 2
    assert "needs a transition model, which BlackBox('lake'" in capsys.readouterr().err
    assert not Path("lake.drn").exists()


def test_code_of_a_file_is_executed_with_leave_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.py").write_text("def labels(o, a, o_next, info): return ['goal'] if o_next == 3 else []\n")
    Path("own.yaml").write_text(LAKE.replace("{goal: observation == 3}", "own.py:labels"))
    run = "run own.yaml --episodes 60 --runs 1 --learner ucbvi-prm"
    explore = "explore own.yaml --episodes 5 --out data.npz"
    for command in (run, explore, "check own.yaml"):
        assert execute(command.split()) == 2
        assert "names code; a file executes code only where you allow it: --allow-code" in capsys.readouterr().err
        assert execute([*command.split(), "--allow-code"]) == 0
        capsys.readouterr()
    assert printed(capsys, *run.split(), "--allow-code")["learners"][0]["late_return"] > 0.9


ROBOT = """\
import gymnasium
from helpers import SIZE


class Robot(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Discrete(SIZE), gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return 0, {}

    def step(self, action):
        self.at = min(SIZE - 1, self.at + int(action))
        return self.at, 0.0, False, False, {}


gymnasium.register("%s-v0", "%s:Robot")
"""


@pytest.mark.parametrize("id", ["{name}:{name}-v0", "{name}.py:{name}-v0"])
def test_an_environment_beside_the_task_file_is_found_in_every_process(
    id: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name = f"Robot{len(id)}"
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / f"{name}.py").write_text(ROBOT % (name, name))
    (folder / "helpers.py").write_text("SIZE = 4\n")
    text = f"gymnasium: {{id: '{id.format(name=name)}'}}\n{LAKE.partition(chr(10))[2]}"
    (folder / "robot.yaml").write_text(text)
    run = "folder/robot.yaml --episodes 60 --runs 2 --learner ucbvi-prm"
    assert execute(["run", *run.split(), "--jobs", "2"]) == 2
    assert "names a module; a file executes code only where you allow it" in capsys.readouterr().err
    both = [printed(capsys, "run", *run.split(), "--allow-code", "--jobs", jobs) for jobs in "12"]
    assert both[0]["learners"][0]["return"] == both[1]["learners"][0]["return"]
    (folder / "exp.yaml").write_text("tasks: [robot.yaml]\nlearners: [ucbvi-prm]\nruns: 2\nepisodes: 60\n")
    found = printed(capsys, "experiment", "folder/exp.yaml", "--allow-code", "--jobs", "2", "--out", "out")
    assert found["groups"][0]["results"][0]["return"] == both[0]["learners"][0]["return"]
    assert execute(["convert", "folder/robot.yaml", "moved.yaml"]) == 2


def test_a_module_of_another_folder_is_not_taken_for_the_one_beside_the_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("json.py").write_text(ROBOT % ("json", "json"))
    Path("robot.yaml").write_text(
        LAKE.replace("FrozenLake-v1, options: {is_slippery: false, desc: [SF, FG]}", "'json:json-v0'")
    )
    assert execute(["check", "robot.yaml", "--allow-code"]) == 2
    assert "json.py cannot be imported" in capsys.readouterr().err


def test_check_and_convert_read_a_box(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "check", "lake.yaml")
    assert (found["ok"], found["kind"]) == (True, "task")
    assert execute(["convert", "lake.yaml", "lake.json"]) == 0
    assert praemia.load_task("lake.json").labels == praemia.load_task("lake.yaml").labels
    Path("lake.yaml").write_text(LAKE.replace("observation ==", "obsrvation =="))
    assert execute(["check", "lake.yaml", "--json"]) == 2
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["line"] == 2


def test_what_was_learned_is_saved_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run = "run lake.yaml --episodes 80 --runs 2 --learner ucbvi-prm --save lake.npz"
    assert execute(run.split()) == 0
    captured = capsys.readouterr()
    assert "wrote lake.npz" in captured.err
    assert "praemia show lake.yaml --policy lake.npz" in captured.out
    policy = praemia.Policy.load("lake.npz")
    assert praemia.evaluate(praemia.load_task("lake.yaml"), policy, num_episodes=20).value == 1.0
    assert execute(["show", "lake.yaml", "--policy", "lake.npz"]) == 0
    assert "lake, estimated from 100 episodes: a policy, value 1 per episode" in capsys.readouterr().out
    assert execute(["show", "lake.yaml", "--policy", "lake.npz", "--episode", "1"]) == 0
    assert "return 1" in capsys.readouterr().out
    assert execute(["watch", "lake.yaml", "--episodes", "20", "--learner", "ucbvi-prm", "-o", "page.html"]) == 0
    assert Path("page.html").stat().st_size > 1_000


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("show lake.yaml", "the optimum of 'lake', a black box, is not known; give --policy FILE"),
        ("run lake.yaml --save x.npz --learner random --learner headroom", "--save writes what one learner learned"),
        ("show lake.yaml --policy other.npz", "another machine"),
    ],
)
def test_a_policy_that_is_not_there_or_does_not_fit_is_refused(
    capsys: pytest.CaptureFixture[str], command: str, message: str
) -> None:
    Path("other.yaml").write_text(LAKE.replace("F goal", "F(goal & X F goal)"))
    assert execute(["run", "other.yaml", "--episodes", "5", "--runs", "1", "--save", "other.npz"]) == 0
    capsys.readouterr()
    assert execute(command.split()) == 2
    assert message in capsys.readouterr().err
    assert not Path("x.npz").exists()
