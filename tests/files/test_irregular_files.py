"""Devices, pipes and links in the place of files: nothing reads them without end, or writes through them elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import praemia
from praemia.cli import execute
from praemia.experiments.store import StoredRuns
from praemia.inference import load_traces
from praemia.learners.external import LearnerCode

READERS: dict[str, Callable[[Path], object]] = {
    "task.yaml": praemia.load_task,
    "machine.txt": praemia.load_machine,
    "machine.hoa": praemia.load_machine,
    "run.npz": praemia.Run.load,
    "data.npz": praemia.Dataset.load,
    "policy.npz": praemia.Policy.load,
    "traces.jsonl": load_traces,
    "learner.py": lambda path: LearnerCode.read(f"{path}:Mine"),
}
COMMANDS = {
    "check {}": "task.yaml",
    "experiment {}": "experiment.yaml",
    "plan {} --machine warehouse-3": "data.npz",
    "show warehouse-3 --policy {}": "run.npz",
    "explore warehouse-3 --episodes 5 --append --out {}": "data.npz",
    "infer {}": "traces.jsonl",
    "reproduce --runs 1 --episodes 5 --out new --engine {}": "engine.json",
}


RUN = "run riverswim-3 --learner optimal --episodes 5 --runs 1 --jobs 1 --out"


@pytest.fixture(autouse=True)
def a_minute() -> Iterator[None]:
    """Fail where something waits for the other end of a pipe."""
    signal.signal(signal.SIGALRM, lambda number, frame: pytest.fail("it waits"))
    signal.alarm(60)
    yield
    signal.alarm(0)


def _irregular(folder: Path, name: str) -> Iterator[Path]:
    for kind in ("pipe", "device", "socket"):
        path = folder / kind / name
        path.parent.mkdir()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        else:
            os.chdir(path.parent)  # the path of a socket must be short
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(name)
        yield path


@pytest.mark.parametrize("name", READERS)
def test_only_regular_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    for path in _irregular(tmp_path, name):
        with pytest.raises(praemia.PraemiaError, match="not a regular file") as caught:
            READERS[name](path)
        assert str(path) in str(caught.value)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_refuse_what_is_not_a_regular_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in _irregular(tmp_path, COMMANDS[command]):
        assert execute(command.format(path).split()) == 2
        assert re.search("not a (regular|scheduler) file", capsys.readouterr().err)


def _stored(folder: Path) -> Path:
    """Make a store of one run; return the run's file."""
    assert execute([*RUN.split(), str(folder)]) == 0
    return StoredRuns.open(folder).files()[0]


def test_a_store_counts_what_is_no_file_of_its_own_as_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = _stored(tmp_path / "store")
    outside = tmp_path / "outside.npz"
    run.rename(outside)
    for number, target in enumerate((Path("/dev/zero"), outside, tmp_path / "absent")):
        run.with_name(f"run-0-{number}.npz").symlink_to(target)
    os.mkfifo(run.with_name("run-0-3.npz"))
    (tmp_path / "folder").mkdir()
    outside.rename(tmp_path / "folder" / "run-0-0.npz")
    (run.parent.parent / "linked").symlink_to(tmp_path / "folder")
    store = StoredRuns.open(tmp_path / "store")
    assert list(store.runs()) == []
    assert len(store.damaged) == 5
    assert execute(["report", str(tmp_path / "store")]) == 2
    assert "there are no runs to report on (5 damaged files)" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run-0-0.npz", "times.csv", "about.json"])
def test_nothing_is_written_through_a_link_out_of_a_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    run, outside = _stored(tmp_path / "store"), tmp_path / "outside"
    path = run.with_name(name)
    run.unlink()
    path.unlink(missing_ok=True)
    path.symlink_to(outside)
    assert execute([*RUN.split(), str(tmp_path / "store")]) == 2
    assert f"{path}: it leads out of" in capsys.readouterr().err
    assert not outside.exists()


def test_no_folder_is_made_behind_a_link_out_of_a_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task, outside = _stored(tmp_path / "store").parent, tmp_path / "outside"
    shutil.rmtree(task)
    outside.mkdir()
    task.symlink_to(outside)
    assert execute([*RUN.split(), str(tmp_path / "store")]) == 2
    assert "it leads out of" in capsys.readouterr().err
    assert list(outside.iterdir()) == []


def test_a_report_is_not_written_through_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _stored(tmp_path / "store")
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "store" / "report.html").symlink_to(outside / "report.html")
    assert execute(["report", str(tmp_path / "store")]) == 2
    assert "it leads out of" in capsys.readouterr().err
    assert list(outside.iterdir()) == []
