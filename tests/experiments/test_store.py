"""The store keeps whole runs, apart by what they are, and trusts no file."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import praemia
from praemia.errors import FileError, ParameterError
from praemia.experiments import records
from praemia.experiments.records import decode, perform
from praemia.experiments.settings import Job, LearnerChoice, Setting, TaskText
from praemia.experiments.store import Store


def a_job(run: int = 0, **parameters: object) -> Job:
    return Job(TaskText.builtin("riverswim-5"), LearnerChoice.of("ucbvi-prm", "paper", **parameters), 300, (3, run))


def test_a_record_says_what_the_run_said() -> None:
    job = a_job()
    run = praemia.simulate(praemia.envs.make("riverswim-5"), praemia.UCBVIPRM(), 300, seed=(3, 0))
    record = decode(perform(job)[0], "here")
    assert record.job == job
    assert np.array_equal(record.regret, run.regret)
    assert np.array_equal(record.plan_episodes, run.plan_episodes)
    assert np.array_equal(record.optimistic_values, run.optimistic_values, equal_nan=True)
    assert record.return_means.mean() == pytest.approx(run.returns.mean())
    assert record.versions == run.versions


def test_a_job_gives_the_same_bytes_every_time() -> None:
    assert perform(a_job())[0] == perform(a_job())[0]
    assert perform(a_job())[0] != perform(a_job(run=1))[0]


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    store, job = Store.create(tmp_path / "store"), a_job()
    data, seconds = perform(job)
    assert not store.has(job)
    store.write(job, data, seconds)
    assert store.has(job)
    assert store.read(job).job == job
    assert store.read(job).seconds == pytest.approx(seconds, abs=1e-5)
    assert Store.open(tmp_path / "store").missing([job, a_job(run=1)]) == ([a_job(run=1)], [])
    about = json.loads((store.path_of(job).parent / "about.json").read_text())
    assert about["learner"]["parameters"]["bonus_scale"] == 0.001


def test_changed_settings_are_kept_apart(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    jobs = [
        a_job(),
        a_job(bonus_scale=0.5),
        a_job(replan="epoch"),
        replace(a_job(), num_episodes=301),
        replace(a_job(), task=TaskText.builtin("riverswim-5", horizon=11)),
    ]
    assert len({store.path_of(job) for job in jobs}) == len(jobs)


def test_the_order_of_parameters_does_not_change_what_a_run_is() -> None:
    learner = a_job().learner
    turned = replace(learner, parameters=dict(reversed(list(learner.parameters.items()))))
    assert replace(a_job(), learner=turned).digest == a_job().digest


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("do not touch")
    with pytest.raises(FileError, match="other things"):
        Store.create(tmp_path)
    with pytest.raises(FileError, match="not a store"):
        Store.open(tmp_path)
    with pytest.raises(FileError, match="a file"):
        Store.create(tmp_path / "thesis.txt")
    with pytest.raises(FileError, match="no such folder"):
        Store.open(tmp_path / "nowhere")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_that_would_need_pickle_is_refused_and_nothing_in_it_runs() -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, ("raise SystemExit('executed')",))

    buffer = io.BytesIO()
    np.savez(buffer, header=np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match="damaged, or not the record"):
        decode(buffer.getvalue(), "trap.npz")


@pytest.mark.parametrize("cut", [0, 1, 50, 400, -1])
def test_a_record_cut_short_anywhere_is_refused(cut: int) -> None:
    data = perform(a_job())[0]
    with pytest.raises(FileError, match=r"cut\.npz"):
        decode(data[:cut], "cut.npz")


def test_a_record_of_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(records, "FORMAT", 9)
        data = perform(a_job())[0]
    with pytest.raises(FileError, match="format 9; expected 1"):
        decode(data, "new.npz")


def test_seeds_of_tuning_and_of_reported_runs_never_meet() -> None:
    choices = (LearnerChoice.of("ucbvi-prm"),)
    reported = Setting(TaskText.builtin("riverswim-5"), choices, num_runs=50)
    tuning = replace(reported, stream=1)
    states = [
        np.random.SeedSequence(job.seed).generate_state(4).tobytes() for s in (reported, tuning) for job in s.jobs()
    ]
    assert len(set(states)) == len(states) == 100


@pytest.mark.parametrize("runs", [0, -1, 10**9])
def test_absurd_numbers_of_runs_are_refused(runs: int) -> None:
    with pytest.raises(ParameterError, match="runs="):
        Setting(TaskText.builtin("riverswim-5"), (LearnerChoice.of("random"),), num_runs=runs)
