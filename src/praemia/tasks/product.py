"""The explicit cross product of a labelled MDP and a machine (Lemma 1 of the paper), for export and as an oracle.

    P((m', o')|(m, o), a) = p(o'|o, a) τ(m'|m, σ),   R((m, o), a) = Σ_o' p(o'|o, a) Σ_m' τ(m'|m, σ) ν̄(m, σ, m'),

with σ = L(o, a, o'). (The paper's Lemma 1 leaves τ out of R; with it, R is the mean reward of the step.)
The product state (m, o) has the number m · O + o. Planning never needs this: it is as large as it sounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from praemia.limits import require_memory
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
