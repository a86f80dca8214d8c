"""Files: tasks and machines in every format that can say them, what is read from them, and pictures as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from golden_records import Reach, Record
from golden_tasks import machines, more_tasks
from numpy.typing import NDArray

import praemia

WITH_LIBM = ("generated", "random")  # tasks whose probabilities are sampled
# What a format cannot say is refused; that is recorded too.
MACHINE_FORMATS = {"yaml": None, "txt": None, "dot": None, "hoa": None, "multiagent.json": "multiagent"}


def task_files(nudge: float) -> Iterator[Record]:
    """Write every task in every format, and read it again."""
    with TemporaryDirectory() as folder:
        for name, task in more_tasks().items():
            reach = Reach.LOCAL if name.startswith(WITH_LIBM) else Reach.BITS
            for ending in ("yaml", "json", "drn"):
                path = Path(folder, f"{name}.{ending}")
                praemia.save_task(task, path)
                yield Record(f"{name}/{ending}", path.read_text(encoding="utf-8"), reach)
            again = praemia.load_task(Path(folder, f"{name}.yaml"))
            read = {"probs": again.mdp.probs, "successors": again.mdp.successors, "pays": paid(again.machine)}
            yield Record(f"{name}/read", read, reach)
            yield Record(f"{name}/picture", f"{task.draw()}\n", Reach.LOCAL)


def machine_files(nudge: float) -> Iterator[Record]:
    """Write every machine in every format that can say it, and read it again."""
    with TemporaryDirectory() as folder:
        for name, machine in machines().items():
            for ending, kind in MACHINE_FORMATS.items():
                path = Path(folder, f"{name}.{ending}")
                yield Record(f"{name}/{ending}", written(machine, path, kind), Reach.BITS)


def written(machine: praemia.RewardMachine, path: Path, kind: str | None) -> dict[str, object]:
    """Write a machine; return the text, and whether the same machine is read from it."""
    try:
        praemia.save_machine(machine, path, kind)
    except praemia.PraemiaError:
        return {"refused": True}
    again = praemia.load_machine(path, kind)
    return {"text": path.read_text(encoding="utf-8"), "pays": paid(again)}


def meanings(nudge: float) -> Iterator[Record]:
    """Say what every machine does, state by state, and what it pays on a few words."""
    for name, machine in machines().items():
        rules = [f"{rule.source} | {rule.guard} | {outcomes(rule)}" for rule in machine.rules]
        facts = {"states": list(machine.states), "initial": machine.initial, "propositions": list(machine.propositions)}
        yield Record(f"{name}", {**facts, "rules": rules, "pays": paid(machine)}, Reach.BITS)


def outcomes(rule: object) -> str:
    """Write the outcomes of a rule with all digits."""
    found = rule.outcomes  # type: ignore[attr-defined]
    return "; ".join(f"{out.target} {out.probability!r} {out.reward}" for out in found)


def paid(machine: praemia.RewardMachine) -> NDArray[np.float64]:
    """Return the mean rewards of a word in which every proposition occurs, alone, twice and with its neighbour."""
    names = list(machine.propositions)
    pairs = [{first, second} for first, second in pairwise(names)]
    word = [set(), *({name} for name in names), *pairs, *({name} for name in reversed(names)), set(names), set()]
    return machine.expected_rewards(word)
