"""Stored runs as series and studies: what was played tells runs apart, and nothing in a folder is left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from learner_files import HEAD, LEAST_TRIED
from stored_runs import EPISODES, KIND, PRM, PRODUCT, fill, jitter, made_up, paper, studies

from praemia.cli import execute
from praemia.experiments.experiment import distinct_names
from praemia.experiments.loading import Changes, load_experiment
from praemia.experiments.store import RECORD, StoredRuns
from praemia.report.tables import pairs_table
from praemia.statistics.series import OTHERS, Series, Study, paired, read_folder, spread


def read(store: StoredRuns) -> list[Study]:
    return read_folder(store)


def test_a_series_has_the_numbers_of_its_runs() -> None:
    series = studies({("riverswim-5", PRM): 20.0}, exponent=0.5)[0].series["riverswim-5", PRM]
    expected = np.array([jitter(run, 20.0) for run in series.runs])
    assert series.final == pytest.approx(expected)
    assert spread(series.final) == pytest.approx(expected.std(ddof=1))
    assert series.seconds != series.seconds  # these made-up runs have no time
    # After the first tenth each run loses the same per episode: (1 − 10^−½) of its regret in 0.9 K episodes.
    slope = (1.0 - 10.0**-0.5) * expected.mean() / (0.9 * EPISODES) * 1000
    assert series.late_slope == pytest.approx(slope)
    ends = series.curves(np.array([EPISODES // 10, EPISODES]))
    assert ends[:, 0] == pytest.approx(expected * 10.0**-0.5)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e9])
def test_rounding_errors_are_no_regret_whatever_the_unit_of_rewards(unit: float) -> None:
    run = studies({("riverswim-5", PRM): 20.0})[0].series["riverswim-5", PRM].runs[0]
    losses = {
        regret: replace(run, plan_values=run.plan_values * 0 + 1.0 - regret / EPISODES) for regret in (1e-11, 1.0)
    }
    finals = [
        Series.of([replace(r, optimal_value=unit, plan_values=unit * r.plan_values, returns=unit * r.returns)]).final[0]
        for r in losses.values()
    ]
    assert finals == [0.0, pytest.approx(unit)]


def test_a_folder_is_read_group_by_group_as_its_record_says(tmp_path: Path) -> None:
    store = fill(StoredRuns.create(tmp_path / "store"), KIND, paper())
    found = read(StoredRuns.open(tmp_path / "store"))
    assert [study.group.title for study in found] == [group.title for group in paper().groups]
    assert [list(study.rows) for study in found] == [[*group.tasks] for group in paper().groups]
    assert {series.num_runs for study in found for series in study.series.values()} == {8}
    assert found[0].group.part == paper().groups[0].part
    assert store.damaged == {}
    store.keep(paper(num_runs=2))  # more runs than are asked for are used
    assert {series.num_runs for study in read(store) for series in study.series.values()} == {8}


def test_titles_are_labels_and_renaming_one_replays_nothing(tmp_path: Path) -> None:
    store = fill(StoredRuns.create(tmp_path / "store"), KIND, paper(num_runs=2))
    before = {path: path.stat().st_mtime_ns for path in store.files()}
    group = paper(num_runs=2).groups[0]
    learners = [own.model_copy(update={"title": f"my {own.title}"}) for own in group.part.learners]
    part = group.part.model_copy(update={"learners": learners, "claims": []})
    store.keep(replace(paper(), groups=(replace(group, part=part),)))
    jobs = store.experiment().jobs()
    assert all(store.read(job) is not None for job in jobs if (job.task.name, job.learner.title[3:]) in KIND)
    study, others = read(store)
    assert {series.title for series in study.rows["riverswim-5"]} == {f"my {title}" for title in group.titles}
    assert others.group.title == OTHERS  # the flowers, which the record does not ask for any more
    assert {path: path.stat().st_mtime_ns for path in store.files()} == before
    assert store.damaged == {}


def test_two_tasks_of_one_name_are_two_rows(tmp_path: Path) -> None:
    (tmp_path / "warehouse-3.yaml").write_text("environment: {name: warehouse-3}\nhorizon: 5\n")
    path = tmp_path / "two.yaml"
    path.write_text("tasks: [warehouse-3, warehouse-3.yaml]\nlearners: [optimal]\nruns: 1\nepisodes: 20\n")
    assert execute(["experiment", str(path), "--out", str(tmp_path / "out"), "--jobs", "1"]) == 0
    (study,) = read(StoredRuns.open(tmp_path / "out"))
    assert list(study.rows) == ["warehouse-3 (1)", "warehouse-3 (2)"]
    assert [own[0].loaded_task.horizon for own in study.rows.values()] == [9, 5]
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "warehouse-3 (1)" in text
    assert "warehouse-3 (2)" in text


def test_runs_that_the_experiment_does_not_ask_for_are_listed_after_it(tmp_path: Path) -> None:
    store = fill(StoredRuns.create(tmp_path / "store"), {("riverswim-5", PRM): 1.0}, paper(num_runs=2))
    job = paper(num_runs=1).jobs()[0]
    older = replace(job.learner, parameters={**job.learner.parameters, "forgotten": 1})
    for other in (replace(job, learner=older), replace(job, num_episodes=50), replace(job, seed=(7, 0))):
        store.write(made_up(other, 3.0))
    study, others = read(store)
    assert study.series["riverswim-5", PRM].num_runs == 2
    assert list(others.rows) == [
        "riverswim-5, 1,000 episodes, seed 0",
        "riverswim-5, 50 episodes, seed 0",
        "riverswim-5, 1,000 episodes, seed 7",
    ]
    assert [*others.players] == ["UCBVI-PRM (1)", "UCBVI-PRM (2)"]
    assert len(others.series) == 3


def test_a_learner_from_a_file_is_found_without_its_file(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(HEAD + LEAST_TRIED)
    asked = load_experiment("league", Changes(["warehouse-3"], ["headroom", f"{mine}:LeastTried"], 2, 100))
    store = StoredRuns.create(tmp_path / "store")
    fill(store, {("warehouse-3", title): 3.0 for title in ("headroom", "least-tried")}, asked)
    mine.unlink()
    (study,) = read(store)
    assert {series.title for series in study.rows["warehouse-3"]} == {"headroom", "least-tried"}


@pytest.mark.parametrize(
    ("old", "new"),
    [('"learner": "ucbvi-prm"', '"learner": "mine.py:Mine"'), ('"groups"', '"group"'), ('"text": ', '"texts": ')],
)
def test_a_damaged_record_is_reported_runs_nothing_and_hides_nothing(old: str, new: str, tmp_path: Path) -> None:
    store = fill(StoredRuns.create(tmp_path), KIND, paper(num_runs=1))
    path = tmp_path / RECORD
    path.write_text(path.read_text().replace(old, new))
    found = read(store)
    assert "expected the record of an experiment" in store.damaged[path]
    assert [study.group.title for study in found] == [OTHERS]
    assert sum(series.num_runs for series in found[0].series.values()) == len(store.files())


def test_learners_are_compared_over_the_seeds_that_both_have() -> None:
    first, second = studies()[0].rows["riverswim-5"][:2]
    odd = replace(second, runs=second.runs[::-2])
    assert np.array_equal(paired([first, odd]), [first.final[1::2], odd.final[::-1]])
    apart = replace(first, runs=first.runs[::2])
    assert paired([apart, odd]).shape == (2, 0)
    assert pairs_table({"riverswim-5": [apart, odd]}).rows == []


def test_names_are_told_apart_where_they_stand_for_different_things() -> None:
    assert distinct_names(["a", "b", "a", "a"], ["1", "1", "2", "1"]) == ["a (1)", "b", "a (2)", "a (1)"]


def test_a_task_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    series = studies({("riverswim-5", PRODUCT): 1.0})[0].series["riverswim-5", PRODUCT]
    broken = replace(series, runs=(replace(series.first, task_text="environment: {name: nowhere}\n"),))
    assert broken.loaded_task is None
