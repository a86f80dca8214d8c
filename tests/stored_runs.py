"""Stores and studies of made-up runs, so that what is said about them is known beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from praemia.experiments.experiment import Experiment
from praemia.experiments.jobs import Job
from praemia.experiments.loading import Changes, load_experiment
from praemia.experiments.store import StoredRuns
from praemia.simulation import Run
from praemia.statistics.series import Series, Study

EPISODES = 1000
PRM, PRODUCT, L1, PUBLISHED, CORRECT = "UCBVI-PRM", "UCBVI", "UCRL2-RM-L", "UCRL2-RM-B as published", "UCRL2-RM-B"
BEST, HEADROOM = "UCRL2-RM-B 0.03", "headroom"
RIVERSWIMS = tuple(f"riverswim-{size}" for size in (5, 10, 15))
WAREHOUSES = tuple(f"warehouse-{size}" for size in (3, 4, 5))
FLOWERS = tuple(f"flower-{loop}" for loop in (5, 20, 80))
HORIZONS = ("riverswim-10 (horizon 20)", "riverswim-10 (horizon 80)")
RIVERS = ("riverswim-5 (horizon 40)", "riverswim-20 (horizon 40)")

# Regrets by task and learner with which every claim of the paper's experiment holds.
KIND = {
    **{(s, PRM): 10.0 for s in (*RIVERSWIMS, *WAREHOUSES, *FLOWERS)},
    **{(s, CORRECT): 15.0 for s in (*RIVERSWIMS, *WAREHOUSES)},
    ("riverswim-5", CORRECT): 9.0,
    **{(s, name): 5.0 for name in (BEST, HEADROOM) for s in (*RIVERSWIMS, *WAREHOUSES)},
    **{(s, name): r for name in (L1, PUBLISHED) for s, r in zip(RIVERSWIMS, (10.0, 40.0, 90.0), strict=True)},
    **{(s, name): r for name in (PRODUCT, L1) for s, r in zip(WAREHOUSES, (30.0, 60.0, 120.0), strict=True)},
    **{(s, PUBLISHED): 60.0 for s in WAREHOUSES},
    **{(s, PRODUCT): 20.0 for s in RIVERSWIMS},
    **{(s, PRODUCT): r for s, r in zip(FLOWERS, (30.0, 60.0, 90.0), strict=True)},
    **{(s, PRM): r for pair in (HORIZONS, RIVERS) for s, r in zip(pair, (10.0, 20.0), strict=True)},
    **{
        (s, name): r
        for pair in (HORIZONS, RIVERS)
        for name in (L1, CORRECT)
        for s, r in zip(pair, (10.0, 60.0), strict=True)
    },
}


def _plans(job: Job, regret: float, exponent: float) -> dict[str, Any]:
    """Return two plans that end with a regret, which grew like K^exponent over the last tenfold."""
    assert job.num_episodes is not None
    tenth = job.num_episodes // 10
    early = regret * 10.0**-exponent
    gaps = np.array([early / tenth, (regret - early) / (job.num_episodes - tenth)])
    return {
        "optimal_value": 1.0,
        "plan_episodes": np.array([0, tenth]),
        "plan_values": 1.0 - gaps,
        "optimistic_values": np.ones(2),
        "versions": {"praemia": "0.1.0", "numpy": "2.0", "numba": "0.61"},
    }


def made_up(job: Job, regret: float, exponent: float = 0.1, seconds: float = 0.25) -> Run:
    """Return a made-up run of a job."""
    assert job.num_episodes is not None
    return Run(
        task=job.task.name,
        learner=job.learner.name,
        parameters=dict(job.learner.parameters),
        seed=job.seed,
        num_episodes=job.num_episodes,
        returns=np.full(job.num_episodes, 0.5),
        steps=np.ones(job.num_episodes, dtype=np.int64),
        final_policy=np.zeros((1, 1, 1), dtype=np.int16),
        seconds=seconds,
        title=job.learner.title,
        rng_revision=job.rng_revision,
        origin=job.learner.origin,
        task_text=job.task.text,
        **_plans(job, regret, exponent),
    )


def jitter(job: Job | Run, regret: float) -> float:
    """Spread the runs evenly by ± 10 %, the same way whatever the learner."""
    return regret * (1.0 + 0.1 * math.sin(7.0 * job.seed[1]))


def paper(num_runs: int = 8, num_episodes: int = EPISODES, groups: Sequence[int] = (0, 2)) -> Experiment:
    """Return the paper's experiment, by default the two groups that most claims are made of."""
    whole = load_experiment("paper", Changes(runs=num_runs, episodes=num_episodes))
    return replace(whole, groups=tuple(whole.groups[place] for place in groups))


def fill(store: StoredRuns, regrets: Mapping[tuple[str, str], float], experiment: Experiment) -> StoredRuns:
    """Keep an experiment in a store, and put a made-up run into it for every job that has a regret."""
    store.keep(experiment)
    for job in experiment.jobs():
        key = (job.task.name, job.learner.title)
        if key in regrets:
            store.write(made_up(job, jitter(job, regrets[key])))
    return store


def studies(regrets: Mapping[tuple[str, str], float] = KIND, num_runs: int = 8, exponent: float = 0.1) -> list[Study]:
    """Return made-up studies of the paper's experiment, without a store."""
    found = []
    for group in paper(num_runs, groups=(0, 2, 3, 4)).groups:
        series = {}
        for cell in group.cells:
            if (regret := regrets.get(cell)) is not None:
                jobs = [group.job(cell, run) for run in range(num_runs)]
                runs = [made_up(job, jitter(job, regret), exponent, math.nan) for job in jobs]
                series[cell] = Series(tuple(runs), *cell)
        found.append(Study(group, series))
    return found


def with_finals(study: Study, finals: Mapping[tuple[str, str], Sequence[float]]) -> Study:
    """Return a study whose cells have runs with these final regrets."""
    series = {}
    for cell, values in finals.items():
        runs = [made_up(study.group.job(cell, i), value) for i, value in enumerate(values)]
        series[cell] = Series(tuple(runs), *cell)
    return replace(study, series=series)
