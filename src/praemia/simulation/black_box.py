"""Run a learner on a black box, one step at a time, through the same counts. Regret is not known there; returns are."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.envs.black_box import BlackBox
from praemia.kernels.observe import SeenArrays
from praemia.kernels.play import draw
from praemia.learners.base import Experience, Learner, LearnerPlan, Recent
from praemia.models.labels import Label
from praemia.models.rows import continuation_rows
from praemia.models.task import MachineTable, TaskSpec
from praemia.simulation.interrupts import interrupts_held
from praemia.simulation.run import Run, versions
from praemia.simulation.seeds import generators
from praemia.simulation.tally import product_spec


def simulate_black_box(
    box: BlackBox,
    learner: Learner,
    num_episodes: int,
    seed: tuple[int, ...],
    on_progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a learner on a black box and return the record, with NaN for what cannot be known."""
    began = time.perf_counter()
    world_rng, learner_rng = generators(seed)
    tally = BlackBoxTally(box, learner.on_product, learner.uses_steps)
    box.env.reset(seed=int(world_rng.integers(2**31)))
    returns = np.empty(num_episodes)
    starts: list[int] = []
    plan: LearnerPlan | None = None
    recent: Recent | None = None
    due = True
    with interrupts_held() as raise_interrupt:
        for episode in range(num_episodes):
            if due:
                starts.append(episode)
                experience = Experience(tally.spec, num_episodes, tally.seen(), tally.steps, recent)
                plan = learner.plan(experience, plan, learner_rng)
            assert plan is not None
            steps, rewards, due = play_episode(box, plan.policy, tally, learner.replan, world_rng)
            returns[episode] = rewards.sum()
            recent = Recent(steps, rewards)
            raise_interrupt()
            if on_progress is not None:
                on_progress(episode + 1)
    unknown = np.full(len(starts), np.nan)
    return Run(
        task=box.name,
        learner=learner.name,
        parameters=learner.parameters,
        seed=seed,
        num_episodes=num_episodes,
        optimal_value=None,
        plan_episodes=np.array(starts, dtype=np.int64),
        plan_values=unknown,
        optimistic_values=unknown,
        returns=returns,
        final_policy=_shown(plan, box),
        seconds=time.perf_counter() - began,
        versions=versions(),
    )


def _shown(plan: LearnerPlan | None, box: BlackBox) -> NDArray[Any]:
    """Return the last policy as [H, M, O], for the observations of the environment."""
    assert plan is not None
    policy = plan.policy.reshape(box.horizon, box.num_observations, -1, *plan.policy.shape[3:])
    return policy[:, : box.num_env_observations].swapaxes(1, 2)


def play_episode(
    box: BlackBox, policy: NDArray[Any], tally: BlackBoxTally, rule: str, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64], bool]:
    """Play one episode; return its steps (o, a, o', label, m, m'), its rewards, and whether a plan is due.

    After an early end the steps go on in the absorbing observation, so that learners see it for what it is. When the
    environment cuts an episode off (truncation), the rest of it is not played.
    """
    policy = policy.reshape(box.horizon, box.num_observations, -1, *policy.shape[3:])
    steps: list[tuple[int, int, int, int, int, int]] = []
    rewards: list[float] = []
    due, truncated = rule == "episode", False
    o, m = box.observation(box.env.reset()[0]), tally.table.initial
    for h in range(box.horizon):
        a = _act(policy[h, o, m], rng)
        if o >= box.num_env_observations:
            z, label = o, tally.number(frozenset())
        else:
            observed, _, ended, truncated, info = box.env.step(a)
            z = box.observation(observed)
            label = tally.number(box.label(o, a, z, info))
            z += box.num_env_observations if ended else 0
        m_next, reward = _move(tally.table, label, m, rng)
        due |= tally.count(h, (o, a, z, label, m, m_next), rule)
        steps.append((o, a, z, label, m, m_next))
        rewards.append(reward)
        o, m = z, m_next
        if truncated and z < box.num_env_observations:
            break
    tally.count_last(len(steps), o, m)
    return np.array(steps, dtype=np.int64), np.array(rewards), due


def _act(choice: Any, rng: np.random.Generator) -> int:
    if np.ndim(choice) == 0:
        return int(choice)
    return int(draw(np.cumsum(choice), 0, len(choice), rng.random()))


def _move(table: MachineTable, label: int, m: int, rng: np.random.Generator) -> tuple[int, float]:
    """Draw the machine's next state and reward."""
    row = label * table.num_states + m
    j = draw(table.sums, table.indptr[row], table.indptr[row + 1], rng.random())
    first, last = table.reward_indptr[j], table.reward_indptr[j + 1]
    reward = rng.choice(table.reward_values[first:last], p=table.reward_probs[first:last]) if last - first > 1 else None
    return int(table.targets[j]), float(table.reward_values[first] if reward is None else reward)


@dataclass(eq=False)
class BlackBoxTally:
    """Counts that grow with what is seen: the same that a ``Tally`` shows, without knowing what can happen."""

    box: BlackBox
    on_product: bool
    uses_steps: bool
    labels: dict[Label, int] = field(default_factory=lambda: {frozenset(): 0})
    visits: dict[int, int] = field(default_factory=dict)
    visits_at_plan: dict[int, int] = field(default_factory=dict)
    entries: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._tabulate()
        rows = self.box.horizon + 1 if self.uses_steps else 0
        self.steps = np.zeros((rows, self.spec.num_observations), dtype=np.int32)
        self.slots = np.full(self.spec.num_observations * self.spec.num_actions, -1, dtype=np.int32)

    def _tabulate(self) -> None:
        """Tabulate the machine on the labels met so far."""
        box = self.box
        self.table = MachineTable.of(box.machine, list(self.labels))
        sizes = (box.num_observations, box.num_actions, box.horizon)
        known = TaskSpec(*sizes, box.machine, box.labelling, tuple(self.labels), self.table, more_labels=True)
        self.spec = product_spec(known) if self.on_product else known

    def number(self, label: Label) -> int:
        """Return the number of a label, numbering it when it is new."""
        if label not in self.labels:
            self.labels[label] = len(self.labels)
            self._tabulate()
        return self.labels[label]

    def count(self, h: int, step: tuple[int, int, int, int, int, int], rule: str) -> bool:
        """Count a step (o, a, o', label, m, m'); tell whether a plan has become due."""
        o, a, z, label, m, m_next = step
        state, successor = o, z
        if self.on_product:
            state, successor = self._product_state(o, m), self._product_state(z, m_next)
            label = self._reward_number(label, m, m_next)
        pair = state * self.box.num_actions + a
        counts = self.entries.setdefault(pair, {})
        counts[successor, label] = counts.get((successor, label), 0) + 1
        visits = self.visits[pair] = self.visits.get(pair, 0) + 1
        if visits == 1:
            self.slots[pair] = len(self.visits) - 1
        if self.uses_steps:
            self.steps[h, state] += 1
        before = self.visits_at_plan.get(pair, 0)
        return visits & (visits - 1) == 0 if rule == "doubling" else visits - before >= max(1, before)

    def count_last(self, h: int, o: int, m: int) -> None:
        """Count the state that an episode ends in."""
        if self.uses_steps:
            self.steps[h, self._product_state(o, m) if self.on_product else o] += 1

    def _product_state(self, o: int, m: int) -> int:
        return o * self.box.machine.num_states + m

    def _reward_number(self, label: int, m: int, m_next: int) -> int:
        row = label * self.table.num_states + m
        edges = range(self.table.indptr[row], self.table.indptr[row + 1])
        edge = next(j for j in edges if self.table.targets[j] == m_next)
        return self.box.machine.mean_rewards.index(self.table.rewards[edge])

    def seen(self) -> SeenArrays:
        """Return the counts as learners take them, and start counting anew towards the next plan."""
        self.visits_at_plan = dict(self.visits)
        pairs = np.array(list(self.visits), dtype=np.int64)
        flat = [(z, label, count) for pair in self.visits for (z, label), count in self.entries[pair].items()]
        columns = np.array(flat, dtype=np.int32).reshape(-1, 3).T
        successors, labels = np.ascontiguousarray(columns[0]), np.ascontiguousarray(columns[1])
        rows, row_labels, row_targets = continuation_rows(
            labels, successors, self.spec.table.still, self.spec.num_observations
        )
        lengths = [len(self.entries[pair]) for pair in self.visits]
        return SeenArrays(
            visits=np.array(list(self.visits.values()), dtype=np.float64),
            indptr=np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))).astype(np.int64),
            successors=successors,
            labels=labels,
            counts=columns[2].astype(np.float64),
            rows=rows,
            row_labels=row_labels,
            row_targets=row_targets,
            pairs=pairs,
            slots=self.slots,
            active=np.array(list(dict.fromkeys(pairs // self.box.num_actions)), dtype=np.int32),
        )
