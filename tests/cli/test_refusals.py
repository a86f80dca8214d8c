"""Wrong input of any kind: exit status 2, one message on standard error, nothing written, before the work begins."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

import click
import pytest
from task_texts import SPOILED, TASK, spoil
from txt_machines import PLAIN

from praemia.cli import COMMANDS, execute
from praemia.experiments.store import FORMAT, MARKER

# Imported before they are hidden: a package that is half imported would disturb other tests.
for _module in ("PIL", "pygraphviz", "pandas", "praemia.report.page"):
    pytest.importorskip(_module)

FETCH = '"F(item & X F delivery)"'
LONG = "1" * 5_000
EPISODES = {
    "not an integer": ("1.5", "1e-3", "many", "''", "nan"),
    "not in the range 1 … 1,000,000,000": ("0", "-7", "1e10", "1e999999999", "inf"),
}
NO_FOLDER = "a.svg: there is no folder nowhere"
# The command, and a part of its message. The folder has the files of ``folder`` below.
REFUSED = [
    ("chek", "no such command 'chek' (did you mean 'check'?)"),
    ("check", "Missing argument 'FILE'"),
    ("check /", "this is a folder"),
    ("check warehouse-4", "cannot be read"),
    ("check itself.yaml", "unknown key 'environment'"),
    ("solve warehouse-4 --jason", "No such option"),
    ("solve warehose-4", "did you mean 'warehouse-4'"),
    ("run warehouse-3 --runs 4294967297", "4294967297 is not in the range 1"),
    ("experiment paper --runs 4294967297", "4294967297 is not in the range 1"),
    ("solve warehouse-99999999", "size=99999999"),
    ("solve nowhere.yaml", "nowhere.yaml: cannot be read: No such file"),
    ("envs warehose", "did you mean 'warehouse'"),
    ("learners headrom", "did you mean 'headroom'"),
    ("schema tasks", "'tasks' is not one of"),
    # convert
    ("convert m.txt m.drn", "m.drn: unknown file extension for a machine; expected one of .yaml"),
    ("convert absent.hoa m.yaml", "absent.hoa: cannot be read: No such file"),
    ("convert warehouse-3 w.hoa", "w.hoa: unknown file extension for a task; expected one of .yaml .yml .json .drn"),
    ("convert bad.txt m.yaml", "bad.txt:6: RewardControl depends on the environment's own step"),
    ("convert nowhere-3 m.yaml", "unknown environment"),
    ("run warehous-4", "error: unknown environment 'warehous-4' (did you mean 'warehouse-4'?)"),
    ("convert m.txt m.yaml --from htm", "htm"),
    ("convert warehouse-3 t.yaml --pay first", "'warehouse-3' is a built-in task"),
    ("convert warehouse-3 t.yaml --pay each", "'warehouse-3' is a built-in task"),
    ("convert warehouse-3 t.yaml --from hoa", "'warehouse-3' is a built-in task"),
    # machine
    ('machine "F(item &" -o m.yaml', "column 9: unexpected end of expression"),
    ('machine "!(a b)" --regex -o m.yaml', "'!' takes guards"),
    (f"machine {FETCH} --trace itm -o m.yaml", "did you mean 'item'"),
    (f"machine {FETCH} --trace 'item; \"x' -o m.yaml", "are all quotes closed?"),
    (f"machine {FETCH} --pay last -o m.yaml", "'last' is not one of"),
    (f"machine {FETCH} --reward nan -o m.yaml", "a reward of nan; expected a number"),
    (f"machine {FETCH} --draw picture.gif -o m.yaml", "cannot draw 'picture.gif'"),
    (f"machine {FETCH} --draw picture.svg -o out.ymal", "expected one of .yaml .yml .json"),
    (f'machine "{" & ".join(f"F a{i}" for i in range(12))}" --max-states 50', "outgrew its limit of 50 states"),
    # show, watch, report
    ("show warehouse-3 --machine -o x.bmp", "x.bmp"),
    ("show m.txt --episode 3", "cannot be combined with policy options"),
    ("show warehouse-3 --episode 3 -o a.svg", "cannot play an episode into 'a.svg'"),
    ("watch warehouse-3 -o a.pdf", "expected a file .html"),
    ("report empty", "no runs to report on"),
    ("report nowhere", "nowhere: no such folder"),
    ("report .", "not a folder of praemia's runs"),
    ("report empty --curves", "give a file with --csv"),
    # options
    *(
        (f"{command} warehouse-2 --discount {d}", "discount")
        for command in ("run", "solve", "show", "watch")
        for d in (0, 1.5, "nan", "much")
    ),
    *(
        (f"{command} riverswim-3 --episodes {text}", said)
        for command in ("run", "watch")
        for said, texts in EPISODES.items()
        for text in texts
    ),
    ("run warehouse-2 --steps 5 --episodes 5", "--episodes and --steps together"),
    ("run warehouse-2 --steps 1.5", "--steps"),
    ("run warehouse-2 --steps 0", "--steps"),
    ("run riverswim-5 --learner headrom", "unknown learner 'headrom' (did you mean 'headroom'?)"),
    ("run riverswim-5 --learner ucrl2-rm", "(did you mean 'ucrl2-rm-l' or 'ucrl2-rm-b'?)"),
    ("run riverswim-5 --learner zzz", "(`praemia learners` lists them; file.py:Class names your own)"),
    (f"run riverswim-3 --learner ucbvi-prm --set bonus_scale={LONG}", "a number of 5,000 digits; at most 300 are read"),
    (f"run riverswim-3 --jobs {LONG}", "is not a valid integer range"),
    (f"run riverswim-3 --jobs {'1' * 30} --runs 2 --out out", "expected an integer from 1 to 10,000"),
    ("run riverswim-5 --set bonus_scale=1 --set bonus-scale=2", "--set bonus_scale is given twice"),
    *((f"reproduce --shard {s} --out out", "expected I/N") for s in ("0/3", "4/3", "1", "a/b", "1/0", f"1/{LONG}")),
    ("reproduce --decide --shard 1/2 --out out", "--decide"),
    *(
        (f"reproduce --task riverswim-5 --runs 1 --engine {address} --out out", "no engine at")
        for address in ("nowhere", "''", ".")
    ),
    (
        f"reproduce --task riverswim-5 --runs 1 --engine tcp://127.0.0.1:{'1' * 30} --out out",
        "neither a scheduler file nor an address",
    ),
    # files in folders that are not there
    ("explore riverswim-5 --out nowhere/a.svg", NO_FOLDER),
    ("infer traces.jsonl -o nowhere/a.svg", NO_FOLDER),
    ("machine Fa --draw nowhere/a.svg", NO_FOLDER),
    ("show warehouse-3 -o nowhere/a.svg", NO_FOLDER),
    ("report empty --csv nowhere/a.svg", NO_FOLDER),
    ("show warehouse-3 -o .", "directory"),
]
NEEDS = [
    ("PIL", "show warehouse-3 -o a.gif"),
    ("PIL", "show warehouse-3 -o a.png"),
    ("pygraphviz", "infer traces.jsonl --draw a.svg"),
    ("pygraphviz", "machine Fa --draw a.svg"),
    ("PIL", "machine Fa --draw a.png"),
    ("pandas", "report empty --csv a.csv"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with the files that commands name; whatever takes long fails."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.txt").write_text(PLAIN)
    (tmp_path / "bad.txt").write_text(PLAIN.replace("ConstantRewardFunction(1)", "RewardControl()"))
    (tmp_path / "itself.yaml").write_text("environment: {name: office}\nmachine: itself.yaml\n")
    (tmp_path / "traces.jsonl").write_text('[[["a"], 0.0], [[], 1.0]]\n')
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / MARKER).write_text(json.dumps({"what": "runs of praemia", "format": FORMAT}))

    def work(*given: object, **options: object) -> NoReturn:
        raise AssertionError("the work began")

    for place in ("pictures.show.show", "inference.infer", "exploration.explore", "experiments.runner.perform"):
        monkeypatch.setattr(f"praemia.{place}", work)
    return tmp_path


def refusal(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Run what should be refused; return the message."""
    before = sorted(folder.rglob("*"))
    assert execute(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert sorted(folder.rglob("*")) == before, "nothing is written"
    return shown.err


@pytest.mark.parametrize(("command", "message"), REFUSED, ids=lambda text: text[:60])
def test_wrong_input_is_one_message(
    command: str, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:

    said = refusal(shlex.split(command), folder, capsys)
    assert message in said
    assert said.count("\n") == 1 or said.startswith(
        ("error: itself.yaml", "error: formula", "error: regex", "error: trace")
    )


@pytest.mark.parametrize(("module", "command"), NEEDS)
def test_a_package_that_is_missing_is_named_before_the_work(
    module: str, command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert "pip install" in refusal(command.split(), folder, capsys)


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_file_is_refused_with_its_place(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "task.yaml").write_bytes(text if isinstance(text := spoil(name), bytes) else text.encode())
    for command in (["check"], ["solve", "--json"]):
        said = refusal([*command, "task.yaml"], folder, capsys)
        assert said.startswith("error: task.yaml")
        assert SPOILED[name][2] in said


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02", b"\xff\xfe\x80", b"[" * 10**6, b"%PDF-1.4\n%\xe2\xe3"])
def test_what_is_no_task_file_at_all_is_refused(
    content: bytes, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "task.yaml").write_bytes(content)
    assert refusal(["check", "task.yaml"], folder, capsys).count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_adds_up_or_is_refused_when_it_is_given_twice(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = getattr(import_module(COMMANDS[name][0]), f"{name}_command")
    for option in (param for param in command.params if isinstance(param, click.Option)):
        once = [option.opts[-1]] if option.is_flag else [option.opts[-1], "1"]
        if not option.multiple:
            said = refusal([name, *once, *once], folder, capsys)
            assert f"{option.opts[-1]} is given 2 times; expected once" in said
        elif option.name != "settings":
            assert "may be repeated" in str(option.help)


def test_check_prints_every_mistake_as_a_finding_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoiled = TASK.replace("when: left", "wenn: left").replace("horizon: 2", "horizon: two")
    (folder / "task.yaml").write_text(spoiled)
    assert execute(["check", "task.yaml", "--json"]) == 2
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert (shown.err, found["ok"], found["kind"]) == ("", False, "task")
    assert {(own["level"], own["file"]) for own in found["findings"]} == {("error", "task.yaml")}
    assert [(own["line"], own["column"]) for own in found["findings"]] == [(19, 7), (19, 20), (20, 10)]
    assert "unknown key 'wenn'" in found["findings"][1]["message"]


@pytest.mark.parametrize(
    ("name", "text", "kind", "message", "line"),
    [
        ("absent.yaml", None, None, "cannot be read: No such file", None),
        ("m.json", '{"states": ["a"], "initial": "b", "propositions": []}', "machine", "unknown machine state 'b'", 1),
        ("m.yaml", "states: [a]\n  b: [", None, "not valid YAML", 2),
        ("e.yaml", "tasks: [riverswim-3]\nlearner: [eqo]\n", "experiment", "did you mean 'learners'", 2),
        ("e.yaml", "tasks: [riverswim-3]\nlearners: [eqq]\n", "experiment", "did you mean 'eqo'", 2),
        ("m.hoa", "HOA: v1\n", "machine", "", 2),
        ("t.jsonl", "[]\n", "traces", "", 1),
    ],
)
def test_a_mistake_of_any_kind_of_file_is_one_object(
    name: str,
    text: str | None,
    kind: str | None,
    message: str,
    line: int | None,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if text is not None:
        (folder / name).write_text(text)
    assert execute(["check", name, "--json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["ok"], found["kind"]) == (False, kind)
    assert message in found["findings"][0]["message"]
    assert found["findings"][0]["line"] == line
