"""What the commands that run experiments share: do what is missing, into a store, with progress."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from praemia.cli.options import parse_shard
from praemia.cli.progress import job_progress

if TYPE_CHECKING:
    from praemia.experiments.settings import Experiment
    from praemia.experiments.store import Store


def sweep(
    experiments: Iterable[Experiment], out: Path, jobs: int | None, engine: str | None, shard: str | None
) -> Store:
    """Run experiments into the store at ``out`` and return it."""
    from praemia.experiments.runner import run_into_store
    from praemia.experiments.store import Store

    part = parse_shard(shard)
    work = [job for experiment in experiments for job in experiment.jobs()]
    store = Store.create(out)
    with job_progress() as progress:
        run_into_store(
            work,
            store,
            num_workers=jobs,
            address=engine,
            shard=part,
            on_start=progress.start,
            on_done=progress.done,
            on_damage=progress.damage,
        )
    return store
