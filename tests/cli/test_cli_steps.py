"""Runs with a budget of steps, and episodes that end with the task, by command and by experiment file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import praemia
from praemia.cli import execute
from praemia.errors import PraemiaError
from praemia.experiments.jobs import Job
from praemia.experiments.loading import load_experiment, read_record
from praemia.experiments.runner import run_in_memory

RUN = ["run", "warehouse-2", "--learner", "random", "--runs", "2"]


def test_a_command_plays_a_budget_of_steps_until_the_task_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*RUN, "--steps", "200", "--until-done", "--out", str(tmp_path / "runs")]
    assert execute([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    runs = list(praemia.load_runs(tmp_path / "runs"))
    assert (answer["steps"], "episodes" in answer) == (200, False)
    assert [run.step_budget for run in runs] == [200, 200]
    assert all(run.until_done and run.steps.min() < 6 for run in runs)
    assert answer["learners"][0]["steps"] == sum(run.steps.sum() for run in runs) / 2
    assert execute(command) == 0  # nothing is run again
    assert "steps" in capsys.readouterr().out
    assert len(praemia.load_runs(tmp_path / "runs")) == 2


@pytest.mark.parametrize("task", ["warehouse-2", "file"])
def test_a_command_takes_a_discount(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = praemia.envs.make("warehouse-2")
    if task == "file":
        task = str(tmp_path / "task.yaml")
        praemia.save_task(made, task)
    command = ["run", task, "--learner", "random", "--runs", "1", "--episodes", "3", "--discount", "0.9"]
    assert execute([*command, "--out", str(tmp_path / "runs"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["optimal_value"] == pytest.approx(praemia.solve(made.with_discount(0.9)).value)
    assert [run.discount for run in praemia.load_runs(tmp_path / "runs")] == [0.9]


def test_what_a_task_is_worth_shown_and_watched_with_a_discount(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    value = praemia.solve(praemia.envs.make("warehouse-2").with_discount(0.9)).value
    assert execute(["solve", "warehouse-2", "--discount", "0.9", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["value"], record["discount"]) == (pytest.approx(value), 0.9)
    assert execute(["show", "warehouse-2", "--discount", "0.9"]) == 0
    assert f"value {value:.4g} per episode at discount 0.9" in capsys.readouterr().out
    options = ["--discount", "0.9", "--until-done", "--episodes", "9"]
    assert execute(["watch", "warehouse-2", *options, "--json"]) == 0
    watched = json.loads(capsys.readouterr().out)
    assert "discount 0.9" in Path(watched["file"]).read_text(encoding="utf-8")
    assert watched["optimal_value"] == pytest.approx(value)
    assert execute(["run", "warehouse-2", *options, "--runs", "1", "--out", "kept", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["learners"][0]["regret"] == [watched["regret"]]
    (stored,) = Path("kept").rglob("run-*.npz")  # a stored run says how it was played
    assert execute(["watch", "warehouse-2", "--run", str(stored), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == watched
    assert execute(["watch", "warehouse-2", "--run", str(stored), "--discount", "0.9"]) == 2
    assert "--run replays a stored run" in capsys.readouterr().err


def test_a_run_says_how_to_go_on_with_the_same_task(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*RUN, "--episodes", "3", "--until-done", "--discount", "0.9"]) == 0
    task = f"{RUN[1]} --until-done --discount 0.9"
    head, *_, compare, watch, show = capsys.readouterr().out.splitlines()
    assert head.startswith("warehouse-2: 3 episodes, 2 runs, discount 0.9, optimal value ")
    assert [line.partition("praemia ")[2].partition(" --learner")[0] for line in (compare, watch, show)] == [
        f"run {task}",
        f"watch {task}",
        f"show {task}",
    ]


@pytest.mark.parametrize("discount", ["0", "1.5", "nan", "much"])
@pytest.mark.parametrize("command", ["run", "solve", "show", "watch"])
def test_a_discount_is_above_0_and_at_most_1(command: str, discount: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([command, "warehouse-2", "--discount", discount]) == 2
    assert "discount" in capsys.readouterr().err


def test_a_frame_counts_the_steps(tmp_path: Path) -> None:
    assert execute([*RUN, "--episodes", "9", "--until-done", "--out", str(tmp_path / "runs"), "--json"]) == 0
    stored = praemia.load_runs(tmp_path / "runs")
    assert stored.to_frame()["steps"].tolist() == [int(run.steps.sum()) for run in stored]
    curves = stored.curves([0, 4, 9])
    assert curves["steps"].tolist() == [int(run.steps[:k].sum()) for run in stored for k in (0, 4, 9)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--steps", "5", "--episodes", "5"], "--episodes and --steps together"),
        (["--steps", "1.5"], "--steps"),
        (["--steps", "0"], "--steps"),
    ],
)
def test_a_run_has_one_length(options: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*RUN, *options]) == 2
    assert expected in capsys.readouterr().err


def test_a_policy_is_shown_until_the_task_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    for options in ([], ["--until-done"]):
        assert execute(["show", "warehouse-2", "--episode", "1", *options]) == 0
        lines.append(capsys.readouterr().out.count("\n"))
    assert lines[1] < lines[0]


def test_an_experiment_may_be_as_long_as_a_number_of_steps(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("tasks: [riverswim-3]\nlearners: [random]\nruns: 1\nsteps: 25\n")
    experiment = load_experiment(tmp_path / "mine.yaml")
    jobs = experiment.jobs()
    assert [job.digest for job in read_record(experiment.record(), "a record").jobs()] == [job.digest for job in jobs]
    runs, failures = run_in_memory(jobs, num_workers=1)
    assert not failures
    assert [Job.of(run) for run in runs] == jobs
    assert int(runs[0].steps.sum()) == 30
    (tmp_path / "mine.yaml").write_text("tasks: [riverswim-3]\nlearners: [random]\nepisodes: 3\nsteps: 25\n")
    with pytest.raises(PraemiaError, match="both episodes and steps"):
        load_experiment(tmp_path / "mine.yaml")
