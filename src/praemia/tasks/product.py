"""The explicit cross product of a labelled MDP and a machine (Lemma 1 of the paper): as matrices, and as a task.

    P((m', o')|(m, o), a) = p(o'|o, a) τ(m'|m, σ),   R((m, o), a) = Σ_o' p(o'|o, a) Σ_m' τ(m'|m, σ) ν̄(m, σ, m'),

with σ = L(o, a, o'). (The paper's Lemma 1 leaves τ out of R; with it, R is the mean reward of the step.)
Planning never needs it: it may have (M·O)² entries.

``product`` gives the matrices, for export and as an oracle; the state (m, o) has the index m · O + o, and where
episodes can end, the last state is terminal: it has no reward and is never left. ``product_task`` gives a task, for
learners that see product states and not the machine. Its observations are o · M + m, and its machine has one state: the
label of a step says which reward distribution the step has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia._support.limits import require_memory
from praemia._support.text_tables import plural
from praemia.machines.labels import Indices, Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.machines.syntax import parse_guard
from praemia.tasks.machine_table import entries_of
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task, require_task

PRODUCT = "product"  # the one state


@dataclass(frozen=True, eq=False)
class Product:
    """A task as an ordinary finite-horizon MDP.

    Attributes
    ----------
    transitions : SciPy CSR array [S·A, S]; row s·A + a is P(·|s, a).
    rewards : float64[S, A], mean rewards.
    start_probs : float64[S].
    """

    num_states: int
    num_actions: int
    horizon: int
    discount: float
    transitions: Any
    rewards: NDArray[np.float64]
    start_probs: NDArray[np.float64]

    def __repr__(self) -> str:
        return (
            f"Product({plural(self.num_states, 'state')}, {plural(self.num_actions, 'action')}, horizon {self.horizon})"
        )

    def to_dense(self) -> NDArray[np.float64]:
        """Return P as an array [S, A, S]."""
        require_memory(8 * self.num_states**2 * self.num_actions, "the dense product")
        dense: NDArray[np.float64] = self.transitions.toarray()
        return dense.reshape(self.num_states, self.num_actions, self.num_states)

    def to_sparse(self) -> list[Any]:
        """Return P as one SciPy sparse array [S, S] for each action."""
        return [self.transitions[a :: self.num_actions] for a in range(self.num_actions)]


def product(task: Task) -> Product:
    """Build the cross product of a task.

    Examples
    --------
    >>> import praemia
    >>> task = praemia.envs.warehouse(size=4)  # 16 observations, 3 machine states
    >>> praemia.product(task).num_states
    48
    """
    from scipy.sparse import coo_array

    game = product_task(replace(require_task(task, "a product"), until_done=False))
    mdp, size = game.mdp, game.num_observations
    num_states = size + mdp.can_end
    m, o = np.divmod(np.arange(size), task.num_observations)
    own = o * task.num_machine_states + m  # the index of (m, o) in the task
    place = np.append(np.argsort(own, kind="stable"), size)
    source, action = np.divmod(mdp.edge_pairs, mdp.num_actions)
    pairs = place[source] * mdp.num_actions + action
    rewards = np.full(num_states * mdp.num_actions, task.machine.idle_reward.mean)
    rewards[: mdp.num_pairs] = np.bincount(pairs, mdp.probs * game.table.mean_rewards[mdp.labels, 0])
    still = np.arange(mdp.num_pairs, len(rewards))
    targets = place[np.where(mdp.ends, size, mdp.successors)]
    entries = (np.append(pairs, still), np.append(targets, np.full(len(still), size)))
    probs = np.append(mdp.probs, np.ones(len(still)))
    return Product(
        num_states=num_states,
        num_actions=mdp.num_actions,
        horizon=task.max_steps,
        discount=task.discount,
        transitions=coo_array((probs, entries), shape=(len(rewards), num_states)).tocsr(),
        rewards=rewards.reshape(num_states, -1),
        start_probs=np.append(mdp.start_probs[own], np.zeros(num_states - size)),
    )


@dataclass(frozen=True, kw_only=True)
class ProductLabelling(Labelling):
    """The labels of a product task: one for each reward distribution of the machine, none where nothing happens."""

    labelling: Labelling
    machine: RewardMachine

    @cached_property
    def _label_of(self) -> dict[Reward, Label]:
        idle, outcomes = self.machine.idle_reward, chain.from_iterable(self.machine.diagrams.values())
        laws = dict.fromkeys(outcome.reward for outcome in outcomes if outcome.reward != idle)
        return {idle: Label()} | {law: Label({f"law_{number}"}) for number, law in enumerate(laws)}

    @cached_property
    def one_state(self) -> RewardMachine:
        """The machine of one state that reads these labels."""
        laws = {name: law for law, label in self._label_of.items() for name in label}
        rules = tuple(Rule(PRODUCT, parse_guard(name), (Outcome(PRODUCT, 1.0, law),)) for name, law in laws.items())
        parts = {"states": (PRODUCT,), "initial": PRODUCT, "propositions": tuple(laws), "rules": rules}
        return self.machine.replace(**parts, first_match=True)

    def label(self, m: int, label: Label, m_next: int) -> Label:
        """Return the label of a move of the machine; a move that cannot happen has the empty label."""
        outcomes = self.machine.outcomes(self.machine.states[m], label)
        moves = (outcome for outcome in outcomes if self.machine.index[outcome.target] == m_next)
        return next((self._label_of[outcome.reward] for outcome in moves), Label())

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        size = self.machine.num_states
        (o, m), (z, m_next) = np.divmod(sources, size), np.divmod(targets, size)
        numbers, sets = self.labelling.of(o, actions, z)
        moves, number = np.unique((numbers * np.int64(size) + m) * size + m_next, return_inverse=True)
        numbering: dict[Label, int] = {Label(): 0}
        by_move = []
        for rest, after in zip(*divmod(moves, size), strict=True):
            label, before = divmod(int(rest), size)
            paid = self.label(before, sets[label], int(after))
            by_move.append(numbering.setdefault(paid, len(numbering)))
        return np.array(by_move, dtype=np.int32)[number.reshape(numbers.shape)], list(numbering)

    @property
    def by_rules(self) -> bool:
        return False

    def propositions(self) -> Label:
        return Label(self.one_state.propositions)


def product_task(task: Task) -> Task:
    """Return the cross product as a task: the same values and distribution of returns, with one machine state."""
    mdp, table, size = task.mdp, task.table, task.num_machine_states
    num_moves = np.diff(table.indptr).reshape(-1, size)[mdp.labels]
    require_memory(96 * int(num_moves.sum()), "the explicit product")
    edge, m = (axis.ravel() for axis in np.indices(num_moves.shape))
    moves, places = entries_of(mdp.labels[edge].astype(np.int64) * size + m, table.indptr)
    edge, m = edge[places], m[places]
    (o, a), m_next = np.divmod(mdp.edge_pairs[edge], mdp.num_actions), table.targets[moves].astype(np.int64)
    z, probs = mdp.successors[edge].astype(np.int64), mdp.probs[edge] * table.probs[moves]
    ends = mdp.ends[edge] | np.isin(m_next, list(task.done_states))
    labelling, start = ProductLabelling(labelling=mdp.labelling, machine=task.machine), np.repeat(mdp.start_probs, size)
    start[np.arange(len(start)) % size != table.initial] = 0.0
    states = (len(start), mdp.num_actions, o * size + m, a, z * size + m_next, probs)
    product_mdp = LabeledMDP.from_entries(*states, labelling, start, ends=ends)
    return replace(task, mdp=product_mdp, machine=labelling.one_state, until_done=False)
