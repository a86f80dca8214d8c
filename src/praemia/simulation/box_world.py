"""Play in a black box one step at a time, with the same counts as in a task. Values are unknown, returns are not."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.arithmetic import ordered_sum
from praemia.envs.black_box import BlackBox
from praemia.errors import ContradictionError, ModelError, ParameterError, PraemiaWarning
from praemia.kernels import counts as kernels
from praemia.kernels.compiling import plain
from praemia.kernels.play import draw_action
from praemia.learners.base import Learner
from praemia.machines.labels import Label, SeenLabels
from praemia.simulation.loop import SLICE_SECONDS, World, spec_for
from praemia.simulation.task_world import with_every_row
from praemia.tasks.machine_table import MachineTable
from praemia.tasks.model import step_weights
from praemia.tasks.spec import EveryStep, TaskSpec

FIRST_ROOM = 4  # successors of a pair that there is room for at first
FIRST_SUCCESSORS, FIRST_ROWS = 64, 16  # that there is room for at first, in all
PROBED_STEPS = 200  # random steps before a run, to see whether labels depend on ``info``


# As plain Python: for a single step, passing the arrays to compiled code would cost more than the work.
add_state, count_visit = plain(kernels.add_state), plain(kernels.count_visit)
count_move, count_episode = plain(kernels.count_move), plain(kernels.count_episode)
keep_step = plain(kernels.keep_step)
add_successor, add_row = plain(kernels.add_successor), plain(kernels.add_row)


class BoxWorld(World):
    """A learner at play in a black box. What can happen is not known: the counts grow with what does."""

    def __init__(
        self,
        box: BlackBox,
        learner: Learner,
        num_episodes: int | None,
        seed: tuple[int, ...],
        seen_labels: SeenLabels | None = None,
        *,
        num_steps: int | None = None,
    ) -> None:
        if learner.privileged:
            raise ParameterError(f"learner {learner.name!r} needs to know the kernel, which a black box does not show")
        self.box = box
        self._seen_labels, self._is_strict = seen_labels or SeenLabels(), seen_labels is not None
        self._has_warned = False  # of labels that contradict each other
        self._end = 0  # the first free place of a successor
        self.labels_need_info = box.is_encoded  # whether labels can be known for steps taken alone
        self.labels: dict[Label, int] = {frozenset(): 0}
        self.learner = learner
        super().__init__(learner, self._tabulated(), num_episodes, seed, num_steps)
        if box.is_encoded and self.layout.unseen:
            raise ParameterError(
                f"learner {learner.name!r} needs the labels of steps that were not taken, which are unknown "
                "when observations are encoded; choose one that plans with what it saw, such as headroom, ucbvi-prm "
                "or mvp"
            )
        first = np.zeros(self.spec.num_observations * self.spec.num_actions + 1, dtype=np.int64)
        first[-1] = FIRST_SUCCESSORS
        self.counts = self.empty_counts(first, FIRST_ROWS, FIRST_SUCCESSORS)
        self.places: dict[
            tuple[int, int, int], int
        ] = {}  # where (pair, successor, label) is counted, after the pair's first
        self.rows: dict[tuple[int, int], int] = {}  # the continuation row of (label, successor)
        seed_of_box = int(self.world_rng.integers(2**31))
        self.compares = self.layout.unseen or self.layout.limit == "labels"
        if self.compares and not box.is_encoded:
            self._probe(seed_of_box)
            self._number_every_label()
        if self.layout.unseen:
            self.counts = with_every_row(self.counts, self.spec.every_step.rows.rows)
        box.env.reset(seed=seed_of_box)

    def _tabulated(self, asked_before: EveryStep | None = None) -> TaskSpec:
        """Tabulate the machine on the labels met so far."""
        box = self.box
        self.table = MachineTable.of(box.machine, list(self.labels))
        unit = box.machine.in_unit_range
        sizes = (box.observations.size, box.num_actions, box.horizon)
        spec = TaskSpec(
            *sizes,
            unit,
            box.labelling,
            tuple(self.labels),
            self.table if unit is box.machine else MachineTable.of(unit, list(self.labels)),
            more_labels=True,
            labels_need_info=self.labels_need_info,
            can_end=True,
            discount=box.discount,
            done_states=box.done_states,
            asked_before=asked_before,
        )
        return spec_for(spec, self.learner)

    def _number_every_label(self) -> None:
        """Number all labels at once where the machine is learned: what was counted of it is found by these numbers."""
        if self.learner.learn_machine and self.spec.asks_every_label:
            self.labels = {label: number for number, label in enumerate(self.spec.every_step.labels[1])}
            self._tabulate_again(0)

    def _tabulate_again(self, num_kept: int, asked_before: EveryStep | None = None) -> None:
        """Tabulate the machine anew; what was counted of its moves under the first labels is kept."""
        self.spec = self._tabulated(asked_before)
        old, new = self.counts.machine, self.empty_machine_counts()
        kept = num_kept * self.box.machine.num_states
        if len(new.visits):
            new.visits[:kept], new.rewards[:kept] = old.visits[:kept], old.rewards[:kept]
            size = kept * self.box.machine.num_states
            new.moves[:size] = old.moves[:size]
            self.counts = self.counts._replace(machine=new)

    def _probe(self, seed: int) -> None:
        """Play a few random steps to see whether labels depend on ``info``."""
        actions, steps = np.random.default_rng(seed), 0
        self.box.env.reset(seed=seed)
        while steps < PROBED_STEPS and not self.labels_need_info:
            (o, shown), ended = self.box.observe(self.box.env.reset()[0]), False
            while not ended and steps < PROBED_STEPS and not self.labels_need_info:
                a = int(actions.integers(self.box.num_actions))
                z, shown, label, terminated, truncated = self._step(shown, a)
                self._compare(o, a, z, label)
                o, ended, steps = z, terminated or truncated, steps + 1

    def _step(self, shown: Any, a: int) -> tuple[int, Any, Label, bool, bool]:
        """Play a step of the environment; return o' as a number and as shown, the label, and both kinds of ending."""
        action = self.box.actions.element(a)
        observed, _, terminated, truncated, info = self.box.env.step(action)
        z, shown_next = self.box.observe(observed)
        return z, shown_next, self.box.label(shown, action, shown_next, info), terminated, truncated

    def _compare(self, o: int, a: int, z: int, label: Label) -> None:
        """Notice a label that changes without ``info``: then the labels of steps not taken are unknown."""
        if self.labels_need_info or self.box.label_without_info(o, a, z) == label:
            return
        if self.layout.unseen:
            raise ModelError(
                f"the label of {self.box.step_name(o, a, z)} depends on info, known only for steps taken, and learner "
                f"{self.learner.name!r} asks about steps not taken; choose one that plans with what it saw, such as "
                "ucbvi-prm, eqo or mvp, or headroom, which then assumes the best that the machine can do"
            )
        self.labels_need_info = True
        self._tabulate_again(len(self.labels))

    def number(self, label: Label) -> int:
        """Return the number of a label, numbering it when it is new."""
        if label not in self.labels:
            self.labels[label] = len(self.labels)
            # What depends on the labelling alone is not found out again, unless the numbers of labels changed.
            renumbered = self.labels_need_info or self.learner.learn_machine
            self._tabulate_again(len(self.labels) - 1, None if renumbered else self.spec.every_step)
        return self.labels[label]

    def play(self, most: int) -> None:
        began, last = time.perf_counter(), self.played + most
        while self.played < last and not self.is_due and not self.is_spent:
            self.note_plan()
            steps, rewards = self._play_episode()
            self.log.returns[self.played] = ordered_sum(rewards * step_weights(len(rewards), self.box.discount))
            self.log.steps[self.played] = len(steps)
            labels = list(self.labels)
            self.box.record_episode([labels[i] for i in steps[:, 3]], rewards.tolist())
            self.log.progress["played"] += 1
            self.log.progress["steps"] += len(steps)
            if time.perf_counter() - began >= SLICE_SECONDS:
                return

    def _replan_at_once(self, num_steps: int) -> None:
        """Plan in the middle of an episode."""
        self.log.progress["step"] = num_steps
        self.replan()
        self.log.progress["step"] = 0

    def _play_episode(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Play one episode and count it; return its steps, as in ``Recent``, and what they paid, in the user's units.

        The successor of a step that ends the episode is O + o'. When the environment cuts an episode off (truncation),
        it is not known what would have followed.
        """
        box, size, steps, rewards, due = self.box, self.box.observations.size, [], [], False
        (o, shown), m = box.observe(box.env.reset()[0]), self.table.initial
        add_state(self.counts, o)
        for h in range(box.horizon):
            a = self._act(self.policy[h, o, m])
            z, shown, propositions, ended, truncated = self._step(shown, a)
            label = self.number(propositions)
            z += size if ended else 0
            m_next, reward = self.table.draw(label, m, self.world_rng)
            due |= self._count(h, o, a, z, label)
            if self.learner.learn_machine:
                due |= self._count_move(label, m, m_next, reward)
            steps.append((o, a, z, label, m, m_next))
            rewards.append(reward)
            if len(self.counts.recent):
                keep_step(self.counts, h, *steps[-1], self.box.machine.reward_range.number_to_unit(reward))
            o, m = z, m_next
            if ended or truncated or m in box.done_states:
                break
            if due and self.learner.replan_rule.at_once and len(steps) < box.horizon:
                self._replan_at_once(len(steps))
                due = False
        if len(self.counts.steps) and o < size:
            self.counts.steps[len(steps), o] += 1
        self.log.progress["is_due"] = count_episode(self.counts, self.replan_code) or due
        return np.array(steps, dtype=np.int64), np.array(rewards)

    def _act(self, choice: Any) -> int:
        """Return the action of a policy, or now and then a random one, if the learner wants that."""
        a = int(choice) if np.ndim(choice) == 0 else int(plain(draw_action)(choice, self.world_rng.random()))
        share = self.learner.random_share
        if share > 0.0 and self.world_rng.random() < share:
            a = int(self.world_rng.random() * self.box.num_actions)
        return a

    def _count(self, h: int, o: int, a: int, z: int, label: int) -> bool:
        """Count a transition; tell whether a plan has become due."""
        pair = o * self.box.num_actions + a
        if (pair, z, label) not in self.places:
            self.places[pair, z, label] = self._first_sight(pair, z, label)
        place = int(self.counts.pairs[pair]["first"]) + self.places[pair, z, label]
        if len(self.counts.steps):
            self.counts.steps[h, o] += 1
        return bool(count_visit(self.counts, pair, place, self.replan_code))

    def _count_move(self, label: int, m: int, m_next: int, reward: float) -> bool:
        """Count a move of a machine that is learned; tell whether a plan has become due."""
        num_states, paid = self.box.machine.num_states, self.box.machine.reward_range.number_to_unit(reward)
        return bool(count_move(self.counts.machine, label * num_states + m, m_next, num_states, paid))

    def _first_sight(self, pair: int, successor: int, label: int) -> int:
        (o, a), size = divmod(pair, self.box.num_actions), self.box.observations.size
        if self.compares:
            self._compare(o, a, successor % size, list(self.labels)[label])
        self._note_label((o, a, successor % size), list(self.labels)[label])
        self._make_room(pair)
        counts, row = self.counts, self._row(pair, successor, label)
        add_state(counts, successor)
        return int(add_successor(counts, pair, successor, label, row) - counts.pairs[pair]["first"])

    def _note_label(self, transition: tuple[int, int, int], label: Label) -> None:
        """Notice labels that contradict each other: an error where they are collected, else a warning, once.

        Encoded observations may say less than labels do, on purpose.
        """
        try:
            self._seen_labels.add(transition, label)
        except ContradictionError as error:
            if self._is_strict:
                raise
            if not self._has_warned and not self.box.is_encoded:
                counted = "Each label is counted as an outcome of its own, which no guarantee of a learner covers"
                warnings.warn(f"{self.box.name}: {error}. {counted}", PraemiaWarning, stacklevel=2)
            self._has_warned = True

    def _row(self, pair: int, successor: int, label: int) -> int:
        """Return the continuation row of a successor, numbering it when it is needed for the first time."""
        if self.layout.unseen:
            return int(self.spec.every_step.rows.own[pair, successor])
        table, counts = self.spec.table, self.counts
        target = min(successor, len(counts.states))  # in which observation an episode ended does not matter
        plain = table.keeps_state if self.layout.variance_of == "W" else table.has_no_effect
        if plain[label]:
            return target
        if (label, target) not in self.rows:
            self.rows[label, target] = add_row(counts, label, target)
        return self.rows[label, target]

    def _make_room(self, pair: int) -> None:
        """Make room for one more successor of a pair, and for one more continuation row."""
        counts = self.counts
        used, old = int(counts.pairs[pair]["distinct"]), int(counts.pairs[pair]["first"])
        if counts.totals[0]["rows"] == len(counts.rows) and not self.layout.unseen:
            self.counts = counts = counts._replace(rows=_doubled(counts.rows))
        if 0 < len(counts.links) == counts.totals[0]["links"]:
            self.counts = counts = counts._replace(links=_doubled(counts.links))
        room = FIRST_ROOM if used <= FIRST_ROOM else 1 << (used - 1).bit_length()
        if 0 < used < room:
            return
        first, needed = self._end, max(FIRST_ROOM, 2 * used)
        while first + needed > len(self.counts.successors):
            self.counts = self.counts._replace(successors=_doubled(self.counts.successors))
        successors = self.counts.successors
        successors[first : first + used] = successors[old : old + used]
        counts.pairs[pair]["first"] = first
        self._end = first + needed


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate((array, np.zeros_like(array)))
