"""Stored runs as series, studies, tables and exports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from learner_files import HEAD, LEAST_TRIED
from stored_runs import CORRECT, EPISODES, KIND, PRM, fill, jitter, made_up, small, studies

from praemia.errors import FileError
from praemia.experiments.league import league
from praemia.experiments.store import Store
from praemia.statistics.stored_runs import collect, discover, gather, paired
from praemia.statistics.tables import (
    SUMMARY_HEADER,
    compare,
    summarise,
)


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
    gathered, _ = gather(store, small())
    discovered, damaged = discover(store)
    assert damaged == []
    assert [study.name for study in discovered] == [study.name for study in gathered] == ["paper", "machine-size"]
    for one, other in zip(gathered, discovered, strict=True):
        assert list(one.settings) == list(other.settings)
        for first, second in zip(one.series, other.series, strict=True):
            assert first.title == second.title
            assert np.array_equal(first.final, second.final)


def test_another_go_at_an_experiment_is_listed_apart(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path), KIND, small(num_runs=3))
    fill(store, {("riverswim-5", PRM): 1.0}, small(num_runs=2, num_episodes=50))
    found, _ = discover(store)
    assert [study.name for study in found] == ["paper", "machine-size", "other"]
    assert list(found[2].settings) == ["riverswim-5, 50 episodes, seed 0"]
    assert all(series.num_episodes == EPISODES for series in found[0].series)


def test_runs_of_an_older_version_with_other_parameters_are_known_and_not_mixed(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    jobs = [job for job in small(num_runs=3)[0].jobs() if (job.task.name, job.learner.title) == ("riverswim-5", PRM)]
    for place, job in enumerate(jobs):
        older = replace(job.learner, parameters={**job.learner.parameters, "forgotten": 1})
        renewed = replace(job, learner=older) if place < 2 else job
        store.write(made_up(renewed, 3.0))
    found, _ = discover(store)
    assert [(study.name, [series.num_runs for series in study.series]) for study in found] == [
        ("paper", [2]),
        ("other", [1]),
    ]


def test_a_learner_from_a_file_is_found_in_the_league_if_it_played_all_of_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + LEAST_TRIED)
    jobs = league(names=["headroom", f"{tmp_path / 'mine.py'}:LeastTried"], num_runs=1, num_episodes=100).jobs()
    for name, tasks in (("all", {job.task.name for job in jobs}), ("one", {"drawn-lake-300"})):
        store = Store.create(tmp_path / name)
        for job in jobs:
            if job.learner.name == "headroom" or job.task.name in tasks:
                store.write(made_up(job, 3.0))
        found = {study.name: {series.title for series in study.series} for study in discover(store)[0]}
        assert found == (
            {"league": {"headroom", "least-tried"}}
            if name == "all"
            else {"league": {"headroom"}, "other": {"least-tried"}}
        )


def test_a_damaged_file_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    store = fill(Store.create(tmp_path), KIND, small(num_runs=2))
    store.files()[0].write_bytes(b"PK half a record")
    found, damaged = discover(store)
    assert len(damaged) == 1
    assert store.files()[0].name in damaged[0]
    assert sum(series.num_runs for study in found for series in study.series) == len(store.files()) - 1
    assert gather(store, small(num_runs=2))[1] == damaged
    with pytest.raises(FileError, match="damaged"):
        collect(store, [setting for experiment in small(num_runs=2) for setting in experiment.settings])


def test_a_record_in_the_wrong_place_is_reported(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    first, second = small()[0].jobs()[:2]
    store.write(made_up(first, 3.0))
    store.path_of(first).write_bytes(made_up(second, 3.0).to_bytes())
    assert "another run" in discover(store)[1][0]


def test_a_summary_says_mean_spread_interval_and_worst_run(store: Store) -> None:
    series = gather(store, small())[0][0].series[0]
    summary = summarise("riverswim-5", series)
    assert summary.regret.estimate == pytest.approx(series.final.mean())
    assert summary.regret.low < summary.regret.estimate < summary.regret.high
    assert (summary.worst, summary.plans, summary.seconds) == (series.final.max(), 2.0, 0.25)
    assert len(summary.cells()) == len(SUMMARY_HEADER)


def test_comparisons_name_the_lower_or_neither() -> None:
    members = studies()[0].settings["riverswim-5"]
    pairs = {(c.first, c.second): c for c in compare("riverswim-5", members)}
    assert len(pairs) == 10
    assert pairs[PRM, CORRECT].reading == PRM
    assert pairs[PRM, "UCRL2-RM-L"].reading == "level"
    assert pairs[PRM, CORRECT].difference.estimate == pytest.approx(-5.0 / 10.0 * members[0].final.mean())
    few = compare("riverswim-5", studies(KIND, num_runs=7)[0].settings["riverswim-5"])
    assert {pair.reading for pair in few} == {"too few runs"}


def test_learners_are_compared_over_the_seeds_that_both_have() -> None:
    first, second = studies()[0].settings["riverswim-5"][:2]
    odd = replace(second, runs=second.runs[::-2])
    assert np.array_equal(paired([first, odd]), [first.final[1::2], odd.final[::-1]])
    apart = replace(first, runs=first.runs[::2])
    assert paired([apart, odd]).shape == (2, 0)
    assert compare("riverswim-5", [apart, odd]) == []
