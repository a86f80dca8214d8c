"""``praemia report``: the report and the figures of a folder of runs."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The report; by default DIR/report.html.")
@click.option("--figures/--no-figures", default=True, help="Draw the figures too, into a folder beside the report.")
def command(folder: Path, out: Path | None, figures: bool) -> None:
    """Write a report on the runs in DIR: what held, curves, tables, tasks, and how it was made.

    The report is one file that needs no network. Figures are written as PNG and SVG.
    """
    from praemia.experiments.store import Store
    from praemia.report.page import publish, write_report

    store = Store.open(folder)
    path = folder / "report.html" if out is None else out
    if not figures:
        write_report(store, None, path)
        click.echo(f"the report is {path}")
        return
    written = publish(store, None, path)
    click.echo(f"the report is {path}; {len(written) - 1} files of figures are in {path.parent / 'figures'}")
