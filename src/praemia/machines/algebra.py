"""Operations on machines as diagrams: the sum of two, a machine that misses events, and a digest of what one does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import fsum

from praemia.errors import ParameterError, unknown_name
from praemia.machines.diagrams import Diagrams, Growth, Memo
from praemia.machines.machine import RewardMachine
from praemia.machines.minimise import minimise
from praemia.machines.paying import MAX_NAME
from praemia.machines.rewards import Reward
from praemia.machines.symbolic import Branch, Branches, SymbolicMachine, symbolic


def merged(branches: Iterable[Branch]) -> Branches:
    """Mix branches with the same target; the joint law of target and reward stays the same."""
    by_target: dict[int, list[Branch]] = {}
    for branch in branches:
        if branch.probability > 0.0:
            by_target.setdefault(branch.target, []).append(branch)
    return tuple(
        group[0]
        if len(group) == 1
        else Branch(
            target,
            fsum(branch.probability for branch in group),
            Reward.mixture((branch.probability, branch.reward) for branch in group),
        )
        for target, group in sorted(by_target.items())
    )


def add(first: RewardMachine, second: RewardMachine, growth: Growth | None = None) -> SymbolicMachine:
    """Return the machine that moves as two do, independently given the label, and pays the sum of what they pay."""
    growth = growth or Growth()
    parts = symbolic(first), symbolic(second)
    propositions = tuple(dict.fromkeys((*first.propositions, *second.propositions)))
    variables = {name: variable for variable, name in enumerate(propositions)}
    store = Diagrams()
    left, right = (_graft(part, store, variables) for part in parts)
    pairs = [(first.index[first.initial], second.index[second.initial])]
    numbers = {pairs[0]: 0}

    def together(one: Branches, other: Branches) -> Branches:
        found = merged(_joint(a, b, pairs, numbers) for a in one for b in other)
        growth.num_states = len(pairs)
        growth.check(len(store), store.num_leaves)
        return found

    roots: list[int] = []
    memo: Memo = {}
    for i, j in pairs:
        roots.append(store.combine(left[i], right[j], together, memo))
    meanings = [f"{first.states[i]} + {second.states[j]}" for i, j in pairs]
    return _smallest(propositions, variables, store, roots, meanings)


def _joint(a: Branch, b: Branch, pairs: list[tuple[int, int]], numbers: dict[tuple[int, int], int]) -> Branch:
    """Return what happens when one branch of each machine is taken; a pair of targets that is new gets a number."""
    pair = (a.target, b.target)
    if pair not in numbers:
        numbers[pair] = len(pairs)
        pairs.append(pair)
    return Branch(numbers[pair], a.probability * b.probability, Reward.sum(a.reward, b.reward))


def _graft(machine: SymbolicMachine, store: Diagrams, variables: Mapping[str, int]) -> list[int]:
    """Copy the diagrams of a machine to a store with other variables."""
    source = machine.diagrams
    renamed = {variable: variables[name] for name, variable in machine.variables.items()}
    copied: dict[int, int] = {}
    for diagram in sorted(source.below(machine.roots)):  # children have smaller numbers than their parents
        if source.is_leaf(diagram):
            copied[diagram] = store.leaf(source.value(diagram))
        else:
            low, high = copied[source.low[diagram]], copied[source.high[diagram]]
            copied[diagram] = store.choose(renamed[source.variable[diagram]], low, high)
    return [copied[root] for root in machine.roots]


def state_digests(machine: RewardMachine) -> dict[str, str]:
    """Return for each state a digest of what it does on every label, however that is written.

    Of a reward the mean counts. The order of rules, propositions and states does not.
    """
    known = symbolic(machine)
    names = sorted(known.variables)
    store = Diagrams()
    roots = _graft(known, store, {name: variable for variable, name in enumerate(names)})
    digests: dict[int, str] = {}
    for diagram in sorted(store.below(roots)):
        content: Sequence[object]
        if store.is_leaf(diagram):
            content = sorted([known.states[b.target], b.probability, b.reward.mean] for b in store.value(diagram))
        else:
            low, high = digests[store.low[diagram]], digests[store.high[diagram]]
            content = [names[store.variable[diagram]], low, high]
        digests[diagram] = sha256(json.dumps(content).encode()).hexdigest()
    return {state: digests[root] for state, root in zip(known.states, roots, strict=True)}


def _smallest(
    propositions: Sequence[str],
    variables: Mapping[str, int],
    diagrams: Diagrams,
    roots: Sequence[int],
    meanings: Sequence[str],
) -> SymbolicMachine:
    """Merge the states that pay the same on every sequence of labels; state 0 is the initial one."""

    def image(branches: Branches, classes: Sequence[int]) -> Branches:
        return merged(branch._replace(target=classes[branch.target]) for branch in branches)

    found = minimise(diagrams, roots, lambda branches: (branch.target for branch in branches), image)
    chosen = [""] * len(found.roots)
    for meaning, number in zip(meanings, found.class_of, strict=True):
        if number >= 0 and (not chosen[number] or len(meaning) < len(chosen[number])):
            chosen[number] = meaning
    short = [text if len(text) <= MAX_NAME else f"s{number}" for number, text in enumerate(chosen)]
    names = ["start", *(name if short.count(name) == 1 else f"s{i}" for i, name in enumerate(short[1:], start=1))]
    return SymbolicMachine(names, "start", propositions, variables, found.diagrams, found.roots, chosen)


def with_chance(machine: RewardMachine, chances: Mapping[str, float]) -> SymbolicMachine:
    """Return the machine that notices events only with some probability, at each step independently.

    An event that goes unnoticed is removed from the label for the whole machine, so a guard ``!event`` holds.
    """
    if not isinstance(chances, Mapping):
        raise ParameterError(f"chances are {chances!r}; expected a mapping from events to probabilities")
    known = symbolic(machine)
    store, roots = known.copied()
    for name, chance in chances.items():
        if name not in machine.propositions:
            raise unknown_name("proposition", name, machine.propositions)
        if not 0.0 <= chance <= 1.0:
            raise ParameterError(f"the chance of noticing {name!r} is {chance}; it must lie in [0, 1]")
        if name in known.variables:
            roots = _noticed(store, roots, known.variables[name], float(chance))
    has_source = known.source is not None and "chance" not in known.source
    source = {**(known.source or {}), "chance": dict(chances)} if has_source else None
    return known.changed(known.propositions, known.variables, store, roots, source)


def _noticed(store: Diagrams, roots: Sequence[int], variable: int, chance: float) -> list[int]:
    """Mix, wherever a variable is true, what follows with what would follow if it were false."""

    def mixed(seen: Branches, missed: Branches) -> Branches:
        parts = ((chance, seen), (1.0 - chance, missed))
        return merged(branch._replace(probability=p * branch.probability) for p, part in parts for branch in part)

    memo: Memo = {}
    changed: dict[int, int] = {}
    for diagram in sorted(store.below(roots)):
        own = store.variable[diagram]
        if own > variable:
            changed[diagram] = diagram
            continue
        low, high = changed[store.low[diagram]], changed[store.high[diagram]]
        changed[diagram] = store.node(own, low, store.combine(high, low, mixed, memo) if own == variable else high)
    return [changed[root] for root in roots]
