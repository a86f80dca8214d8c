"""``praemia explore``: collect data without any reward."""

from __future__ import annotations

import time
from pathlib import Path

import click

from praemia.cli.options import seed_option
from praemia.cli.output import json_option, print_json
from praemia.cli.progress import QUIET_SECONDS


class EpisodeProgress:
    """A line on standard error now and then, once the work has taken a while."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._first = 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._began is None:
            # The first stretch holds the time of compiling; the rate is that of the others.
            self._began, self._last, self._first = now, now, done
        elif now - self._last >= QUIET_SECONDS and self._first < done < total:
            self._last = now
            left = (now - self._began) / (done - self._first) * (total - done)
            click.echo(f"{done:,} of {total:,} episodes, about {left:.0f} s left", err=True)


@click.command("explore")
@click.argument("task")
@click.option("--episodes", default=10_000, show_default=True, help="N: episodes of data.")
@click.option("--policy-episodes", default=1_000, show_default=True, help="N₀: EULER's episodes per observation.")
@click.option("--method", default="euler", show_default=True, help="euler (Algorithm 3) or uncertainty (one stage).")
@click.option("--scale", type=float, help="The method's exploration coefficient.  [default: 0.01]")
@click.option("--keep-search", is_flag=True, help="Keep the episodes in which EULER searched, too.")
@click.option(
    "--machine", "machines", multiple=True, type=click.Path(), help="A machine fixed in advance; may be repeated."
)
@click.option("--append", is_flag=True, help="Add to the data that is in the file already.")
@seed_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The file to write, such as data.npz.")
@json_option
def command(
    task: str,
    episodes: int,
    policy_episodes: int,
    method: str,
    scale: float | None,
    keep_search: bool,
    machines: tuple[str, ...],
    append: bool,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Explore TASK without looking at any reward and write what was seen to a file.

    Machines named with --machine are recorded in the file before the first episode: certificates for them are tighter.

    \b
    praemia explore warehouse-5 --episodes 10000 --out data.npz
    praemia plan data.npz --machine other.yaml
    """
    from praemia.errors import FileError
    from praemia.exploration import Dataset, explore
    from praemia.files import load_machine, resolve_task

    problem = resolve_task(task)
    if not out.parent.is_dir():
        raise FileError(f"{out}: there is no folder {out.parent}")
    if out.is_dir():
        raise FileError(f"{out}: this is a folder; expected a file to write, such as data.npz")
    before = Dataset.load(out) if append and out.exists() else None
    fixed = [load_machine(name) for name in machines]
    began = time.perf_counter()
    found = explore(
        problem,
        episodes=episodes,
        policy_episodes=policy_episodes,
        method=method,
        seed=seed,
        scale=scale,
        keep_search=keep_search,
        machines=fixed,
        on_progress=EpisodeProgress(),
    )
    dataset = found if before is None else before.merge(found)
    dataset.save(out)
    seconds = time.perf_counter() - began
    if as_json:
        print_json({"task": problem.name, "method": method, "out": str(out), "seconds": seconds, **_record(dataset)})
        return
    recorded = f"machines recorded as fixed in advance: {len(dataset.fixed_machines)}\n" if machines else ""
    click.echo(f"{dataset.coverage()}\n{recorded}{seconds:.1f} s; kept in {out}")


def _record(dataset: object) -> dict[str, object]:
    """Return what a dataset covers, as plain data."""
    from praemia.exploration import Dataset

    assert isinstance(dataset, Dataset)
    visits = dataset.visits[~dataset.absorbing]
    return {
        "episodes": dataset.num_episodes,
        "transitions": dataset.num_transitions,
        "pairs": int(visits.size),
        "pairs_visited": int((visits > 0).sum()),
        "fewest_visits": int(visits.min()),
        "never_reached": [dataset.observation_name(o) for o in dataset.unreached.tolist()],
        "reachability": dataset.reachability.tolist(),
        "fixed_machines": list(dataset.fixed_machines),
    }
