"""The command's manners: fast help, one message for a mistake, exit statuses, nothing written by accident."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from task_texts import SPOILED, TASK, spoil

import praemia
import praemia.planning.exact as exact
from praemia import envs
from praemia.cli import COMMANDS, execute

HEAVY = ("numba", "gymnasium", "pydantic", "scipy", "numpy", "yaml", "lark")
EXAMPLES = sorted(Path(__file__).parents[2].glob("examples/*.yaml"))


def _write(folder: Path, text: str | bytes, name: str = "task.yaml") -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def _require_refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run what should be refused; return the message."""
    assert execute(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err
    return captured.err


def _spawn(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from praemia.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom praemia.cli import execute\nstatus = execute(['--help'])\n"
        f"print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])\nsys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.endswith("heavy: []\n")
    for name, (_, help_text) in COMMANDS.items():
        assert name in done.stdout
        assert help_text.split()[0] in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([name, "--help"]) == 0
    assert "Usage: praemia" in capsys.readouterr().out


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([]) == 0
    assert "Commands:" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    assert execute(["--version"]) == 0
    assert capsys.readouterr().out == f"praemia {version('praemia')}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek"], "no such command 'chek' (did you mean 'check'?)"),
        (["check"], "Missing argument 'FILE'"),
        (["solve", "warehouse-4", "--jason"], "No such option"),
        (["solve", "warehose-4"], "did you mean 'warehouse-4'"),
        (["solve", "warehouse-99999999"], "size=99999999"),
        (["solve", "nowhere.yaml"], "nowhere.yaml: cannot be read: No such file"),
        (["check", "/"], "this is a folder"),
        (["check", "warehouse-4"], "cannot be read"),
        (["envs", "warehose"], "did you mean 'warehouse'"),
        (["draw", "warehouse-3", "-o", "x.bmp"], "x.bmp"),
    ],
)
def test_wrong_usage_is_one_message(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    refusal = _require_refusal(arguments, capsys)
    assert message in refusal
    assert refusal.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SPOILED)
@pytest.mark.parametrize("command", ["check", "solve"])
def test_a_spoiled_file_is_refused_with_its_place(
    command: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _write(tmp_path, spoil(name))
    refusal = _require_refusal([command, path, "--json"], capsys)
    assert refusal.startswith(f"error: {path}")
    assert SPOILED[name][2] in refusal
    assert [file.name for file in tmp_path.iterdir()] == ["task.yaml"]


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"\xff\xfe\x80", b"[" * 10**6, b"%PDF-1.4\n%\xe2\xe3"])
def test_what_is_no_task_file_at_all_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _require_refusal(["check", _write(tmp_path, content)], capsys).count("\n") == 1


def test_a_refusal_in_a_process_of_its_own_shows_no_traceback(tmp_path: Path) -> None:
    done = _spawn("solve", _write(tmp_path, TASK.replace("1: 0.75", "1: 0.7")))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "task.yaml:7: observation 0, action go: probabilities sum to 0.95" in done.stderr


def test_solve_prints_one_json_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["solve", _write(tmp_path, TASK), "--json"]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    # Two steps, the first is go: 3/4 reach 1, and then 1/2 pays 1. From there, going home pays 1/4 in machine
    # state back, and staying pays 1 w.p. 1/2 in out. Failing to leave (1/4) leaves one try worth 3/4 · 1/2.
    expected = 0.75 * (0.5 * (1 + 0.25) + 0.5 * 0.5) + 0.25 * 0.75 * 0.5
    assert record == {
        "task": "task",
        "value": pytest.approx(expected),
        "horizon": 2,
        "observations": 2,
        "actions": 2,
        "machine_states": 2,
    }
    assert re.sub(r"^compiling, once.*\n", "", captured.err) == ""


def test_solve_tells_people_that_there_is_no_horizon(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = praemia.envs.make("warehouse-2")
    praemia.save_task(praemia.Task(task.mdp, task.machine, discount=0.9, name="endless"), tmp_path / "endless.yaml")
    assert execute(["solve", str(tmp_path / "endless.yaml")]) == 0
    assert "horizon         none\n" in capsys.readouterr().out


def test_solve_tells_people_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["solve", "warehouse-3"]) == 0
    value = exact.solve(envs.make("warehouse-3")).value
    assert f"value           {value:.6g}\n" in capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_passes_the_check(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1].startswith("ok: a task with ")
    assert "warning" not in captured.out
    assert execute(["check", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_there_are_examples() -> None:
    assert {path.name for path in EXAMPLES} >= {"coffee.yaml", "frozen_lake.yaml", "warehouse.yaml"}


def test_check_reads_a_machine_alone_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path, "{states: [a, b], initial: a, propositions: [p]}")
    assert execute(["check", path]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "warning: machine state 'b' cannot be reached" in lines
    assert lines[-1] == "ok: a machine with 2 machine states, 0 rules, 1 proposition"


def test_envs_lists_names_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["envs"]) == 0
    header, *rows, _, key, hint = capsys.readouterr().out.splitlines()
    assert header.split() == ["name", "sizes", "horizon", "what", "to", "do"]
    assert [row.split()[0] for row in rows] == envs.names()
    assert max(map(len, rows)) <= 80  # one line each, in a usual terminal
    assert re.fullmatch(r"warehouse-3 +9×5×3 +9  fetch an item .*", rows[envs.names().index("warehouse-3")])
    assert key == "sizes: observations × actions × machine states"
    assert hint == "praemia envs NAME shows one, with its picture"
    assert execute(["envs", "warehouse-3"]) == 0
    shown = capsys.readouterr().out
    assert "9 observations" in shown
    assert str(envs.make("warehouse-3").draw()) in shown
    assert execute(["envs", "warehouse-3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["observations"] == 9


def test_each_learner_has_a_line_of_its_own_in_eighty_columns() -> None:
    learners = [praemia.learners.make(name) for name in praemia.learners.names()]
    width = max(len(learner.name) for learner in learners)
    assert [learner.name for learner in learners if width + 2 + len(learner.summary) > 80] == []
    assert len({learner.summary for learner in learners}) == len(learners)


def test_learners_lists_names_and_shows_one_with_its_parameters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["learners"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:-2]
    assert [row.split()[0] for row in rows] == praemia.learners.names()
    assert execute(["learners", "ucbvi-prm"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("ucbvi-prm: optimistic value iteration")
    assert re.search(r"^bonus_scale +0\.001 +0 … 1e\+09  the exploration coefficient", text, re.MULTILINE)
    assert execute(["learners", "ucbvi-prm", "--json"]) == 0
    parameters = {item["name"]: item for item in json.loads(capsys.readouterr().out)["parameters"]}
    assert parameters["bonus_scale"]["range"] == [0.0, 1e9]
    assert parameters["replan"]["range"] is None
    own = tmp_path / "own.py"
    own.write_text(
        "from typing import ClassVar\nimport praemia\n\n\nclass Own(praemia.Random):\n    name: ClassVar[str] = 'own'\n"
    )
    assert execute(["learners", f"{own}:Own"]) == 0
    assert capsys.readouterr().out.startswith("own: ")
    assert execute(["learners", "headrom"]) == 2
    assert "did you mean 'headroom'" in capsys.readouterr().err


def test_run_says_what_its_numbers_mean_and_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["run", "riverswim-3", "--learner", "optimal", "--episodes", "20", "--runs", "2"]) == 0
    text = capsys.readouterr().out
    assert f"optimal value {exact.solve(envs.make('riverswim-3')).value:.5g}\n" in text
    assert "±: the standard deviation over the runs" in text
    commands = [line.partition("praemia ")[2].split() for line in text.splitlines()[-3:]]
    assert commands[0] == ["run", "riverswim-3", "--learner", "optimal", "--learner", "ucbvi-prm"]
    for words in commands:  # they can be run as they are
        module, _ = COMMANDS[words[0]]
        command = getattr(import_module(module), f"{words[0]}_command")
        command.make_context(words[0], words[1:])


def test_draw_prints_mermaid_or_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _write(tmp_path, TASK)
    assert execute(["draw", path]) == 0
    text = capsys.readouterr().out
    assert text.startswith("stateDiagram")
    assert execute(["draw", path, "-o", str(tmp_path / "machine.mmd")]) == 0
    assert (tmp_path / "machine.mmd").read_text() == text
    assert capsys.readouterr().out == ""


def _raise(error: BaseException) -> object:
    def solve(*args: object, **kwargs: object) -> None:
        raise error

    return solve


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (MemoryError(), 2, "error: there is not enough memory for this\n"),
        (
            OSError(errno.ENOSPC, "No space left on device", "out.json"),
            2,
            "error: out.json: No space left on device\n",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "d/x"), 2, "error: d/x: Permission denied\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_failures_of_the_machine_are_one_line(
    error: BaseException,
    status: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(exact, "solve", _raise(error))
    assert execute(["solve", "warehouse-3"]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.lstrip("\n") == message


def test_a_bug_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "solve", _raise(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        execute(["solve", "warehouse-3"])


def test_a_reader_that_leaves_early_is_no_error() -> None:
    command = [sys.executable, "-c", "from praemia.cli import main; main()", "envs"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=600) == 1


def test_names_that_the_terminal_cannot_show_do_not_break_it(tmp_path: Path) -> None:
    path = _write(tmp_path, '{states: [a], initial: a, propositions: ["smile \N{GRINNING FACE}"]}')
    done = _spawn("check", path, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert "no rule reads the propositions smile \N{GRINNING FACE}" in done.stdout


def test_half_a_character_is_refused_with_its_place(tmp_path: Path) -> None:
    done = _spawn("check", _write(tmp_path, '{states: [a], initial: a, propositions: ["half \\ud800"]}'), env={})
    assert done.returncode == 2
    assert ":1:50: not valid YAML: while parsing a quoted scalar, found invalid Unicode character" in done.stderr


def test_the_package_can_be_run_as_a_module() -> None:
    command = [sys.executable, "-m", "praemia", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == _spawn("--version").stdout
