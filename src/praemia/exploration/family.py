"""Machines over given propositions, to ask of any dataset: what would it be good for?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, zip_longest

from praemia.errors import ModelError
from praemia.models.machine import MachineBuilder, RewardMachine

MOST = 10


def machine_family(propositions: Sequence[str], most: int = MOST) -> dict[str, RewardMachine]:
    """Return some machines by name; at least six over any propositions.

    For each p: reaching it, each step of it, doing without it, having it twice, an unreliable p; and for each ordered
    pair: p then q, patrolling between them, p then q where the step on p may fail.
    """
    names = sorted(propositions)
    if not names:
        raise ModelError("the labels of this data have no propositions, so no machine can tell anything apart")
    singles = [_single(p) for p in names]
    pairs = [_double(p, q) for p, q in permutations(names, 2)]
    # One of each kind, then the second of each kind, …: few machines are still of many kinds.
    kinds = [*zip(*pairs, strict=True), *zip(*singles, strict=True)]
    kinds = [kind[i % len(kind) :] + kind[: i % len(kind)] for i, kind in enumerate(kinds)]
    rounds = [item for group in zip_longest(*kinds) for item in group if item is not None]
    return dict(rounds[:most])


def _single(p: str) -> list[tuple[str, RewardMachine]]:
    builder = MachineBuilder
    return [
        (f"reach {p}", builder("seek").edge("seek", p, "done", reward=1).build()),
        (f"every {p}", builder("go").edge("go", p, "go", reward=1).build()),
        (f"never {p}", builder("safe").edge("safe", f"!{p}", "safe", reward=0.1).edge("safe", p, "lost").build()),
        (f"{p} twice", builder("0").edge("0", p, "1").edge("1", p, "2", reward=1).build()),
        (f"{p}, three times", builder("0").edge("0", p, "1").edge("1", p, "2").edge("2", p, "3", reward=1).build()),
        (
            f"unreliable {p}",
            builder("try")
            .edge("try", p, "done", probability=0.5, reward=1)
            .edge("try", p, "try", probability=0.5)
            .build(),
        ),
    ]


def _double(p: str, q: str) -> list[tuple[str, RewardMachine]]:
    builder = MachineBuilder
    return [
        (f"{p} then {q}", builder("a").edge("a", p, "b").edge("b", q, "done", reward=1).build()),
        (f"patrol {p}, {q}", builder("a").edge("a", p, "b", reward=0.5).edge("b", q, "a", reward=0.5).build()),
        (
            f"{p} (0.7) then {q}",
            builder("a")
            .edge("a", p, "b", probability=0.7)
            .edge("a", p, "a", probability=0.3)
            .edge("b", q, "done", reward=1)
            .build(),
        ),
    ]
