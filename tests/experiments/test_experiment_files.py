"""Experiment files: what they say is what is run, and mistakes are found before anything is."""

from __future__ import annotations

from pathlib import Path

import pytest

from praemia import cli
from praemia.errors import PraemiaError
from praemia.experiments.experiment_file import load_experiment
from praemia.experiments.paper import CANDIDATES, experiments, select, tuning
from praemia.files.building import parse_task

GOOD = """
tasks: [warehouse-3, mine.yaml]
learners:
  - ucbvi-prm
  - {learner: ucbvi-prm, bonus_scale: 0.01, title: bolder}
runs: 3
episodes: 50
seed: 9
"""
TASK = """
environment: {name: riverswim-5}
horizon: 7
"""


def write(folder: Path, text: str) -> Path:
    (folder / "mine.yaml").write_text(TASK)
    path = folder / "experiment.yaml"
    path.write_text(text)
    return path


def test_a_file_unfolds_into_its_runs(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    jobs = experiment.jobs()
    assert len(jobs) == 2 * 2 * 3
    assert {job.task.name for job in jobs} == {"warehouse-3", "mine"}
    assert {job.learner.title for job in jobs} == {"ucbvi-prm", "bolder"}
    assert {job.learner.parameters["bonus_scale"] for job in jobs} == {0.001, 0.01}
    assert {job.seed for job in jobs} == {(9, 0), (9, 1), (9, 2)}
    assert all(job.num_episodes == 50 for job in jobs)


def test_a_task_file_travels_with_the_job(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    (tmp_path / "mine.yaml").unlink()
    job = next(job for job in experiment.jobs() if job.task.name == "mine")
    task = parse_task(job.task.text, job.task.name)
    assert (task.num_observations, task.horizon) == (5, 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tasks: [warehouse-3]\nlearners: [ucbvi-prn]", r"experiment\.yaml:2: .*did you mean 'ucbvi-prm'"),
        ("tasks: [warehose-3]\nlearners: [ucbvi-prm]", r"experiment\.yaml:1: .*did you mean 'warehouse"),
        ("tasks: [nowhere.yaml]\nlearners: [ucbvi-prm]", r"experiment\.yaml:1: .*nowhere\.yaml"),
        ("tasks: [warehouse-3]\nlearner: [ucbvi-prm]", r"did you mean 'learners'"),
        ("tasks: [warehouse-3]\nlearners: [{learner: ucbvi-prm, bonus: 1}]", r":2: .*no parameter 'bonus'"),
        ("tasks: [warehouse-3]\nlearners: [{learner: ucbvi-prm, bonus_scale: -1}]", r":2: .*bonus_scale=-1"),
        ("tasks: [warehouse-3]\nlearners: [ucbvi-prm, ucbvi-prm]", r":2: two learners with the title"),
        ("tasks: [warehouse-3]\nlearners: [ucbvi-prm]\nruns: 0", r":3:\d+: runs"),
        ("tasks: [warehouse-3]\nlearners: [ucbvi-prm]\nepisodes: many", r":3:\d+: episodes"),
        ("tasks: []\nlearners: [ucbvi-prm]", r":1:\d+: tasks"),
        ("tasks: [warehouse-3", r"experiment\.yaml"),
    ],
)
def test_a_mistake_is_named_with_its_place_before_anything_is_run(text: str, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(PraemiaError, match=expected):
        load_experiment(path)
    assert cli.execute(["experiment", str(path), "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_the_paper_has_six_settings_and_all_its_learners() -> None:
    paper = experiments()[0]
    assert [s.name for s in paper.settings] == [
        *(f"riverswim-{n}" for n in (5, 10, 15)),
        *(f"warehouse-{n}" for n in (3, 4, 5)),
    ]
    horizons = [parse_task(s.task.text, s.name).horizon for s in paper.settings]
    assert horizons == [10, 20, 30, 9, 12, 15]
    names = {choice.name for choice in paper.settings[0].choices}
    assert names == {"ucbvi-prm", "ucbvi", "ucrl2-rm-l", "ucrl2-rm-b", "headroom"}
    assert paper.settings[0].num_runs == 16
    assert paper.settings[0].num_episodes == 10_000


def test_tuning_gives_every_learner_the_same_budget() -> None:
    assert {len(candidates) for candidates in CANDIDATES.values()} == {6}
    per_learner = [choice.name for choice in tuning().settings[0].choices]
    assert {per_learner.count(name) for name in CANDIDATES} == {6}


def test_only_keeps_what_is_named_and_knows_the_nearest_name() -> None:
    chosen = select(experiments(), ["warehouse-4", "machine-size"])
    assert [s.name for e in chosen for s in e.settings] == ["warehouse-4", "flower-5", "flower-20", "flower-80"]
    with pytest.raises(PraemiaError, match="did you mean 'warehouse-4'"):
        select(experiments(), ["warehouse4"])


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "-1/2", "1/0"])
def test_a_shard_that_makes_no_sense_is_refused(shard: str, tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    assert cli.execute(["experiment", str(path), "--out", str(tmp_path / "out"), "--shard", shard, "--jobs", "1"]) == 2


def test_two_different_tasks_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "warehouse-3.yaml").write_text("environment: {name: warehouse-3}\nhorizon: 7\n")
    path = write(tmp_path, "tasks: [warehouse-3, warehouse-3.yaml]\nlearners: [ucbvi-prm]")
    with pytest.raises(PraemiaError, match="two different tasks of the name 'warehouse-3'"):
        load_experiment(path)
