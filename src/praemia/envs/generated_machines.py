"""Machines of generated tasks: errands, items in any order, prices, and random machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import proposition
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Rule

DONE, FAILED, TRAP = "done", "failed", "trap"
MAX_OUTCOMES = 3  # of a rule of a random machine


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
    """Sample a machine that asks for ``length`` events in order; in half of the cases one may go unnoticed.

    ``fits`` is the number of events that an episode has time for: a machine that asks for more rewards each of them,
    others may reward the last one only. With ``again`` the last event leads back to the start. After a trap, which may
    be among the ``others``, there is no reward.
    """
    early, repeats, is_random = rng.integers(2), bool(rng.integers(2)), not sure and rng.integers(2)
    notice = float(rng.uniform(0.6, 0.95)) if is_random else 1.0
    share = 1.0 / min(length, max(1, round(fits))) if early or length > fits else 0.0
    end = "stage-1" if (repeats if again is None else again) else DONE
    builder = MachineBuilder("stage-1", (*events, *others), first_match=True)
    for i in range(1, length + 1):
        here, there = f"stage-{i}", f"stage-{i + 1}" if i < length else end
        if TRAP in others:
            builder.edge(here, TRAP, FAILED)
        builder.edge(here, events[(i - 1) % len(events)], there, reward=share or float(there == end))
    return builder.build().with_chance(dict.fromkeys(events[:length], notice)) if is_random else builder.build()


def collect(items: Sequence[str], goal: str) -> RewardMachine:
    """Return a machine that rewards the goal once all items were met, in any order; after a trap there is no reward."""
    builder = MachineBuilder("with", (*items, goal, TRAP), first_match=True)
    waiting: list[tuple[str, ...]] = [()]
    for found in waiting:  # grows while it is read
        builder.edge("-".join(("with", *found)), TRAP, FAILED)
        for item in items:
            if item not in found:
                more = tuple(sorted((*found, item)))
                builder.edge("-".join(("with", *found)), proposition(item), "-".join(("with", *more)))
                waiting += [more] if more not in waiting else []
    return builder.edge("-".join(("with", *items)), goal, DONE, reward=1.0).build()


def prices(
    rewards: Mapping[str, float], levels: int = 1, moves: Mapping[str, int] | None = None, probability: float = 1.0
) -> RewardMachine:
    """Return a machine that rewards each event by its price; of several events the first one counts.

    With several ``levels`` prices depend on a mood, which is best at first: at level i of n they are (i + 1)/n of the
    full ones. An event in ``moves`` changes the level by so much with a probability.
    """
    builder = MachineBuilder(f"mood-{levels - 1}", tuple(rewards), first_match=True)
    for level in range(levels):
        here = f"mood-{level}"
        for event, price in rewards.items():
            there = f"mood-{min(max(0, level + (moves or {}).get(event, 0)), levels - 1)}"
            reward, chance = (level + 1) / levels * price, 1.0 if there == here else probability
            builder.edge(here, proposition(event), there, chance, reward)
            if chance < 1.0:
                builder.edge(here, proposition(event), here, 1.0 - chance, reward)
    return builder.build()


def random_machine(rng: np.random.Generator, num_states: int, names: tuple[str, ...]) -> RewardMachine:
    """Sample a machine with a rule for every proposition in every state.

    The propositions are tried in a random order, and the first one that is true decides. A rule has up to three
    outcomes; a reward is 0, a number, Bernoulli or discrete.
    """
    states = tuple(f"q{i}" for i in range(num_states))
    rules = [
        Rule(state, proposition(name), _random_outcomes(rng, states))
        for state in states
        for name in rng.permutation(np.array(names)).tolist()
    ]
    return RewardMachine(states, states[0], names, rules, first_match=True)


def _random_outcomes(rng: np.random.Generator, states: tuple[str, ...]) -> tuple[Outcome, ...]:
    count = int(rng.integers(1, min(MAX_OUTCOMES, len(states)) + 1))
    targets = rng.choice(len(states), size=count, replace=False).tolist()
    probs = rng.dirichlet(np.ones(count)).tolist()
    return tuple(Outcome(states[m], prob, _random_reward(rng)) for m, prob in zip(targets, probs, strict=True))


def _random_reward(rng: np.random.Generator) -> Reward:
    kind = rng.integers(4)
    if kind == 0:
        return ZERO
    if kind == 1:
        return Reward.of(float(rng.random()))
    if kind == 2:
        return Reward.bernoulli(float(rng.random()))
    return Reward(tuple(rng.random(3).tolist()), tuple(rng.dirichlet(np.ones(3)).tolist()))
