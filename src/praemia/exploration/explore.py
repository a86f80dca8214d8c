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
from praemia.errors import ContradictionError, ParameterError, require_flag, require_whole, unknown_name
from praemia.exploration.dataset import Dataset
from praemia.exploration.merging import COLLECT, SEARCH, SHARES
from praemia.exploration.sessions import (
    FixedPolicy,
    Searcher,
    Session,
    play_given,
    search,
    uniform_at,
)
from praemia.exploration.until import CERTIFY, Goal, OnCheck, explore_until
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.limits import MAX_EPISODES
from praemia.machines.machine import RewardMachine
from praemia.simulation.loop import run_loop
from praemia.simulation.run import Seed
from praemia.tasks.task import Task
from praemia.text_tables import plural


@dataclass(frozen=True, kw_only=True)
class Euler:
    """Algorithm 3: search for every observation, then collect with the policies of the searches.

    Parameters
    ----------
    scale : the coefficient of EULER's bonus; 1 is the theory's.
    policy_episodes : N₀, the episodes for each observation. keep_search : keep the searches' episodes too.
    """

    name: ClassVar[str] = "euler"
    scale: float = 0.01
    policy_episodes: int = 1000
    keep_search: bool = False

    def __post_init__(self) -> None:
        require_flag("keep_search", self.keep_search)
        require_whole("policy_episodes", self.policy_episodes, 1, MAX_EPISODES)

    def play(self, session: Session, goal: Goal | None) -> dict[str, Any]:
        """Search and collect in turns, so that no policy needs to be kept."""
        if goal is not None:
            raise ParameterError(
                "until goes with method='directed' or 'uncertainty'; EULER searches before it collects"
            )
        size, num_actions = session.environment.source.num_observations, session.environment.source.num_actions
        session.total += size * self.policy_episodes
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
    """One stage: go where the estimate is least certain; ``scale`` is the explorer's coefficient."""

    name: ClassVar[str] = "uncertainty"
    scale: float = 0.01

    def play(self, session: Session, goal: Goal | None) -> dict[str, Any]:
        """Play all episodes, or until the goal is reached; return a record of how it went."""
        if goal is None:
            world = session.world(UncertaintyExplorer(scale=self.scale), COLLECT)
            run_loop(world, session.episodes, on_progress=session.report)
            return {}
        return explore_until(session, goal, self.scale, is_directed=False)


@dataclass(frozen=True, kw_only=True)
class Directed:
    """Go where visits help to decide whether the goal is reached; ``scale`` is as in ``Uncertainty``."""

    name: ClassVar[str] = "directed"
    scale: float = 0.01

    def play(self, session: Session, goal: Goal | None) -> dict[str, Any]:
        """Play until the goal is reached; return a record of how it went."""
        if goal is None:
            raise ParameterError("method='directed' explores to decide when to stop; it needs until and machines")
        return explore_until(session, goal, self.scale, is_directed=True)


Method = Euler | Uncertainty | Directed
METHODS: dict[str, type[Method]] = {"euler": Euler, "uncertainty": Uncertainty, "directed": Directed}


def make_method(name: str | None, *, has_goal: bool, **settings: Any) -> Method:
    """Return a method by its name, or the default, with some settings; refuse those that belong to another method.

    None for a setting is its default.
    """
    settings = {setting: value for setting, value in settings.items() if value is not None}
    name = name or ("directed" if has_goal else "euler")
    if name not in METHODS:
        raise unknown_name("exploration method", name, METHODS)
    own = [item.name for item in fields(METHODS[name])]
    for setting in settings:
        if setting not in own:
            owners = [other for other, kind in METHODS.items() if setting in kind.__dataclass_fields__]
            problem = f"{setting} belongs to method={owners[0]!r}" if owners else f"no setting is called {setting!r}"
            raise ParameterError(f"{problem}; {name!r} has {', '.join(own)}")
    return METHODS[name](**settings)


def explore(
    task: Task | BlackBox,
    *,
    episodes: int,
    method: str | None = None,
    seed: Seed = 0,
    machines: Iterable[RewardMachine] = (),
    until: float | None = None,
    certify: str | None = None,
    on_progress: OnProgress | None = None,
    on_check: OnCheck | None = None,
    **settings: Any,
) -> Dataset:
    """Explore a task or a black box without any reward; of its machine, only the propositions are used.

    Parameters
    ----------
    episodes : N, the episodes of data; with ``until``, at most.
    method : ``euler`` (the paper's, the default) or ``uncertainty`` (one stage); with ``until``, ``directed`` (the
        default) or ``uncertainty``.
    machines : machines fixed in advance, and recorded as such: their certificates are usually tighter. They change
        what is played only with ``until``.
    until : stop when the plan of every machine loses less than this; the data's last source says whether that was
        reached, and the loss at each check.
    certify : what must be below ``until``: the ``likely`` loss (the default), or the ``proven`` bound.
    on_progress : called with the number of episodes played so far and the total. on_check : called with each check.
    **settings : ``scale``, the exploration coefficient of the method (0.01; for ``euler``, 1 is the theory's); for
        ``euler`` also ``policy_episodes`` (N₀, for each observation: 1000) and ``keep_search`` (keep those episodes).

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.riverswim()  # its rewards are not used
    >>> data = praemia.explore(task, episodes=200, method="uncertainty", seed=0)
    >>> data.num_episodes
    200
    """
    explorer = make_method(method, has_goal=until is not None, **settings)
    if until is None and certify is not None:
        raise ParameterError(f"certify={certify!r} says what must be below until; give until and machines")
    session = Session(task, require_whole("episodes", episodes, 1, MAX_EPISODES), seed, machines, on_progress)
    goal = None if until is None else Goal(until, session.machines, certify or CERTIFY[0], on_check)
    try:
        record = explorer.play(session, goal)
    except ContradictionError as error:
        data = _dataset(session, explorer, {}, keeps_search=True)
        remedy = f"what was explored until then, {plural(data.num_episodes, 'episode')}, is kept: error.dataset"
        raise ContradictionError(f"{error}; {remedy}", data) from None
    return _dataset(session, explorer, record, keeps_search=isinstance(explorer, Euler) and explorer.keep_search)


def _dataset(session: Session, method: Method, record: dict[str, Any], *, keeps_search: bool) -> Dataset:
    """Return what a session collected as a dataset, with a record of how; what was searched is kept on demand."""
    collected = session.collected
    every = collected if session.searched is None else session.searched + collected
    source = {
        "task": session.environment.source.name,
        "method": method.name,
        "episodes": collected.num_episodes,
        "seed": list(session.seed),
    }
    source |= asdict(method) | record
    kept = every if keeps_search else collected
    return session.environment.dataset(kept, every, (source,), session.fixed_machines)
