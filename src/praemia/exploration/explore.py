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

Learners play through the one loop of the simulation, in the environment with another machine: it rewards the mark
``HERE``, which is on the label of every step that leaves o. The task's machine and discount are not used: p does not
depend on the step, so late visits count as much as early ones.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from praemia._support.activity import OnProgress
from praemia._support.limits import MAX_EPISODES
from praemia.envs.black_box import BlackBox
from praemia.errors import ParameterError, PraemiaError, PraemiaWarning, require_whole, unknown_name
from praemia.exploration.confidence import several_labels
from praemia.exploration.counted import dataset_of, known_labels
from praemia.exploration.dataset import Dataset
from praemia.exploration.estimate import Estimate, require_readable
from praemia.exploration.likely_loss import likely_loss
from praemia.learners.base import Learner
from praemia.learners.baselines import Random
from praemia.learners.euler import EULER
from praemia.learners.uncertainty import UncertaintyExplorer
from praemia.machines.builder import MachineBuilder
from praemia.machines.labels import Labelling, LabelRule
from praemia.machines.machine import RewardMachine
from praemia.planning.exact import solve
from praemia.simulation.box_world import BoxWorld
from praemia.simulation.loop import World, play_policy, run_loop
from praemia.simulation.run import Seed, seed_key
from praemia.simulation.task_world import TaskWorld
from praemia.tasks.task import Task

HERE = "praemia-here"
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
    if not isinstance(task, Task | BlackBox):
        raise ParameterError(f"cannot explore {type(task).__name__}; expected a Task or a BlackBox")
    source, key = task.for_run() if isinstance(task, BlackBox) else task, seed_key(seed)
    _require_readable(source, named)
    record: dict[str, Any] = {"method": method, "episodes": count, "seed": list(key), "scale": scale}
    learner: Learner = UncertaintyExplorer(scale=scale) if method == "uncertainty" else Random()
    worlds = [_world(source, learner, count, (*key, COLLECT))]
    try:
        if method == "euler":
            record["policy_episodes"] = each
            _euler(source, worlds, count, each, EULER(bonus_scale=scale), key, on_progress)
        else:
            record |= _uncertainty(source, worlds[0], count, until, named, on_progress, on_check)
    except PraemiaError as error:
        if isinstance(source, BlackBox) and any(world.counts.starts.any() for world in worlds):
            error.dataset = _dataset(source, worlds, **record)
            error.add_note("what was explored until then is kept: error.dataset")
        raise
    data = _dataset(source, worlds, **record)
    if not data.has_one_label_each:
        warnings.warn(f"{source.name}: {several_labels('plan_from')}", PraemiaWarning, stacklevel=2)
    return data


def _world(
    source: Task | BlackBox, learner: Learner, num_episodes: int, seed: tuple[int, ...], target: int | None = None
) -> World:
    """Return a world with a reward of 1 for every step that leaves the target, or without any rewards."""
    look = MachineBuilder("look").edge("look", HERE, "look", reward=1.0).build().over(source.machine.propositions)
    parts: dict[str, Any] = {"machine": look, "horizon": source.max_steps, "discount": 1.0, "until_done": False}
    if isinstance(source, Task):  # its transition probabilities are sampled from but never read
        if target is not None:
            parts["mdp"] = replace(source.mdp, labelling=Labelling((LabelRule(HERE, source=target),)))
        return TaskWorld(source.changed(**parts), learner, num_episodes, seed, valued=False)
    if target is not None:
        label, number = source.label, source.observations.number
        parts["labels"] = lambda o, *step: label(o, *step) | ({HERE} if number(o) == target else set())
    box = source.changed(**parts, record=None)
    box.label.met.add(frozenset({HERE}))  # nobody is to be warned of a target that is not reached
    return BoxWorld(box, learner, num_episodes, seed)


def _dataset(source: Task | BlackBox, worlds: list[World], **record: Any) -> Dataset:
    """Return the counts of worlds as a dataset, with a record of how it was collected."""
    parts = [(world.experience().transitions, [label - {HERE} for label in world.spec.label_sets]) for world in worlds]
    return dataset_of(source, parts, np.sum([world.counts.starts for world in worlds], axis=0), **record)


def _require_readable(source: Task | BlackBox, machines: Iterable[RewardMachine]) -> None:
    """Refuse machines that cannot be read in an environment."""
    labelling, declared = known_labels(source), frozenset(source.machine.propositions)
    # Where labels are found by playing, only names that the environment declares can occur.
    produced = declared if labelling is None else labelling.propositions()
    for number, machine in enumerate(machines):
        if not isinstance(machine, RewardMachine):
            raise ParameterError(f"machines[{number}] is {type(machine).__name__}; expected a RewardMachine")
        require_readable(machine, produced, produced | declared)


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
    source: Task | BlackBox,
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
        data = _dataset(source, [world])
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
    if dataset.labelling is None and not machine.reads <= dataset.seen_propositions:
        return math.inf
    estimate = Estimate.of(dataset, machine)
    return likely_loss(estimate, solve(estimate.model, keep_values=False).policy).loss


def _euler(
    source: Task | BlackBox,
    worlds: list[World],
    num_episodes: int,
    policy_episodes: int,
    learner: Learner,
    key: tuple[int, ...],
    on_progress: OnProgress | None,
) -> None:
    """Search and collect in turns, so that no policy needs to be kept; the first of the worlds collects."""
    size, num_actions, collecting = source.num_observations, source.num_actions, worlds[0]
    searched, total = 0, num_episodes + size * policy_episodes

    def report(_: int) -> None:
        if on_progress is not None:
            on_progress(searched + sum(world.played for world in worlds), total)

    rng = np.random.default_rng(np.random.SeedSequence((*key, SHARES)))
    shares = rng.multinomial(num_episodes, np.full(size, 1.0 / size))
    for target, share in enumerate(shares.tolist()):
        worlds.append(_world(source, learner, policy_episodes, (*key, SEARCH, target), target))
        policies, lengths = search(worlds[1], report)
        for policy, count in zip(policies, rng.multinomial(share, lengths / lengths.sum()), strict=True):
            play_policy(collecting, uniform_at(policy, target, num_actions), collecting.played + int(count), report)
        worlds.pop()  # as in the paper, its episodes are not kept
        searched += policy_episodes


def search(world: World, on_progress: Callable[[int], None]) -> tuple[list[NDArray[Any]], NDArray[np.int64]]:
    """Play all episodes; return the policies [H, O, 1] that were played, and for how many episodes each was."""
    policies: list[NDArray[Any]] = []
    total = len(world.log.returns)
    run_loop(world, total, on_plan=lambda: policies.append(world.policy.copy()), on_progress=on_progress)
    return policies, np.diff(world.log.plans["episode"][: len(policies)], append=total)


def uniform_at(policy: NDArray[Any], o: int, num_actions: int) -> NDArray[np.float64]:
    """Turn a policy [H, O, 1] into action probabilities [H, O, 1, A], uniform at one observation."""
    weights: NDArray[np.float64] = (policy[..., None] == np.arange(num_actions)).astype(np.float64)
    weights[:, o] = 1.0 / num_actions
    return weights
