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
from typing import Any, NamedTuple

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

    mdp, edges = require_task(task, "a product").mdp, product_edges(task)
    num_obs, num_machine = task.num_observations, task.num_machine_states
    num_states = num_machine * num_obs + mdp.can_end
    source, target = edges.m * num_obs + edges.o, edges.m_next * num_obs + edges.z
    source, target = source * task.num_actions + edges.a, np.where(edges.ends, num_states - 1, target)
    probs, rewards = edges.probs, np.bincount(source, edges.probs * edges.rewards, num_states * task.num_actions)
    start = np.zeros(num_states)
    start[task.table.initial * num_obs :][:num_obs] = mdp.start_probs
    if mdp.can_end:
        still = np.arange((num_states - 1) * task.num_actions, num_states * task.num_actions)
        source, target = np.append(source, still), np.append(target, np.full(len(still), num_states - 1))
        probs = np.append(probs, np.ones(len(still)))
        rewards[still] = task.machine.idle_reward.mean
    return Product(
        num_states=num_states,
        num_actions=task.num_actions,
        horizon=task.max_steps,
        discount=task.discount,
        transitions=coo_array((probs, (source, target)), shape=(num_states * task.num_actions, num_states)).tocsr(),
        rewards=rewards.astype(np.float64).reshape(num_states, task.num_actions),
        start_probs=start,
    )


class ProductEdges(NamedTuple):
    """The steps of a product that can happen, each int64, float64 or bool[·]."""

    o: Indices
    m: Indices
    a: Indices
    z: Indices
    m_next: Indices
    probs: NDArray[np.float64]
    rewards: NDArray[np.float64]
    ends: NDArray[np.bool_]


def product_edges(task: Task) -> ProductEdges:
    """Return every transition with every move that the machine can make on it."""
    mdp, table, num_machine = task.mdp, task.table, task.num_machine_states
    num_branches = np.diff(table.indptr).reshape(-1, num_machine)[mdp.labels]
    require_memory(96 * int(num_branches.sum()), "the explicit product")
    edge, m = (axis.ravel() for axis in np.indices(num_branches.shape))
    branch, places = entries_of(mdp.labels[edge].astype(np.int64) * num_machine + m, table.indptr)
    edge, m = edge[places], m[places]
    o, a = np.divmod(mdp.edge_pairs[edge], task.num_actions)
    z, m_next = mdp.successors[edge].astype(np.int64), table.targets[branch].astype(np.int64)
    probs = mdp.probs[edge] * table.probs[branch]
    return ProductEdges(o, m, a, z, m_next, probs, table.rewards[branch], mdp.ends[edge])


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
    mdp, edges = task.mdp, product_edges(task)
    size, num_states = task.num_machine_states, task.num_machine_states * task.num_observations
    entries = (edges.o * size + edges.m, edges.a, edges.z * size + edges.m_next, edges.probs)
    labels, start = ProductLabelling(labelling=mdp.labelling, machine=task.machine), np.zeros(num_states)
    start[task.table.initial :: size] = mdp.start_probs
    ends = edges.ends | np.isin(edges.m_next, list(task.done_states))
    sizes = (num_states, mdp.num_actions)
    product_mdp = LabeledMDP.from_entries(*sizes, *entries, labels=labels, start=start, ends=ends)
    return replace(task, mdp=product_mdp, machine=labels.one_state, until_done=False)
