"""Options that several commands share are read in one way."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from praemia import cli
from praemia.cli import execute

LONG = "1" * 5_000
RUN = ["run", "riverswim-3", "--learner", "random", "--runs", "1", "--json"]
WATCH = ["watch", "riverswim-3", "--learner", "random", "-o", "page.html", "--json"]
COMMANDS = pytest.mark.parametrize("command", [RUN, WATCH], ids=["run", "watch"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@COMMANDS
@pytest.mark.parametrize(
    ("text", "expected"), [("20", 20), ("1e1", 10), ("1_0", 10), ("2.5E1", 25), ("30.0", 30), ("+5", 5)]
)
def test_episodes_may_be_written_in_several_ways(
    command: list[str], text: str, expected: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute([*command, "--episodes", text]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == expected


@COMMANDS
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", "not a whole number"),
        ("1e-3", "not a whole number"),
        ("many", "not a whole number"),
        ("", "not a whole number"),
        ("nan", "not a whole number"),
        ("0", "not in the range 1 … 1,000,000,000"),
        ("-7", "not in the range"),
        ("1e10", "not in the range"),
        ("1e999999999", "not in the range"),
        ("inf", "not in the range"),
    ],
)
def test_other_numbers_of_episodes_are_one_message(
    command: list[str], text: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute([*command, "--episodes", text]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "--episodes" in captured.err
    assert expected in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "options", "expected"),
    [
        ("run", ["--set", f"bonus_scale={LONG}"], "--set bonus_scale: a number of 5,000 digits; at most 300 are read"),
        ("run", ["--jobs", LONG], "is not a valid integer range"),
        ("run", ["--jobs", "1" * 30, "--runs", "2"], "expected a whole number from 1 to 10,000"),
        ("reproduce", ["--shard", f"1/{LONG}"], "expected I/N, such as 1/3"),
        ("reproduce", ["--engine", f"tcp://127.0.0.1:{'1' * 30}"], "neither a scheduler file nor an address"),
    ],
)
def test_a_number_that_is_far_too_long_is_one_message(
    command: str, options: list[str], expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = ["riverswim-3"] if command == "run" else []
    learner = ["--learner", "ucbvi-prm", "--episodes", "5", "--out", str(tmp_path / "out")]
    assert execute([command, *task, *learner, *options]) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_help_is_written_in_words_not_in_identifiers(name: str) -> None:
    command = cli.praemia.get_command(click.Context(cli.praemia), name)
    assert command is not None
    examples = re.compile("\b\n.*?(?:\n\n|$)", re.DOTALL)
    prose = [examples.sub("", command.help or ""), *(getattr(option, "help", None) or "" for option in command.params)]
    found = [word for text in prose for word in re.findall(r"\w+_\w+(?!\w|=|\.\w)", text)]
    assert found == []
