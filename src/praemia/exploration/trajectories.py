"""Plan for rewards on whole trajectories, F(η), by search over histories (UCT), with bounds that certify its α.

η = (o_1, a_1, …, o_H, a_H, o_{H+1}), or shorter where the episode ended; 0 ≤ F ≤ G, which is declared. In an estimate a
trajectory with a pair that was never visited has reward 0.

A node is a history. Each simulation walks down from the start: the action maximises V̂ + c·G·√(ln n/n_a), the next
observation is sampled from p̂. An action that is new gets a node for each history that can follow, rolled out uniformly
at random. Three numbers are backed up with p̂ itself (as in DP-UCT, Keller and Helmert 2013):

    estimate V̂ = max_a Σ_z p̂(z)·V̂(z),   upper U = max_a Σ_z p̂(z)·U(z),
    lower L = Σ_z p̂(z)·L(z) along the action that the plan takes.

They begin with [0, G], and with F where the history is over. The plan takes the action with the largest V̂: its value in
p̂ is at least L(start), and no policy exceeds U(start), so α = U − L, which is 0 for a complete tree. Histories after
which not all actions were tried are searched when the policy first needs them.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from praemia.errors import ModelError
from praemia.tasks.mdp import LabeledMDP

if TYPE_CHECKING:
    from praemia.exploration.dataset import Dataset

SLACK = 1e-9  # of G, by which rounding may exceed the declared range
SIMULATIONS = 2_000
EXPLORATION = 0.5  # c
SETTLED = 1e-12  # of the upper bound: bounds this close count as equal


class Trajectory(NamedTuple):
    """The observations and actions of an episode so far.

    Attributes
    ----------
    observations : one more than actions.
    actions : those taken.
    ended : whether the environment ended the episode.

    Examples
    --------
    >>> from praemia.exploration import Trajectory
    >>> Trajectory(observations=(0,), actions=()).then(action=1, observation=4)
    Trajectory(observations=(0, 4), actions=(1,), ended=False)
    """

    observations: tuple[int, ...]
    actions: tuple[int, ...]
    ended: bool = False

    @property
    def last(self) -> int:
        return self.observations[-1]

    def then(self, action: int, observation: int, *, ended: bool = False) -> Trajectory:
        """Return the trajectory one step longer."""
        return Trajectory((*self.observations, observation), (*self.actions, action), ended)


@dataclass(frozen=True)
class TrajectoryReward:
    """A reward F on trajectories with a declared bound G: 0 ≤ F ≤ G.

    Parameters
    ----------
    function : F, a function of a ``Trajectory``.
    bound : G.

    Examples
    --------
    >>> import praemia
    >>> from praemia.exploration import Trajectory
    >>> back_home = praemia.TrajectoryReward(lambda seen: float(seen.last == seen.observations[0]), bound=1.0)
    >>> back_home(Trajectory(observations=(0, 1, 0), actions=(1, 0)))
    1.0
    """

    function: Callable[[Trajectory], float]
    bound: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.bound) and self.bound > 0.0):
            raise ModelError(f"the bound of the reward is {self.bound!r}; expected a positive number")

    def __call__(self, trajectory: Trajectory) -> float:
        value = float(self.function(trajectory))
        if not -SLACK * self.bound <= value <= (1.0 + SLACK) * self.bound:
            raise ModelError(
                f"the reward is {value:g} on the trajectory {trajectory.observations} with actions "
                f"{trajectory.actions}; it declared 0 … {self.bound:g}"
            )
        return value


class Bounds(NamedTuple):
    """An estimate, and bounds that are certain."""

    estimate: float
    lower: float
    upper: float

    @property
    def is_settled(self) -> bool:
        return self.upper - self.lower <= SETTLED * self.upper


@dataclass(eq=False)
class Node:
    """A history in the tree.

    Attributes
    ----------
    bounds : of its value. action : the choice, once all actions were tried.
    tries : how often each action was tried; none if the history is over.
    following : for each action that was tried, the nodes that can follow with their probabilities; none if unknown.
    """

    history: Trajectory
    bounds: Bounds
    tries: list[int]
    following: dict[int, list[tuple[float, Node]]] = field(default_factory=dict)
    action: int = 0

    @property
    def is_expanded(self) -> bool:
        return len(self.following) == len(self.tries) > 0

    @property
    def values(self) -> list[Bounds]:
        """The bounds of each action, all of which were tried."""
        return [mean_bounds(self.following[a]) for a in range(len(self.tries))]


def mean_bounds(nodes: list[tuple[float, Node]]) -> Bounds:
    """Return the mean of nodes' bounds."""
    return Bounds(*(math.fsum(p * node.bounds[i] for p, node in nodes) for i in range(3)))


class SearchPolicy:
    """The policy of a search in H steps of a model, which goes on when it meets histories that were not searched.

    ``rows`` has the (o', whether the episode ends there, probability) of each pair; none for the unknown.
    """

    def __init__(
        self,
        model: Dataset | LabeledMDP,
        horizon: int,
        reward: TrajectoryReward,
        simulations: int = SIMULATIONS,
        seed: int = 0,
    ) -> None:
        self.horizon, self.reward, self.simulations, self.seed = horizon, reward, simulations, seed
        self.num_actions, size, probs = model.num_actions, model.num_observations, model.probs.tolist()
        steps = [(target % size, target >= size, p) for target, p in zip(model.targets.tolist(), probs, strict=True)]
        self.rows = [steps[first:last] for first, last in pairwise(model.indptr.tolist())]
        self.starts = [(p, Trajectory((o,), ())) for o, p in enumerate(model.start_probs.tolist()) if p > 0.0]
        self._actions: dict[Trajectory, int] = {}

    def action_probs(self, history: Trajectory) -> NDArray[np.float64]:
        """Return the probability of each action, float64[A]: 1 for the one that is chosen."""
        if history not in self._actions:
            self.search(history)
        probs = np.zeros(self.num_actions)
        probs[self._actions.get(history, 0)] = 1.0
        return probs

    def value(self) -> Bounds:
        """Search from every start; return V̂ with L, below this policy's value, and U, which no policy exceeds."""
        return mean_bounds([(p, self.search(history)) for p, history in self.starts])

    def search(self, history: Trajectory) -> Node:
        """Grow a tree from a history until so many histories were looked at, and keep its choices."""
        rng = np.random.default_rng((self.seed, *history.observations, *history.actions))
        root, looked_at = self._new(history, rng), 0
        while not root.bounds.is_settled and (looked_at < self.simulations or not root.is_expanded):
            looked_at += max(1, self._simulate(root, rng))
        stack = [root]
        while stack:
            node = stack.pop()
            if node.is_expanded:
                self._actions.setdefault(node.history, node.action)
                stack += [child for _, child in node.following[node.action]]
        return root

    def _new(self, history: Trajectory, rng: np.random.Generator) -> Node:
        if history.ended or len(history.actions) == self.horizon:
            value = self.reward(history)
            return Node(history, Bounds(value, value, value), [])
        return Node(history, Bounds(self._roll_out(history, rng), 0.0, self.reward.bound), [0] * self.num_actions)

    def _roll_out(self, history: Trajectory, rng: np.random.Generator) -> float:
        """Return the reward of going on at random."""
        observations, actions, ended = list(history.observations), list(history.actions), False
        for first, second in rng.random((self.horizon - len(actions), 2)).tolist():
            actions.append(int(first * self.num_actions))
            row = self.rows[observations[-1] * self.num_actions + actions[-1]]
            if not row:
                return 0.0
            z, ended, _ = row[pick([p for _, _, p in row], second)]
            observations.append(z)
            if ended:
                break
        return self.reward(Trajectory(tuple(observations), tuple(actions), ended))

    def _simulate(self, root: Node, rng: np.random.Generator) -> int:
        """Walk down to an action that was not tried, and back up; return the number of new histories."""
        path, node, new = [root], root, 0
        while not node.bounds.is_settled:
            a = self._choose(node, rng)
            node.tries[a] += 1
            if a not in node.following:
                row = self.rows[node.history.last * self.num_actions + a]
                after = ((p, node.history.then(a, z, ended=ended)) for z, ended, p in row)
                node.following[a] = [(p, self._new(history, rng)) for p, history in after]
                new = len(row)
                break
            probs = [0.0 if child.bounds.is_settled else p for p, child in node.following[a]]
            if not any(probs):
                break
            node = node.following[a][pick(probs, rng.random() * math.fsum(probs))][1]
            path.append(node)
        for node in reversed(path):
            if node.is_expanded:  # only then the choice stored here is played
                values = node.values
                node.action = max(range(self.num_actions), key=[value[:2] for value in values].__getitem__)
                upper = min(node.bounds.upper, max(value.upper for value in values))
                node.bounds = values[node.action]._replace(upper=upper)
        return new

    def _choose(self, node: Node, rng: np.random.Generator) -> int:
        """Return an action that was not tried yet, or else the one that UCT prefers of those that are still open."""
        if not node.is_expanded:
            untried = [a for a in range(self.num_actions) if a not in node.following]
            return untried[int(rng.integers(len(untried)))]
        values, scale = node.values, EXPLORATION * self.reward.bound * math.sqrt(math.log(sum(node.tries) + 1.0))
        floor = max(value.lower for value in values)
        # Settled actions, and those whose upper bound is no better than the best lower one, need no more visits.
        score = {
            a: value.estimate + scale / math.sqrt(node.tries[a])
            for a, value in enumerate(values)
            if not value.is_settled and value.upper > floor
        }
        return max(score, key=score.__getitem__, default=node.action)


def pick(weights: list[float], number: float) -> int:
    """Return the place at which the running sum of weights exceeds a number, or else the last one with a weight."""
    sums = list(accumulate(weights))
    return bisect_right(sums, min(number, math.nextafter(sums[-1], 0.0)))
