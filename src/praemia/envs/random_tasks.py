"""Random tasks: reproducible problems of any size, for tests and for comparing learners.

``random-20x4x5-0`` has 20 observations, 4 actions and 5 machine states, and comes from seed 0. The same
arguments always give the same task, and the horizon changes nothing but itself.

A pair (o, a) leads to a few observations drawn uniformly, with probabilities from a flat Dirichlet law.
Arriving at an observation makes each proposition true w.p. 1/4; "p0" is always true at the last one, so that
something can happen. In each machine state the propositions are tried in a random order, and the first one
that is true decides: ``p2``, ``!p2 & p0``, … — so that no two guards hold on one label. A rule has up to
three outcomes; a reward is nothing, a number, a Bernoulli or a discrete law.
"""

from __future__ import annotations

import numpy as np

from praemia.errors import require_whole
from praemia.limits import require_memory
from praemia.machines.formula import TRUE, proposition
from praemia.machines.guards import Guard
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import NOTHING, Outcome, Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

PROPOSITION_PROB = 0.25
MAX_OUTCOMES = 3


def random_task(
    observations: int = 20,
    actions: int = 4,
    machine_states: int = 5,
    horizon: int = 20,
    seed: int = 0,
    *,
    branching: int = 3,
    propositions: int = 3,
) -> Task:
    """Make a random task.

    Parameters
    ----------
    observations, actions, machine_states : sizes of the task.
    horizon : steps of an episode.
    seed : selects one of the tasks of these sizes.
    branching : how many successors are drawn for a pair (o, a); some may coincide.
    propositions : how many propositions there are, ``p0``, ``p1``, …

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.random_task(observations=6, actions=2, machine_states=3, horizon=5, seed=1)
    >>> task.num_observations, task.num_machine_states
    (6, 3)
    """
    require_whole("observations", observations, 1, 10_000_000)
    require_whole("actions", actions, 1, 10_000)
    require_whole("machine_states", machine_states, 1, 100_000)
    require_whole("seed", seed, 0, 2**63 - 1)
    require_whole("branching", branching, 1, 10_000)
    require_whole("propositions", propositions, 1, 40)
    require_memory(100 * observations * actions * branching, "a random kernel")
    names = tuple(f"p{i}" for i in range(propositions))
    rng = np.random.default_rng([seed, observations, actions, machine_states, branching, propositions])
    mdp = _random_mdp(rng, observations, actions, branching, names)
    machine = random_machine(rng, machine_states, names)
    return Task(mdp, machine, horizon, f"random-{observations}x{actions}x{machine_states}-{seed}")


def _random_mdp(
    rng: np.random.Generator, observations: int, actions: int, branching: int, names: tuple[str, ...]
) -> LabeledMDP:
    pairs = observations * actions
    rows = np.repeat(np.arange(pairs), branching)
    successors = rng.integers(observations, size=pairs * branching)
    probs = rng.dirichlet(np.ones(branching), size=pairs).ravel()
    true = rng.random((observations, len(names))) < PROPOSITION_PROB
    true[-1, 0] = True
    labels = [
        LabelRule(frozenset(name for name, holds in zip(names, row, strict=True) if holds), target=o)
        for o, row in enumerate(true)
        if row.any()
    ]
    return LabeledMDP.from_entries(
        observations, actions, rows // actions, rows % actions, successors, probs, labels=labels
    )


def random_machine(rng: np.random.Generator, num_states: int, names: tuple[str, ...]) -> RewardMachine:
    """Draw a machine with a rule for every proposition in every state."""
    states = tuple(f"q{i}" for i in range(num_states))
    rules = []
    for state in states:
        earlier: Guard = TRUE
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
        return NOTHING
    if kind == 1:
        return Reward.of(float(rng.random()))
    if kind == 2:
        return Reward.bernoulli(float(rng.random()))
    return Reward(tuple(rng.random(3).tolist()), tuple(rng.dirichlet(np.ones(3)).tolist()))
