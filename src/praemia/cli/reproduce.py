"""``praemia reproduce``: the paper's experiments, and the report that says what held."""

from __future__ import annotations

from pathlib import Path

import click

from praemia.cli.options import engine_options, episodes_option, out_option, policies_option, runs_option, seed_option


@click.command("reproduce")
@click.option("--only", multiple=True, metavar="NAME", help="An experiment or a setting; may be repeated.")
@runs_option(16)
@episodes_option(10_000)
@seed_option
@engine_options
@out_option("results", "Where runs, figures and report go; runs that are there are not done again.")
@policies_option
def command(
    only: tuple[str, ...],
    runs: int,
    episodes: int,
    seed: int,
    jobs: int | None,
    engine: str | None,
    shard: str | None,
    out: Path,
    policies: bool,
) -> int:
    """Run the paper's experiments and the league, and write a report on what held.

    Runs that are finished stay when this is stopped; running it again does what is missing.
    """
    from praemia.cli.sweep import Where, sweep_and_report
    from praemia.experiments.builtin import experiments, select
    from praemia.experiments.league import league

    # A quarter of the runs: the league has many learners and tasks. `praemia league` has them all.
    contest = league(num_runs=max(1, runs // 4), num_episodes=episodes, seed=seed)
    catalogue = [*experiments(runs, episodes, seed), contest]
    return sweep_and_report(select(catalogue, only), Where(out, jobs, engine, shard, policies))
