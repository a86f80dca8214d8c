"""Reward-free exploration: collect data once, before any reward is known.

``uncertainty``, the default, plays N episodes of the explorer in ``praemia.learners.uncertainty``. With ``until`` it
stops when the plans of named machines are good enough: after 100, 200, 400, … episodes the largest likely loss of their
plans is computed. It needs no correction for the checks: the posterior given the data does not depend on the rule that
ended the collection.

``euler`` is Algorithm 3:

1. For each observation o, run EULER for N₀ episodes on the reward 1[o_h = o]; Φ_o = the N₀ policies that it played,
   each changed to act uniformly at o. Ψ = ∪ Φ_o.
2. Play N episodes, each with a policy sampled uniformly from Ψ; keep their transitions.

Differences from the paper's text: how many of the N episodes fall to each policy is sampled beforehand, multinomially,
so that Ψ is never kept whole (given Ψ the episodes are i.i.d., and their order does not matter). EULER plans again when
a count doubles, not in every episode, so Φ_o has few distinct policies with multiplicities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.activity import OnProgress
from praemia._support.limits import MAX_EPISODES
from praemia.envs.black_box import BlackBox
from praemia.errors import ContradictionError, EnvironmentFailure, ParameterError, require_whole, unknown_name
from praemia.exploration.dataset import Dataset
from praemia.exploration.environment import Environment
from praemia.exploration.estimate import Estimate
from praemia.exploration.likely_loss import likely_loss
from praemia.learners.base import Learner, LearnerPlan
from praemia.learners.euler import EULER
from praemia.learners.experience import Experience
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import solve
from praemia.simulation.loop import World, run_loop
from praemia.simulation.run import Seed, seed_key
from praemia.tasks.task import Task

METHODS = ("uncertainty", "euler")
FIRST_CHECK = 100  # episodes
POLICY_EPISODES = 1000  # N₀
SHARES, SEARCH, COLLECT = range(3)  # what random numbers are for: a part of the key of their stream


class Check(NamedTuple):
    """The largest loss of all machines' plans after some episodes, ∞ where it is not known yet."""

    episodes: int
    loss: float


OnCheck: TypeAlias = Callable[[Check], None]


def explore(
    task: Task | BlackBox,
    *,
    num_episodes: int,
    method: str = "uncertainty",
    scale: float = 0.01,
    policy_episodes: int | None = None,
    until: float | None = None,
    machines: Iterable[RewardMachine] = (),
    seed: Seed = 0,
    on_progress: OnProgress | None = None,
    on_check: OnCheck | None = None,
) -> Dataset:
    """Explore a task or a black box without any reward; of its machine, only the propositions are used.

    Parameters
    ----------
    num_episodes : N, the episodes of data; with ``until``, at most.
    method : ``uncertainty``, which goes where the estimate is least certain, or ``euler``, the paper's Algorithm 3,
        which first plays ``policy_episodes`` (N₀, 1000) further episodes for each observation.
    scale : the exploration coefficient of the method; for ``euler``, 1 is the theory's.
    until : stop when the likely loss of the plan for each of ``machines`` is below this; the data's last source records
        whether that was reached, and the loss at each check.
    on_progress : called with the number of episodes played so far and the total. on_check : called with each check.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()  # its rewards are not used
    >>> data = praemia.explore(task, num_episodes=200, seed=0)
    >>> data.num_episodes
    200
    """
    count = require_whole("num_episodes", num_episodes, 1, MAX_EPISODES)
    if method not in METHODS:
        raise unknown_name("exploration method", method, METHODS)
    if policy_episodes is not None and method != "euler":
        raise ParameterError(f"policy_episodes={policy_episodes} is for method='euler'; {method!r} has one stage")
    each = require_whole("policy_episodes", policy_episodes or POLICY_EPISODES, 1, MAX_EPISODES)
    named = _named(until, machines)
    if until is not None and method == "euler":
        raise ParameterError("until goes with method='uncertainty'; EULER searches before it collects")
    environment, key = Environment(task), seed_key(seed)
    environment.require_machines(named)
    record: dict[str, Any] = {"method": method, "episodes": count, "seed": list(key), "scale": scale}
    try:
        if method == "euler":
            record["policy_episodes"] = each
            _euler(environment, count, each, EULER(bonus_scale=scale), key, on_progress)
        else:
            world = environment.world(UncertaintyExplorer(scale=scale), count, (*key, COLLECT))
            record |= _uncertainty(environment, world, count, until, named, on_progress, on_check)
    except (ContradictionError, EnvironmentFailure) as error:
        if any(world.counts.starts.any() for world in environment.worlds):
            error.dataset = environment.dataset(**record)
            error.add_note("what was explored until then is kept: error.dataset")
        raise
    return environment.dataset(**record)


def _named(until: float | None, machines: Iterable[RewardMachine]) -> tuple[RewardMachine, ...]:
    """Check what is to be reached; return the machines."""
    if isinstance(machines, RewardMachine):
        raise ParameterError("machines is one machine; expected a list of them, such as [machine]")
    named = tuple(machines)
    if until is None:
        if named:
            raise ParameterError("machines say when until is reached; give until")
        return ()
    if isinstance(until, bool) or not isinstance(until, int | float | np.number) or not 0.0 < until < math.inf:
        raise ParameterError(f"until={until!r}; expected a positive number: the loss to get below")
    if not named:
        raise ParameterError(f"until={until:g} without machines; name those whose plans must lose less")
    return named


def _uncertainty(
    environment: Environment,
    world: World,
    num_episodes: int,
    until: float | None,
    machines: tuple[RewardMachine, ...],
    on_progress: OnProgress | None,
    on_check: OnCheck | None,
) -> dict[str, Any]:
    """Play all episodes, or until all machines' likely losses are small; return a record of how it went."""
    report = None if on_progress is None else lambda played: on_progress(played, num_episodes)
    if until is None:
        run_loop(world, num_episodes, on_progress=report)
        return {}
    checks: list[Check] = []
    while world.played < num_episodes and not (checks and checks[-1].loss < until):
        run_loop(world, min(num_episodes, max(FIRST_CHECK, 2 * world.played)), on_progress=report)
        data = environment.dataset()
        checks.append(Check(world.played, max(_loss(data, machine) for machine in machines)))
        if on_check is not None:
            on_check(checks[-1])
    return {
        "episodes": world.played,
        "until": float(until),
        "reached": checks[-1].loss < until,
        "checks": [[episodes, loss if math.isfinite(loss) else None] for episodes, loss in checks],
    }


def _loss(dataset: Dataset, machine: RewardMachine) -> float:
    """Return the likely loss of a machine's plan; ∞ while it reads a proposition never seen and labels are not known.

    Samples treat such a label as impossible, so that nothing would be lost without it.
    """
    if not dataset.labels_known and not machine.reads <= dataset.labelling.propositions():
        return math.inf
    estimate = Estimate.of(dataset, machine)
    return likely_loss(estimate, solve(estimate.model, keep_values=False).policy).loss


def _euler(
    environment: Environment,
    num_episodes: int,
    policy_episodes: int,
    learner: Learner,
    key: tuple[int, ...],
    on_progress: OnProgress | None,
) -> None:
    """Search and collect in turns, so that no policy needs to be kept."""
    size, num_actions = environment.source.num_observations, environment.source.num_actions
    searched, total = 0, num_episodes + size * policy_episodes

    def report(_: int) -> None:
        if on_progress is not None:
            on_progress(searched + sum(world.played for world in environment.worlds), total)

    rng = np.random.default_rng(np.random.SeedSequence((*key, SHARES)))
    shares = rng.multinomial(num_episodes, np.full(size, 1.0 / size))
    collecting = environment.world(GivenPolicy(), num_episodes, (*key, COLLECT))
    for target, share in enumerate(shares.tolist()):
        searching = environment.world(learner, policy_episodes, (*key, SEARCH, target), target)
        policies, lengths = search(searching, report)
        for policy, count in zip(policies, rng.multinomial(share, lengths / lengths.sum()), strict=True):
            if count:
                play_given(collecting, uniform_at(policy, target, num_actions), int(count), report)
        environment.worlds.remove(searching)  # as in the paper, its episodes are not kept
        searched += policy_episodes


class GivenPolicy(Learner):
    """Play a given policy [H, 1, O, A]."""

    policy: NDArray[Any] = field(default_factory=lambda: np.empty((0, 0, 0)))

    def plan(self, experience: Experience, previous: LearnerPlan | None, rng: np.random.Generator) -> LearnerPlan:
        return LearnerPlan(self.policy)


def search(world: World, on_progress: Callable[[int], None]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Play all episodes; return the policies [H, 1, O] that were played, and for how many episodes each was."""
    policies: list[NDArray[Any]] = []
    total = len(world.log.returns)
    run_loop(world, total, on_plan=lambda: policies.append(world.policy.swapaxes(1, 2).copy()), on_progress=on_progress)
    return policies, np.diff(world.log.plans["episode"][: len(policies)], append=total)


def play_given(
    world: World, policy: NDArray[np.float64], num_episodes: int, on_progress: Callable[[int], None]
) -> None:
    """Play a policy [H, 1, O, A] for some more episodes, in a world made for ``GivenPolicy``."""
    world.learner = GivenPolicy(policy=policy)
    world.replan()
    run_loop(world, world.played + num_episodes, on_progress=on_progress)


def uniform_at(policy: NDArray[Any], o: int, num_actions: int) -> NDArray[np.float64]:
    """Turn a policy [H, 1, O] into action probabilities [H, 1, O, A], uniform at one observation."""
    weights: NDArray[np.float64] = (policy[..., None] == np.arange(num_actions)).astype(np.float64)
    weights[:, :, o] = 1.0 / num_actions
    return weights
