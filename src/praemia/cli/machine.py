"""``praemia machine``: a machine from a formula or a regular expression, and what a trace earns in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from praemia.cli.common import json_option, print_fields, print_json, print_table

if TYPE_CHECKING:
    from praemia.machines.automaton import Automaton
    from praemia.machines.machine import RewardMachine

MOST_SHOWN = 30


@click.command("machine")
@click.argument("text", metavar="FORMULA")
@click.option("--regex", is_flag=True, help="FORMULA is a regular expression whose letters are guards.")
@click.option(
    "--pay",
    type=click.Choice(("first", "each", "end")),
    default="first",
    show_default=True,
    help="When to pay: the first time the trace so far satisfies it, each time, or by the whole episode.",
)
@click.option("--reward", type=float, default=1.0, show_default=True, help="The amount paid.")
@click.option(
    "--syntax",
    type=click.Choice(("praemia", "spot", "ltlf2dfa")),
    default="praemia",
    show_default=True,
    help="Whose way of writing formulas it is.",
)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Write the machine to this file.")
@click.option("--draw", type=click.Path(path_type=Path), help="Draw it into this file: .svg .png .pdf .dot .mmd")
@click.option("--trace", help="Try it on a trace: steps separated by ';', such as \"item; ; delivery\".")
@click.option(
    "--max-states", type=click.IntRange(1), default=100_000, show_default=True, help="Give up on a larger machine."
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
    as_json: bool,
) -> None:
    """Make the smallest machine that pays for FORMULA, such as "F(item & X F delivery)".

    Without options, the machine is printed. docs/how-to/machines-from-formulas.md explains formulas and ways to pay.
    """
    from praemia.files.registry import find_writer
    from praemia.machines.from_formulas import Payment, accept, growth_limits, paying_machine, with_source

    if out is not None:
        find_writer(out, "machine")  # an ending that says no format is refused before the work begins
    kind = "regex" if regex else "formula"
    growth = growth_limits(max_states, lambda size: click.echo(size, err=True))
    automaton = accept(kind, text, growth, syntax)
    machine = paying_machine(automaton, Payment.of(reward, pay), None, growth)
    machine = with_source(machine, kind, text, pay, reward, syntax)
    record: dict[str, Any] = {
        kind: text,
        "pay": pay,
        "reward": reward,
        "propositions": list(machine.propositions),
        "num_states": machine.num_states,
        "diagram_nodes": len(machine.diagrams),
        "states": [{"name": name, "meaning": meaning} for name, meaning in machine.meanings.items()],
        "trace": None if trace is None else _judged(automaton, machine, trace),
    }
    _write(machine, text, out, draw)
    if as_json:
        print_json(record)
    elif trace is not None:
        _print_trace(record["trace"])
    else:
        _print_machine(record, machine)


def _judged(automaton: Automaton, machine: RewardMachine, trace: str) -> dict[str, Any]:
    from praemia.machines.automaton import judge
    from praemia.machines.syntax import parse_trace

    word = parse_trace(trace)
    rewards = machine.expected_rewards(word)
    verdict = judge(automaton, word)
    return {
        "labels": [sorted(label) for label in word],
        "satisfied": verdict.satisfied,
        "rewards": rewards.tolist(),
        "decided_at": verdict.decided_at,
    }


def _write(machine: RewardMachine, text: str, out: Path | None, draw: Path | None) -> None:
    if draw is not None:
        from praemia.pictures.diagrams import draw_machine

        draw_machine(machine, draw, title=text)
        click.echo(f"wrote {draw}", err=True)
    if out is not None:
        from praemia.files import save_machine

        save_machine(machine, out)
        click.echo(f"wrote {out}", err=True)


def _print_trace(record: dict[str, Any]) -> None:
    rows = [
        (str(number), ", ".join(label) or "-", "yes" if satisfied else "no", f"{reward:g}")
        for number, (label, satisfied, reward) in enumerate(
            zip(record["labels"], record["satisfied"], record["rewards"], strict=True), start=1
        )
    ]
    print_table(("step", "label", "satisfied", "reward"), rows)
    decided = record["decided_at"]
    last = "satisfied" if record["satisfied"][-1] else "not satisfied"
    if decided is None:
        click.echo(f"{last} so far; what follows could change that")
    else:
        click.echo(f"{last}: decided at step {decided}, whatever follows" if decided else f"{last}, as every trace")


def _print_machine(record: dict[str, Any], machine: RewardMachine) -> None:
    sizes = {key: record[key] for key in ("pay", "reward", "num_states", "diagram_nodes")}
    fields = {"propositions": ", ".join(machine.propositions), **sizes}
    print_fields({key.replace("num_", "").replace("_", " "): value for key, value in fields.items()})
    if machine.num_states > MOST_SHOWN:
        return
    click.echo()
    print_fields(machine.meanings)
    edges = [(rule, out) for rule in machine.rules for out in rule.outcomes]
    if 0 < len(edges) <= MOST_SHOWN:
        click.echo()
        for rule, out in edges:
            click.echo(f"{rule.source} --> {out.target}  when {rule.guard}, pays {out.reward}")
