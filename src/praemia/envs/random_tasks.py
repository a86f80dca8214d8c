"""Random tasks of given sizes: ``random-20x4x5-0`` has 20 observations, 4 actions and 5 machine states, from seed 0."""

from __future__ import annotations

import numpy as np

from praemia.envs.builtin_machines import random_machine
from praemia.errors import require_whole
from praemia.limits import require_memory
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

PROPOSITION_PROB = 0.25


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
    """Sample a task with given sizes.

    A pair (o, a) leads to a few uniform observations, with probabilities from a flat Dirichlet distribution. Arriving
    at an observation makes each proposition true with probability 1/4; ``p0`` is always true at the last one, so that
    something can happen. The same arguments always give the same task, and the horizon changes nothing but itself.

    Parameters
    ----------
    observations, actions, machine_states : sizes of the task.
    horizon : steps of an episode.
    seed : selects one of the tasks of these sizes.
    branching : how many successors are sampled for a pair (o, a); some may coincide.
    propositions : how many propositions there are, ``p0``, ``p1``, …

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
    pairs = np.arange(observations * actions).repeat(branching)
    successors = rng.integers(observations, size=len(pairs))
    probs = rng.dirichlet(np.ones(branching), size=observations * actions).ravel()
    true = rng.random((observations, propositions)) < PROPOSITION_PROB
    true[-1, 0] = True
    labels = [LabelRule([names[i] for i in np.flatnonzero(row)], target=o) for o, row in enumerate(true) if row.any()]
    columns = pairs // actions, pairs % actions, successors, probs
    mdp = LabeledMDP.from_entries(observations, actions, *columns, labels=labels)
    machine = random_machine(rng, machine_states, names)
    return Task(mdp, machine, horizon, f"random-{observations}x{actions}x{machine_states}-{seed}")
