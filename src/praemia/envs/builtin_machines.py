"""Machines that built-in environments share: errands, prices, and random machines.

Errands are given in stages. A stage is a tuple of chains, and a chain a tuple of events. The chains of a stage are done
side by side, in any interleaving; a stage begins when the one before it is done. For example,
``((("wood", "workbench"), ("iron",)), (("toolshed",),))`` asks for wood before the workbench, for iron at any time, and
after all three for the toolshed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import proposition
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import ZERO, Outcome, Rule

Stages: TypeAlias = tuple[tuple[tuple[str, ...], ...], ...]
DONE, FAILED, TRAP = "done", "failed", "trap"
MAX_OUTCOMES = 3  # of a rule of a random machine


def sequence(*events: str) -> Stages:
    """Return the stages of events that come one after another."""
    return tuple(((event,),) for event in events)


def in_stages(
    stages: Stages, propositions: Iterable[str], *, hazard: str | None = None, again: bool = False, share: float = 0.0
) -> RewardMachine:
    """Return a machine that rewards events in stages: the last one with 1, or with ``share`` each of them.

    With ``again`` the last event leads back to the start, otherwise to a terminal state, as a hazard always does. Of
    several events at once a hazard counts first, then that of the first chain. States are named after the stage and the
    events of it that have happened.
    """
    builder = MachineBuilder(_stage_state(stages, 0), propositions, first_match=True)
    for number, chains in enumerate(stages):
        complete = tuple(map(len, chains))
        waiting = [(0,) * len(chains)]
        for progress in waiting:  # grows while it is read
            here = _stage_state(stages, number, progress)
            if hazard is not None:
                builder.edge(here, proposition(hazard), FAILED)
            for i, chain in enumerate(chains):
                if progress[i] == len(chain):
                    continue
                further = (*progress[:i], progress[i] + 1, *progress[i + 1 :])
                if further not in (complete, *waiting):
                    waiting.append(further)
                there = _stage_state(stages, number, further)
                reward = share or float(there == DONE)
                target = _stage_state(stages, 0) if again and there == DONE else there
                builder.edge(here, proposition(chain[progress[i]]), target, reward=reward)
    return builder.build()


def _stage_state(stages: Stages, number: int, progress: tuple[int, ...] = ()) -> str:
    """Name the state after so many events of each chain; the end of a stage is the start of the next one."""
    if progress == tuple(map(len, stages[number])):
        number, progress = number + 1, ()
    if number == len(stages):
        return DONE
    happened = [event for chain, done in zip(stages[number], progress, strict=False) for event in chain[:done]]
    return "-".join([f"stage-{number + 1}", *(["with", *happened] if happened else [])])


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
    """Sample a machine that asks for ``length`` events in order; each is noticed for sure in half of the cases.

    ``fits`` is the number of events that an episode has time for: a machine that asks for more rewards each of them. A
    trap among the ``others`` is a hazard.
    """
    cycle = [events[i % len(events)] for i in range(length)]
    early, repeats, is_random = rng.integers(2), bool(rng.integers(2)), not sure and rng.integers(2)
    notice = float(rng.uniform(0.6, 0.95)) if is_random else 1.0
    share = 1.0 / min(length, max(1, round(fits))) if early or length > fits else 0.0
    repeats, hazard = repeats if again is None else again, TRAP if TRAP in others else None
    machine = in_stages(sequence(*cycle), (*events, *others), hazard=hazard, again=repeats, share=share)
    return machine.with_chance(dict.fromkeys(cycle, notice)) if is_random else machine


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
            builder.edge(here, proposition(event), there, reward=reward, probability=chance)
            if chance < 1.0:
                builder.edge(here, proposition(event), here, reward=reward, probability=1.0 - chance)
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
    return RewardMachine(states, states[0], names, tuple(rules), first_match=True)


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
