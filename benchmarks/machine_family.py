"""Machines over some propositions, of nine kinds: what plans from explored data are tried on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, zip_longest

from praemia import MachineBuilder, RewardMachine
from praemia.machines.formula import write_name


def machine_family(propositions: Sequence[str], most: int = 10) -> dict[str, RewardMachine]:
    """Return some machines by name; at least six over any propositions.

    For each p: reaching it, every step with it, avoiding it, having it twice or three times, an unreliable p. For each
    ordered pair: p then q, patrolling between them, p then q where the step on p may fail.
    """
    names = sorted(propositions)
    singles = [_single(p) for p in names]
    pairs = [_double(p, q) for p, q in permutations(names, 2)]
    # One of each kind, then the second of each kind, …: few machines are still of many kinds.
    kinds = [*zip(*pairs, strict=True), *zip(*singles, strict=True)]
    kinds = [kind[i % len(kind) :] + kind[: i % len(kind)] for i, kind in enumerate(kinds)]
    rounds = [item for group in zip_longest(*kinds) for item in group if item is not None]
    return {name: builder.build() for name, builder in rounds[:most]}


def _single(name: str) -> list[tuple[str, MachineBuilder]]:
    builder, p = MachineBuilder, write_name(name)
    return [
        (f"reach {name}", builder("seek").edge("seek", p, "done", reward=1)),
        (f"every {name}", builder("go").edge("go", p, "go", reward=1)),
        (f"never {name}", builder("safe").edge("safe", f"!{p}", "safe", reward=0.1).edge("safe", p, "lost")),
        (f"{name} twice", builder("0").edge("0", p, "1").edge("1", p, "2", reward=1)),
        (f"{name}, three times", builder("0").edge("0", p, "1").edge("1", p, "2").edge("2", p, "3", reward=1)),
        (
            f"unreliable {name}",
            builder("try").edge("try", p, "done", probability=0.5, reward=1).edge("try", p, "try", probability=0.5),
        ),
    ]


def _double(first: str, second: str) -> list[tuple[str, MachineBuilder]]:
    builder, p, q = MachineBuilder, write_name(first), write_name(second)
    return [
        (f"{first} then {second}", builder("a").edge("a", p, "b").edge("b", q, "done", reward=1)),
        (f"patrol {first}, {second}", builder("a").edge("a", p, "b", reward=0.5).edge("b", q, "a", reward=0.5)),
        (
            f"{first} (0.7) then {second}",
            builder("a")
            .edge("a", p, "b", probability=0.7)
            .edge("a", p, "a", probability=0.3)
            .edge("b", q, "done", reward=1),
        ),
    ]
