"""The explicit cross product of a labelled MDP and a machine (Lemma 1 of the paper): as matrices, and as a task.

    P((m', o')|(m, o), a) = p(o'|o, a) τ(m'|m, σ),   R((m, o), a) = Σ_o' p(o'|o, a) Σ_m' τ(m'|m, σ) ν̄(m, σ, m'),

with σ = L(o, a, o'). (The paper's Lemma 1 leaves τ out of R; with it, R is the mean reward of the step.)
Planning never needs this: it is as large as it sounds.

``product`` gives the matrices, for export and as an oracle; the state (m, o) has the number m · O + o. ``product_task``
gives a task, for learners that see product states and not the machine. Its observations are o · M + m, and its machine
has one state: the label of a step only says by which law the step pays.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.limits import require_memory
from praemia.machines.guards import parse_guard
from praemia.machines.labels import Indices, Label, Labelling
from praemia.machines.machine import RewardMachine
from praemia.machines.rewards import Reward
from praemia.machines.rules import Outcome, Rule
from praemia.tasks.mdp import LabeledMDP
from praemia.tasks.task import Task


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
    transitions: Any
    rewards: NDArray[np.float64]
    start_probs: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"Product({self.num_states} states, {self.num_actions} actions, horizon {self.horizon})"

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

    mdp, table = task.mdp, task.table
    num_obs, num_actions, num_machine = task.num_observations, task.num_actions, task.num_machine_states
    num_states = num_machine * num_obs
    edge_rows = mdp.edge_pairs
    branches = np.diff(table.indptr).reshape(-1, num_machine)[mdp.labels]
    require_memory(64 * int(branches.sum()), "the explicit product")

    edge, m = (axis.ravel() for axis in np.indices(branches.shape))
    repeats = branches.ravel()
    edge, m = np.repeat(edge, repeats), np.repeat(m, repeats)
    within = np.arange(len(edge)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    branch = table.indptr[mdp.labels[edge].astype(np.int64) * num_machine + m] + within

    o, a = np.divmod(edge_rows[edge], num_actions)
    probs = mdp.probs[edge] * table.probs[branch]
    source = (m * num_obs + o) * num_actions + a
    target = table.targets[branch].astype(np.int64) * num_obs + mdp.successors[edge]
    shape = (num_states * num_actions, num_states)
    rewards = np.bincount(source, probs * table.rewards[branch], minlength=shape[0]).astype(np.float64)
    start = np.zeros((num_machine, num_obs))
    start[table.initial] = mdp.start_probs
    return Product(
        num_states=num_states,
        num_actions=num_actions,
        horizon=task.horizon,
        transitions=coo_array((probs, (source, target)), shape=shape).tocsr(),
        rewards=rewards.reshape(num_states, num_actions),
        start_probs=start.ravel(),
    )


class RewardLaws:
    """The laws by which a machine pays, each with a label, and the machine of one state that pays by these labels.

    A law's label holds the bits of its number; the law of steps on which nothing happens has the empty label.
    """

    def __init__(self, machine: RewardMachine) -> None:
        paid = chain.from_iterable(chain.from_iterable(map(machine.possible_outcomes, machine.states)))
        laws = list(dict.fromkeys((machine.idle_reward, *(outcome.reward for outcome in paid))))
        bits = range((len(laws) - 1).bit_length())
        self.labels: dict[Reward, Label] = {
            law: frozenset(f"law_{bit}" for bit in bits if number >> bit & 1) for number, law in enumerate(laws)
        }
        names = tuple(f"law_{bit}" for bit in bits)
        rules = tuple(_pays(law, label, names) for law, label in self.labels.items() if label)
        self.machine = RewardMachine((PRODUCT,), PRODUCT, names, rules, machine.idle_reward)

    def label(self, machine: RewardMachine, m: int, label: Label, m_next: int) -> Label:
        """Return the label of a move of the machine; a move that cannot happen counts as one that pays nothing."""
        outcomes = machine.outcomes(machine.states[m], label)
        moves = (outcome for outcome in outcomes if machine.index[outcome.target] == m_next)
        return next((self.labels[outcome.reward] for outcome in moves), frozenset())


PRODUCT = "product"


def _pays(law: Reward, label: Label, names: tuple[str, ...]) -> Rule:
    guard = " & ".join(name if name in label else f"!{name}" for name in names)
    return Rule(PRODUCT, parse_guard(guard), (Outcome(PRODUCT, 1.0, law),))


@dataclass(frozen=True)
class ProductLabelling(Labelling):
    """The labels of a product task: by which law each step pays."""

    labelling: Labelling
    machine: RewardMachine
    laws: RewardLaws

    def of(self, sources: Indices, actions: Indices, targets: Indices) -> tuple[NDArray[np.int32], list[Label]]:
        size = self.machine.num_states
        (o, m), (z, m_next) = np.divmod(sources, size), np.divmod(targets, size)
        numbers, sets = self.labelling.of(o, actions, z)
        moves, number = np.unique((numbers * np.int64(size) + m) * size + m_next, return_inverse=True)
        known: dict[Label, int] = {frozenset(): 0}
        by_move = []
        for rest, after in zip(*divmod(moves, size), strict=True):
            label, before = divmod(int(rest), size)
            paid = self.laws.label(self.machine, before, sets[label], int(after))
            by_move.append(known.setdefault(paid, len(known)))
        return np.array(by_move, dtype=np.int32)[number.reshape(numbers.shape)], list(known)

    def propositions(self) -> Label:
        return frozenset(self.laws.machine.propositions)


def product_task(task: Task) -> Task:
    """Return the cross product as a task: the same values and the same law of returns, with one machine state."""
    mdp, matrices, laws = task.mdp, product(task), RewardLaws(task.machine)
    size, num_states = task.num_machine_states, matrices.num_states
    kernel = matrices.transitions.tocoo()
    state, a = np.divmod(kernel.coords[0].astype(np.int64), mdp.num_actions)
    states = np.arange(num_states).reshape(size, -1).T.ravel()  # the state o · M + m as m · O + o
    number = np.arange(num_states).reshape(-1, size).T.ravel()  # and back
    start = matrices.start_probs[states]
    labels = ProductLabelling(mdp.labelling, task.machine, laws)
    entries = (number[state], a, number[kernel.coords[1]], kernel.data)
    product_mdp = LabeledMDP.from_entries(num_states, mdp.num_actions, *entries, labels=labels, start=start)
    return Task(product_mdp, laws.machine, task.horizon, task.name)
