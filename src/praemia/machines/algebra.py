"""Operations on machines: sums, and missed events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from numbers import Real
from typing import TypeAlias

from praemia.errors import ParameterError, unknown_name
from praemia.machines.diagrams import Diagrams, Growth, Memo
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Outcomes, merge_outcomes
from praemia.machines.state_diagrams import StateDiagrams, smallest

MAX_NAME = 24

Pair: TypeAlias = tuple[int, int]  # a state of each of two machines
PairOutcome: TypeAlias = tuple[Pair, float, Reward]  # an outcome of two machines, whose target has no name yet


def state_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names for states; one that is long, or that an earlier state has, becomes a number (primed if needed)."""
    states: dict[str, None] = {}
    for number, name in enumerate(names):
        free = name if len(name) <= MAX_NAME and name not in states else f"s{number}"
        while free in states:
            free += "'"
        states[free] = None
    return tuple(states)


def add(first: RewardMachine, second: RewardMachine, growth: Growth | None = None) -> RewardMachine:
    """Return the smallest machine that is the sum of two: rewards are added; given the label, moves are independent."""
    growth = growth or Growth()
    propositions, store = tuple(dict.fromkeys((*first.propositions, *second.propositions))), Diagrams(growth)
    sum_of = cache(Reward.sum)

    def both(one: Outcomes, other: Outcomes) -> tuple[PairOutcome, ...]:
        return tuple(
            (
                (first.index[a.target], second.index[b.target]),
                a.probability * b.probability,
                sum_of(a.reward, b.reward),
            )
            for a, b in product(one, other)
        )

    def numbered(outcomes: tuple[PairOutcome, ...], number: Callable[[Pair], int]) -> Outcomes:
        parts = sorted(((number(pair), chance, reward) for pair, chance, reward in outcomes), key=lambda part: part[0])
        return merge_outcomes(Outcome(str(to), chance, reward) for to, chance, reward in parts)

    memo: Memo = {}
    left, right = (machine.diagrams.reordered(propositions, store).roots for machine in (first, second))
    diagrams, members = smallest(
        propositions,
        store,
        (first.index[first.initial], second.index[second.initial]),
        lambda pair: store.combine(left[pair[0]], right[pair[1]], both, memo),
        lambda outcomes: [pair for pair, _, _ in outcomes],
        numbered,
        growth,
    )
    texts = [[f"{first.states[one]} + {second.states[other]}" for one, other in pairs] for pairs in members]
    meanings = [min(own, key=len) for own in texts]
    states = state_names(["start", *meanings[1:]])
    named = diagrams.map_values(lambda outs: tuple(replace(out, target=states[int(out.target)]) for out in outs))
    machine = RewardMachine.from_diagrams(states, propositions, named, dict(zip(states, meanings, strict=True)))
    return machine.changed(idle_reward=Reward.sum(first.idle_reward, second.idle_reward))


def with_chance(machine: RewardMachine, chances: Mapping[str, float]) -> RewardMachine:
    """Return the machine that notices events only with some probability, at each step independently.

    An event that goes unnoticed is removed from the label for the whole machine, so a guard ``!event`` holds.
    """
    if not isinstance(chances, Mapping):
        raise ParameterError(f"chances are {chances!r}; expected a mapping from events to probabilities")
    diagrams = machine.diagrams.map_values(lambda outcomes: outcomes)
    for name, chance in chances.items():
        if name not in machine.propositions:
            raise unknown_name("proposition", name, machine.propositions)
        if not isinstance(chance, Real) or not 0.0 <= chance <= 1.0:
            raise ParameterError(f"the chance of noticing {name!r} is {chance!r}; it must lie in [0, 1]")
        if name in diagrams.variables:
            diagrams = _noticed(machine, diagrams, diagrams.variables.index(name), float(chance))
    source = machine.source
    if source is not None:
        noticed = {name: float(chance) for name, chance in chances.items()}
        source = None if "chance" in source else {**source, "chance": noticed}
    return machine.changed(diagrams=diagrams, written_rules=None, first_match=False, source=source)


def _noticed(machine: RewardMachine, diagrams: StateDiagrams, variable: int, chance: float) -> StateDiagrams:
    """Mix, wherever a variable is true, what follows with what would follow if it were false."""
    store = diagrams.store

    def mixed(seen: Outcomes, missed: Outcomes) -> Outcomes:
        parts = (
            Outcome(outcome.target, p * outcome.probability, outcome.reward)
            for p, outcomes in ((chance, seen), (1.0 - chance, missed))
            for outcome in outcomes
        )
        return merge_outcomes(sorted(parts, key=lambda outcome: machine.index[outcome.target]))

    memo: Memo = {}

    def node(own: int, low: int, high: int) -> int:
        return store.node(own, low, store.combine(high, low, mixed, memo) if own == variable else high)

    return replace(diagrams, roots=tuple(diagrams.fold(lambda leaf: leaf, node)))
