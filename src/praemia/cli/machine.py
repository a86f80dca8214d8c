"""``praemia machine`` and ``praemia infer``: machines from formulas, from regular expressions, and from traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from warnings import catch_warnings

import click

import praemia
from praemia._support.activity import display
from praemia._support.text_tables import Table
from praemia.cli.common import complete_tasks, file_option, named_machine, require_drawing, rho_option
from praemia.cli.output import echo, emit, fields_text, json_option, report_written
from praemia.errors import unknown_name

MOST_SHOWN = 30


@click.command("machine")
@click.argument("text", metavar="FORMULA")
@click.option("--regex", is_flag=True, help="FORMULA is a regular expression whose letters are guards.")
@click.option(
    "--pay",
    type=click.Choice(("first", "each", "end")),
    default="first",
    show_default=True,
    help="When to reward: the first time the trace so far satisfies it, each time, or once at the end, if the whole "
    "episode satisfies it.",
)
@click.option("--reward", type=float, default=1.0, show_default=True, help="The reward.")
@click.option(
    "--syntax",
    type=click.Choice(("praemia", "spot", "ltlf2dfa")),
    default="praemia",
    show_default=True,
    help="Which tool's formula syntax to read.",
)
@file_option("-o", "--out", help="Write the machine to this file.")
@file_option("--draw", help="Draw it into this file: .svg .png .mmd")
@click.option("--trace", help="Try it on a trace: steps separated by ';', such as \"item; ; delivery\".")
@click.option(
    "--max-states",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Fail if the machine would have more states.",
)
@json_option
def machine_command(
    text: str,
    regex: bool,
    pay: str,
    reward: float,
    syntax: str,
    out: Path | None,
    draw: Path | None,
    trace: str | None,
    max_states: int,
) -> None:
    """Make the smallest machine that rewards FORMULA, such as "F(item & X F delivery)".

    Without options, the machine is printed. docs/how-to/machines-from-formulas.md explains formulas and their rewards.
    """
    from praemia.files.load_save import require_writable
    from praemia.machines.diagrams import Growth
    from praemia.machines.from_formulas import machine_from

    require_drawing(draw)
    if out is not None:
        require_writable(out, "machine")  # an ending that says no format is refused before the work begins
    kind = "regex" if regex else "formula"
    growth = Growth(max_states, tell=lambda size: echo(size, err=True))
    machine = machine_from(kind, text, reward, pay, growth=growth, syntax=syntax)
    record: dict[str, Any] = {
        kind: text,
        "pay": pay,
        "reward": reward,
        "propositions": list(machine.propositions),
        "num_states": machine.num_states,
        "diagram_nodes": len(machine.diagrams),
        "states": [{"name": name, "meaning": meaning} for name, meaning in machine.meanings.items()],
        "trace": None if trace is None else _judged(machine, text, kind, syntax, trace),
    }
    if draw is not None:
        machine.draw(title=text).save(draw)
    if out is not None:
        praemia.save_machine(machine, out)
    report_written(draw, out)
    emit(record, _machine_text(record, machine) if trace is None else _trace_text(record["trace"]))


def _judged(machine: praemia.RewardMachine, text: str, kind: str, syntax: str, trace: str) -> dict[str, Any]:
    from praemia.machines.from_formulas import machine_from
    from praemia.machines.syntax import parse_trace

    word = parse_trace(trace)
    for name in sorted(set().union(*word).difference(machine.propositions)):
        raise unknown_name("proposition", name, machine.propositions)
    with catch_warnings(action="ignore"):  # they were shown for the machine
        accepting = machine_from(kind, text, pay="each", syntax=syntax)
    return {
        "labels": [sorted(label) for label in word],
        "satisfied": (accepting.expected_rewards(word) > 0.0).tolist(),
        "rewards": machine.expected_rewards(word).tolist(),
    }


def _trace_text(record: dict[str, Any]) -> str:
    steps = zip(record["labels"], record["satisfied"], record["rewards"], strict=True)
    rows = [
        (str(number), ", ".join(label) or "-", "yes" if satisfied else "no", f"{reward:g}")
        for number, (label, satisfied, reward) in enumerate(steps, start=1)
    ]
    last = "satisfied" if record["satisfied"][-1] else "not satisfied"
    return f"{Table(('step', 'label', 'satisfied', 'reward'), rows)}{last}"


def _machine_text(record: dict[str, Any], machine: praemia.RewardMachine) -> str:
    sizes = {key: record[key] for key in ("pay", "reward", "num_states")}
    fields = {"propositions": ", ".join(machine.propositions), **sizes}
    parts = [fields_text({key.replace("num_", "").replace("_", " "): value for key, value in fields.items()})]
    if machine.num_states <= MOST_SHOWN:
        edges = [(rule, out) for rule in machine.rules for out in rule.outcomes]
        parts.append(fields_text(machine.meanings))
        if 0 < len(edges) <= MOST_SHOWN:
            lines = (f"{rule.source} --> {out.target}  when {rule.guard}, reward {out.reward}" for rule, out in edges)
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


@click.command("infer")
@click.argument("traces", type=click.Path(path_type=Path))
@file_option("-o", "--out", help="Write the machine to this file.")
@click.option(
    "--deterministic/--probabilistic",
    default=None,
    help="The kind of machine; by default deterministic, unless the traces contradict it or the machine grows large.",
)
@rho_option(0.01, "the overall probability of rejecting a correct merge.")
@file_option("--draw", help="Draw the machine with its support: .svg .png")
@click.option("--truth", shell_complete=complete_tasks, help="The true machine, a file or a task, to compare with.")
@json_option
def infer_command(
    traces: Path,
    out: Path | None,
    deterministic: bool | None,
    failure_prob: float,
    draw: Path | None,
    truth: str | None,
) -> None:
    """Infer the machine that explains TRACES, a file with one episode per line: [[["item"], 0.0], [[], 1.0], …]

    The machine belongs to the class in which label and reward fix the next state. The output says how often each edge
    was seen, what the traces leave undetermined, and whether hidden transitions are likely, so that no machine of this
    class fits.
    """
    from praemia.inference import load_traces
    from praemia.inference.comparing import compare_machines
    from praemia.pictures.inferred import inference_drawing

    require_drawing(draw)
    true_machine = None if truth is None else named_machine(truth)
    data = load_traces(traces)
    with display() as progress:
        count = progress.count("episodes")

        def report(done: int, total: int) -> None:
            count(done, total)
            if done >= total:
                progress.work("asking what else the traces could mean")

        inference = praemia.infer(data, deterministic=deterministic, failure_prob=failure_prob, on_progress=report)
    if draw is not None:
        inference_drawing(inference, true_machine).save(draw)
    if out is not None:
        praemia.save_machine(inference.machine, out)
    report_written(out, draw)
    text, right = "\n".join(inference.lines()) + f"\n\n{_edges_table(inference)}", None
    if true_machine is not None:
        mistakes = compare_machines(inference.machine, true_machine, inference.edges).mistakes
        right = not mistakes
        same = "the same rewards on every label seen, and every probability within its interval"
        text += "".join(f"\nthe truth: {line}" for line in mistakes or [same])
    emit({"traces": str(traces), **inference.to_json(), "right": right}, text)


def _edges_table(inference: praemia.Inference) -> Table:
    from praemia.inference.traces import label_text

    rows = [
        (
            edge.source,
            label_text(edge.label),
            f"{edge.reward:g}",
            edge.target,
            f"{edge.count:,}",
            f"{edge.probability:.4f}",
            f"{edge.interval[0]:.4f} … {edge.interval[1]:.4f}",
        )
        for edge in inference.edges
    ]
    return Table(("from", "on", "reward", "to", "seen", "probability", "interval"), rows)
