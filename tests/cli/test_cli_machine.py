"""``praemia machine`` shows, tries, writes and draws; a mistake is one message and nothing is written."""

import json

import pytest

from praemia.cli import execute
from praemia.files.load_save import load_machine
from praemia.machines.machine import RewardMachine

FETCH = "F(item & X F delivery)"


def run(*arguments, capsys, status=0):
    assert execute(["machine", *arguments]) == status
    return capsys.readouterr()


def test_a_machine_is_shown_with_its_states_and_edges(capsys):
    out = run(FETCH, capsys=capsys).out
    assert "F delivery --> done  when delivery, pays 1" in out
    assert "states        3" in out


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
def test_a_trace_is_judged_step_by_step(text, trace, satisfied, rewards, capsys):
    said = json.loads(run(text, "--trace", trace, "--json", capsys=capsys).out)["trace"]
    assert (said["satisfied"], said["rewards"]) == (satisfied, rewards)


def test_a_trace_is_told_in_words(capsys):
    assert run("(!a)* a", "--regex", "--trace", "; a; a", capsys=capsys).out.endswith("\nnot satisfied\n")
    always = run("a | !a", "--trace", "a", capsys=capsys)
    assert always.out.endswith("\nsatisfied\n")
    assert always.err == "warning: every trace satisfies the formula 'a | !a'\n"


def test_a_machine_is_written_and_drawn(tmp_path, capsys):
    out, picture = tmp_path / "m.yaml", tmp_path / "m.svg"
    run(FETCH, "--reward", "0.5", "-o", str(out), "--draw", str(picture), capsys=capsys)
    assert load_machine(out) == RewardMachine.from_ltlf(FETCH, reward=0.5)
    assert "F(item" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["F(item &"], "column 9: it ends too early"),
        (["!(a b)", "--regex"], "'!' takes guards"),
        ([FETCH, "--trace", "itm"], "did you mean 'item'"),
        ([FETCH, "--trace", 'item; "x'], "are all quotes closed?"),
        ([FETCH, "--pay", "last"], "'last' is not one of"),
        ([FETCH, "--reward", "nan"], "expected a finite number"),
        ([FETCH, "--draw", "picture.gif"], "cannot draw 'picture.gif'"),
        ([" & ".join(f"F a{i}" for i in range(12)), "--max-states", "50"], "outgrew its limit of 50 states"),
    ],
)
def test_wrong_input_is_one_message_and_nothing_is_written(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = run(*arguments, "-o", "out.yaml", capsys=capsys, status=2)
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert message in said.err
    assert list(tmp_path.iterdir()) == []


def test_an_ending_that_is_not_known_is_refused_before_anything_is_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said = run(FETCH, "-o", "out.ymal", "--draw", "picture.svg", capsys=capsys, status=2)
    assert "expected one of .yaml .yml .json" in said.err
    assert list(tmp_path.iterdir()) == []
