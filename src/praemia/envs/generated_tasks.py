"""Tasks generated from a seed, to compare learners on: of nine kinds, or with given sizes.

``generated-lake-7`` is the lake of seed 7. Everything about a task is sampled: its sizes, its model or map, its machine
and the horizon.

    sparse   a random model, two or three successors         rooms   four rooms with doors, places in order
    dense    a random model, every observation can follow    traps   a grid with traps, after which there is no reward
    actions  a random model, many actions                    lake    ice: moves slip, a hole is never left
    chain    swim against a current                          maze    one way between any two cells, no slips
    lock     at each place one action leads on

Sizes are uniform on a log scale: O from 5 to 81, M from 1 to 10, H from 5 to 50. ``random-20x4x5-0`` has the sizes that
it says: 20 observations, 4 actions and 5 machine states.
"""

from __future__ import annotations

import warnings

import numpy as np

from praemia._support.limits import require_memory
from praemia.envs.generated_grids import lake, map_kind, maze, rooms, traps
from praemia.envs.generated_models import Kind, chain, lock, random_kind, random_machine
from praemia.errors import PraemiaWarning, require_whole, unknown_name
from praemia.machines.labels import LabelRule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task

STREAM = 4217  # keeps these samples apart from those of other generators
KINDS: dict[str, Kind] = {
    "sparse": random_kind(60, (2, 5), 3, 1.0),
    "dense": random_kind(40, (2, 4), None, 0.3),
    "actions": random_kind(20, (8, 24), 4, 0.5),
    "chain": chain,
    "lock": lock,
    "rooms": map_kind(rooms, 16),
    "traps": map_kind(traps, 9),
    "lake": map_kind(lake, 9),
    "maze": map_kind(maze, 9),
}


def generated_task(kind: str = "sparse", seed: int = 0, horizon: int | None = None) -> Task:
    """Generate a task of one of nine kinds; the horizon is sampled with it unless it is given.

    Examples
    --------
    >>> import praemia
    >>> praemia.envs.generated_task("lake", seed=7).name
    'generated-lake-7'
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise unknown_name("kind of generated task", kind, KINDS)
    require_whole("seed", seed, 0, 2**63 - 1)
    mdp, machine, steps = KINDS[kind](np.random.default_rng([STREAM, list(KINDS).index(kind), 0, seed]))
    return Task(mdp, machine, steps if horizon is None else horizon, f"generated-{kind}-{seed}")


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
    branching : a pair (o, a) leads to so many uniformly sampled observations, some of which may coincide, with
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
