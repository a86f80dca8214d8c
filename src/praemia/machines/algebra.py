"""Operations on machines: the sum of two, a machine that misses events, and a digest of what one does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from praemia.errors import ParameterError, unknown_name
from praemia.machines.automaton import MAX_NAME
from praemia.machines.diagrams import Diagrams, Growth, Memo, deep_recursion
from praemia.machines.machine import RewardMachine
from praemia.machines.minimise import minimise
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Outcomes, merge
from praemia.machines.state_diagrams import StateDiagrams


@deep_recursion
def add(first: RewardMachine, second: RewardMachine, growth: Growth | None = None) -> RewardMachine:
    """Return the machine that moves as two do, independently given the label, and pays the sum of what they pay."""
    growth = growth or Growth()
    propositions = tuple(dict.fromkeys((*first.propositions, *second.propositions)))
    store = Diagrams()
    left, right = (part.diagrams.over(propositions, store).roots for part in (first, second))
    numbers = {(first.initial, second.initial): 0}  # pairs of states are numbered as they are met
    pairs = list(numbers)

    def both(a: Outcome, b: Outcome) -> Outcome:
        pair = (a.target, b.target)
        if pair not in numbers:
            numbers[pair] = len(pairs)
            pairs.append(pair)
        return Outcome(str(numbers[pair]), a.probability * b.probability, Reward.sum(a.reward, b.reward))

    def joint(one: Outcomes, other: Outcomes) -> Outcomes:
        outcomes = _in_order(both(a, b) for a in one for b in other)
        growth.num_states = len(pairs)
        growth.check(len(store), store.num_leaves)
        return outcomes

    roots: list[int] = []
    memo: Memo = {}
    for one, other in pairs:
        roots.append(store.combine(left[first.index[one]], right[second.index[other]], joint, memo))
    meanings = [f"{one} + {other}" for one, other in pairs]
    return _smallest(propositions, StateDiagrams(propositions, store, tuple(roots)), meanings)


def _number(outcome: Outcome) -> int:
    return int(outcome.target)


def _renamed(outcomes: Outcomes, name: Callable[[int], str]) -> Iterator[Outcome]:
    return (Outcome(name(_number(outcome)), outcome.probability, outcome.reward) for outcome in outcomes)


def _in_order(outcomes: Iterable[Outcome]) -> Outcomes:
    """Merge outcomes whose targets are numbers, and put them in the order of these."""
    return merge(sorted(outcomes, key=_number))


def _smallest(propositions: Sequence[str], diagrams: StateDiagrams, meanings: Sequence[str]) -> RewardMachine:
    """Merge the states that pay the same on every sequence of labels; state 0 is the initial one."""

    def image(outcomes: Outcomes, classes: Sequence[int]) -> Outcomes:
        return _in_order(_renamed(outcomes, lambda number: str(classes[number])))

    small, members = minimise(diagrams, lambda outcomes: map(_number, outcomes), image)
    shortest = [min((meanings[state] for state in states), key=len) for states in members]
    short = [text if len(text) <= MAX_NAME else f"s{number}" for number, text in enumerate(shortest)]
    names = ["start", *(name if short.count(name) == 1 else f"s{i}" for i, name in enumerate(short[1:], start=1))]

    def named(outcomes: Outcomes) -> Outcomes:
        return tuple(_renamed(outcomes, names.__getitem__))

    return RewardMachine.from_diagrams(names, "start", propositions, small.changed(named), shortest.__getitem__)


@deep_recursion
def state_digests(machine: RewardMachine) -> dict[str, str]:
    """Return for each state a digest of what it does on every label, however that is written.

    Of a reward the mean counts. The order of rules, propositions and states does not.
    """
    diagrams = machine.diagrams.over(sorted(machine.diagrams.variables))

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
    diagrams = machine.diagrams.changed(lambda outcomes: outcomes)
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
        return merge(sorted(parts, key=lambda outcome: machine.index[outcome.target]))

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
