"""A folder of runs: the folder is the experiment.

    results/
      praemia-store.json            what this folder is
      experiment.json               the experiment whose runs these are: an experiment file with everything written out
      ucbvi-prm-3f2a91c07d42/       a learner, and a digest of what it played: task, parameters, length of its runs
        about.json                  the same in full
        run-0-7.npz                 one run: seed 0, number 7 (``Run.load`` reads it)
        times.csv                   how long each run took (the runs themselves do not depend on the time)
      report.html

A run is written under a temporary name, flushed to disk and renamed: it is there whole or not at all, and processes
that share a folder cannot damage it. Names and titles have no part in where a run lies, so different runs are never
mixed, and equal ones never played twice.
"""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from praemia.errors import FileError, ParameterError, PraemiaError, PraemiaWarning
from praemia.experiments.experiment import Experiment
from praemia.experiments.frames import curves_frame, runs_frame
from praemia.experiments.jobs import Job, slug
from praemia.experiments.loading import read_record
from praemia.files.arrays import other_format
from praemia.files.atomic_io import PARTIAL, TEXT, append, read_bytes, write_whole
from praemia.simulation import Run

if TYPE_CHECKING:
    import pandas

FORMAT = 4  # of the folder
MARKER, RECORD, ABOUT, TIMES = "praemia-store.json", "experiment.json", "about.json", "times.csv"


class StoredRuns:
    """The runs in a folder, read on demand: iterate over them, or index them; ``load_runs`` opens a folder.

    They are in the order of learner and what it played, then of seed and number; a slice is a list. Iteration leaves
    damaged files out, with a warning; ``len`` counts all files, without reading them.

    Attributes
    ----------
    damaged : what is wrong with the files that could not be read so far; what they held is left out.

    Examples
    --------
    >>> import praemia
    >>> from praemia.cli import execute
    >>> status = execute("run riverswim-3 --learner optimal --episodes 50 --runs 3 --out results --json".split())
    ... # doctest: +ELLIPSIS
    {...}
    >>> runs = praemia.load_runs("results")
    >>> len(runs), runs[0].learner, sum(run.num_episodes for run in runs)
    (3, 'optimal', 150)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged: dict[Path, str] = {}
        self._record: bytes | None = None  # written with the first run

    @classmethod
    def create(cls, folder: str | Path) -> StoredRuns:
        """Open a store for writing; refuse a folder that holds anything else.

        A new folder is created with the first run, so a command that fails before leaves nothing behind.
        """
        path = Path(folder)
        _require_place(path)
        # Another process may be creating the same store: it writes the marker first, under a temporary name.
        if path.is_dir() and any(not item.name.endswith(PARTIAL) for item in path.iterdir()):
            if not (path / MARKER).is_file():
                raise FileError(
                    f"{path}: this folder holds other files; choose a new one, or one that praemia wrote its runs to"
                )
            _check_format(path)
        return cls(path)

    @classmethod
    def open(cls, folder: str | Path) -> StoredRuns:
        """Open an existing store."""
        if not isinstance(folder, str | os.PathLike):
            raise ParameterError(f"folder={folder!r}; expected the path of a folder that praemia wrote its results to")
        path = Path(folder)
        if not path.is_dir():
            raise FileError(f"{path}: no such folder; expected one that praemia wrote its results to")
        if not (path / MARKER).is_file():
            raise FileError(f"{path}: not a folder of praemia's runs (it has no {MARKER})")
        _check_format(path)
        return cls(path)

    def keep(self, experiment: Experiment) -> None:
        """Record the experiment of this folder: at once if it has runs, else with the first run."""
        self._record = experiment.record()
        if (self.folder / MARKER).is_file():
            self._write_record()

    def _write_record(self) -> None:
        if self._record is not None:
            write_whole(self.folder / RECORD, self._record, within=self.folder)
        self._record = None

    def experiment(self) -> Experiment | None:
        """Return the experiment of this folder; None where it has none, or its record is damaged."""
        path = self.folder / RECORD
        with self._noting_damage(path):
            if os.path.lexists(path):
                return read_record(read_bytes(path, within=self.folder, budget=TEXT), str(path))
        return None

    def path_of(self, job: Job) -> Path:
        """Return where a job's run is, or would be."""
        number = "-".join(map(str, job.seed))
        return self.folder / f"{slug(job.learner.name)}-{job.digest}" / f"run-{number}.npz"

    def write(self, run: Run) -> None:
        """Keep a run."""
        job = Job.of(run)
        path = self.path_of(job)
        marker, about = self.folder / MARKER, path.parent / ABOUT
        if not marker.is_file():
            data = json.dumps({"what": "runs of praemia", "format": FORMAT}).encode()
            write_whole(marker, data, within=self.folder)
        self._write_record()
        if not about.is_file():
            write_whole(about, json.dumps(job.about(), indent=2).encode() + b"\n", within=self.folder)
        write_whole(path, run.to_bytes(), within=self.folder)
        self.damaged.pop(path, None)
        append(path.parent / TIMES, f"{path.stem},{run.seconds:.6f}\n".encode(), within=self.folder)

    def read(self, job: Job) -> Run | None:
        """Return a job's run; None where it is missing or damaged."""
        path = self.path_of(job)
        with self._noting_damage(path):
            if os.path.lexists(path):
                return self.load(path)
        return None

    def load(self, path: Path) -> Run:
        """Return the run in one of the files, with the time that it took; one in the wrong place is damaged."""
        run = Run.from_bytes(read_bytes(path, within=self.folder), str(path))
        place = self.path_of(Job.of(run))
        if place != path:
            raise FileError(f"{path}: the record of another run; it belongs to {place}")
        times = path.parent / TIMES
        with self._noting_damage(times):
            if times.is_file():
                seconds = _times(times, times.stat().st_size, self.folder).get(path.stem, run.seconds)
                return replace(run, seconds=seconds)
        return run

    def files(self) -> list[Path]:
        """Return the files of all runs, in order: by learner and digest, then by seed and number."""
        return sorted(self.folder.glob("*/run-*.npz"), key=_place)

    def runs(self) -> Iterator[Run]:
        """Read all runs, in order."""
        for path in self.files():
            with self._noting_damage(path):
                yield self.load(path)

    def __len__(self) -> int:
        return len(self.files())

    def __iter__(self) -> Iterator[Run]:
        yield from self.runs()
        for message in self.damaged.values():
            warnings.warn(message, PraemiaWarning, stacklevel=2)

    @overload
    def __getitem__(self, number: int) -> Run: ...

    @overload
    def __getitem__(self, number: slice) -> list[Run]: ...

    def __getitem__(self, number: int | slice) -> Run | list[Run]:
        files = self.files()[number]
        return [self.load(path) for path in files] if isinstance(files, list) else self.load(files)

    def __repr__(self) -> str:
        return f"StoredRuns({len(self):,} in {str(self.folder)!r})"

    def to_frame(self) -> pandas.DataFrame:
        """Return a data frame with a row for each run.

        Its columns are task, title (the learner as it is shown), learner, parameters (as JSON), episodes, seed, run
        (its number), stream (0 but for runs of a tuning), streams (the revision of the random streams), discount,
        until_done, step_budget (0 where episodes were given), task_digest (distinguishes tasks of one name), digest
        (ends the name of the run's folder), regret, optimal_value, mean_return, steps (in all episodes), plans, seconds
        and praemia (the version). The columns up to digest identify a run. Unknown values are NaN: the time of a run,
        if nobody noted it; regret and optimal_value on a black box.
        """
        return runs_frame(self)

    def curves(self, episodes: Sequence[int] | NDArray[np.int64] | None = None) -> pandas.DataFrame:
        """Return a data frame with a row for each point of each run's curves.

        Parameters
        ----------
        episodes : numbers of episodes, such as [100, 1000]; those that a run did not play are left out. None: where the
            regret bends, so that straight lines between the points are exact.

        Returns
        -------
        The columns that identify a run, as in ``to_frame``, then episode, regret (NaN on a black box),
        total_return (as it was sampled) and steps, all after so many episodes.
        """
        return curves_frame(self, episodes)

    @contextmanager
    def _noting_damage(self, path: Path) -> Iterator[None]:
        try:
            yield
        except PraemiaError as error:
            self.damaged[path] = str(error)


def load_runs(folder: str | Path) -> StoredRuns:
    """Open a folder of stored runs, such as ``praemia run … --out results`` writes.

    Examples
    --------
    >>> import praemia
    >>> from praemia.cli import execute
    >>> command = "run riverswim-3 --learner optimal --episodes 50 --runs 2 --out results --json"
    >>> status = execute(command.split())  # doctest: +ELLIPSIS
    {...}
    >>> runs = praemia.load_runs("results")
    >>> frame = runs.to_frame()
    >>> frame[["task", "learner", "seed", "run", "regret"]].to_dict("records")[1]
    {'task': 'riverswim-3', 'learner': 'optimal', 'seed': 0, 'run': 1, 'regret': 0.0}
    >>> runs.curves(episodes=[10, 50])["episode"].tolist()
    [10, 50, 10, 50]
    """
    return StoredRuns.open(folder)


def _place(path: Path) -> tuple[tuple[str, ...], list[str | int]]:
    """Return what files are sorted by: their folder as text, and the numbers in their name as numbers."""
    parts = re.split("([0-9]+)", path.name)  # text and numbers by turns
    return path.parts[:-1], [int(part) if i % 2 else part for i, part in enumerate(parts)]


def _require_place(folder: Path) -> None:
    """Refuse a folder that is a file, or that could not be created or written to later."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise FileError(f"{there}: a file; expected a folder for the results")
    if not os.access(there, os.W_OK | os.X_OK):
        raise FileError(f"{folder}: this folder cannot be written to")


def _check_format(folder: Path) -> None:
    try:
        own = json.loads(read_bytes(folder / MARKER, within=folder, budget=TEXT))["format"]
    except (ValueError, KeyError, TypeError):
        raise FileError(f"{folder / MARKER}: damaged; expected the format of the runs in this folder") from None
    if own != FORMAT:
        raise FileError(f"{folder}: {other_format('a folder of runs', own, FORMAT)}, into another folder")


@lru_cache(maxsize=64)
def _times(path: Path, size: int, folder: Path) -> dict[str, float]:
    """Read how long runs took, skipping incomplete lines. The file only grows, so its size tells whether it changed."""
    times = {}
    for line in read_bytes(path, within=folder, budget=TEXT).decode(errors="replace").splitlines():
        name, _, seconds = line.partition(",")
        with suppress(ValueError):
            if 0.0 <= float(seconds) < math.inf:
                times[name] = float(seconds)
    return times
