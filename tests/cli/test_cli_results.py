"""``praemia results`` and ``praemia report``: what a folder of runs holds, and what becomes of wrong folders."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from stored_runs import CORRECT, PRM, fill, made_up, small

from praemia import envs
from praemia.cli import execute
from praemia.experiments.settings import Job, LearnerChoice, TaskText
from praemia.experiments.store import MARKER, Store
from praemia.files.load_save import save_machine
from praemia.files.writing import dump
from praemia.simulation.run import FORMAT

REGRETS = {("riverswim-5", PRM): 3.0, ("riverswim-5", CORRECT): 2.0, ("warehouse-3", PRM): 30.0}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return fill(Store.create(tmp_path / "store"), REGRETS, small(num_runs=3))


def test_results_lists_tasks_learners_runs_and_regrets(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["results", str(store.folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].split()[:2] == ["task", "learner"]
    assert any("warehouse-3" in line and PRM in line and " 3 " in line for line in lines)


def test_results_as_json_is_one_object(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["results", str(store.folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(entry["task"], entry["learner"]) for entry in found["results"]} == set(REGRETS)
    assert {entry["runs"] for entry in found["results"]} == {3}
    assert found["damaged"] == []


def test_rows_of_one_task_name_say_how_they_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, learner = Store.create(tmp_path / "store"), LearnerChoice.of("random")
    for origin in ("", "mine.py:Mine a1"):
        for horizon in (6, 9):
            for discount in (1.0, 0.5):
                text = TaskText("river", dump(envs.riverswim(3, horizon=horizon).with_discount(discount)))
                job = Job(text, replace(learner, origin=origin), 10, (0, 0))
                store.write(replace(made_up(job, 1.0), discount=discount))
    assert execute(["results", str(store.folder)]) == 0
    table = capsys.readouterr().out
    assert execute(["results", str(store.folder), "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["results"]
    assert len({entry["digest"] for entry in entries}) == 8
    for entry in entries:
        names = f"river, discount={entry['discount']}, task_digest={entry['task_digest']}", f"digest={entry['digest']}"
        assert sum(all(name in line for name in names) for line in table.splitlines()) == 1
        assert (entry["until_done"], entry["step_budget"]) == (False, None)


def test_results_are_exported(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    files = [tmp_path / "runs.csv", tmp_path / "runs.parquet"]
    assert execute(["results", str(store.folder), "--csv", str(files[0]), "--parquet", str(files[1])]) == 0
    assert len(files[0].read_text(encoding="utf-8").splitlines()) == 1 + 9
    assert files[1].read_bytes().startswith(b"PAR1")
    assert capsys.readouterr().err.count("wrote") == 2


def test_parquet_without_pyarrow_is_one_message(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert execute(["results", str(store.folder), "--parquet", str(tmp_path / "runs.parquet")]) == 2
    assert "pip install 'pyarrow>=" in capsys.readouterr().err
    assert not (tmp_path / "runs.parquet").exists()


def test_a_damaged_file_is_reported_and_the_others_are_shown(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    damaged = store.files()[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert execute(["results", str(store.folder)]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("warning: ")
    assert damaged.name in captured.err
    assert len(captured.out.splitlines()) == 4


@pytest.mark.parametrize("command", ["results", "report"])
def test_what_is_not_a_store_is_refused(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert execute([command, str(folder)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("error: ")
        assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_has_no_results_and_no_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / MARKER).write_text(json.dumps({"what": "runs of praemia", "format": FORMAT}))
    assert execute(["results", str(tmp_path)]) == 0
    assert "no runs yet" in capsys.readouterr().err
    assert execute(["report", str(tmp_path)]) == 2
    assert "no runs to report on" in capsys.readouterr().err


def test_a_report_is_written_where_it_is_wanted(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "there" / "mine.html"
    assert execute(["report", str(store.folder), "--no-figures", "-o", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    assert [path.name for path in out.parent.iterdir()] == ["mine.html"]
    assert "Not decided: runs missing." in out.read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_is_one_message(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    blocked = store.files()[0] / "report.html"
    assert execute(["report", str(store.folder), "-o", str(blocked)]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_report_on_anybodys_runs_opens_no_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "secret.yaml"
    save_machine(envs.warehouse(size=3).machine, secret)
    store = Store.create(tmp_path / "store")
    for job in small(num_runs=1)[0].jobs()[:1]:
        task = TaskText(job.task.name, f"environment: {{name: {job.task.name}}}\nmachine: {secret}\n")
        store.write(made_up(replace(job, task=task), 3.0))
    assert execute(["report", str(store.folder), "-o", str(tmp_path / "report.html")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"the machine is in another file, {str(secret)!r}; a stored task opens no files" in said
    assert not (tmp_path / "report.html").exists()


def test_one_file_for_two_formats_is_refused(store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "x")
    assert execute(["results", str(store.folder), "--csv", file, "--parquet", file]) == 2
    assert "give each a file of its own" in capsys.readouterr().err
    assert not Path(file).exists()
