"""Stored runs as rows and curves: the same numbers in Python, in data frames and in CSV."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from stored_runs import CORRECT, PRM, fill, jitter, made_up, paper

from praemia import BlackBox, MachineBuilder, learners, load_runs, simulate
from praemia.cli import execute
from praemia.envs import riverswim
from praemia.errors import FileError, ParameterError, PraemiaWarning
from praemia.experiments.frames import KEYS, POINTS, RESULTS
from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.store import StoredRuns
from praemia.files.writing import dump

REGRETS = {("riverswim-5", PRM): 3.0, ("riverswim-5", CORRECT): 2.0, ("warehouse-3", PRM): 30.0}

pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> StoredRuns:
    return fill(StoredRuns.create(tmp_path_factory.mktemp("runs") / "store"), REGRETS, paper(num_runs=3))


def test_a_frame_has_a_row_per_run_with_whole_numbers_for_seed_and_run(store: StoredRuns) -> None:
    frame = load_runs(store.folder).to_frame()
    assert list(frame.columns) == [*KEYS, *RESULTS]
    assert len(frame) == len(load_runs(store.folder)) == 9
    assert {str(frame[name].dtype) for name in ("seed", "run", "stream", "episodes", "plans")} == {"int64"}
    for (task, title), group in frame.groupby(["task", "title"]):
        assert sorted(zip(group.seed, group.run, strict=True)) == [(0, 0), (0, 1), (0, 2)]
        jobs = [job for job in paper(num_runs=3).jobs() if job.task.name == task]
        known = {job.seed[1]: jitter(job, REGRETS[task, title]) for job in jobs}
        np.testing.assert_allclose(group.regret, [known[run] for run in group.run])
    assert (frame.mean_return == 0.5).all()
    assert (frame.seconds == 0.25).all()


def test_runs_are_read_one_by_one_or_in_slices(store: StoredRuns, tmp_path: Path) -> None:
    runs = load_runs(str(store.folder))
    assert [run.seed for run in runs] == [runs[number].seed for number in range(len(runs))]
    assert [run.seed for run in runs[0:2]] == [runs[number].seed for number in (0, 1)]
    assert runs[0].seconds == 0.25
    assert "9 in" in repr(runs)
    (tmp_path / "praemia-store.json").write_bytes((store.folder / "praemia-store.json").read_bytes())
    none = load_runs(tmp_path)
    assert (len(none), len(none.to_frame()), list(none.curves().columns)) == (0, 0, [*KEYS, *POINTS])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> StoredRuns:
    """Return a store with real runs of two lengths, and one on a black box."""
    folder = tmp_path_factory.mktemp("played")
    for episodes in ("120", "300"):
        command = ["run", "riverswim-4", "--learner", "ucbvi-prm", "--episodes", episodes, "--runs", "2"]
        assert execute([*command, "--out", str(folder / "store")]) == 0
    store = StoredRuns.open(folder / "store")
    machine = MachineBuilder("a").edge("a", "goal", "b", reward=1).build()
    lake = gymnasium.make("FrozenLake-v1")
    box = BlackBox(lake, lambda o, a, z, info: {"goal"} if z == 15 else set(), machine, 20)
    store.write(simulate(box, learners.make("random"), 50, 7))
    return store


def test_straight_lines_between_the_points_of_a_curve_are_the_exact_regret(played: StoredRuns) -> None:
    frame = load_runs(played.folder).curves()
    for run in load_runs(played.folder):
        seed, number = (*run.seed, 0)[:2]
        mine = frame[(frame.task == run.task) & (frame.episodes == run.num_episodes) & (frame.run == number)]
        assert mine.episode.iloc[0] == 0
        assert mine.episode.iloc[-1] == run.num_episodes
        assert len(mine) == run.num_plans + 1
        assert set(mine.seed) == {seed}
        np.testing.assert_allclose(mine.total_return, [run.returns[:k].sum() for k in mine.episode])
        if run.optimal_value is None:
            assert mine.regret.isna().all()
        else:
            every = np.arange(1, run.num_episodes + 1)
            np.testing.assert_allclose(np.interp(every, mine.episode, mine.regret), run.regret, atol=1e-9)


def test_curves_at_chosen_episodes_are_the_exact_regret_there(played: StoredRuns) -> None:
    frame = load_runs(played.folder).curves([0, 1, 77, 200])
    tasks = frame[frame.task == "riverswim-4"]
    for run in load_runs(played.folder):
        if run.optimal_value is not None:
            mine = tasks[(tasks.episodes == run.num_episodes) & (tasks.run == run.seed[1])]
            at = [0, 1, 77] if run.num_episodes == 120 else [0, 1, 77, 200]  # what was not played is left out
            assert mine.episode.tolist() == at
            np.testing.assert_allclose(mine.regret, [0.0, *run.regret[np.array(at[1:]) - 1]], atol=1e-9)
    assert {str(frame[name].dtype) for name in ("seed", "run", "episode")} == {"int64"}


@pytest.mark.parametrize("curves", [False, True])
def test_files_hold_what_frames_hold(played: StoredRuns, tmp_path: Path, curves: bool) -> None:
    path = tmp_path / "rows.csv"
    assert execute(["report", str(played.folder), "--csv", str(path), *(["--curves"] if curves else [])]) == 0
    runs = load_runs(played.folder)
    frame = runs.curves() if curves else runs.to_frame()
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert list(lines[0]) == list(frame.columns)
    assert [line["regret"] != "" for line in lines] == frame.regret.notna().tolist()
    assert [float(line["regret"]) for line in lines if line["regret"]] == frame.regret.dropna().tolist()
    assert [int(line["run"]) for line in lines] == frame.run.tolist()
    assert json.loads(lines[0]["parameters"]) == runs[0].parameters


def test_no_two_runs_have_equal_keys(tmp_path: Path) -> None:
    """Tasks of one name differ in discount, until_done or their files; runs, in their budget, tests or learner file."""
    store = StoredRuns.create(tmp_path / "store")
    river, learner = TaskText.builtin("riverswim-3"), LearnerChoice.of("random")
    texts = "", "discount: 0.5\n", "until_done: true\n"
    jobs = [Job(TaskText(river.name, river.text + more), learner, 10, (0, 0)) for more in texts]
    jobs += [Job(TaskText(river.name, dump(riverswim(3, horizon=horizon))), learner, 10, (0, 0)) for horizon in (6, 9)]
    jobs += [replace(jobs[0], num_episodes=None, num_steps=60), replace(jobs[0], test_every=10)]
    jobs += [replace(jobs[0], learner=replace(learner, origin=f"mine.py:Mine {digest}")) for digest in ("a1", "b2")]
    for job in jobs:
        task = job.task.make()
        run = made_up(replace(job, num_episodes=10), 1.0)
        facts = {"step_budget": job.num_steps, "test_every": job.test_every, "until_done": task.until_done}
        store.write(replace(run, discount=task.discount, **facts))
    runs = load_runs(store.folder)
    frame, curves = runs.to_frame(), runs.curves([10])
    keys = list(KEYS)
    assert len(frame) == len(jobs)
    assert len(frame.groupby(keys)) == len(curves.groupby(keys)) == len(jobs)
    assert sorted(frame.discount)[:2] == [0.5, 1.0]
    assert (frame.until_done.sum(), frame.step_budget.max(), frame.task_digest.nunique()) == (1, 60, 5)


# Bad input


def test_a_damaged_file_is_left_out_with_a_warning(tmp_path: Path) -> None:
    store = fill(StoredRuns.create(tmp_path / "store"), REGRETS, paper(num_runs=1))
    damaged = store.files()[0]
    damaged.write_bytes(damaged.read_bytes()[:100])
    with pytest.warns(PraemiaWarning, match=damaged.name):
        assert len(load_runs(store.folder).to_frame()) == 2


def test_wrong_folders_and_episodes_are_refused(store: StoredRuns, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such folder"):
        load_runs(tmp_path / "nowhere")
    with pytest.raises(ParameterError, match="folder=3; expected the path of a folder"):
        load_runs(3)  # type: ignore[arg-type]
    for wrong in ([-1], [0.5], 3, [[1]]):
        with pytest.raises(ParameterError, match=r"episodes=.*; expected a list of integers"):
            load_runs(store.folder).curves(wrong)  # type: ignore[arg-type]


def test_seeds_of_any_size_are_written(tmp_path: Path) -> None:
    seeds, store = [7, 2**63, 2**64], StoredRuns.create(tmp_path / "store")
    for seed in seeds:
        store.write(simulate(riverswim(3), learners.make("optimal"), 5, seed))
    frame = load_runs(store.folder).to_frame()
    assert sorted(frame.seed) == seeds
    assert frame.run.dtype == np.int64
    assert execute(["report", str(store.folder), "--csv", str(tmp_path / "runs.csv")]) == 0
    rows = csv.DictReader((tmp_path / "runs.csv").read_text().splitlines())
    assert sorted(int(row["seed"]) for row in rows) == seeds
