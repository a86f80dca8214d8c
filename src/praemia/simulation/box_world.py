"""Play in a black box one step at a time, with the same counts as in a task. Values are unknown, returns are not.

A learner that sees product states counts steps from o · M + m to o' · M + m', whose label says by which distribution
they are rewarded (``praemia.tasks.product``).
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NoReturn

import numpy as np

from praemia._support.arithmetic import ordered_sum
from praemia.envs.black_box import BlackBox
from praemia.errors import (
    ModelError,
    ParameterError,
    PraemiaWarning,
)
from praemia.kernels.counts import MachineCounts, add_row, add_transition, count_episode, count_step
from praemia.kernels.play import note_plan, sample_action
from praemia.learners.base import Learner
from praemia.machines.labels import Label, as_label, format_label
from praemia.simulation.loop import SLICE_SECONDS, World, spec_for
from praemia.tasks.machine_table import MachineSampler, MachineTable
from praemia.tasks.model import step_weights
from praemia.tasks.product import ProductLabelling
from praemia.tasks.spec import EveryStep, TaskSpec

PATIENCE = 100  # episodes after which a proposition that no label had is warned of
PROBED_STEPS = 200  # random steps before a run, to see whether labels depend on ``info``


class BoxWorld(World):
    """A learner at play in a black box. What can happen is not known: the counts grow with what does."""

    def __init__(
        self,
        box: BlackBox,
        learner: Learner,
        num_episodes: int | None,
        seed: tuple[int, ...],
        *,
        num_steps: int | None = None,
    ) -> None:
        if learner.privileged:
            raise ParameterError(
                f"learner {learner.name!r} needs the transition model, which a black box does not have"
            )
        if box.is_encoded and learner.asks_labels == "every":
            raise ParameterError(
                f"learner {learner.name!r} needs the labels of steps that were not taken, which are unknown "
                "when observations are encoded; choose one that plans with what it saw, such as headroom, ucbvi-prm "
                "or mvp"
            )
        self.box, self.num_machine_states = box, box.num_machine_states
        self.learner, self._random_share = learner, learner.random_share
        self._label_of: dict[tuple[int, int, int], Label] = {}  # the first label of each (o, a, o')
        self._has_warned = box.is_encoded  # of labels that contradict each other: cells may say less, on purpose
        self.labels_need_info = box.is_encoded  # whether labels can be known for steps taken alone
        self.labels: dict[Label, int] = {frozenset(): 0}
        self._sampler = MachineSampler(box.machine)
        self._product = None
        if learner.sees == "product":
            self._product = ProductLabelling(labelling=box.labelling, machine=box.machine.in_unit_range)
        super().__init__(learner, self._tabulated(), num_episodes, seed, num_steps)
        self.places: dict[tuple[int, int, int], int] = {}  # where (pair, successor, label) is counted
        self.rows: dict[tuple[int, int], int] = {}  # the continuation row of (label, successor)
        seed_of_box = int(self.world_rng.integers(2**31))
        self.compares = learner.asks_labels != "seen"
        if self.compares and not box.is_encoded:
            self._probe(seed_of_box)
        self._start(seed_of_box)

    def _tabulated(self) -> TaskSpec:
        """Tabulate the machine on the labels met so far."""
        box, machine, labelling, size = self.box, self.box.machine.in_unit_range, self.box.labelling, 1
        if self._product is not None:
            labelling, machine, size = self._product, self._product.one_state, machine.num_states
        spec = TaskSpec(
            num_observations=box.observations.size * size,
            num_actions=box.num_actions,
            horizon=box.max_steps,
            machine=machine,
            labelling=labelling,
            label_sets=tuple(self.labels),
            table=MachineTable.of(machine, list(self.labels)),
            unseen_labels="any" if self.labels_need_info else "computed",
            can_end=True,
            discount=box.discount,
            done_states=box.done_states if self._product is None else frozenset(),
        )
        return spec_for(spec, self.learner)

    def _tabulate_again(self, *, kept: EveryStep | None = None) -> None:
        """Tabulate the machine on the labels seen so far, keeping what was counted of its moves.

        The labels of all steps are computed again, unless they are ``kept``.
        """
        self.spec = self._tabulated()
        if kept is not None:
            self.spec.__dict__["every_step"] = kept
        if self.learner.learn_machine:
            more = len(self.labels) - len(self.counts.machine.visits)
            grown = (np.pad(old, [(0, more)] + [(0, 0)] * (old.ndim - 1)) for old in self.counts.machine)
            self.counts = self.counts._replace(machine=MachineCounts(*grown))

    def _probe(self, seed: int) -> None:
        """Play a few random steps to see whether labels depend on ``info``."""
        actions, ended = np.random.default_rng(seed), True
        self._start(seed)
        for _ in range(PROBED_STEPS):
            if ended:
                o, shown = self._reset()
            a = int(actions.integers(self.box.num_actions))
            z, shown, label, terminated, truncated = self._step(shown, a)
            self._compare(o, a, z, label)
            o, ended = z, terminated or truncated

    def _start(self, seed: int | None = None) -> Any:
        """Reset the environment and return what it shows."""
        try:
            return self.box.env.reset(seed=seed)[0]
        except Exception as error:  # whatever the user's code may raise
            self._fail(error)

    def _reset(self) -> tuple[int, Any]:
        """Begin an episode; return the first observation as an index and as shown."""
        observed = self._start()
        try:
            return self.box.observe(observed)
        except Exception as error:
            self._fail(error)

    def _step(self, shown: Any, a: int) -> tuple[int, Any, Label, bool, bool]:
        """Play a step of the environment; return o' as an index and as shown, the label, and both kinds of ending."""
        action = self.box.actions.element(a)
        try:
            observed, _, terminated, truncated, info = self.box.env.step(action)
            z, shown_next = self.box.observe(observed)
            label = self.box.label(shown, action, shown_next, info)
            return z, shown_next, label, bool(terminated), bool(truncated)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        self.box.fail(error, f" in episode {self.played}, from 0")

    def _compare(self, o: int, a: int, z: int, label: Label) -> None:
        """Notice a label that changes without ``info``: then the labels of steps not taken are unknown."""
        if self.labels_need_info or not self.box.needs_info(o, a, z, label):
            return
        if self.learner.asks_labels == "every":
            raise ModelError(
                f"the label of {self.box.step_name(o, a, z)} depends on info, known only for steps taken, and learner "
                f"{self.learner.name!r} asks about steps not taken; choose one that plans with what it saw, such as "
                "ucbvi-prm, eqo or mvp, or headroom, which then assumes the best that the machine can do"
            )
        self.labels_need_info = True
        self._tabulate_again()

    def number(self, label: Label) -> int:
        """Return the number of a label, numbering it when it is new."""
        if label not in self.labels:
            self.labels[label] = len(self.labels)
            is_renumbered = self.labels_need_info or self.learner.learn_machine
            self._tabulate_again(kept=None if is_renumbered else self.spec.every_step)
        return self.labels[label]

    def play(self, most: int) -> None:
        began, last = time.perf_counter(), self.played + most
        while self.played < last and not self.is_due and not self.is_spent:
            note_plan(self.log, self.replan_code)
            self.counts = self.counts.with_room(self.box.max_steps)
            steps = self._play_episode()
            weights = step_weights(len(steps), self.box.discount)
            self.log.returns[self.played] = ordered_sum(np.array([reward for _, reward in steps]) * weights)
            self.log.steps[self.played] = len(steps)
            for label, reward in steps:
                self.box.recorder.add(label, reward)
            self.box.recorder.end_episode()
            self.progress["played"] += 1
            self.progress["steps"] += len(steps)
            if self.played == PATIENCE:
                self.box.warn_of_absent(frozenset().union(*self.box.label.met), f"had in {PATIENCE} episodes", 2)
            if time.perf_counter() - began >= SLICE_SECONDS:
                return

    def _play_episode(self) -> list[tuple[Label, float]]:
        """Play one episode and count it; return the label and the reward of each step, in the user's units.

        When the environment cuts an episode off (truncation), it is not known what would have followed.
        """
        box, steps, due = self.box, list[tuple[Label, float]](), False
        at_once, units = self.learner.replan_rule.at_once, box.machine.reward_range
        (o, shown), m = self._reset(), box.machine.index[box.machine.initial]
        place, _ = self._place(o, m)
        self.counts.is_met[place] = True
        self.counts.starts[place] += 1
        for h in range(box.max_steps):
            a = self._act(h, *self._place(o, m))
            z, shown, label, ended, truncated = self._step(shown, a)
            m_next, reward = self._sampler.step(m, label, self.world_rng)
            steps.append((label, reward))
            unit_reward = reward if units.is_unit else units.number_to_unit(reward)
            due |= self._count(h, (o, a, z), label, (m, m_next), ended, unit_reward)
            o, m = z, m_next
            if ended or truncated or m in box.done_states:
                break
            if due and at_once and len(steps) < box.max_steps:
                self.progress["step"] = len(steps)
                self.replan()
                self.progress["step"], due = 0, False
        if len(self.counts.step_visits) and not self._is_over(ended, m):
            self.counts.step_visits[len(steps), self._place(o, m)[0]] += 1
        self.progress["is_due"] = count_episode(self.counts.totals, self.replan_code) or due
        return steps

    def _place(self, o: int, m: int) -> tuple[int, int]:
        """Return where the learner sees itself: its observation and machine state."""
        return (o, m) if self._product is None else (o * self.num_machine_states + m, 0)

    def _is_over(self, ended: bool, m: int) -> bool:
        """Return whether a step ends the episode for the learner; in a product also where the machine is done."""
        return ended or (self._product is not None and m in self.box.done_states)

    def _act(self, h: int, o: int, m: int) -> int:
        """Return the action of the policy, or now and then a random one, if the learner wants that."""
        policy = self.policy
        a = int(policy[h, o, m] if policy.ndim == 3 else sample_action(policy[h, o, m], self.world_rng.random()))
        if self._random_share > 0.0 and self.world_rng.random() < self._random_share:
            a = int(self.world_rng.random() * self.box.num_actions)
        return a

    def _count(
        self, h: int, step: tuple[int, int, int], label: Label, moves: tuple[int, int], ended: bool, reward: float
    ) -> bool:
        """Count a step, with its reward in the unit range; tell whether a plan has become due.

        The successor of a step that ends the episode is O + o'.
        """
        (o, a, z), (m, m_next), seen = step, moves, label
        if self._product is not None:
            seen = self._product.label(m, label, m_next)
        number = self.labels.get(seen)
        if number is None:
            number = self.number(seen)
        (o, m), (z, m_next) = self._place(o, m), self._place(z, m_next)
        if self._is_over(ended, moves[1]):
            z += self.spec.num_observations
        pair = o * self.box.num_actions + a
        place = self.places.get((pair, z, number))
        if place is None:
            self._note_label(step, label)
            place = self._first_sight(pair, z, number)
        return bool(count_step(self.counts, h, (o, a, z, number, m, m_next), place, pair, reward, self.replan_code))

    def _note_label(self, step: tuple[int, int, int], label: Label) -> None:
        """Notice labels that contradict each other; warn of them once."""
        if self.compares:
            self._compare(*step, label)
        first = self._label_of.setdefault(step, label)
        if first != label and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{self.box.name}: the transition {step} was labelled {format_label(first)} once and "
                f"{format_label(label)} another time; labels must be a function of (o, a, o'). Each label is counted "
                "as an outcome of its own, which no guarantee of a learner covers",
                PraemiaWarning,
                stacklevel=2,
            )

    def count_before(self, pair: int, target: int, label: Label, count: int) -> None:
        number = self.number(as_label(label, "the data: a label", self.box.machine.propositions))
        self._note_label((*divmod(pair, self.box.num_actions), target % self.box.observations.size), label)
        self.counts.transitions[self._first_sight(pair, target, number)]["count"] = count

    def _first_sight(self, pair: int, successor: int, label: int) -> int:
        """Make a place for a transition that is new."""
        place = int(add_transition(self.counts, pair, successor, label, self._row(successor, label)))
        self.places[pair, successor, label] = place
        return place

    def _row(self, successor: int, label: int) -> int:
        """Return the continuation row of a successor, numbering it when it is needed for the first time."""
        target = min(successor, self.spec.num_observations)  # in which observation an episode ended does not matter
        if self.spec.table.has_no_effect[label]:
            return target
        if (label, target) not in self.rows:
            self.rows[label, target] = int(add_row(self.counts, label, target))
        return self.rows[label, target]
