"""Operations on machines: minimisation, products of two, missed events, and digests.

Formulas and regular expressions become machines that *accept*: deterministic ones that pay 1 at every step at which the
trace so far satisfies the text, and 0 at all others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import product
from typing import Any, TypeAlias

from praemia.errors import ParameterError, unknown_name
from praemia.machines.diagrams import Diagrams, Growth, Memo, deep_recursion
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Outcomes, merge_outcomes
from praemia.machines.state_diagrams import Meanings, State, StateDiagrams, minimise, unfold

ONE = Reward.of(1.0)
MAX_NAME = 24

Branch: TypeAlias = tuple[State, float, Reward]  # an outcome whose target has no name yet
Pair: TypeAlias = tuple[int, int]  # a state of each of two machines


def shortest(meanings: Iterable[str]) -> str:
    return min(meanings, key=len)


def accepting_branch(value: tuple[State, bool]) -> tuple[Branch[State]]:
    """Return the one branch of a step that leads to a state and may end the trace, or not."""
    return ((value[0], 1.0, ONE if value[1] else ZERO),)


def smallest_machine(
    propositions: Iterable[str],
    store: Diagrams,
    start: State,
    moves: Callable[[State], int],
    meaning: Callable[[State], str],
    growth: Growth,
    branches: Callable[[Any], Sequence[Branch[State]]] = accepting_branch,
    best: Callable[[Iterable[str]], str] = shortest,
) -> RewardMachine:
    """Return the smallest machine that does, from a start on, what moves say; a state keeps the ``best`` meaning.

    ``moves`` gives the diagram of a state; ``branches`` where a value of it can lead. States are called by their
    numbers. To write a meaning can take longer than to build the machine, so it waits until it is asked for.
    """
    names = tuple(propositions)
    diagrams, numbers = unfold(names, store, start, moves, lambda value: [to for to, *_ in branches(value)], growth)

    def image(value: Any, classes: Sequence[int]) -> Outcomes:
        outcomes = [Outcome(str(classes[numbers[to]]), chance, reward) for to, chance, reward in branches(value)]
        if len(outcomes) == 1:
            return tuple(outcomes)
        return merge_outcomes(sorted(outcomes, key=lambda outcome: int(outcome.target)))

    small, members = minimise(diagrams, lambda value: [numbers[to] for to, *_ in branches(value)], image)
    states, texts = list(numbers), dict[int, str]()

    def best_meaning(number: int) -> str:
        if number not in texts:
            texts[number] = best([meaning(states[member]) for member in members[number]])
        return texts[number]

    return RewardMachine.from_diagrams(tuple(map(str, range(len(members)))), "0", names, small, best_meaning)


def with_names(machine: RewardMachine, names: Sequence[str], new_reward: Callable[[Reward], Reward]) -> RewardMachine:
    """Return a machine whose states are called by numbers with other names, and with changed rewards.

    A name that is long, or that an earlier state has, becomes a number, with primes if an earlier state has that too.
    """
    states: dict[str, None] = {}
    for number, name in enumerate(names):
        free = name if len(name) <= MAX_NAME and name not in states else f"s{number}"
        while free in states:
            free += "'"
        states[free] = None
    final = tuple(states)

    def renamed(outcomes: Outcomes) -> Outcomes:
        return tuple(Outcome(final[int(out.target)], out.probability, new_reward(out.reward)) for out in outcomes)

    meanings = machine.meanings
    diagrams = machine.diagrams.map_values(renamed)
    return RewardMachine.from_diagrams(final, final[0], machine.propositions, diagrams, lambda i: meanings[str(i)])


def constant_reward(machine: RewardMachine, number: int) -> Reward | None:
    """Return what a state pays at every step from now on, if it never moves and always pays the same."""
    store, root = machine.diagrams.store, machine.diagrams.roots[number]
    outcomes: Outcomes = store.value(root) if store.is_leaf(root) else ()
    return outcomes[0].reward if [out.target for out in outcomes] == [machine.states[number]] else None


def with_verdicts(machine: RewardMachine) -> RewardMachine:
    """Return a machine that accepts with the meaning true or false for states in which that is decided."""

    def meaning(number: int) -> str:
        reward = constant_reward(machine, number)
        return machine.meanings[str(number)] if reward is None else "true" if reward == ONE else "false"

    return machine.changed(meanings=Meanings(machine.states, meaning))


def _product(
    first: RewardMachine,
    second: RewardMachine,
    pay: Callable[[Reward, Reward], Reward],
    meaning: Callable[[Pair], str],
    growth: Growth,
    same_as: Callable[[Pair], Pair] = lambda pair: pair,
) -> RewardMachine:
    """Return the smallest machine that moves as two do, independently, given the label.

    ``pay`` makes one reward of two; ``same_as`` names the pair of states that stands for all that do what one does.
    """
    propositions = tuple(dict.fromkeys((*first.propositions, *second.propositions)))
    store, memo = Diagrams(growth), Memo()
    left, right = (part.diagrams.reordered(propositions, store).roots for part in (first, second))

    def branch(one: Outcome, other: Outcome) -> Branch[Pair]:
        pair = same_as((first.index[one.target], second.index[other.target]))
        return pair, one.probability * other.probability, pay(one.reward, other.reward)

    def both(one: Outcomes, other: Outcomes) -> tuple[Branch[Pair], ...]:
        return tuple(branch(*pair) for pair in product(one, other))

    def moves(pair: Pair) -> int:
        return store.combine(left[pair[0]], right[pair[1]], both, memo)

    start = same_as((first.index[first.initial], second.index[second.initial]))
    return smallest_machine(propositions, store, start, moves, meaning, growth, lambda branches: branches)


@deep_recursion
def add(first: RewardMachine, second: RewardMachine, growth: Growth | None = None) -> RewardMachine:
    """Return the sum of two machines: they move independently, given the label, and both pay."""

    def meaning(pair: Pair) -> str:
        return f"{first.states[pair[0]]} + {second.states[pair[1]]}"

    total = _product(first, second, Reward.sum, meaning, growth or Growth())
    return with_names(total, ["start", *list(total.meanings.values())[1:]], lambda reward: reward)


def join(operator: str, first: RewardMachine, second: RewardMachine, growth: Growth) -> RewardMachine:
    """Return the machine that accepts what two both accept (operator "&"), or what one of them does ("|")."""
    both = operator == "&"
    decisive, otherwise = (ZERO, ONE) if both else (ONE, ZERO)
    first_end, second_end = _decided_state(first, decisive), _decided_state(second, decisive)
    if 0 in (first_end, second_end):
        return first if first_end == 0 else second
    decided = (0, second_end or 0) if first_end is None else (first_end, 0)  # one pair for all that are decided

    def pay(one: Reward, other: Reward) -> Reward:
        return decisive if decisive in (one, other) else otherwise

    def same_as(pair: Pair) -> Pair:
        return decided if pair[0] == first_end or pair[1] == second_end else pair

    def meaning(pair: Pair) -> str:
        neutral, absorbing = ("true", "false") if both else ("false", "true")
        texts = dict.fromkeys((first.meanings[str(pair[0])], second.meanings[str(pair[1])]))
        if absorbing in texts:
            return absorbing
        parts = [f"({text})" if both and " | " in text else text for text in texts if text != neutral]
        return f" {operator} ".join(parts) or neutral

    return _product(first, second, pay, meaning, growth, same_as)


def _decided_state(machine: RewardMachine, reward: Reward) -> int | None:
    """Return the number of the state that pays the same at every step from now on, if there is one."""
    return next((i for i in range(machine.num_states) if constant_reward(machine, i) == reward), None)


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
    result_of: dict[int, int] = {}
    for diagram in diagrams.upwards:
        own = store.variable[diagram]
        if own > variable:
            result_of[diagram] = diagram
            continue
        low, high = result_of[store.low[diagram]], result_of[store.high[diagram]]
        result_of[diagram] = store.node(own, low, store.combine(high, low, mixed, memo) if own == variable else high)
    return replace(diagrams, roots=tuple(result_of[root] for root in diagrams.roots))
