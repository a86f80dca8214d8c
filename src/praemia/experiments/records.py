"""The record of a run as bytes, and back: a zip of plain arrays with a JSON header. Equal runs give equal bytes.

It is written without the time of day and read without pickle (``praemia.files.whole``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.errors import FileError
from praemia.experiments.settings import Job
from praemia.files import parse_task
from praemia.files.whole import pack_arrays, unpack_arrays
from praemia.simulation import Run, simulate
from praemia.simulation.run import cumulative_regret

FORMAT = 1
NUM_BLOCKS = 1000  # sampled returns are kept as means over this many blocks of episodes


@dataclass(frozen=True, eq=False)
class Record:
    """A stored run.

    Attributes
    ----------
    job : what was run; versions : of the packages that can change a result; seconds : how long it took, if known.
    optimal_value, plan_episodes, plan_values, optimistic_values : as in a ``Run``.
    return_means : float64[≤ 1000], the sampled return, averaged over equal blocks of episodes.
    """

    job: Job
    versions: dict[str, str]
    optimal_value: float
    plan_episodes: NDArray[np.int64]
    plan_values: NDArray[np.float64]
    optimistic_values: NDArray[np.float64]
    return_means: NDArray[np.float64]
    seconds: float | None = None

    @property
    def regret(self) -> NDArray[np.float64]:
        """float64[K], the exact cumulative regret after each episode."""
        gaps = np.maximum(0.0, self.optimal_value - self.plan_values)
        return cumulative_regret(self.plan_episodes, gaps, self.job.num_episodes)

    @property
    def num_plans(self) -> int:
        return len(self.plan_episodes)


def perform(job: Job) -> tuple[bytes, float]:
    """Do a job; return its record as bytes, and the seconds it took. This is what workers run."""
    run = simulate(parse_task(job.task.text, job.task.name), job.learner.make(), job.num_episodes, job.seed)
    return encode(job, run), run.seconds


def encode(job: Job, run: Run) -> bytes:
    """Write a run as bytes."""
    header = {
        "format": FORMAT,
        "job": job.to_json(),
        "versions": run.versions,
        "optimal_value": run.optimal_value,
    }
    arrays: dict[str, NDArray[Any]] = {
        "header": np.frombuffer(json.dumps(header, sort_keys=True).encode(), dtype=np.uint8),
        "plan_episodes": run.plan_episodes,
        "plan_values": run.plan_values,
        "optimistic_values": run.optimistic_values,
        "return_means": _block_means(run.returns),
    }
    return pack_arrays(arrays)


def decode(data: bytes, where: str) -> Record:
    """Read a run from bytes; anything but a whole record is a FileError that names the place."""
    try:
        arrays: dict[str, Any] = dict(unpack_arrays(data))
        header = json.loads(arrays.pop("header").tobytes())
        if header["format"] != FORMAT:
            raise FileError(f"{where}: a record of format {header['format']}; expected {FORMAT}")
        return Record(
            job=Job.from_json(header["job"]),
            versions=dict(header["versions"]),
            optimal_value=float(header["optimal_value"]),
            **arrays,
        )
    except FileError:
        raise
    except Exception as error:  # a damaged zip can fail in any way
        raise FileError(f"{where}: damaged, or not the record of a run ({error})") from None


def _block_means(returns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average the returns over at most ``NUM_BLOCKS`` consecutive blocks, as equal as can be."""
    blocks = np.array_split(returns, min(NUM_BLOCKS, len(returns)))
    return np.array([block.mean() for block in blocks])
