"""``praemia infer``: a machine from traces of labels and rewards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from praemia.cli.common import complete_tasks, json_option, print_json, print_table
from praemia.cli.compiling import ticking
from praemia.cli.progress import CountProgress, StillWorking

if TYPE_CHECKING:
    from praemia.inference import Edge


@click.command("infer")
@click.argument("traces", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write the machine to this file.")
@click.option(
    "--deterministic/--probabilistic",
    default=None,
    help="The kind of machine; by default deterministic, if no two episodes contradict that and it stays small.",
)
@click.option(
    "--failure-prob", default=0.01, show_default=True, help="ρ: the probability that a right merge is rejected, in all."
)
@click.option("--draw", type=click.Path(path_type=Path), help="Draw the machine with its support: .svg .png .pdf .dot")
@click.option("--truth", shell_complete=complete_tasks, help="The true machine, a file or a task, to compare with.")
@json_option
def infer_command(
    traces: Path,
    out: Path | None,
    deterministic: bool | None,
    failure_prob: float,
    draw: Path | None,
    truth: str | None,
    as_json: bool,
) -> None:
    """Infer the machine that explains TRACES, a file with one episode per line: [[["item"], 0.0], [[], 1.0], …]

    The machine belongs to the class in which label and reward fix the next state, unless a smaller one with hidden
    moves predicts as well: that one is fitted. The output says how often each edge was seen, and what the traces
    cannot tell.
    """
    from praemia.files import load_machine, looks_like_file, resolve_task, save_machine
    from praemia.inference import infer, load_traces
    from praemia.inference.comparing import compare_with_truth
    from praemia.pictures.inferred import draw_inference

    known = None
    if truth is not None:
        known = load_machine(truth) if looks_like_file(truth) else resolve_task(truth).machine
    data = load_traces(traces)
    counted, asking = CountProgress("episodes"), StillWorking("asking what else the traces could mean")

    def on_progress(done: int, total: int) -> None:
        counted(done, total)
        if done >= total:
            asking.start()

    with ticking(asking.tick):
        found = infer(data, deterministic=deterministic, failure_prob=failure_prob, on_progress=on_progress)
    if draw is not None:
        draw_inference(found, draw, known)
    if out is not None:
        save_machine(found.machine, out)
    compared = None if known is None else compare_with_truth(found, known)
    if as_json:
        right = None if compared is None else compared.is_right
        print_json({"traces": str(traces), **found.to_json(), "right": right})
        return
    _print(found.lines(), found.edges)
    if compared is not None:
        click.echo("")
        for line in compared.lines():
            click.echo(f"the truth: {line}")
    for path in (out, draw):
        if path is not None:
            click.echo(f"wrote {path}", err=True)


def _print(lines: list[str], edges: tuple[Edge, ...]) -> None:
    from praemia.inference.traces import label_text

    for line in lines:
        click.echo(line)
    click.echo()
    rows = [
        (
            edge.source,
            label_text(edge.label),
            f"{edge.reward:g}",
            edge.target,
            f"{edge.count:,.0f}",
            f"{edge.probability:.4f}",
            f"{edge.interval[0]:.4f} … {edge.interval[1]:.4f}",
        )
        for edge in edges
    ]
    print_table(("from", "on", "reward", "to", "seen", "probability", "interval"), rows)
