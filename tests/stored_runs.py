"""Stores filled with made-up runs, so that what is said about them is known beforehand."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from praemia.experiments.paper import FLOWER_LOOPS, RIVERSWIMS, WAREHOUSES, experiments
from praemia.experiments.settings import Experiment, Job
from praemia.experiments.store import Store
from praemia.simulation import Run
from praemia.statistics.stored_runs import Study, group

EPISODES = 1000
PRM, PRODUCT, L1, PUBLISHED, CORRECT = "UCBVI-PRM", "UCBVI", "UCRL2-RM-L", "UCRL2-RM-B as published", "UCRL2-RM-B"
BEST, HEADROOM = "UCRL2-RM-B 0.03", "headroom"
FLOWERS = tuple(f"flower-{loop}" for loop in FLOWER_LOOPS)

HORIZONS = ("riverswim-10-horizon-20", "riverswim-10-horizon-80")
RIVERS = ("riverswim-5-horizon-40", "riverswim-20-horizon-40")

# Regrets by setting and learner with which every claim holds.
KIND = {
    **{(s, PRM): 10.0 for s in (*RIVERSWIMS, *WAREHOUSES, *FLOWERS)},
    **{(s, CORRECT): 15.0 for s in (*RIVERSWIMS, *WAREHOUSES)},
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


def small(num_runs: int = 8, num_episodes: int = EPISODES) -> list[Experiment]:
    """Return the two experiments that most claims are made of."""
    return [e for e in experiments(num_runs, num_episodes) if e.name in {"paper", "machine-size"}]


def fill(store: Store, regrets: Mapping[tuple[str, str], float], chosen: Iterable[Experiment]) -> Store:
    """Ask for some experiments, and put a made-up run into the store for every job that has a regret."""
    chosen = [replace(experiment, command=f"praemia reproduce --only {experiment.name}") for experiment in chosen]
    store.ask(chosen)
    for experiment in chosen:
        for job in experiment.jobs():
            key = (job.task.name, job.learner.title)
            if key in regrets:
                store.write(made_up(job, jitter(job, regrets[key])))
    return store


def studies(regrets: Mapping[tuple[str, str], float] = KIND, num_runs: int = 8, exponent: float = 0.1) -> list[Study]:
    """Return made-up studies without a store."""
    found = []
    claimed = {"paper", "machine-size", "horizon", "river-length"}
    for experiment in (e for e in experiments(num_runs, EPISODES) if e.name in claimed):
        settings = {}
        for setting in experiment.settings:
            jobs = [job for job in setting.jobs() if (job.task.name, job.learner.title) in regrets]
            runs = []
            for job in jobs:
                regret = jitter(job, regrets[job.task.name, job.learner.title])
                runs.append(made_up(job, regret, exponent, seconds=math.nan))
            if runs:
                settings[setting.name] = group(runs)
        found.append(Study(experiment.name, experiment.purpose, settings))
    return found
