"""Machines that built-in environments share: errands, prices, moods, and random machines.

Errands are asked for in order (``in_order``), in any order (``in_any_order``) or in stages (``in_stages``). A stage is
a tuple of chains, and a chain a tuple of events. Chains of one stage are done side by side, in any interleaving; a
stage begins when the one before it is done. ``((("wood", "workbench"), ("iron",)), (("toolshed",),))`` asks for wood
before the workbench, for iron at any time, and after all three for the toolshed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import TRUE, Formula, proposition
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Rule

Chain: TypeAlias = tuple[str, ...]
Stages: TypeAlias = tuple[tuple[Chain, ...], ...]
TRAP, DONE = "trap", "done"
MAX_OUTCOMES = 3  # of a rule of a random machine


def edge_or_stay(
    builder: MachineBuilder,
    here: str,
    guard: Formula,
    there: str,
    probability: float,
    *,
    reward: float = 0.0,
    reward_of_stay: float = 0.0,
) -> None:
    """Add an edge that is taken with a probability; otherwise the machine stays."""
    builder.edge(here, guard, there, probability=probability, reward=reward)
    if probability < 1.0:
        builder.edge(here, guard, here, probability=1.0 - probability, reward=reward_of_stay)


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
        there = ("wait-0" if again else DONE) if last else f"wait-{i + 1}"
        guard: Formula = proposition(event)
        if trapped:
            builder.edge(here, TRAP, "trapped")
            guard = guard & ~proposition(TRAP)
        edge_or_stay(builder, here, guard, there, notice, reward=share or float(last))
    return builder.build()


def in_any_order(items: Sequence[str], goal: str, *, notice: float = 1.0) -> RewardMachine:
    """Pay 1 for reaching the goal with all items, and nothing after a trap. Has 2^items + 2 states."""
    builder = MachineBuilder(initial=_bag(()), propositions=(*items, goal, TRAP))
    bags = [bag for size in range(len(items) + 1) for bag in combinations(items, size)]
    fine = ~proposition(TRAP)
    for bag in bags:
        builder.edge(_bag(bag), TRAP, "trapped")
        before: Formula = TRUE
        for item in items:
            if item in bag:
                continue
            fuller = tuple(other for other in items if other in bag or other == item)
            guard = fine & before & proposition(item)
            edge_or_stay(builder, _bag(bag), guard, _bag(fuller), notice)
            before = before & ~proposition(item)
        if len(bag) == len(items):
            builder.edge(_bag(bag), fine & proposition(goal), DONE, reward=1.0)
    return builder.build()


def _bag(items: Sequence[str]) -> str:
    return "with-" + "-".join(items) if items else "with-nothing"


def sequence(*events: str) -> Stages:
    """Return the stages of events that come one after another."""
    return tuple(((event,),) for event in events)


def in_stages(stages: Stages, propositions: tuple[str, ...], *, hazard: str | None = None) -> RewardMachine:
    """Pay 1, once, for the last event; after a hazard pay nothing.

    Of several events at once a hazard counts first, then that of the first chain. States are named after the stage and
    what was fetched in it.
    """
    builder = MachineBuilder(_stage_state(stages, 0), propositions, first_match=True)
    for number, chains in enumerate(stages):
        complete = tuple(map(len, chains))
        waiting = [(0,) * len(chains)]
        for progress in waiting:  # grows while it is read
            here = _stage_state(stages, number, progress)
            if hazard is not None:
                builder.edge(here, hazard, "failed")
            for i, chain in enumerate(chains):
                if progress[i] == len(chain):
                    continue
                further = (*progress[:i], progress[i] + 1, *progress[i + 1 :])
                if further not in (complete, *waiting):
                    waiting.append(further)
                there = _stage_state(stages, number, further)
                builder.edge(here, proposition(chain[progress[i]]), there, reward=float(there == DONE))
    return builder.build()


def _stage_state(stages: Stages, number: int, progress: tuple[int, ...] = ()) -> str:
    """Name the state after so many events of each chain; the end of a stage is the start of the next one."""
    if progress == tuple(map(len, stages[number])):
        number, progress = number + 1, ()
    if number == len(stages):
        return DONE
    fetched = [event for chain, done in zip(stages[number], progress, strict=False) for event in chain[:done]]
    return "-".join([f"stage-{number + 1}", *(["with", *fetched] if fetched else [])])


def prices(rewards: dict[str, float]) -> RewardMachine:
    """Pay for each event what it is worth, and remember nothing; of several events the first one counts."""
    builder = MachineBuilder(initial="open", propositions=tuple(rewards))
    earlier: Formula = TRUE
    for event, reward in rewards.items():
        builder.edge("open", earlier & proposition(event), "open", reward=reward)
        earlier = earlier & ~proposition(event)
    return builder.build()


def moods(levels: int, rewards: dict[str, float], bad: str, good: str, probability: float) -> RewardMachine:
    """Pay for events by mood: in mood i of ``levels`` the share (i + 1)/levels of what they are worth.

    ``bad`` lowers the mood and pays nothing, the paying event ``good`` raises it, each w.p. ``probability``.
    """
    builder = MachineBuilder(initial=f"mood-{levels - 1}", propositions=(bad, *rewards))
    for level in range(levels):
        here, share = f"mood-{level}", (level + 1) / levels
        worse, better = f"mood-{max(0, level - 1)}", f"mood-{min(levels - 1, level + 1)}"
        edge_or_stay(builder, here, proposition(bad), worse, 1.0 if worse == here else probability)
        earlier: Formula = ~proposition(bad)
        for event, reward in rewards.items():
            there, paid = better if event == good else here, share * reward
            moves = 1.0 if there == here else probability
            edge_or_stay(builder, here, earlier & proposition(event), there, moves, reward=paid, reward_of_stay=paid)
            earlier = earlier & ~proposition(event)
    return builder.build()


def errands(
    rng: np.random.Generator,
    events: Sequence[str],
    length: int,
    *,
    fits: float,
    others: Sequence[str] = (),
    again: bool | None = None,
    sure: bool = False,
) -> RewardMachine:
    """Draw a machine that asks for events in order, ``length`` in all; probabilistic in half of the cases, or ``sure``.

    ``fits`` is for how many events there is time in an episode: a machine that asks for more pays for each of them.
    """
    cycle = [events[i % len(events)] for i in range(length)]
    early, repeats, is_random = rng.integers(2), bool(rng.integers(2)), not sure and rng.integers(2)
    notice = float(rng.uniform(0.6, 0.95)) if is_random else 1.0
    rounds = repeats if again is None else again
    share = 1.0 / min(length, max(1, round(fits))) if early or length > fits else 0.0
    return in_order(cycle, (*events, *others), share=share, again=rounds, notice=notice)


def random_machine(rng: np.random.Generator, num_states: int, names: tuple[str, ...]) -> RewardMachine:
    """Draw a machine with a rule for every proposition in every state.

    The propositions are tried in a random order, and the first one that is true decides: ``p2``, ``!p2 & p0``, … A rule
    has up to three outcomes; a reward is nothing, a number, a Bernoulli or a discrete law.
    """
    states = tuple(f"q{i}" for i in range(num_states))
    rules = []
    for state in states:
        earlier: Formula = TRUE
        for name in rng.permutation(np.array(names)).tolist():
            rules.append(Rule(state, earlier & proposition(name), _random_outcomes(rng, states)))
            earlier = earlier & ~proposition(name)
    return RewardMachine(states, states[0], names, tuple(rules))


def _random_outcomes(rng: np.random.Generator, states: tuple[str, ...]) -> tuple[Outcome, ...]:
    count = int(rng.integers(1, min(MAX_OUTCOMES, len(states)) + 1))
    targets = rng.choice(len(states), size=count, replace=False).tolist()
    probs = rng.dirichlet(np.ones(count)).tolist()
    return tuple(
        Outcome(states[target], prob, _random_reward(rng)) for target, prob in zip(targets, probs, strict=True)
    )


def _random_reward(rng: np.random.Generator) -> Reward:
    kind = rng.integers(4)
    if kind == 0:
        return ZERO
    if kind == 1:
        return Reward.of(float(rng.random()))
    if kind == 2:
        return Reward.bernoulli(float(rng.random()))
    return Reward(tuple(rng.random(3).tolist()), tuple(rng.dirichlet(np.ones(3)).tolist()))
