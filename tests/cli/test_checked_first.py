"""What a command cannot do it says before the work, not after it: missing extras, folders that are not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import pytest

from praemia.cli import execute

# Imported before they are hidden: a package that is half imported would disturb other tests.
for _module in ("PIL", "pygraphviz", "pandas", "praemia.report.page"):
    pytest.importorskip(_module)

TRACES = '[[["a"], 0.0], [[], 1.0]]\n'


def refuse(*given: object, **options: object) -> NoReturn:
    raise AssertionError("the work began")


@pytest.fixture(autouse=True)
def no_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for work in (
        "praemia.experiments.runner.run_into_store",
        "praemia.pictures.show.show",
        "praemia.inference.infer",
        "praemia.machines.from_formulas.accepting_automaton",
        "praemia.statistics.series.studies",
        "praemia.experiments.store.Store.runs",
        "praemia.exploration.explore",
    ):
        monkeypatch.setattr(work, refuse)
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text("tasks: [riverswim-5]\nlearners: [optimal]\nruns: 1\nepisodes: 10\n")
    Path("traces.jsonl").write_text(TRACES)


def told(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must fail, and return its one message."""
    before = sorted(Path().iterdir())
    assert execute(command.split()) == 2
    assert sorted(Path().iterdir()) == before, "nothing is written"
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("PIL", "show warehouse-3 -o a.gif"),
        ("PIL", "show warehouse-3 -o a.png"),
        ("PIL", "show warehouse-3 --episode 0 -o a.gif"),
        ("pygraphviz", "infer traces.jsonl --draw a.svg"),
        ("pygraphviz", "machine Fa --draw a.svg"),
        ("PIL", "machine Fa --draw a.png"),
    ],
)
def test_what_a_picture_or_a_table_needs_is_asked_for_before_the_work(
    module: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert "pip install" in told(command, capsys)


@pytest.mark.parametrize(
    "command",
    [
        "explore riverswim-5 --out",
        "infer traces.jsonl -o",
        "machine Fa --draw",
        "show warehouse-3 -o",
        "report results --csv",
    ],
)
def test_a_file_in_a_folder_that_is_not_there_is_refused_before_the_work(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path("nowhere") / "a.svg"
    assert told(f"{command} {path}", capsys) == f"error: {path}: there is no folder nowhere"
    assert "directory" in told(f"{command} .", capsys)
