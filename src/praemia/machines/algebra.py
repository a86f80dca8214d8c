"""Operations on machines: the sum of two, a machine that misses events, and a digest of what one does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import product, starmap

from praemia.errors import ParameterError, unknown_name
from praemia.machines.automaton import MAX_NAME
from praemia.machines.diagrams import Diagrams, Growth, Memo, deep_recursion
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Outcomes, merge_outcomes
from praemia.machines.state_diagrams import StateDiagrams, minimise, unfold


@deep_recursion
def add(first: RewardMachine, second: RewardMachine, growth: Growth | None = None) -> RewardMachine:
    """Return the sum of two machines: they move independently, given the label, and both pay."""
    growth = growth or Growth()
    propositions = tuple(dict.fromkeys((*first.propositions, *second.propositions)))
    store, memo, size = Diagrams(), Memo(), second.num_states
    left, right = (part.diagrams.reordered(propositions, store).roots for part in (first, second))

    def joint(one: Outcome, other: Outcome) -> Outcome:
        pair = size * first.index[one.target] + second.index[other.target]
        return Outcome(str(pair), one.probability * other.probability, Reward.sum(one.reward, other.reward))

    def moves(pair: int) -> int:
        i, j = divmod(pair, size)
        return store.combine(left[i], right[j], lambda *both: tuple(starmap(joint, product(*both))), memo)

    start = size * first.index[first.initial] + second.index[second.initial]
    diagrams, numbers = unfold(propositions, store, start, moves, _targets, growth)

    def image(outcomes: Outcomes, classes: Sequence[int]) -> Outcomes:
        classed = _renamed(outcomes, lambda pair: str(classes[numbers[pair]]))
        return merge_outcomes(sorted(classed, key=_target))

    small, members = minimise(diagrams, lambda outcomes: (numbers[pair] for pair in _targets(outcomes)), image)
    meanings = [f"{first.states[pair // size]} + {second.states[pair % size]}" for pair in numbers]
    shortest = [min((meanings[number] for number in own), key=len) for own in members]
    names = _names(shortest)
    named = small.map_values(lambda outcomes: tuple(_renamed(outcomes, names.__getitem__)))
    return RewardMachine.from_diagrams(names, names[0], propositions, named, shortest.__getitem__)


def _target(outcome: Outcome) -> int:
    return int(outcome.target)


def _targets(outcomes: Outcomes) -> Iterator[int]:
    return map(_target, outcomes)


def _renamed(outcomes: Outcomes, name: Callable[[int], str]) -> Iterator[Outcome]:
    return (replace(outcome, target=name(_target(outcome))) for outcome in outcomes)


def _names(meanings: Sequence[str]) -> list[str]:
    """Name the first state start and each other one by its meaning, or by its number if that is long or not its own."""
    short = [text if len(text) <= MAX_NAME else f"s{number}" for number, text in enumerate(meanings)]
    return ["start", *(name if short.count(name) == 1 else f"s{i}" for i, name in enumerate(short[1:], start=1))]


@deep_recursion
def state_digests(machine: RewardMachine) -> dict[str, str]:
    """Return for each state a digest of what it does on every label, however that is written.

    Of a reward the mean counts. The order of rules, propositions and states does not.
    """
    diagrams = machine.diagrams.reordered(sorted(machine.diagrams.variables))

    def digest(content: Sequence[object]) -> str:
        return sha256(json.dumps(content).encode()).hexdigest()

    def of_leaf(leaf: int) -> str:
        outcomes: Outcomes = diagrams.store.value(leaf)
        return digest(sorted([out.target, out.probability, out.reward.mean] for out in outcomes))

    digests = diagrams.fold(of_leaf, lambda variable, low, high: digest([diagrams.variables[variable], low, high]))
    return dict(zip(machine.states, digests, strict=True))


@deep_recursion
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
        if not 0.0 <= chance <= 1.0:
            raise ParameterError(f"the chance of noticing {name!r} is {chance}; it must lie in [0, 1]")
        if name in diagrams.variables:
            diagrams = _noticed(machine, diagrams, diagrams.variables.index(name), float(chance))
    source = machine.source
    has_source = source is not None and "chance" not in source
    new_source = {**(source or {}), "chance": dict(chances)} if has_source else None
    return machine.changed(diagrams=diagrams, written_rules=None, first_match=False, source=new_source)


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
    changed: dict[int, int] = {}
    for diagram in diagrams.upwards:
        own = store.variable[diagram]
        if own > variable:
            changed[diagram] = diagram
            continue
        low, high = changed[store.low[diagram]], changed[store.high[diagram]]
        changed[diagram] = store.node(own, low, store.combine(high, low, mixed, memo) if own == variable else high)
    return replace(diagrams, roots=tuple(changed[root] for root in diagrams.roots))
