"""Runs as files: whole, equal for equal runs, and never trusted."""

from __future__ import annotations

import io
import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from line_walks import arrival, box, walk

from praemia import envs, learners
from praemia.errors import FileError, ParameterError
from praemia.files.arrays import ArchiveKind
from praemia.simulation import Run, run, simulate

UNTIL_DONE = envs.make("warehouse-3").with_until_done()


@pytest.fixture(scope="module")
def played() -> Run:
    return simulate(envs.make("riverswim-5"), learners.make("ucbvi-prm"), 200, seed=(3, 1))


@pytest.mark.parametrize(
    ("world", "learner", "options"),
    [
        (envs.make("riverswim-5"), "ucbvi-prm", {"num_episodes": 200, "seed": (3, 1)}),
        (envs.make("riverswim-3"), learners.make("psrl", replan="doubling-at-once"), {"num_episodes": 20}),
        (UNTIL_DONE, "random", {"num_steps": 300}),
        (UNTIL_DONE.with_discount(0.9), "qr-max", {"num_steps": 200, "test_every": 100}),
        (walk(arrival(-2.5)), "headroom", {"num_episodes": 30}),
        (box(arrival()), "headroom", {"num_episodes": 30}),
    ],
    ids=["task", "pathwise regret", "a budget of steps", "tests", "rewards that are mapped", "black box"],
)
def test_all_of_a_run_but_its_seconds_is_saved_and_loaded(
    world: Any, learner: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    played = simulate(world, learner, **options)
    played.save(tmp_path / "run.npz")
    loaded = Run.load(tmp_path / "run.npz")
    for name in {item.name for item in fields(Run)} - {"seconds", "policy", "_counted", "_player"}:
        np.testing.assert_equal(getattr(loaded, name), getattr(played, name), name)
    np.testing.assert_array_equal(loaded.policy.table, played.policy.table)
    assert math.isnan(loaded.seconds)
    assert repr(loaded) == repr(played).rpartition(",")[0] + ")"
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


def test_equal_runs_give_equal_bytes_however_long_they_took(played: Run) -> None:
    again = simulate(envs.make("riverswim-5"), learners.make("ucbvi-prm"), 200, seed=(3, 1))
    assert played.to_bytes() == replace(again, seconds=99.0).to_bytes()
    assert played.to_bytes() == Run.from_bytes(played.to_bytes(), "here").to_bytes()
    assert played.to_bytes() != replace(played, seed=(3, 2)).to_bytes()


def test_a_run_without_a_known_optimum_or_policy_is_a_run(played: Run) -> None:
    bare = replace(played, optimal_value=None, final_policy=None, parameters={"scale": np.int64(3)})
    loaded = Run.from_bytes(bare.to_bytes(), "here")
    assert (loaded.optimal_value, loaded.final_policy, loaded.parameters) == (None, None, {"scale": 3})


def test_a_parameter_that_is_no_data_is_refused_by_name(played: Run, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="object object"):
        replace(played, parameters={"strange": object()}).save(tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_need_pickle_is_refused_and_nothing_in_it_runs() -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, ("raise SystemExit('executed')",))

    buffer = io.BytesIO()
    np.savez(buffer, header=np.array([Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(FileError, match="damaged, or not a run"):
        Run.from_bytes(buffer.getvalue(), "trap.npz")


@pytest.mark.parametrize("cut", [0, 1, 50, 400, -1])
def test_a_file_cut_short_anywhere_is_refused(cut: int, played: Run, tmp_path: Path) -> None:
    (tmp_path / "cut.npz").write_bytes(played.to_bytes()[:cut])
    with pytest.raises(FileError, match=r"cut\.npz"):
        Run.load(tmp_path / "cut.npz")


def test_arrays_that_do_not_fit_are_refused(played: Run) -> None:
    for wrong in (replace(played, returns=played.returns[:-1]), replace(played, plan_values=played.plan_values[1:])):
        with pytest.raises(FileError, match="inconsistent lengths"):
            Run.from_bytes(wrong.to_bytes(), "here")


def test_no_file_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"nowhere\.npz: cannot be read: No such file"):
        Run.load(tmp_path / "nowhere.npz")


def packed(header: dict[str, object]) -> bytes:
    kind = ArchiveKind(str(header.pop("kind", run.FILE.name)), "", int(header.pop("format")), dict.fromkeys(header), {})
    return kind.pack(header)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        # What version 0.2.0 wrote.
        (
            {"format": 1, "job": {}, "versions": {}, "optimal_value": 1.0},
            "format 1; .* read it with the version",
        ),
        ({"kind": run.FILE.name, "format": 9}, "format 9; .* reads format 4"),
        ({"kind": "praemia dataset", "format": 3}, "a praemia dataset; expected a praemia run"),
        ({"kind": run.FILE.name, "format": 4, "task": "x"}, "damaged, or not a run"),
    ],
)
def test_another_kind_or_format_is_named(header: dict[str, object], expected: str) -> None:
    with pytest.raises(FileError, match=expected):
        Run.from_bytes(packed(header), "other.npz")


def test_a_run_with_other_random_streams_is_refused_with_the_version_that_made_it(played: Run) -> None:
    old = replace(played, rng_revision=3, versions={"praemia": "0.4.0"})
    with pytest.raises(FileError, match=r"^old\.npz: a run of praemia 0\.4\.0, with random streams 3; .*play it again"):
        Run.from_bytes(old.to_bytes(), "old.npz")
