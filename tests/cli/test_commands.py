"""The commands' manners and results: fast help, exit statuses, one JSON object, the same numbers as in Python."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import click
import pytest
from task_texts import TASK
from txt_machines import PLAIN

import praemia
import praemia.planning.exact as exact
from praemia import cli, envs
from praemia.cli import COMMANDS, execute
from praemia.files.load_save import load_machine, load_task
from praemia.machines.machine import RewardMachine

HEAVY = ("numba", "gymnasium", "pydantic", "scipy", "numpy", "yaml", "lark")
EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/*.yaml"))
FETCH = "F(item & X F delivery)"
MAIN = [sys.executable, "-c", "from praemia.cli import main; main()"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with a task and a machine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.yaml").write_text(TASK)
    (tmp_path / "m.txt").write_text(PLAIN)
    return tmp_path


def said(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command prints."""
    assert execute(command.split()) == 0
    return capsys.readouterr().out


def record(command: str, capsys: pytest.CaptureFixture[str]) -> dict:
    found: dict = json.loads(said(f"{command} --json", capsys))
    return found


def spawn(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*MAIN, *arguments], capture_output=True, text=True, timeout=600, **options)  # type: ignore[call-overload,no-any-return]


# Manners


def test_help_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "praemia", "--help"],
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "praemia.cli" in imported
    assert imported.isdisjoint(HEAVY)
    for name, (_, help_text) in COMMANDS.items():
        assert name in done.stdout
        assert help_text.split()[0] in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_in_words_not_in_identifiers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Usage: praemia" in said(f"{name} --help", capsys)
    command = cli.praemia.get_command(click.Context(cli.praemia), name)
    assert command is not None
    examples = re.compile("\b\n.*?(?:\n\n|$)", re.DOTALL)
    prose = [examples.sub("", command.help or ""), *(getattr(option, "help", None) or "" for option in command.params)]
    assert [word for text in prose for word in re.findall(r"\w+_\w+(?!\w|=|\.\w)", text)] == []


def test_there_are_sixteen_commands_and_without_one_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(COMMANDS) == 16
    assert "Commands:" in said("", capsys)
    assert said("--version", capsys) == f"praemia {version('praemia')}\n"


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (MemoryError(), 2, "error: there is not enough memory for this\n"),
        (OSError(errno.ENOSPC, "No space left on device", "out.json"), 2, "error: out.json: No space left on device\n"),
        (PermissionError(errno.EACCES, "Permission denied", "d/x"), 2, "error: d/x: Permission denied\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_failures_of_the_machine_are_one_line_and_a_bug_is_not_hidden(
    error: BaseException, status: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*args: object, **kwargs: object) -> None:
        raise errors.pop()

    errors = [ZeroDivisionError(), error]
    monkeypatch.setattr(exact, "solve", fails)
    assert execute(["solve", "warehouse-3"]) == status
    captured = capsys.readouterr()
    assert (captured.out, captured.err.lstrip("\n")) == ("", message)
    with pytest.raises(ZeroDivisionError):
        execute(["solve", "warehouse-3"])


def test_a_process_of_its_own_shows_no_traceback(folder: Path) -> None:
    (folder / "task.yaml").write_text(TASK.replace("1: 0.75", "1: 0.7"))
    done = spawn("solve", "task.yaml")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "task.yaml:7: observation 0, action go: probabilities sum to 0.95" in done.stderr
    (folder / "smile.yaml").write_text('{states: [a], initial: a, propositions: ["smile \N{GRINNING FACE}"]}')
    done = spawn("check", "smile.yaml", env={"PYTHONIOENCODING": "ascii"})  # the terminal cannot show it
    assert "no rule reads the propositions smile \N{GRINNING FACE}" in done.stdout, done.stderr
    (folder / "half.yaml").write_text('{states: [a], initial: a, propositions: ["half \\ud800"]}')
    done = spawn("check", "half.yaml", env={})
    assert ":1:50: not valid YAML: while parsing a quoted scalar, found invalid Unicode character" in done.stderr
    done = subprocess.run([sys.executable, "-m", "praemia", "--version"], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", spawn("--version").stdout)


def test_a_reader_that_leaves_early_is_no_error() -> None:
    with subprocess.Popen([*MAIN, "envs"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=600) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_message_that_nobody_can_read_changes_no_status() -> None:
    with open("/dev/full", "w") as full:
        assert subprocess.run([*MAIN, "solve", "warehose-3"], stderr=full, timeout=600).returncode == 2


# Tasks


def test_solve_prints_one_json_object_and_people_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    # Two steps, the first is go: 3/4 reach 1, and then 1/2 has reward 1. From there, going home has reward 1/4 in
    # machine state back, and staying has reward 1 with probability 1/2 in out. Failing to leave (1/4) leaves one try.
    expected = 0.75 * (0.5 * (1 + 0.25) + 0.5 * 0.5) + 0.25 * 0.75 * 0.5
    assert record("solve task.yaml", capsys) == {
        "task": "task",
        "value": pytest.approx(expected),
        "horizon": 2,
        "observations": 2,
        "actions": 2,
        "machine_states": 2,
    }
    assert f"value           {expected:.6g}\n" in said("solve task.yaml", capsys)
    task = envs.make("warehouse-2")
    praemia.save_task(praemia.Task(task.mdp, task.machine, discount=0.9, name="endless"), "endless.yaml")
    assert "horizon         none\n" in said("solve endless.yaml", capsys)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_passes_the_check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(f"check {path}", capsys)
    assert shown.splitlines()[-1].startswith("ok: a task with ")
    assert "warning" not in shown
    assert record(f"check {path}", capsys)["ok"] is True


def test_check_points_at_what_is_odd(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert {path.name for path in EXAMPLES} >= {"coffee.yaml", "frozen_lake.yaml", "warehouse.yaml"}
    (folder / "odd.yaml").write_text("states: [a, b]\ninitial: a\npropositions: [p]\n")
    lines = said("check odd.yaml", capsys).splitlines()
    assert "warning: machine state 'b' cannot be reached" in lines
    assert lines[-1] == "ok: a machine with 2 machine states, 0 rules, 1 proposition"
    found = record("check odd.yaml", capsys)
    places = {own["message"]: (own["level"], own["file"], own["line"], own["column"]) for own in found["findings"]}
    assert places["machine state 'b' cannot be reached"] == ("warning", "odd.yaml", 1, 13)
    assert places["no rule reads the propositions p"] == ("info", "odd.yaml", 3, 16)
    lazy = TASK.replace("{back: {probability: 0.5, reward: 1}, out: 0.5}", "back, reward: 1").replace(
        ", reward: 0.25", ""
    )
    (folder / "lazy.yaml").write_text(lazy.replace("    - {from: back, when: left, to: out}\n", ""))
    (dawdling,) = [own for own in record("check lazy.yaml", capsys)["findings"] if "dawdle" in own["message"]]
    assert (dawdling["level"], dawdling["line"], dawdling["column"]) == ("info", 19, 10)
    (folder / "lazy.yaml").write_text(lazy)  # it can be earned again and again
    assert "dawdle" not in said("check lazy.yaml", capsys)
    assert "ok: a machine with 3 machine states" in said("check m.txt", capsys)
    (folder / "exp.yaml").write_text("tasks: [task.yaml, warehouse-2]\nlearners: [eqo]\nruns: 3\n")
    assert said("check exp.yaml", capsys) == "ok: an experiment with 1 group, 2 tasks, 1 learner, 6 runs\n"
    assert record("check m.txt", capsys)["findings"][0]["line"] is None


def test_envs_lists_names_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    header, *rows, _, key, hint = said("envs", capsys).splitlines()
    assert header.split() == ["name", "sizes", "horizon", "what", "to", "do"]
    assert [row.split()[0] for row in rows] == envs.names()
    assert max(map(len, rows)) <= 80  # one line each, in a usual terminal
    assert re.fullmatch(r"warehouse-3 +9×5×3 +9  fetch an item .*", rows[envs.names().index("warehouse-3")])
    assert key == "sizes: observations × actions × machine states"
    assert hint == "praemia envs NAME shows one, with its picture"
    shown = said("envs warehouse-3", capsys)
    assert "9 observations" in shown
    assert str(envs.make("warehouse-3").draw()) in shown
    assert record("envs warehouse-3", capsys)["observations"] == 9


def test_learners_lists_names_and_shows_one_with_its_parameters(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = said("learners", capsys).splitlines()[1:-2]
    assert [row.split()[0] for row in rows] == praemia.learners.names()
    assert max(map(len, rows)) <= 80
    assert len({row.split(maxsplit=1)[1] for row in rows}) == len(rows)
    assert re.search(
        r"^bonus_scale +0\.001 +0 … 1e\+09  the exploration", said("learners ucbvi-prm", capsys), re.MULTILINE
    )
    parameters = {item["name"]: item["range"] for item in record("learners ucbvi-prm", capsys)["parameters"]}
    assert (parameters["bonus_scale"], parameters["replan"]) == ([0.0, 1e9], None)
    (folder / "own.py").write_text("import praemia\n\n\nclass Own(praemia.Random):\n    name = 'own'\n")
    assert said("learners own.py:Own", capsys).startswith("own: ")


# Machines


def test_a_machine_is_shown_written_and_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["machine", FETCH, "--reward", "0.5", "-o", "m.yaml", "--draw", "m.svg"]) == 0
    out = capsys.readouterr().out
    assert "F delivery --> done  when delivery, reward 0.5" in out
    assert "states        3" in out
    assert load_machine("m.yaml") == RewardMachine.from_ltlf(FETCH, reward=0.5)
    assert execute(["machine", "a | !a"]) == 0
    assert capsys.readouterr().err.endswith("warning: every trace satisfies the formula 'a | !a'\n")
    assert "F(item" in (folder / "m.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "trace", "satisfied", "rewards"),
    [
        (FETCH, "item; ; delivery; item", [False, False, True, True], [0, 0, 1, 0]),
        ("G !alarm", "; alarm; ", [True, False, False], [1, 0, 0]),
        ('F "at(A)"', '"at(A)"', [True], [1]),
        ("F(a & b)", "a, b; a b", [True, True], [1, 0]),
        ("O a & !a", "a; ; a", [False, True, False], [0, 1, 0]),
    ],
)
def test_a_trace_is_judged_step_by_step(
    text: str, trace: str, satisfied: list[bool], rewards: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["machine", text, "--trace", trace, "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)["trace"]
    assert (judged["satisfied"], judged["rewards"]) == (satisfied, rewards)
    assert execute(["machine", text, "--trace", trace]) == 0
    assert capsys.readouterr().out.endswith("satisfied\n" if satisfied[-1] else "not satisfied\n")


def test_files_are_converted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine = load_machine("m.txt")
    for before, after in pairwise(["m.txt", "m.yaml", "m.json"]):
        said(f"convert {before} {after}", capsys)
        assert load_machine(after) == machine
    assert json.loads((folder / "m.json").read_text())["initial"] == "0"
    said("convert warehouse-3 w.json", capsys)
    assert load_task("w.json").machine == envs.make("warehouse-3").machine
    said("convert w.json w.drn", capsys)
    assert (folder / "w.drn").read_text().count("\nstate ") == 27
    (folder / "m.hoa").write_bytes((Path(__file__).parents[2] / "examples/response.hoa").read_bytes())
    for pay in ("first", "each"):
        said(f"convert m.hoa {pay}.yaml --pay {pay}", capsys)
        assert load_machine(f"{pay}.yaml") == load_machine("m.hoa", pay=pay)


def test_show_draws_the_machine_of_a_task_or_of_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said("show task.yaml --machine", capsys)
    assert text.startswith("stateDiagram")
    assert said("show task.yaml --machine -o machine.mmd", capsys) == ""
    assert (folder / "machine.mmd").read_text() == text
    assert "else | 0" in said("show m.txt", capsys)


# Runs


RUN = "run warehouse-2 --learner random --runs 2"


def test_run_says_what_its_numbers_mean_and_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    text = said("run riverswim-3 --learner optimal --episodes 20 --runs 2 --until-done --discount 0.9", capsys)
    value = exact.solve(envs.make("riverswim-3").with_discount(0.9)).value
    assert text.startswith(f"riverswim-3: 20 episodes, 2 runs, discount 0.9, optimal value {value:.5g}\n")
    assert "±: the standard deviation over the runs" in text
    assert "±" not in said("run riverswim-3 --episodes 20 --runs 1", capsys)
    assert record("run riverswim-3 --episodes 20 --runs 1", capsys)["learners"][0]["regret_std"] is None
    commands = [line.partition("praemia ")[2].split() for line in text.splitlines()[-3:]]
    task = ["riverswim-3", "--until-done", "--discount", "0.9"]
    assert commands[0] == ["run", *task, "--learner", "optimal", "--learner", "ucbvi-prm"]
    assert [words[:5] for words in commands[1:]] == [["watch", *task], ["show", *task]]
    for words in commands:  # they can be run as they are
        command = getattr(import_module(COMMANDS[words[0]][0]), f"{words[0]}_command")
        command.make_context(words[0], words[1:])


def test_learners_add_up_and_episodes_may_be_written_in_several_ways(capsys: pytest.CaptureFixture[str]) -> None:
    for text, expected in (("20", 20), ("1e1", 10), ("1_0", 10), ("2.5E1", 25), ("30.0", 30), ("+5", 5)):
        found = record(f"run riverswim-3 --learner random --learner optimal --runs 1 --episodes {text}", capsys)
        assert found["episodes"] == expected
        assert [row["name"] for row in found["learners"]] == ["random", "optimal"]


def test_a_budget_of_steps_is_played_until_the_task_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{RUN} --steps 200 --until-done --out runs"
    found = record(command, capsys)
    runs = list(praemia.load_runs("runs"))
    assert (found["steps"], "episodes" in found) == (200, False)
    assert [run.step_budget for run in runs] == [200, 200]
    assert all(run.until_done and run.steps.min() < 6 for run in runs)
    assert found["learners"][0]["steps"] == sum(run.steps.sum() for run in runs) / 2
    assert "steps" in said(command, capsys)  # nothing is run again
    frame, curves = praemia.load_runs("runs").to_frame(), praemia.load_runs("runs").curves([0, 4])
    assert frame["steps"].tolist() == [int(run.steps.sum()) for run in runs]
    assert curves["steps"].tolist() == [int(run.steps[:k].sum()) for run in runs for k in (0, 4)]


@pytest.mark.parametrize("task", ["warehouse-2", "file.yaml"])
def test_every_command_takes_a_discount(task: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = envs.make("warehouse-2")
    praemia.save_task(made, "file.yaml")
    value = praemia.solve(made.with_discount(0.9)).value
    solved = record(f"solve {task} --discount 0.9", capsys)
    assert (solved["value"], solved["discount"]) == (pytest.approx(value), 0.9)
    assert f"value {value:.4g} per episode at discount 0.9" in said(f"show {task} --discount 0.9", capsys)
    options = "--discount 0.9 --until-done --episodes 9"
    watched = record(f"watch {task} {options}", capsys)
    assert "discount 0.9" in Path(watched["file"]).read_text(encoding="utf-8")
    assert watched["optimal_value"] == pytest.approx(value)
    played = record(f"run {task} {options} --runs 1 --out kept", capsys)
    assert played["learners"][0]["regret"] == [watched["regret"]]
    (stored,) = Path("kept").rglob("run-*.npz")  # a stored run says how it was played
    assert record(f"watch {task} --run {stored}", capsys) == watched
    whole, done = (said(f"show {task} --episode 2 {until}", capsys) for until in ("", "--until-done"))
    assert done.count("\n") < whole.count("\n")
