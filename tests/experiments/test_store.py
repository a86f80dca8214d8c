"""The store keeps whole runs, apart by what they are, and trusts no file."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import praemia
from praemia.cli import execute
from praemia.errors import FileError
from praemia.experiments import jobs
from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.runner import perform, run_into_store
from praemia.experiments.store import MARKER, StoredRuns
from praemia.simulation import Run


def a_job(run: int = 0, **parameters: object) -> Job:
    return Job(TaskText.builtin("riverswim-5"), LearnerChoice.of("ucbvi-prm", "paper", **parameters), 300, (3, run))


def performed(job: Job) -> Run:
    run = perform(job)
    assert isinstance(run, Run)
    return run


def test_a_stored_run_says_what_simulate_said(tmp_path: Path) -> None:
    job, store = a_job(), StoredRuns.create(tmp_path / "store")
    run = praemia.simulate(praemia.envs.make("riverswim-5"), praemia.UCBVIPRM(), 300, seed=(3, 0))
    assert store.read(job) is None
    assert performed(job).to_bytes() == performed(job).to_bytes() != performed(a_job(run=1)).to_bytes()
    store.write(performed(job))
    assert StoredRuns.open(tmp_path / "store").read(a_job(run=1)) is None
    about = json.loads((store.path_of(job).parent / "about.json").read_text())
    assert about["learner"]["parameters"]["bonus_scale"] == 0.001
    stored = store.read(job)
    assert Job.of(stored) == job
    for name in ("regret", "plan_episodes", "returns", "final_policy"):
        assert np.array_equal(getattr(stored, name), getattr(run, name)), name
    assert np.array_equal(stored.optimistic_values, run.optimistic_values, equal_nan=True)
    assert (stored.versions, stored.seed, stored.learner) == (run.versions, run.seed, run.learner)
    assert stored.title == "paper"
    for place in range(3):  # times stand in a file of their own
        store.write(replace(run, title="paper", task_text=job.task.text, seed=(3, place), seconds=place + 0.5))
    assert [found.seconds for found in store.runs()] == [0.5, 1.5, 2.5]
    box = StoredRuns.create(tmp_path / "box")
    box.write(replace(performed(job), optimal_value=None))
    assert [found.optimal_value for found in box.runs()] == [None]


def test_policies_are_kept_unless_they_are_not_wanted(tmp_path: Path) -> None:
    for name, wanted in (("with", True), ("without", False)):
        store = StoredRuns.create(tmp_path / name)
        assert run_into_store([a_job()], store, num_workers=1, keep_policies=wanted) == []
        assert (store.read(a_job()).final_policy is not None) == wanted
        assert store.damaged == {}


def test_a_task_is_parsed_once_however_many_jobs_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    real = jobs.parse_task
    monkeypatch.setattr(jobs, "parse_task", lambda *given: parsed.append(given) or real(*given))
    task = TaskText.builtin("riverswim-6", horizon=7)
    for run in range(3):
        performed(replace(a_job(run=run), task=task))
    assert parsed == [(task.text, task.name, None)]


def test_changed_settings_are_kept_apart(tmp_path: Path) -> None:
    store = StoredRuns.create(tmp_path)
    jobs = [
        a_job(),
        a_job(bonus_scale=0.5),
        a_job(replan="epoch"),
        replace(a_job(), num_episodes=301),
        replace(a_job(), task=TaskText.builtin("riverswim-5", horizon=11)),
        replace(a_job(), rng_revision=a_job().rng_revision + 1),
        replace(a_job(), learner=replace(a_job().learner, origin="mine.py:Mine@0123")),
    ]
    assert len({store.path_of(job) for job in jobs}) == len(jobs)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("do not touch")
    with pytest.raises(FileError, match="holds other files"):
        StoredRuns.create(tmp_path)
    with pytest.raises(FileError, match="not a folder of praemia's runs"):
        StoredRuns.open(tmp_path)
    for inside in ("", "chapter", "chapter/one"):
        with pytest.raises(FileError, match=r"thesis\.txt: a file"):
            StoredRuns.create(tmp_path / "thesis.txt" / inside)
    with pytest.raises(FileError, match="no such folder"):
        StoredRuns.open(tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.skipif(getattr(os, "getuid", lambda: 1)() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_refused_before_any_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="cannot be written to"):
        StoredRuns.create(tmp_path / "store")


def test_a_folder_is_made_with_the_first_run(tmp_path: Path) -> None:
    store = StoredRuns.create(tmp_path / "new" / "store")
    assert store.read(a_job()) is None
    assert list(tmp_path.iterdir()) == []
    store.write(performed(a_job()))
    assert StoredRuns.open(tmp_path / "new" / "store").files() == store.files() == [store.path_of(a_job())]


def test_another_process_that_makes_the_same_store_is_not_taken_for_other_things(tmp_path: Path) -> None:
    (tmp_path / ".x12.partial").write_bytes(b"the marker, half written")
    assert StoredRuns.create(tmp_path).files() == []


@pytest.mark.parametrize("enter", [StoredRuns.create, StoredRuns.open])
@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ('{"what": "runs of praemia", "format": 1}', "format 1; .* the version that wrote it"),
        ('{"what": "runs of praemia", "format": 3}', "format 3; .* the version that wrote it"),
        ('{"what": "runs of praemia", "format": 5}', "format 5; .* the version that wrote it"),
        ("{", "damaged"),
        ("[]", "damaged"),
    ],
)
def test_a_folder_of_another_version_is_one_message(
    enter: Callable[[Path], StoredRuns], marker: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / MARKER).write_text(marker)
    with pytest.raises(FileError, match=expected):
        enter(tmp_path)


def test_names_titles_and_the_place_of_a_learner_file_are_labels(tmp_path: Path) -> None:
    store, job = StoredRuns.create(tmp_path), a_job()
    labelled = replace(job, task=replace(job.task, name="other"), learner=replace(job.learner, title="another"))
    assert store.path_of(labelled) == store.path_of(job)
    files = [replace(job, learner=replace(job.learner, origin=f"{place}.py:Mine@0123")) for place in ("a", "b/a")]
    assert len({store.path_of(own) for own in files}) == 1
    turned = replace(job.learner, parameters=dict(reversed(list(job.learner.parameters.items()))))
    assert replace(job, learner=turned).digest == job.digest


def test_damage_is_forgotten_when_the_run_is_repeated(tmp_path: Path) -> None:
    store, job = StoredRuns.create(tmp_path), a_job()
    run = performed(job)
    store.write(run)
    store.path_of(job).write_bytes(b"PK half a record")
    assert store.read(job) is None
    assert list(store.damaged) == [store.path_of(job)]
    store.write(run)
    assert store.read(job) is not None
    assert store.damaged == {}


def test_a_record_in_the_wrong_place_is_reported(tmp_path: Path) -> None:
    store = StoredRuns.create(tmp_path)
    store.write(performed(a_job()))
    store.path_of(a_job()).write_bytes(performed(a_job(run=1)).to_bytes())
    assert list(store.runs()) == []
    assert "another run" in store.damaged[store.path_of(a_job())]


@pytest.mark.parametrize(
    ("forged", "expected"),
    [
        (
            lambda run: {"plan_values": np.full(run.num_plans, np.inf)},
            "its losses are not finite",
        ),
        (lambda run: {"plan_values": run.plan_values + 1.0}, "a plan is worth more than the optimum"),
        (lambda run: {"optimal_value": math.nan}, "not finite"),
        (lambda run: {"returns": np.full(run.num_episodes, np.nan)}, "its returns are not finite"),
        (lambda run: {"discount": math.nan}, "its discount is nan"),
        (lambda run: {"discount": -1.0}, "its discount is -1.0"),
        (lambda run: {"steps": -run.steps}, "its numbers of steps are not positive"),
        (lambda run: {"step_budget": 5}, "it goes on after its last step"),
        (lambda run: {"path_losses": np.full(run.num_episodes, np.nan)}, "its losses are not finite"),
        (lambda run: {"path_losses": np.full(run.num_episodes, -1.0)}, "more than the optimum"),
        (lambda run: {"mapped_gaps": np.full(run.num_plans, math.nan)}, "its losses are not finite"),
        (lambda run: {"mapped_gaps": np.zeros(run.num_plans)}, "are not those of their values"),
        (lambda run: {"versions": {"praemia": 5}}, "its versions are no text"),
        (lambda run: {"steps": np.full_like(run.steps, 1 << 62)}, "its episodes are longer than its policies"),
        (lambda run: {"final_policy": -run.final_policy - 1}, "its policies have negative actions"),
        (lambda run: {"data_episodes": -5}, "it began with -5 episodes"),
        (lambda run: {"tests": np.array([[5.0, 0.5, 7e5, 1.0]])}, "its tests have impossible numbers"),
        (lambda run: {"tests": np.array([[5.0, 0.5, 0.5, math.nan]])}, "its tests have impossible numbers"),
    ],
)
def test_a_forged_run_is_damaged_in_one_line_and_the_rest_is_read(
    forged: Callable[[Run], dict[str, Any]], expected: str, tmp_path: Path
) -> None:
    store, run = StoredRuns.create(tmp_path), performed(a_job())
    store.write(run)
    other = performed(a_job(run=1))
    store.write(replace(other, **forged(other)))
    assert [found.seed for found in store.runs()] == [run.seed]
    ((path, message),) = store.damaged.items()
    assert expected in message
    assert "\n" not in message
    with pytest.raises(FileError, match=expected):
        Run.load(path)


@pytest.mark.parametrize("text", ["environment: {name: nowhere}\n", "a: [", "\x00", "{}"])
def test_a_task_text_that_cannot_be_read_leaves_the_rest_of_the_report(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, run = StoredRuns.create(tmp_path), performed(a_job())
    store.write(run)
    store.write(replace(run, task_text=text))
    assert execute(["report", str(tmp_path), "--json"]) == 0
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert len(group["results"]) == 2
    assert (tmp_path / "report.html").is_file()


def test_files_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ["run-0-0", "run-0-2", "run-0-10", "run-1-0", "run-10-0", "run-x"]
    for name in reversed(names):
        (tmp_path / "kind").mkdir(exist_ok=True)
        (tmp_path / "kind" / f"{name}.npz").touch()
    assert [path.stem for path in StoredRuns(tmp_path).files()] == names
