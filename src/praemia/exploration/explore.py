"""Reward-free exploration (Algorithm 3): collect data once, before any reward is known.

1. For each observation o, run EULER for N₀ episodes on the reward 1[o_h = o]; Φ_o = the N₀ policies that it played,
   each changed to act uniformly at o. Ψ = ∪ Φ_o.
2. Play N episodes, each with a policy drawn uniformly from Ψ; keep the trajectories.

Differences from the paper's text: how many of the N episodes fall to each policy is drawn beforehand, multinomially, so
that Ψ is never kept whole (given Ψ the episodes are i.i.d., and their order does not matter). EULER plans again when a
count doubles, not in every episode, so Φ_o has few distinct policies with multiplicities. ``keep_search`` adds the
episodes of step 1 to the data; they are not i.i.d., but the certificate holds for them too.

``Uncertainty`` takes the place of both steps: N episodes of the explorer in ``praemia.learners.uncertainty``.

With ``until``, exploration ends when the plans of named machines are good enough (``praemia.exploration.until``); then
``Directed``, the default, goes where visits help to decide that; ``Uncertainty`` does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

import numpy as np

from praemia.activity import OnProgress
from praemia.envs.black_box import BlackBox
from praemia.errors import ContradictionError, ParameterError, require_whole, unknown_name
from praemia.exploration.dataset import Dataset
from praemia.exploration.merging import COLLECT, SEARCH, SHARES
from praemia.exploration.sessions import (
    FixedPolicy,
    Searcher,
    Session,
    play_given,
    play_until_sure,
    search,
    uniform_at,
)
from praemia.exploration.until import CERTIFY, Goal, OnCheck, explore_until
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.limits import MAX_EPISODES
from praemia.machines.machine import RewardMachine
from praemia.simulation.run import Seed
from praemia.tasks.task import Task
from praemia.text_tables import plural


@dataclass(frozen=True, kw_only=True)
class Euler:
    """Algorithm 3: search for every observation, then collect with the policies of the searches."""

    name: ClassVar[str] = "euler"
    scale: float = 0.01
    policy_episodes: int = 1000
    keep_search: bool = False

    def __post_init__(self) -> None:
        require_whole("policy_episodes", self.policy_episodes, 1, MAX_EPISODES)

    def play(self, session: Session, goal: Goal | None) -> dict[str, Any]:
        """Search and collect in turns, so that no policy needs to be kept."""
        if goal is not None:
            raise ParameterError(
                "until goes with method='directed' or 'uncertainty'; EULER searches before it collects"
            )
        size, num_actions = session.environment.source.num_observations, session.environment.source.num_actions
        session.total += size * self.policy_episodes
        session.keeps_search = self.keep_search
        rng = np.random.default_rng(np.random.SeedSequence((*session.seed, SHARES)))
        shares = rng.multinomial(session.episodes, np.full(size, 1.0 / size))
        learner, collecting = Searcher(bonus_scale=self.scale), session.world(FixedPolicy(), COLLECT)
        for target, share in enumerate(shares.tolist()):
            searching = session.world(learner, SEARCH, target, episodes=self.policy_episodes, target=target)
            policies, lengths = search(searching, session.report)
            for policy, count in zip(policies, rng.multinomial(share, lengths / lengths.sum()), strict=True):
                if count:
                    play_given(collecting, uniform_at(policy, target, num_actions), int(count), session.report)
            session.end_search(searching)
        return {}


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """One stage: go where the estimate is least certain."""

    name: ClassVar[str] = "uncertainty"
    scale: float = 0.01
    stop_below: float = 0.0

    def __post_init__(self) -> None:
        if not self.stop_below >= 0.0:
            raise ParameterError(f"stop_below={self.stop_below!r}; expected a number ≥ 0")

    def play(self, session: Session, goal: Goal | None) -> dict[str, Any]:
        """Play until the goal is reached, or the explorer is certain; return a record of how it went."""
        if goal is None:
            world = session.world(UncertaintyExplorer(scale=self.scale), COLLECT)
            play_until_sure(world, self.stop_below, session.report)
            return {}
        if self.stop_below:
            raise ParameterError("until and stop_below are two rules for when to stop; give one of them")
        return explore_until(session, goal, self.scale, is_directed=False)


@dataclass(frozen=True, kw_only=True)
class Directed:
    """Go where visits help to decide whether the goal is reached."""

    name: ClassVar[str] = "directed"
    scale: float = 0.01

    def play(self, session: Session, goal: Goal | None) -> dict[str, Any]:
        """Play until the goal is reached; return a record of how it went."""
        if goal is None:
            raise ParameterError("method='directed' explores to decide when to stop; it needs until and machines")
        return explore_until(session, goal, self.scale, is_directed=True)


Method = Euler | Uncertainty | Directed
METHODS: dict[str, type[Method]] = {"euler": Euler, "uncertainty": Uncertainty, "directed": Directed}


def make_method(name: str, **settings: Any) -> Method:
    """Return a method with its settings, None for defaults; refuse those that belong to another method."""
    if name not in METHODS:
        raise unknown_name("exploration method", name, METHODS)
    own = {item.name for item in fields(METHODS[name])}
    for setting in settings:
        owners = [other for other, kind in METHODS.items() if setting in kind.__dataclass_fields__]
        if settings[setting] and name not in owners:
            raise ParameterError(f"{setting} belongs to method={owners[0]!r}; {name!r} has {', '.join(sorted(own))}")
    return METHODS[name](**{setting: settings[setting] for setting in own if settings[setting] is not None})


def explore(
    task: Task | BlackBox,
    *,
    episodes: int,
    policy_episodes: int | None = None,
    method: str | None = None,
    seed: Seed = 0,
    scale: float | None = None,
    keep_search: bool = False,
    stop_below: float = 0.0,
    machines: Iterable[RewardMachine] = (),
    until: float | None = None,
    certify: str | None = None,
    on_progress: OnProgress | None = None,
    on_check: OnCheck | None = None,
) -> Dataset:
    """Explore a task or a black box without any reward; of its machine, only the propositions are used.

    Parameters
    ----------
    episodes : N, the episodes of data; with ``until``, at most.
    policy_episodes : ``euler`` only: N₀, the episodes for each observation (1000).
    method : ``euler`` (the paper's, the default) or ``uncertainty`` (one stage, N episodes, no N₀); with ``until``,
        ``directed`` (the default) or ``uncertainty``.
    scale : the exploration coefficient of the method; for ``euler``, 1 is the theory's.
    keep_search : also keep the episodes in which EULER searched.
    stop_below : ``uncertainty`` only: stop when the explorer's E_0 at the start is below this. A rule of thumb: E_0 is
        no bound on the loss of a plan (``praemia.learners.uncertainty``); the plan's certificate is.
    machines : machines fixed in advance, and recorded as such: certificates for them are tighter. They change what is
        played only with ``until``.
    until : stop when the plan of every machine loses less than this; the data's last source says whether that was
        reached, and the loss at each check.
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
    name = method or ("euler" if until is None else "directed")
    explorer = make_method(
        name, scale=scale, policy_episodes=policy_episodes, keep_search=keep_search, stop_below=stop_below
    )
    if until is None and certify is not None:
        raise ParameterError(f"certify={certify!r} says what must be below until; give until and machines")
    session = Session(task, require_whole("episodes", episodes, 1, MAX_EPISODES), seed, machines, on_progress)
    goal = None if until is None else Goal(until, session.machines, certify or CERTIFY[0], on_check)
    try:
        record = explorer.play(session, goal)
    except ContradictionError as error:
        session.keeps_search = True
        data = _dataset(session, explorer, {})
        remedy = f"what was explored until then, {plural(data.num_episodes, 'episode')}, is kept: error.dataset"
        raise ContradictionError(f"{error}; {remedy}", data) from None
    return _dataset(session, explorer, record)


def _dataset(session: Session, method: Method, record: dict[str, Any]) -> Dataset:
    """Return what a session keeps as a dataset, with a record of how it was collected."""
    source = {
        "task": session.environment.source.name,
        "method": method.name,
        "episodes": session.collected.num_episodes,
        "seed": list(session.seed),
    }
    source |= asdict(method) | record
    return session.environment.dataset(session.kept, session.everything, (source,), session.fixed_machines)
