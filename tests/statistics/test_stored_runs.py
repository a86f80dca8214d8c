"""Stored runs as series, studies, tables and exports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from learner_files import HEAD, LEAST_TRIED
from stored_runs import EPISODES, KIND, PRM, fill, jitter, made_up, small, studies

from praemia.experiments.league import league
from praemia.experiments.requests import unite
from praemia.experiments.settings import Experiment, LearnerChoice, Setting, TaskText
from praemia.experiments.store import Store
from praemia.report.run_tables import pairs_table
from praemia.statistics.stored_runs import discover, gather, paired


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return fill(Store.create(tmp_path_factory.mktemp("runs") / "store"), KIND, small())


def test_a_series_has_the_numbers_of_its_runs() -> None:
    series = studies({("riverswim-5", PRM): 20.0}, exponent=0.5)[0].series[0]
    expected = np.array([jitter(run, 20.0) for run in series.runs])
    assert series.final == pytest.approx(expected)
    assert series.spread == pytest.approx(expected.std(ddof=1))
    assert series.seconds != series.seconds  # these made-up runs have no time
    # After the first tenth each run loses the same per episode: (1 − 10^−½) of its regret in 0.9 K episodes.
    slope = (1.0 - 10.0**-0.5) * expected.mean() / (0.9 * EPISODES) * 1000
    assert series.late_slope == pytest.approx(slope)
    ends = series.curves(np.array([EPISODES // 10, EPISODES]))
    assert ends[:, 0] == pytest.approx(expected * 10.0**-0.5)


def test_gathered_and_discovered_studies_are_the_same(store: Store) -> None:
    gathered = gather(store, small())
    discovered = discover(store)
    assert store.damaged == {}
    assert [study.name for study in discovered] == [study.name for study in gathered] == ["paper", "machine-size"]
    for one, other in zip(gathered, discovered, strict=True):
        assert list(one.settings) == list(other.settings)
        for first, second in zip(one.series, other.series, strict=True):
            assert first.title == second.title
            assert np.array_equal(first.final, second.final)


def test_another_go_at_an_experiment_is_listed_apart(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path), KIND, small(num_runs=3))
    fill(store, {("riverswim-5", PRM): 1.0}, small(num_runs=2, num_episodes=50))
    found = discover(store)
    assert [study.name for study in found] == ["paper", "machine-size", "paper, 50 episodes, seed 0"]
    assert list(found[2].settings) == ["riverswim-5"]
    assert all(series.num_episodes == EPISODES for study in found[:2] for series in study.series)


def test_parts_of_an_experiment_that_were_asked_for_one_by_one_are_one(tmp_path: Path) -> None:
    store, (paper, _) = Store.create(tmp_path), small(num_runs=2)
    fill(store, KIND, [replace(paper, settings=paper.settings[:2])])
    fill(store, KIND, [replace(paper, settings=paper.settings[1:3])])
    fill(store, KIND, [replace(small(num_runs=3)[0], settings=small(num_runs=3)[0].settings[2:3])])
    (study,) = discover(store)
    assert {name: members[0].num_runs for name, members in study.settings.items()} == {
        setting.name: runs for setting, runs in zip(paper.settings, (2, 2, 3), strict=False)
    }


def test_a_title_that_stands_for_other_parameters_is_listed_apart(tmp_path: Path) -> None:
    def asked(scale: float) -> Experiment:
        bold = LearnerChoice.of("ucbvi-prm", "bold", bonus_scale=scale)
        return Experiment("bold", "", (Setting(TaskText.builtin("riverswim-3"), (bold,), 2, EPISODES),))

    store = Store.create(tmp_path)
    for scale, regret in ((0.01, 1.0), (0.5, 2.0), (0.7, 3.0), (0.5, 2.0)):
        fill(store, {("riverswim-3", "bold"): regret}, [asked(scale)])
    found = discover(store)
    assert sorted(study.series[0].first.parameters["bonus_scale"] for study in found) == [0.01, 0.5, 0.7]
    longer = f"bold, {EPISODES:,} episodes, seed 0"
    assert [study.name for study in found] == ["bold", longer, f"{longer} (2)"]
    assert unite([asked(0.01), asked(0.01)]) == [asked(0.01)]


def test_runs_that_nothing_asked_for_are_listed_after_the_others(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path), {("riverswim-5", PRM): 1.0}, small(num_runs=2))
    job = small(num_runs=1)[0].jobs()[0]
    older = replace(job.learner, parameters={**job.learner.parameters, "forgotten": 1})
    store.write(made_up(replace(job, learner=older), 3.0))
    found = discover(store)
    assert [(study.name, [series.num_runs for series in study.series]) for study in found] == [
        ("paper", [2]),
        ("other", [1]),
    ]


def test_a_learner_from_a_file_is_found_in_the_league_without_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + LEAST_TRIED)
    asked = league(["warehouse-3"], ["headroom", f"{tmp_path / 'mine.py'}:LeastTried"], num_runs=2, num_episodes=100)
    store = Store.create(tmp_path / "store")
    fill(store, {("warehouse-3", choice.title): 3.0 for choice in asked.settings[0].choices}, [asked])
    (tmp_path / "mine.py").unlink()
    (study,) = discover(store)
    assert (study.name, {series.title for series in study.series}) == ("league", {"headroom", "least-tried"})


def test_a_damaged_record_of_a_request_is_reported_and_runs_nothing(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path), KIND, small(num_runs=1)[:1])
    (record,) = (tmp_path / "experiments").iterdir()
    record.write_text(record.read_text().replace('"origin": ""', '"origin": "", "code": {"text": "raise SystemExit"}'))
    found = discover(store)
    (damage,) = store.damaged.values()
    assert [study.name for study in found] == ["other"]
    assert "expected a record of the experiments asked for" in damage


def test_a_damaged_file_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path), KIND, small(num_runs=2))
    store.files()[0].write_bytes(b"PK half a record")
    found = discover(store)
    assert list(store.damaged) == [store.files()[0]]
    assert store.files()[0].name in store.damaged[store.files()[0]]
    assert sum(series.num_runs for study in found for series in study.series) == len(store.files()) - 1
    again = Store.open(tmp_path)
    gather(again, small(num_runs=2))
    assert again.damaged == store.damaged


def test_damage_is_forgotten_when_the_run_is_repeated(tmp_path: Path) -> None:
    store, job = Store.create(tmp_path), small()[0].jobs()[0]
    store.write(made_up(job, 3.0))
    store.path_of(job).write_bytes(b"PK half a record")
    assert store.read(job) is None
    assert list(store.damaged) == [store.path_of(job)]
    store.write(made_up(job, 3.0))
    assert store.read(job) is not None
    assert store.damaged == {}


def test_a_record_in_the_wrong_place_is_reported(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    first, second = small()[0].jobs()[:2]
    store.write(made_up(first, 3.0))
    store.path_of(first).write_bytes(made_up(second, 3.0).to_bytes())
    discover(store)
    assert "another run" in store.damaged[store.path_of(first)]


def test_learners_are_compared_over_the_seeds_that_both_have() -> None:
    first, second = studies()[0].settings["riverswim-5"][:2]
    odd = replace(second, runs=second.runs[::-2])
    assert np.array_equal(paired([first, odd]), [first.final[1::2], odd.final[::-1]])
    apart = replace(first, runs=first.runs[::2])
    assert paired([apart, odd]).shape == (2, 0)
    assert pairs_table({"riverswim-5": [apart, odd]}).rows == []
