"""Reward-free exploration (Algorithm 3): collect data once, before any reward is known.

1. For each observation o, run EULER for N₀ episodes on the reward 1[o_h = o]; Φ_o = the N₀ policies that it played,
   each changed to act uniformly at o. Ψ = ∪ Φ_o.
2. Play N episodes, each with a policy drawn uniformly from Ψ; keep the trajectories.

Differences from the paper's text: how many of the N episodes fall to each policy is drawn beforehand, multinomially, so
that Ψ is never kept whole (given Ψ the episodes are i.i.d., and their order does not matter). EULER plans again when a
count doubles, not in every episode, so Φ_o has few distinct policies with multiplicities. ``keep_search`` adds the
episodes of step 1 to the data; they are not i.i.d., but the certificate holds for them too.

``method="uncertainty"`` takes the place of both steps: N episodes of the explorer in ``praemia.learners.uncertainty``.

With ``until``, exploration ends when the plans of named machines are good enough (``praemia.exploration.until``); then
``method="directed"``, the default, goes where visits help to decide that; ``uncertainty`` does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError, require_whole, unknown_name
from praemia.exploration.dataset import Dataset
from praemia.exploration.environments import BoxEnvironment, Environment, TaskEnvironment, build_dataset
from praemia.exploration.fixed_machines import as_machines, digests_in_advance
from praemia.exploration.merging import Counted
from praemia.exploration.playing import FixedPolicy, Progress, Searcher, play_given, play_until_sure, search, uniform_at
from praemia.exploration.until import CERTIFY, OnCheck, Players, Report, Target, explore_until
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.machines.machine import RewardMachine
from praemia.simulation.run import Seed, seed_key
from praemia.tasks.task import Task

METHODS = ("euler", "uncertainty", "directed")
DEFAULT_SCALES = {"euler": 0.01, "uncertainty": 0.01, "directed": 0.01}
MAX_EPISODES = 10**9


@dataclass(frozen=True)
class Budget:
    """What exploration may use: N, N₀, the method with its coefficient, and the random seed."""

    episodes: int
    policy_episodes: int
    method: str
    scale: float
    seed: tuple[int, ...]
    keep_search: bool
    stop_below: float

    def to_json(self, played: int) -> dict[str, Any]:
        record: dict[str, Any] = {"method": self.method, "episodes": played, "scale": self.scale}
        record["seed"] = list(self.seed)
        if self.method == "euler":
            record |= {"policy_episodes": self.policy_episodes, "keep_search": self.keep_search}
        return record


def explore(
    task: Task | BlackBox,
    *,
    episodes: int,
    policy_episodes: int = 1000,
    method: str | None = None,
    seed: Seed = 0,
    scale: float | None = None,
    keep_search: bool = False,
    stop_below: float = 0.0,
    machines: Iterable[RewardMachine] = (),
    until: float | None = None,
    certify: str | None = None,
    on_progress: Report | None = None,
    on_check: OnCheck | None = None,
) -> Dataset:
    """Explore a task or a black box without any reward; of its machine, only the propositions are used.

    Parameters
    ----------
    episodes : N, the episodes of data; with ``until``, at most. policy_episodes : N₀, EULER's for each observation.
    method : ``euler`` (the paper's, the default) or ``uncertainty`` (one stage, N episodes, no N₀); with ``until``,
        ``directed`` (the default) or ``uncertainty``.
    scale : the exploration coefficient of the method; for ``euler``, 1 is the theory's.
    keep_search : also keep the episodes in which EULER searched.
    stop_below : ``uncertainty`` only: stop when the explorer's E_0 at the start is below this. A rule of thumb: E_0 is
        no bound on the loss of a plan (``praemia.learners.uncertainty``); the plan's certificate is.
    machines : machines fixed in advance, and recorded as such: certificates for them are tighter. They change what is
        played only with ``until``.
    until : stop when the plan of every machine loses less than this; the data's last source says whether that was
        reached, and what was found at each check.
    certify : what must be below ``until``: the ``likely`` loss (the default), or the ``proven`` bound.
    on_progress : called with the number of episodes played so far and the total. on_check : called with each check.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()  # its rewards are not used
    >>> data = praemia.explore(task, episodes=200, policy_episodes=50, seed=0)
    >>> data.num_episodes
    200
    """
    chosen = method or ("euler" if until is None else "directed")
    budget = _checked(episodes, policy_episodes, chosen, seed, scale, keep_search, stop_below)
    _check_method(budget, until, certify)
    if not isinstance(task, Task | BlackBox):
        raise ParameterError(f"cannot explore {type(task).__name__}; expected a Task or a BlackBox")
    environment = TaskEnvironment(task) if isinstance(task, Task) else BoxEnvironment(task)
    named = as_machines(machines)
    fixed = digests_in_advance(environment, named)
    report = on_progress or (lambda done, total: None)
    record: dict[str, Any] = {}
    if until is not None:
        target = Target(until, named, certify or CERTIFY[0], chosen == "directed", fixed)
        players = Players(environment, budget.episodes, budget.scale, budget.seed, report)
        record = explore_until(players, target, budget.episodes, on_check or (lambda check: None))
        collected = every = players.counted()
    else:
        stages = _two_stages if chosen == "euler" else _one_stage
        collected, every = stages(environment, budget, report)
    source = {"task": environment.name, **budget.to_json(collected.num_episodes), **record}
    return build_dataset(environment, every if keep_search else collected, every, source, fixed)


def _two_stages(environment: Environment, budget: Budget, report: Report) -> tuple[Counted, Counted]:
    """Search for every target and collect with what was found; return what was collected, and all that was played.

    Data is collected while the search goes on, so that no policy needs to be kept.
    """
    size, num_actions = environment.num_observations, environment.num_actions
    total = size * budget.policy_episodes + budget.episodes
    rng = np.random.default_rng(np.random.SeedSequence((*budget.seed, 0)))
    shares = rng.multinomial(budget.episodes, np.full(size, 1.0 / size))
    learner = Searcher(bonus_scale=budget.scale)
    collecting = environment.world(None, FixedPolicy(), budget.episodes, (*budget.seed, 2))
    every: Counted | None = None
    for target, share in enumerate(shares.tolist()):
        done = target * budget.policy_episodes
        searching = environment.world(target, learner, budget.policy_episodes, (*budget.seed, 1, target))
        policies, lengths = search(searching, _after(done + collecting.played, total, report))
        for policy, count in zip(policies, rng.multinomial(share, lengths / lengths.sum()), strict=True):
            if count:
                changed = uniform_at(policy, target, num_actions)
                play_given(collecting, changed, int(count), _after(done + budget.policy_episodes, total, report))
        searched = environment.counted(searching)
        every = searched if every is None else every + searched
    collected = environment.counted(collecting)
    return collected, collected if every is None else every + collected


def _one_stage(environment: Environment, budget: Budget, report: Report) -> tuple[Counted, Counted]:
    """Run the uncertainty explorer; return what it played, twice: all of it is data."""
    learner = UncertaintyExplorer(scale=budget.scale)
    world = environment.world(None, learner, budget.episodes, (*budget.seed, 2))
    play_until_sure(world, budget.stop_below, _after(0, budget.episodes, report))
    collected = environment.counted(world)
    return collected, collected


def _after(done: int, total: int, report: Report) -> Progress:
    """Return a callback that reports episodes played after ``done`` others."""
    return lambda played: report(done + played, total)


def _check_method(budget: Budget, until: float | None, certify: str | None) -> None:
    """Refuse methods that do not go with ``until``, or need it, and what would have no effect."""
    method = budget.method
    if budget.keep_search and method != "euler":
        raise ParameterError(f"keep_search belongs to method='euler'; {method!r} keeps all that it plays")
    if until is None and certify is not None:
        raise ParameterError(f"certify={certify!r} says what must be below until; give until and machines")
    if until is None and method == "directed":
        raise ParameterError("method='directed' explores to decide when to stop; it needs until and machines")
    if until is not None and method == "euler":
        raise ParameterError("until goes with method='directed' or 'uncertainty'; EULER searches before it collects")
    if until is not None and budget.stop_below:
        raise ParameterError("until and stop_below are two rules for when to stop; give one of them")


def _checked(
    episodes: int,
    policy_episodes: int,
    method: str,
    seed: Seed,
    scale: float | None,
    keep_search: bool,
    stop_below: float,
) -> Budget:
    if method not in METHODS:
        raise unknown_name("exploration method", method, METHODS)
    for name, number in (("episodes", episodes), ("policy_episodes", policy_episodes)):
        require_whole(name, number, 1, MAX_EPISODES)
    chosen = DEFAULT_SCALES[method] if scale is None else scale
    if not stop_below >= 0.0:
        raise ParameterError(f"stop_below={stop_below!r}; expected a number ≥ 0")
    if stop_below and method != "uncertainty":
        raise ParameterError("stop_below belongs to method='uncertainty'; EULER has nothing to stop at")
    return Budget(int(episodes), int(policy_episodes), method, chosen, seed_key(seed), keep_search, stop_below)
