"""``praemia experiment``: the user's own experiment, from a file."""

from __future__ import annotations

from pathlib import Path

import click

from praemia.cli.options import engine_options, out_option


@click.command("experiment")
@click.argument("file", type=click.Path(path_type=Path))
@engine_options
@out_option(None, "Where the runs and the report go; by default a folder named after the file.")
def command(file: Path, jobs: int | None, engine: str | None, shard: str | None, out: Path | None) -> None:
    """Run the experiment that FILE describes and write a report.

    \b
    tasks: [warehouse-4, my-task.yaml]
    learners:
      - ucbvi-prm
      - {learner: ucbvi-prm, bonus_scale: 0.01, title: bolder}
    runs: 16
    episodes: 10000
    """
    from praemia.cli.sweep import sweep_and_report
    from praemia.experiments.files import load_experiment

    experiment = load_experiment(file)
    sweep_and_report([experiment], out or Path(f"results-{experiment.name}"), jobs, engine, shard)
