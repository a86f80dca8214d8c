"""Machines of drawn tasks: errands in order or in any order, prices, moods — with and without chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import TRUE, proposition
from praemia.machines.guards import Guard
from praemia.machines.machine import RewardMachine

TRAP = "trap"


def in_order(
    events: Sequence[str],
    names: Sequence[str],
    *,
    share: float,
    again: bool,
    notice: float = 1.0,
) -> RewardMachine:
    """Pay for events in their order: ``share`` for each, or 1 for the last one alone if that is 0.

    With ``again`` the round starts anew, otherwise it is over. An event is noticed w.p. ``notice``. If a trap is among
    the ``names`` that can be true, nothing is paid after one.
    """
    trapped = TRAP in names
    builder = MachineBuilder(initial="wait-0", propositions=tuple(names))
    for i, event in enumerate(events):
        here, last = f"wait-{i}", i == len(events) - 1
        there = ("wait-0" if again else "done") if last else f"wait-{i + 1}"
        guard: Guard = proposition(event)
        if trapped:
            builder.edge(here, TRAP, "trapped")
            guard = guard & ~proposition(TRAP)
        reward = share or float(last)
        builder.edge(here, guard, there, probability=notice, reward=reward)
        if notice < 1.0:
            builder.edge(here, guard, here, probability=1.0 - notice)
    return builder.build()


def in_any_order(items: Sequence[str], goal: str, *, notice: float = 1.0) -> RewardMachine:
    """Pay 1 for reaching the goal with all items; a trap ends all hope. Has 2^items + 2 states."""
    builder = MachineBuilder(initial=_bag(()), propositions=(*items, goal, TRAP))
    bags = [bag for size in range(len(items) + 1) for bag in combinations(items, size)]
    fine = ~proposition(TRAP)
    for bag in bags:
        builder.edge(_bag(bag), TRAP, "trapped")
        before: Guard = TRUE
        for item in items:
            if item in bag:
                continue
            fuller = tuple(known for known in items if known in bag or known == item)
            guard = fine & before & proposition(item)
            builder.edge(_bag(bag), guard, _bag(fuller), probability=notice)
            if notice < 1.0:
                builder.edge(_bag(bag), guard, _bag(bag), probability=1.0 - notice)
            before = before & ~proposition(item)
        if len(bag) == len(items):
            builder.edge(_bag(bag), fine & proposition(goal), "done", reward=1.0)
    return builder.build()


def _bag(items: Sequence[str]) -> str:
    return "with-" + "-".join(items) if items else "with-nothing"


def prices(rewards: dict[str, float]) -> RewardMachine:
    """Pay for each event what it is worth, and remember nothing; of several events the first one counts."""
    builder = MachineBuilder(initial="open", propositions=tuple(rewards))
    earlier: Guard = TRUE
    for event, reward in rewards.items():
        builder.edge("open", earlier & proposition(event), "open", reward=reward)
        earlier = earlier & ~proposition(event)
    return builder.build()


def moods(levels: int, rewards: dict[str, float], bad: str, good: str, chance: float) -> RewardMachine:
    """Pay for events by mood: in mood i of ``levels`` the share (i + 1)/levels of what they are worth.

    ``bad`` lowers the mood w.p. ``chance`` and pays nothing; the paying event ``good`` raises it w.p. ``chance``.
    """
    builder = MachineBuilder(initial=f"mood-{levels - 1}", propositions=(bad, *rewards))
    for level in range(levels):
        here, share = f"mood-{level}", (level + 1) / levels
        _chance(builder, here, proposition(bad), f"mood-{max(0, level - 1)}", chance, 0.0)
        earlier: Guard = ~proposition(bad)
        for event, reward in rewards.items():
            there = f"mood-{min(levels - 1, level + 1)}" if event == good else here
            _chance(builder, here, earlier & proposition(event), there, chance, share * reward)
            earlier = earlier & ~proposition(event)
    return builder.build()


def _chance(builder: MachineBuilder, here: str, guard: Guard, there: str, chance: float, reward: float) -> None:
    """Add a rule that leads on w.p. ``chance`` and pays in any case."""
    if here == there or chance >= 1.0:
        builder.edge(here, guard, there, reward=reward)
        return
    builder.edge(here, guard, there, probability=chance, reward=reward)
    builder.edge(here, guard, here, probability=1.0 - chance, reward=reward)


def errands(
    rng: np.random.Generator,
    events: Sequence[str],
    length: int,
    *,
    fits: float,
    others: Sequence[str] = (),
    again: bool | None = None,
) -> RewardMachine:
    """Draw a machine that asks for events in order, ``length`` in all; probabilistic in half of the cases.

    ``fits`` is for how many events there is time in an episode: a machine that asks for more pays for each of them.
    """
    asked = [events[i % len(events)] for i in range(length)]
    early, repeats, chance = bool(rng.integers(2)), bool(rng.integers(2)), bool(rng.integers(2))
    notice = float(rng.uniform(0.6, 0.95)) if chance else 1.0
    rounds = repeats if again is None else again
    share = 1.0 / min(length, max(1, round(fits))) if early or length > fits else 0.0
    return in_order(asked, (*events, *others), share=share, again=rounds, notice=notice)
