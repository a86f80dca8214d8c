"""Measure how often 95 % intervals of several kinds cover the truth, on pools of stored regrets.

Draws samples of 8, 16 and 64 runs from a pool; the truth is the pool's mean, or ratio of means. Runs are kept in a
folder and not repeated.

    .venv/bin/python benchmarks/interval_coverage.py [FOLDER] [--runs 400] [--episodes 10000] [--trials 1000]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from praemia._support.text_tables import Table
from praemia.experiments.jobs import Job, LearnerChoice, TaskText
from praemia.experiments.runner import run_into_store
from praemia.experiments.store import StoredRuns
from praemia.statistics.claims import bonferroni_level
from praemia.statistics.intervals import mean_interval, quotient_interval
from praemia.statistics.series import paired, series_of

TASKS = ("warehouse-3", "riverswim-5", "random-20x4x5-0")
BEST = "UCRL2-RM-B 0.03"
SIZES = (8, 16, 64)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ends:
    """The ends of intervals of many samples, float64[trials] each."""

    low: Floats
    high: Floats

    def coverage(self, truth: float) -> str:
        return f"{np.mean((self.low <= truth) & (truth <= self.high)):.3f}"


def ours(samples: Floats) -> Ends:
    found = [mean_interval(sample) for sample in samples]
    return Ends(np.array([i.low for i in found]), np.array([i.high for i in found]))


def student(samples: Floats) -> Ends:
    n = samples.shape[1]
    half = stats.t.ppf(0.975, n - 1) * samples.std(axis=1, ddof=1) / np.sqrt(n)
    return Ends(samples.mean(axis=1) - half, samples.mean(axis=1) + half)


METHODS = {
    "t on the log scale": ours,
    "t": student,
}


def ratio_coverage(pool: Floats, picks: NDArray[np.int64], confidence: float) -> str:
    """Return the coverage of the ratio of two learners, seed by seed."""
    truth = pool[0].mean() / pool[1].mean()
    found = [quotient_interval(pool[:, chosen], [1, -1], confidence) for chosen in picks]
    return f"{np.mean([i.low <= truth <= i.high for i in found]):.3f}"


def pools(folder: str, runs: int, episodes: int) -> dict[str, Floats]:
    """Play what is missing; return the final regrets float64[2, runs] of UCRL2-RM-B 0.03 and Headroom on each task."""
    choices = (LearnerChoice.of("ucrl2-rm-b", BEST, bonus_scale=0.03), LearnerChoice.of("headroom"))
    store, found = StoredRuns.create(folder), {}
    for task in TASKS:
        jobs = [Job(TaskText.builtin(task), choice, episodes, (0, run)) for run in range(runs) for choice in choices]
        run_into_store(jobs, store, keep_policies=False)
        found[task] = paired(series_of(run for job in jobs if (run := store.read(job)) is not None))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", default="results-coverage")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=1_000)
    chosen = parser.parse_args()
    verdict = bonferroni_level("above", 1)
    header = ("task", "runs", *METHODS, "ratio", f"ratio at {100 * verdict:.1f} %")
    rows = []
    for task, pool in pools(chosen.folder, chosen.runs, chosen.episodes).items():
        for size in SIZES:
            picks = np.random.default_rng(size).integers(0, pool.shape[1], (chosen.trials, size))
            alone = [method(pool[1, picks]).coverage(pool[1].mean()) for method in METHODS.values()]
            rows.append((task, str(size), *alone, *(ratio_coverage(pool, picks, c) for c in (0.95, verdict))))
    print(f"coverage of 95 % intervals, {chosen.trials} samples from {chosen.runs} runs: the mean regret of headroom,")
    print(f"and the ratio of {BEST} to it, seed by seed, by t on the log scale\n")
    print(Table(header, rows), end="")


if __name__ == "__main__":
    main()
