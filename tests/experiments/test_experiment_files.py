"""Experiment files: what they say is what is run, and mistakes are found before anything is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from praemia import cli
from praemia.errors import PraemiaError
from praemia.experiments.jobs import Job
from praemia.experiments.loading import load_experiment, read_record
from praemia.experiments.runner import run_in_memory
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
CLAIM = "tasks: [warehouse-3]\nlearners: [eqo, psrl]\nclaims:\n  - {say: a, measure: ratio, question: below, "


def write(folder: Path, text: str) -> Path:
    (folder / "mine.yaml").write_text(TASK)
    path = folder / "experiment.yaml"
    path.write_text(text)
    return path


def test_a_file_unfolds_into_its_runs(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    jobs = experiment.jobs()
    assert len(jobs) == 2 * 2 * 3
    assert experiment.title == "experiment"
    assert {job.task.name for job in jobs} == {"warehouse-3", "mine"}
    assert {job.learner.title for job in jobs} == {"ucbvi-prm", "bolder"}
    assert {job.learner.parameters["bonus_scale"] for job in jobs} == {0.001, 0.01}
    assert {job.seed for job in jobs} == {(9, 0), (9, 1), (9, 2)}
    assert all(job.num_episodes == 50 for job in jobs)


def test_a_task_file_travels_with_the_job_and_in_the_record(tmp_path: Path) -> None:
    experiment = load_experiment(write(tmp_path, GOOD))
    (tmp_path / "mine.yaml").unlink()
    for jobs in (experiment.jobs(), read_record(experiment.record(), "here").jobs()):
        job = next(job for job in jobs if job.task.name == "mine")
        task = parse_task(job.task.text, job.task.name)
        assert (task.num_observations, task.horizon) == (5, 7)


def test_lists_of_parameters_are_a_grid(tmp_path: Path) -> None:
    text = (
        "tasks: [warehouse-3]\nlearners: [{learner: headroom, headroom_scale: [0.3, 0.6], replan: [epoch, doubling]}]"
    )
    (group,) = load_experiment(write(tmp_path, text)).groups
    grid = [job.learner.parameters for job in group.cells.values()]
    points = [(own["headroom_scale"], own["replan"]) for own in grid]
    assert points == [(0.3, "epoch"), (0.3, "doubling"), (0.6, "epoch"), (0.6, "doubling")]
    assert len(group.titles) == 4


def test_groups_take_what_they_lack_from_the_file(tmp_path: Path) -> None:
    text = """
learners: [eqo]
runs: 2
episodes: 40
discount: 0.9
groups:
  - {title: one, tasks: [riverswim-3, {task: riverswim-4, horizon: 5, episodes: 7}]}
  - {title: two, tasks: [riverswim-3], learners: [psrl], steps: 60, runs: 1, tuning: true}
  - {title: three, tasks: [{task: "riverswim-{3..5}", kind: river}]}
"""
    one, two, three = load_experiment(write(tmp_path, text)).groups
    assert [(name, three.kind(name)) for name in three.tasks] == [(f"riverswim-{size}", "river") for size in (3, 4, 5)]
    assert [(job.task.name, job.learner.name, job.num_episodes) for job in one.jobs()] == [
        *[("riverswim-3", "eqo", 40)] * 2,
        *[("riverswim-4 (horizon 5)", "eqo", 7)] * 2,
    ]
    assert {job.task.make().discount for own in (one, two) for job in own.cells.values()} == {0.9}
    (job,) = two.jobs()
    assert (job.learner.name, job.num_episodes, job.num_steps, job.seed) == ("psrl", None, 60, (0, 0, 1))


def test_seeds_of_tuning_and_of_reported_runs_never_meet(tmp_path: Path) -> None:
    text = "learners: [eqo]\nruns: 50\ngroups: [{tasks: [riverswim-3]}, {tasks: [riverswim-3], tuning: true}]"
    jobs = load_experiment(write(tmp_path, text)).jobs()
    states = [np.random.SeedSequence(job.seed).generate_state(4).tobytes() for job in jobs]
    assert len(set(states)) == len(states) == 100


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
        ("tasks: [warehouse-3]\nlearners: [{learner: eqo, title: a, bonus_scale: [1, 2]}]", r":2: a grid"),
        ("tasks: [warehouse-3]\nlearners: [ucbvi-prm]\nruns: 0", r":3:\d+: runs"),
        ("tasks: [warehouse-3]\nlearners: [ucbvi-prm]\nruns: 1000000000", r":3:\d+: runs"),
        ("tasks: [warehouse-3]\nlearners: [ucbvi-prm]\nepisodes: many", r":3:\d+: episodes"),
        ("tasks: [warehouse-3]\nlearners: [eqo]\nepisodes: 1\nsteps: 1", "found both episodes and steps"),
        ("tasks: []\nlearners: [ucbvi-prm]", "expected tasks and learners"),
        ("tasks: [warehouse-3", r"experiment\.yaml"),
        ("learners: [eqo]", "expected tasks and learners"),
        ("tasks: [warehouse-3]", "expected tasks and learners"),
        ("tasks: [{task: riverswim-3, parameters: {Eqo: {}}}]\nlearners: [eqo]", ":1: unknown learner 'Eqo'"),
        ("tasks: ['riverswim-{5..3}']\nlearners: [eqo]", ":1: the range"),
        ("tasks: [warehouse-3]\nlearners: [mine.py:Mine]", ":2: .*only with --allow-code"),
        (CLAIM + "of: eqq}", ":4: unknown learner 'eqq'.*did you mean 'eqo'"),
        (CLAIM + "of: eqo, on: warehouse-4}", ":4: unknown task 'warehouse-4'"),
        (CLAIM.replace("ratio", "ratios") + "of: eqo}", ":4.*measure"),
        (CLAIM.replace("ratio", "exponent") + "of: eqo, than: psrl}", "is of one learner; leave 'than' out"),
        (CLAIM.replace("ratio", "size effect") + "of: eqo, on: warehouse-3}", "expected two or more in 'on'"),
        (CLAIM.replace("ratio", "worst run") + "of: eqo}", "needs a 'threshold'"),
        (
            CLAIM.replace("[warehouse-3]", "[mine.yaml, {task: warehouse-3, title: mine}]") + "of: eqo, on: mine}",
            "unknown task 'mine' .*mine \\(1\\)' or 'mine \\(2\\)",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_before_anything_is_run(text: str, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(PraemiaError, match=expected):
        load_experiment(path)
    assert cli.execute(["experiment", str(path), "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_an_experiment_may_be_as_long_as_a_number_of_steps(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("tasks: [riverswim-3]\nlearners: [random]\nruns: 1\nsteps: 25\n")
    experiment = load_experiment(tmp_path / "mine.yaml")
    jobs = experiment.jobs()
    assert [job.digest for job in read_record(experiment.record(), "a record").jobs()] == [job.digest for job in jobs]
    runs, failures = run_in_memory(jobs, num_workers=1)
    assert not failures
    assert [Job.of(run) for run in runs] == jobs
    assert int(runs[0].steps.sum()) == 30
