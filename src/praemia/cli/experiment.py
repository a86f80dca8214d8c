"""``praemia experiment``: the user's own experiment, from a file."""

from __future__ import annotations

from pathlib import Path

import click

from praemia.cli.common import engine_options, out_option, policies_option


@click.command("experiment")
@click.argument("file", type=click.Path(path_type=Path))
@engine_options
@out_option(None, "Where the runs and the report go; by default results-NAME for NAME.yaml.")
@policies_option
@click.option("--allow-code", is_flag=True, help="Run the Python files that FILE names learners of.")
def command(
    file: Path,
    jobs: int | None,
    engine: str | None,
    shard: str | None,
    out: Path | None,
    policies: bool,
    allow_code: bool,
) -> int:
    """Run the experiment that FILE describes and write a report.

    \b
    tasks: [warehouse-4, my-task.yaml]
    learners:
      - ucbvi-prm
      - {learner: ucbvi-prm, bonus_scale: 0.01, title: bolder}
      - my_learner.py:MyLearner    # needs --allow-code
    runs: 16          # of each learner on each task
    episodes: 10000   # of each run
    seed: 0           # random seed
    """
    from praemia.cli.sweep import Where, sweep_and_report
    from praemia.experiments.experiment_file import load_experiment

    experiment = load_experiment(file, allow_code=allow_code)
    folder = out or Path(f"results-{experiment.name}")
    return sweep_and_report([experiment], Where(folder, jobs, engine, shard, policies))
