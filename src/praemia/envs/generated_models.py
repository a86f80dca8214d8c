"""Random models, chains and locks; and machines for these and for maps.

Every kind is a function of a generator. It samples sizes, model and machine, in this order.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.arithmetic import portable_exp, portable_log
from praemia._support.limits import require_memory
from praemia.errors import PraemiaWarning, require_whole
from praemia.machines.builder import MachineBuilder
from praemia.machines.formula import proposition
from praemia.machines.labels import LabelRule
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

Generated: TypeAlias = tuple[LabeledMDP, RewardMachine, int]  # and the horizon
Kind: TypeAlias = Callable[[np.random.Generator], Generated]
OBSERVATIONS, STATES, STEPS = (5, 60), (1, 10), (5, 50)  # the smallest and the largest numbers
PLACES = ("a", "b", "c")
DONE, FAILED, TRAP = "done", "failed", "trap"
MAX_OUTCOMES = 3  # of a rule of a random machine


def within(steps: float) -> int:
    """Return a number of steps, or the nearest that is allowed."""
    return int(min(max(round(steps), STEPS[0]), STEPS[1]))


def between(rng: np.random.Generator, low: float, high: float) -> int:
    """Sample an integer, uniformly on a log scale."""
    return round(portable_exp(rng.uniform(portable_log(low), portable_log(high))))


def random_kind(max_observations: int, actions: tuple[int, int], branching: int | None, weight: float) -> Kind:
    """Return the kind of random models: pairs have up to ``branching`` successors, or all, and three places are named.

    Successors are uniform, their probabilities Dirichlet(weight). Places that can be reached are preferred.
    """

    def sample(rng: np.random.Generator) -> Generated:
        size = between(rng, OBSERVATIONS[0], max_observations)
        width = size if branching is None else int(rng.integers(2, min(branching, size) + 1))
        num_actions, states, steps = between(rng, *actions), between(rng, *STATES), between(rng, *STEPS)
        o, a = np.divmod(np.arange(size * num_actions).repeat(width), num_actions)
        order = np.argsort(rng.random((size * num_actions, size)), axis=1, kind="stable")[:, :width]
        probs = rng.dirichlet(np.full(width, weight), size=size * num_actions).ravel()
        start = int(rng.integers(size))
        near = steps_from(start, order.reshape(size, -1))
        places = sorted(rng.permutation(size).tolist(), key=lambda o: o not in near)
        labels = [LabelRule(name, target=o) for name, o in zip(PLACES, places, strict=False)]
        mdp = LabeledMDP.from_entries(size, num_actions, o, a, order.ravel(), probs, labels, start)
        if rng.integers(2):
            return mdp, random_machine(rng, states, PLACES), steps
        return mdp, errands(rng, PLACES, states, fits=steps / size, again=True), steps

    return sample


def steps_from(start: int, successors: NDArray[np.int64]) -> dict[int, int]:
    """Return the fewest steps to every observation that can be reached, from the successors of each, int64[O, ·]."""
    steps, waiting = {start: 0}, [start]
    for here in waiting:  # grows while it is read
        for there in successors[here].tolist():
            if there not in steps:
                steps[there] = steps[here] + 1
                waiting.append(there)
    return steps


def chain(rng: np.random.Generator) -> Generated:
    """Sample a river: right is against the current, left is sure; the ends have prices, or are asked for in turn."""
    size = between(rng, 5, 15)
    steps = within(4 * size * rng.uniform(0.7, 1.3))
    states = between(rng, *STATES)
    forth, stay = rng.uniform(0.4, 0.8, size), rng.uniform(0.1, 0.2, size)
    model, here = np.zeros((size, 2, size)), np.arange(size)
    left, right = np.maximum(0, here - 1), np.minimum(size - 1, here + 1)
    model[here, 0, left] = 1.0
    for there, probs in ((right, forth), (here, stay), (left, 1.0 - forth - stay)):
        model[here, 1, there] += probs
    labels = [LabelRule("near", target=0), LabelRule("far", target=size - 1)]
    mdp = LabeledMDP.from_dense(model, labels, start=int(rng.integers(1, max(2, size // 3))))
    if states == 1:
        return mdp, prices({"near": float(rng.uniform(0.005, 0.05)), "far": 1.0}), steps
    return mdp, errands(rng, ("far", "near"), states, fits=steps / (2 * size), again=True), steps


def lock(rng: np.random.Generator) -> Generated:
    """Sample a combination lock: at each place one action leads on, the others to the start; it slips a little."""
    size = between(rng, 5, 12)
    steps = within(2 * size * rng.uniform(1.0, 2.0))
    actions, states = between(rng, 2, 6), between(rng, *STATES)
    slip, has_decoy = float(rng.uniform(0.0, 0.15)), bool(rng.integers(2))
    right = rng.integers(actions, size=size)
    model, here = np.zeros((size, actions, size)), np.arange(size)
    model[:, :, 0] = 1.0 - slip
    model[here, right] = (1.0 - slip) * np.eye(size)[(here + 1) % size]
    model[here, :, here] += slip
    labels = [LabelRule("open", target=size - 1, source=size - 2)]
    labels += [LabelRule("decoy", source=0, action=int((right[0] + 1) % actions), target=0)] if has_decoy else []
    mdp, decoys = LabeledMDP.from_dense(model, labels), ("decoy",) if has_decoy else ()
    if states == 1:
        return mdp, prices({"open": 1.0, **dict.fromkeys(decoys, 0.02)}), steps
    return mdp, errands(rng, ("open",), states - 1, fits=steps / (2 * size), others=decoys), steps


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
    """Generate a task of given sizes; the same arguments always give the same task.

    Parameters
    ----------
    observations, actions, machine_states, horizon : O, A, M and H.
    seed : an integer from 0.
    branching : a pair (o, a) leads to this number of uniformly sampled observations, some of which may coincide, with
        probabilities from a flat Dirichlet distribution.
    propositions : their number. Each is true at an observation with probability 1/4 (sampled once), and the first one
        always at the last observation.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.random_task(observations=6, actions=2, machine_states=3, horizon=5, seed=1)
    >>> task.num_observations, task.num_machine_states
    (6, 3)
    """
    sizes = [seed, observations, actions, machine_states, branching, propositions]
    limits = {"seed": 2**63 - 1, "observations": 10_000_000, "actions": 10_000, "machine_states": 100_000}
    for (name, limit), size in zip((limits | {"branching": 10_000, "propositions": 40}).items(), sizes, strict=True):
        require_whole(name, size, int(name != "seed"), limit)
    require_memory(100 * observations * actions * branching, "a random model")
    names = tuple(f"p{i}" for i in range(propositions))
    rng = np.random.default_rng(sizes)
    o, a = np.divmod(np.arange(observations * actions).repeat(branching), actions)
    successors = rng.integers(observations, size=len(o))
    probs = rng.dirichlet(np.ones(branching), size=observations * actions).ravel()
    true = rng.random((observations, propositions)) < 0.25
    true[-1, 0] = True
    labels = [LabelRule([names[i] for i in np.flatnonzero(row)], target=o) for o, row in enumerate(true) if row.any()]
    mdp = LabeledMDP.from_entries(observations, actions, o, a, successors, probs, labels)
    machine = random_machine(rng, machine_states, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PraemiaWarning)  # of propositions that are true nowhere
        return Task(mdp, machine, horizon, f"random-{observations}x{actions}x{machine_states}-{seed}")


# Machines


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


def prices(rewards: Mapping[str, float]) -> RewardMachine:
    """Return a machine of one state that rewards each event by its price; of several events the first one counts."""
    rules = [{"from": "q", "when": event, "to": "q", "reward": price} for event, price in rewards.items()]
    return RewardMachine(["q"], "q", rewards, rules, first_match=True)


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
    if kind == 3:
        return Reward(tuple(rng.random(3).tolist()), tuple(rng.dirichlet(np.ones(3)).tolist()))
    return (Reward.of, Reward.of, Reward.bernoulli)[kind](float(rng.random()) if kind else 0.0)
