"""A folder of runs that a person can understand.

    results/
      praemia-store.json                what this folder is
      warehouse-5/                      a task
        ucbvi-prm-3f2a91c07d/           a learner, with a short name for its parameters and the length of its runs
          about.json                    the same in full: task, learner, parameters, episodes
          run-0-7.npz                   one run: seed 0, number 7
          times.csv                     how long each run took (the runs themselves do not depend on the time)

A run is written under a temporary name, flushed to the disk and renamed: it is there whole or not at all, and
processes that share a folder cannot damage it. Changed parameters give another folder, so nothing is mixed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from praemia.errors import FileError, PraemiaError
from praemia.experiments.records import Record, decode
from praemia.experiments.settings import Job, slug
from praemia.files.whole import write_whole

MARKER = "praemia-store.json"
ABOUT = "about.json"
TIMES = "times.csv"


class Store:
    """The runs kept in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: str | Path) -> Store:
        """Open a store, making it where there is nothing yet; another folder's contents are left alone."""
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise FileError(f"{path}: a file; expected a folder for the results")
        if path.is_dir() and not (path / MARKER).is_file() and any(path.iterdir()):
            raise FileError(f"{path}: this folder has other things in it; choose a new one, or a store of praemia's")
        path.mkdir(parents=True, exist_ok=True)
        if not (path / MARKER).is_file():
            write_whole(path / MARKER, json.dumps({"what": "runs of praemia", "format": 1}).encode())
        return cls(path)

    @classmethod
    def open(cls, folder: str | Path) -> Store:
        """Open a store that is there."""
        path = Path(folder)
        if not path.is_dir():
            raise FileError(f"{path}: no such folder; expected one that praemia wrote its results to")
        if not (path / MARKER).is_file():
            raise FileError(f"{path}: not a store of praemia's (it has no {MARKER})")
        return cls(path)

    def path_of(self, job: Job) -> Path:
        """Return where a job's run is, or would be."""
        number = "-".join(str(part) for part in job.seed)
        return self._kind_of(job) / f"run-{number}.npz"

    def _kind_of(self, job: Job) -> Path:
        return self.folder / slug(job.task.name) / f"{slug(job.learner.title)}-{job.digest}"

    def has(self, job: Job) -> bool:
        """Tell whether a job's run is stored."""
        return self.path_of(job).is_file()

    def write(self, job: Job, data: bytes, seconds: float) -> None:
        """Keep a run."""
        path = self.path_of(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path.parent / ABOUT).is_file():
            about = {key: value for key, value in job.to_json().items() if key != "seed"}
            write_whole(path.parent / ABOUT, json.dumps(about, indent=2).encode() + b"\n")
        write_whole(path, data)
        with open(path.parent / TIMES, "a", encoding="utf-8") as times:
            times.write(f"{path.stem},{seconds:.6f}\n")

    def read(self, job: Job) -> Record:
        """Return a job's run."""
        record = self._read_file(self.path_of(job))
        if record.job != job:
            raise FileError(f"{self.path_of(job)}: this is the record of another run")
        return record

    def _read_file(self, path: Path) -> Record:
        record = decode(path.read_bytes(), str(path))
        seconds = _times(path.parent / TIMES).get(path.stem)
        return record if seconds is None else _timed(record, seconds)

    def missing(self, jobs: Iterable[Job]) -> tuple[list[Job], list[str]]:
        """Return the jobs that are still to do, and what was found damaged among the others."""
        todo, damaged = [], []
        for job in jobs:
            if not self.has(job):
                todo.append(job)
                continue
            try:
                self.read(job)
            except PraemiaError as error:
                damaged.append(str(error))
                todo.append(job)
        return todo, damaged

    def files(self) -> list[Path]:
        """Return the files of all runs, in order."""
        return sorted(self.folder.glob("*/*/run-*.npz"))

    def records(self) -> Iterator[Record]:
        """Read all runs, in order."""
        for path in self.files():
            yield self._read_file(path)


def _timed(record: Record, seconds: float) -> Record:
    from dataclasses import replace

    return replace(record, seconds=seconds)


def _times(path: Path) -> dict[str, float]:
    """Read how long runs took; lines that are not whole are passed over."""
    if not path.is_file():
        return {}
    times = {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        name, _, seconds = line.partition(",")
        try:
            times[name] = float(seconds)
        except ValueError:
            continue
    return times
