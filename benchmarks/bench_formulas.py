"""Time building machines from formulas until they are ready for planning, on labels with one proposition each.

python -m pytest benchmarks/bench_formulas.py
"""

from __future__ import annotations

from typing import Any

import pytest

from praemia.machines.machine import RewardMachine
from praemia.tasks.machine_table import MachineTable


def nested(count: int) -> str:
    """Return F(p1 & X(c1 & X F(p2 & …))), which other tools do not finish with ten."""
    text = f"F(p{count} & X c{count})"
    for i in range(count - 1, 0, -1):
        text = f"F(p{i} & X(c{i} & X {text}))"
    return text


FORMULAS = {
    "fetch and deliver": "F(item & X F delivery)",
    "a goal behind five doors": " & ".join(["F goal", *(f"(!d{i} U k{i})" for i in range(5))]),
    "ten nested responses": nested(10),
    "eight eventualities": " & ".join(f"F a{i}" for i in range(8)),
    "ten eventualities": " & ".join(f"F a{i}" for i in range(10)),
    "twelve eventualities": " & ".join(f"F a{i}" for i in range(12)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_make_a_machine(benchmark: Any, name: str) -> None:
    RewardMachine.from_ltlf("F warm")  # the grammar is compiled once

    def make() -> RewardMachine:
        machine = RewardMachine.from_ltlf(FORMULAS[name])
        MachineTable.of(machine, [frozenset(), *(frozenset({p}) for p in machine.propositions)])
        return machine

    machine = benchmark.pedantic(make, rounds=3)
    benchmark.extra_info.update(states=machine.num_states)
